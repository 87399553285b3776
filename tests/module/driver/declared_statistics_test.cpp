// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {
namespace {

/// Small rows of many kinds, with and without a mask.
std::vector<LayerOp> rows() {
  std::vector<LayerOp> all;
  const auto add = [&](const char* name, std::uint32_t k, Mode mode, std::uint32_t block,
                       bool sparse) {
    LayerOp op;
    op.id = op.op = name;
    op.m = op.n = 64;
    op.k = k;
    op.mode = mode;
    if (sparse) {
      op.pattern.name = block == 1 ? "unstructured" : "block";
      op.pattern.density = Decimal{5, 1};
      op.pattern.block_rows = op.pattern.block_cols = block;
    }
    all.push_back(op);
  };
  for (const char* const name : {"gemm", "bmm"}) add(name, 64, Mode::automatic, 1, false);
  for (const char* const name : {"softmax", "layernorm", "axpy"}) {
    add(name, 0, Mode::automatic, 1, false);
  }
  for (const Mode mode : {Mode::static_, Mode::dynamic, Mode::streamed}) {
    for (const std::uint32_t block : {1U, 16U}) add("gemm", 64, mode, block, true);
  }
  add("sddmm", 64, Mode::automatic, 16, true);
  return all;
}

class DeclaredStatistics
    : public testing::TestWithParam<std::unique_ptr<Machine> (*)(std::string)> {};

TEST_P(DeclaredStatistics, AreAllThatResultsHaveAndEachOnce) {
  const std::unique_ptr<Machine> machine = GetParam()("small");
  for (const auto& [path, value] : {std::pair("ipu.tiles", "16"), std::pair("wafer.columns", "4"),
                                    std::pair("wafer.rows", "4")}) {
    if (machine->parameters().find(path) != nullptr) machine->set(path, value, "");
  }
  const std::vector<DeclaredStatistic> declared = machine->statistics();
  const auto count = [&](const StatEntry& entry) {
    return std::count_if(declared.begin(), declared.end(), [&](const DeclaredStatistic& known) {
      return known.entry.path == entry.path && known.entry.name == entry.name &&
             known.entry.unit == entry.unit && known.entry.doc == entry.doc &&
             known.entry.action == entry.action;
    });
  };
  for (const DeclaredStatistic& each : declared) {
    EXPECT_EQ(count(each.entry), 1) << each.entry.path << "." << each.entry.name;
    EXPECT_EQ(each.entry.value, 0U);
  }
  int ran = 0;
  for (const LayerOp& op : rows()) {
    Mask mask;
    const bool sparse = op.pattern.name != "dense";
    if (sparse) mask = generate_mask(op.pattern, op.m, op.op == "sddmm" ? op.n : op.k, 1);
    OpResult result;
    try {
      result = machine->run(op, sparse ? &mask : nullptr, 1, Execution{});
    } catch (const UnsupportedError&) {
      continue;
    }
    ++ran;
    for (const StatEntry& entry : result.statistics) {
      EXPECT_EQ(count(entry), 1) << op.id << ": " << entry.path << "." << entry.name;
    }
    for (const StackPart& part : result.stack) {
      const auto same = [&](const DeclaredStatistic& known) {
        return known.entry.name == part.kind && known.layer == layer_name(part.layer);
      };
      EXPECT_TRUE(std::any_of(declared.begin(), declared.end(), same))
          << op.id << ": " << part.kind;
    }
  }
  EXPECT_GE(ran, 8);
}

INSTANTIATE_TEST_SUITE_P(Machines, DeclaredStatistics,
                         testing::Values(make_ipu_machine, make_wse_machine));

}  // namespace
}  // namespace lacuna
