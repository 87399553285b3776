// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/explain.hpp"

namespace lacuna::test {
namespace {

OpResult run(const char* mode, Engine engine) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("bow");
  machine->set("ipu.tiles", "16", "test");
  LayerOp op;
  op.id = "gemm";
  op.op = "gemm";
  op.m = op.k = op.n = 64;
  const Mask mask = dense_mask(64, 64);
  if (std::string(mode) != "dense") {
    op.mode = std::string(mode) == "static" ? Mode::static_ : Mode::dynamic;
  }
  Execution execution;
  execution.engine = engine;
  execution.explain = true;
  return machine->run(op, op.mode == Mode::automatic ? nullptr : &mask, 1, execution);
}

const ExplainSection& section(const OpResult& result, const std::string& title) {
  for (const ExplainSection& found : result.explanation.sections) {
    if (found.title == title) return found;
  }
  throw std::runtime_error("no section " + title);
}

class IpuExplain : public ::testing::TestWithParam<const char*> {};

TEST_P(IpuExplain, PhasesAddUpToTheCyclesOfTheRun) {
  const OpResult result = run(GetParam(), Engine::event);
  Cycle sum = 0;
  for (const auto& row : section(result, "phases, as simulated").tables.at(0).rows) {
    sum += std::stoull(row.at(2));
  }
  EXPECT_EQ(sum, result.cycles);
}

TEST_P(IpuExplain, IsTheSameInBothEngines) {
  RunRecord event;
  event.ops.resize(1);
  event.ops[0].result = run(GetParam(), Engine::event);
  RunRecord clocked = event;
  clocked.ops[0].result = run(GetParam(), Engine::clocked);
  EXPECT_EQ(explain_text(event), explain_text(clocked));
  ASSERT_EQ(event.ops[0].result.explanation.maps.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(explain_figures({event})[i].csv, explain_figures({clocked})[i].csv);
  }
}

TEST_P(IpuExplain, NamesABusiestTileThatNoTileExceeds) {
  const OpResult result = run(GetParam(), Engine::event);
  const ExplainSection& busiest = section(result, "busiest tile");
  EXPECT_EQ(busiest.facts.at(0).first, "tile");
  EXPECT_LT(std::stoul(busiest.facts.at(0).second), 16U);
  for (const auto& row : busiest.tables.at(0).rows) {
    EXPECT_LE(std::stoull(row.at(1)), std::stoull(row.at(3))) << row.at(0);
  }
}

// A row that is no product has its plan, its phases, its busiest tile and its estimate as well.
TEST(IpuExplainOfRows, HasPlanPhasesBusiestTileAndEstimate) {
  const std::unique_ptr<Machine> machine = make_ipu_machine("bow");
  machine->set("ipu.tiles", "16", "test");
  for (const auto& [op, fn] :
       {std::pair{"softmax", ""}, std::pair{"layernorm", ""}, std::pair{"eltwise", "gelu"},
        std::pair{"eltwise", "bias"}, std::pair{"bmm", "dot"}, std::pair{"bmm", "l1"},
        std::pair{"embed", "gather"}, std::pair{"optim", "lamb"}}) {
    LayerOp row;
    row.id = "row";
    row.op = op;
    row.fn = fn;
    row.m = row.k = row.n = 64;
    if (row.op == "optim") row.dtype = DType::fp32;
    Execution execution;
    execution.explain = true;
    const OpResult result = machine->run(row, nullptr, 1, execution);
    SCOPED_TRACE(row.op + " " + row.fn);
    EXPECT_EQ(section(result, "plan").facts.at(0).second.empty(), false);
    EXPECT_GE(section(result, "phases, as simulated").tables.at(0).rows.size(), 1U);
    EXPECT_GE(section(result, "busiest tile").tables.at(0).rows.size(), 1U);
    const ExplainSection& estimate = section(result, "planner's estimate against the simulation");
    EXPECT_GE(estimate.tables.at(0).rows.size(), 1U);
    // Exchanges and barriers are more than the estimate of an element-wise row says.
    EXPECT_LE(std::stoull(estimate.tables.at(0).rows.back().at(1)), 2 * result.cycles);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, IpuExplain, ::testing::Values("dense", "static", "dynamic"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace lacuna::test
