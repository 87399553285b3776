// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/own_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/program/yaml_program.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kMostShown = 8192;  // letters of an array of all cores

/// What is read back of the cores after a run.
class Results {
 public:
  Results(std::vector<ReadBack> read, std::uint32_t columns)
      : read_(std::move(read)), columns_(columns) {}

  /// Wrong is what more than 16 roundings of the type do not explain.
  wse::LayerComparison compare(const wse::WaferMemory& memory) {
    wse::LayerComparison comparison;
    for (const ReadBack& each : read_) {
      std::string& text = texts[each.name];
      text += fmt::format("{}core ({}, {}):", text.empty() ? "" : "; ", each.core % columns_,
                          each.core / columns_);
      const unsigned bytes = wse::source_bytes(each.element);
      const bool whole = wse::is_integer(each.element);
      const double unit = whole ? 0 : std::ldexp(1, bytes == 2 ? -11 : -24);
      for (std::uint32_t i = 0; i < each.length; ++i) {
        const float found = wse::load_element(
            memory[each.core], wse::address_of(each.where, bytes, i, 0), bytes == 4, whole);
        text += fmt::format(" {}", found);
        if (each.expected.empty()) continue;
        const double expected = each.expected[i];
        const double error = std::abs(found - expected);
        ++comparison.compared;
        // an infinite expectation is met by itself alone
        const bool near = error < 16 * unit * std::max(1.0, std::abs(expected));
        comparison.wrong += found != expected && !near;
        comparison.largest_error = std::max(comparison.largest_error, error);
      }
    }
    for (auto& [name, text] : texts) {
      if (text.size() > kMostShown) text.replace(kMostShown, text.size(), " ...");
    }
    return comparison;
  }

  std::map<std::string, std::string> texts;  // by what was read, its numbers by core

 private:
  std::vector<ReadBack> read_;
  std::uint32_t columns_;
};

}  // namespace

bool is_own_program(const WseParams& /*params*/, const LayerOp& op) { return op.op == "program"; }

OpResult run_own_program(const WaferRequest& request) {
  const WseParams& params = request.params;
  OwnProgram own = read_program(*find_value(request.op.args, "file"), request.op.args, params,
                                request.execution.values);
  const auto results = std::make_shared<Results>(std::move(own.read), own.program.columns);
  wse::LayerPlan plan;
  plan.bytes = own.bytes;
  plan.limit = params.core_bytes();
  plan.kernel.emplace();
  plan.kernel->wide = true;
  plan.stages.push_back({request.op.id, {std::move(own.program)}, {{0, 0, 0}}});
  plan.compare = [results](const wse::WaferMemory& memory) { return results->compare(memory); };
  OpResult result = run_task_plan(request, std::move(plan));
  const std::map<std::string, std::string>& texts = results->texts;
  for (const auto& [name, text] : texts) result.notes.emplace_back("read " + name, text);
  if (texts.empty() || !request.execution.explain) return result;
  ExplainSection& section = result.explanation.section("Read back");
  for (const auto& [name, text] : texts) section.fact(name, text);
  return result;
}

}  // namespace lacuna
