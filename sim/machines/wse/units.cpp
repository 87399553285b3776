// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/units.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/wse/fabric/router.hpp"
#include "models/wse/program/task_program.hpp"
#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

/// The number of "r3" or "c7"; none if it is something else.
std::optional<std::uint64_t> number_of(const std::string& part, char letter) {
  if (part.empty() || part[0] != letter) return std::nullopt;
  return parse_integer(std::string_view(part).substr(1), 0, ~std::uint32_t{0});
}

class Unit {
 public:
  Unit(const WseParams& params, const std::string& machine, const std::string& name)
      : params_(params), machine_(machine), name_(name), parts_(split(name, '.')) {}

  std::string text() {
    if (parts_[0] != "wafer" || parts_.size() < 2 || parts_.size() > 4) return "";
    if (parts_[1] == "injector" && parts_.size() == 3) {
      const auto column = number_of(parts_[2], 'c');
      if (!column) return "";
      require(0, *column);
      return injector(*column);
    }
    const auto row = number_of(parts_[1], 'r');
    if (!row) return "";
    if (parts_.size() == 2) {
      require(*row, 0);
      return head(fmt::format("row {} from the north", *row)) +
             line("has", fmt::format("wafer.r{}.c0 to wafer.r{}.c{}", *row, *row, last_column()));
    }
    const auto column = number_of(parts_[2], 'c');
    if (!column) return "";
    const bool whole = parts_.size() == 3;
    if (!whole && parts_[3] != "router" && parts_[3] != "core") return "";
    require(*row, *column);
    return whole                   ? place(*row, *column)
           : parts_[3] == "router" ? router(*row, *column)
                                   : core(*row, *column);
  }

 private:
  std::uint32_t last_row() const { return params_.wafer.rows - 1; }
  std::uint32_t last_column() const { return params_.wafer.columns - 1; }

  void require(std::uint64_t row, std::uint64_t column) const {
    if (row <= last_row() && column <= last_column()) return;
    throw RequestError(fmt::format("there is no '{}': {} has rows r0 to r{} and columns c0 to c{}",
                                   name_, machine_, last_row(), last_column()));
  }

  std::string head(const std::string& what) const {
    return fmt::format("{}: {}; a unit of {}, {} columns x {} rows\n", name_, what, machine_,
                       params_.wafer.columns.value(), params_.wafer.rows.value());
  }
  static std::string line(const char* word, const std::string& text) {
    return fmt::format("  {:<11} {}\n", word, text);
  }
  static std::string where(std::uint64_t row, std::uint64_t column) {
    return fmt::format("row {} from the north, column {} from the west", row, column);
  }

  std::string place(std::uint64_t row, std::uint64_t column) const {
    return head(fmt::format("a core and its router, {}", where(row, column))) +
           line("has", fmt::format("{}.router, {}.core", name_, name_));
  }

  std::string router(std::uint64_t row, std::uint64_t column) const {
    std::vector<std::string> links;
    const auto link = [&](const char* port, bool there, std::uint64_t r, std::uint64_t c) {
      links.push_back(there ? fmt::format("{} wafer.r{}.c{}.router", port, r, c)
                            : fmt::format("{} the edge", port));
    };
    link("north", row != 0, row - 1, column);
    link("east", column != last_column(), row, column + 1);
    link("south", row != last_row(), row + 1, column);
    link("west", column != 0, row, column - 1);
    links.push_back(fmt::format("ramp wafer.r{}.c{}.core", row, column));
    const wse::RouterParams& p = params_.router;
    return head(fmt::format("the router at {}", where(row, column))) +
           line("links", fmt::format("{}", fmt::join(links, ", "))) +
           line("has", fmt::format("{} colors of up to {} positions, {} words for each port and "
                                   "color; a word a cycle and direction, {} a hop, {} a ramp",
                                   wse::kColors, wse::kPositions, p.entries.value(), p.hop.value(),
                                   p.ramp.value())) +
           line("events", "word_out (color x 256 + port), closure (color)") +
           line("parameters", "router.*");
  }

  std::string core(std::uint64_t row, std::uint64_t column) const {
    const wse::SimdParams& simd = params_.simd;
    return head(fmt::format("the core at {}", where(row, column))) +
           line("links", fmt::format("ramp wafer.r{}.c{}.router", row, column)) +
           line("has", fmt::format("{} KiB of memory; input queues of {} words and output queues "
                                   "of {}; {} microthreads; {} FP16 or {} "
                                   "FP32 multiply-accumulates a cycle",
                                   params_.mem.kib.value(), params_.queue.in.value(),
                                   params_.queue.out.value(), wse::kMicrothreads,
                                   simd.fma16.value(), simd.fma32.value())) +
           line("events",
                "queue_push, queue_pop, task_activate, vector_active, vector_end, "
                "beat_run, reduction_start, reduction_end") +
           line("parameters", "core.*, queue.*, mem.*, simd.*, scalar.*");
  }

  std::string injector(std::uint64_t column) const {
    return head(fmt::format("where words enter column {} from the west", column)) +
           line("links", fmt::format("south wafer.r0.c{}.router", column)) +
           line("events", "word_in (number of the word)") + line("parameters", "io.*, ws.inject");
  }

  const WseParams& params_;
  const std::string& machine_;
  const std::string& name_;
  const std::vector<std::string> parts_;
};

}  // namespace

std::string describe_wafer_unit(const WseParams& params, const std::string& machine,
                                const std::string& name) {
  return Unit(params, machine, name).text();
}

}  // namespace lacuna
