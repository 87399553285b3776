// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/statistics_list.hpp"

#include <algorithm>
#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"

namespace lacuna {

namespace {

void make_small(Machine& machine) {
  for (const auto& [path, value] : {std::pair("ipu.tiles", "16"), std::pair("wafer.columns", "4"),
                                    std::pair("wafer.rows", "4")}) {
    if (machine.parameters().find(path) != nullptr) machine.set(path, value, "");
  }
}

std::string layer_of(const OpResult& result, const StatEntry& entry) {
  if (entry.unit != "cycles") return "";
  const auto part = std::find_if(result.stack.begin(), result.stack.end(),
                                 [&](const StackPart& p) { return p.kind == entry.name; });
  return part == result.stack.end() ? "" : layer_name(part->layer);
}

void add(const OpResult& result, std::vector<ListedStatistic>& list) {
  for (const StatEntry& entry : result.statistics) {
    const bool known = std::any_of(list.begin(), list.end(), [&](const ListedStatistic& listed) {
      return listed.entry.path == entry.path && listed.entry.name == entry.name;
    });
    if (!known) list.push_back({entry, layer_of(result, entry)});
  }
}

}  // namespace

std::vector<ListedStatistic> list_statistics(Machine& machine) {
  make_small(machine);
  LayerOp op;
  op.id = "tiny";
  op.m = op.k = op.n = 64;
  std::vector<ListedStatistic> list;
  const auto run = [&](const Mask* mask) {
    try {
      add(machine.run(op, mask, 1, Execution{}), list);
    } catch (const SimulationError&) {  // a mode that this kind does not have
    }
  };
  run(nullptr);
  LayerOp rows = op;
  rows.op = "softmax";
  rows.k = 0;
  std::swap(op, rows);
  run(nullptr);
  op.op = "axpy";
  run(nullptr);
  std::swap(op, rows);
  op.pattern.density = Decimal{5, 1};
  for (const Mode mode : {Mode::static_, Mode::dynamic, Mode::streamed}) {
    op.mode = mode;
    for (const std::uint32_t block : {1U, 16U}) {
      op.pattern.name = block == 1 ? "unstructured" : "block";
      op.pattern.block_rows = op.pattern.block_cols = block;
      const Mask mask = generate_mask(op.pattern, op.m, op.k, 1);
      run(&mask);
    }
  }
  op.op = "sddmm";
  op.mode = Mode::automatic;
  const Mask mask = generate_mask(op.pattern, op.m, op.n, 1);
  run(&mask);
  return list;
}

}  // namespace lacuna
