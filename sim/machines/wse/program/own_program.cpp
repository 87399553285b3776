// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/own_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/machines/wse/layers.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kMostShown = 8192;  // letters of an array of all cores

/// Puts numbers of a core beside what is expected of them. Wrong is what more than 16 roundings of
/// the type do not explain.
void compare_read(const ReadBack& read, const std::vector<std::uint8_t>& memory,
                  wse::LayerComparison& comparison, std::string& text) {
  const unsigned bytes = wse::source_bytes(read.element);
  const bool whole = wse::is_integer(read.element);
  const double unit = whole ? 0 : std::ldexp(1, bytes == 2 ? -11 : -24);
  for (std::uint32_t i = 0; i < read.length; ++i) {
    const float found =
        wse::load_element(memory, wse::address_of(read.where, bytes, i, 0), bytes == 4, whole);
    text += fmt::format(" {}", found);
    if (read.expected.empty()) continue;
    const double expected = read.expected[i];
    const double error = std::abs(found - expected);
    ++comparison.compared;
    // an infinite expectation is met by itself alone
    const bool near = error < 16 * unit * std::max(1.0, std::abs(expected));
    comparison.wrong += found != expected && !near;
    comparison.largest_error = std::max(comparison.largest_error, error);
  }
}

}  // namespace

wse::TaskKernel kernel_of(OwnProgram own, const std::shared_ptr<ReadTexts>& texts) {
  wse::TaskKernel kernel;
  kernel.bytes = own.bytes;
  kernel.compare = [read = std::move(own.read), columns = own.program.columns,
                    texts](const wse::WaferMemory& memory) {
    wse::LayerComparison comparison;
    for (const ReadBack& each : read) {
      std::string& text = (*texts)[each.name];
      text += fmt::format("{}core ({}, {}):", text.empty() ? "" : "; ", each.core % columns,
                          each.core / columns);
      compare_read(each, memory[each.core], comparison, text);
    }
    for (auto& [name, text] : *texts) {
      if (text.size() > kMostShown) text.replace(kMostShown, text.size(), " ...");
    }
    return comparison;
  };
  kernel.program = std::move(own.program);
  return kernel;
}

bool is_own_program(const WseParams& /*params*/, const LayerOp& op) { return op.op == "program"; }

OpResult run_own_program(const WaferRequest& request) {
  const WseParams& params = request.params;
  OwnProgram own = read_program(*find_value(request.op.args, "file"), request.op.args, params,
                                request.execution.values);
  const auto texts = std::make_shared<ReadTexts>();
  wse::TaskKernel kernel = kernel_of(std::move(own), texts);
  wse::LayerPlan plan;
  plan.bytes = kernel.bytes;
  plan.limit = params.core_bytes();
  plan.kernel.emplace();
  plan.kernel->wide = true;
  plan.stages.push_back({request.op.id, {std::move(kernel.program)}, {{0, 0, 0}}});
  plan.compare = std::move(kernel.compare);
  OpResult result = run_task_plan(request, std::move(plan));
  for (const auto& [name, text] : *texts) result.notes.emplace_back("read " + name, text);
  if (texts->empty() || !request.execution.explain) return result;
  ExplainSection& section = result.explanation.section("Read back");
  for (const auto& [name, text] : *texts) section.fact(name, text);
  return result;
}

}  // namespace lacuna
