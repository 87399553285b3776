// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {
namespace {

LayerOp product(Mode mode, std::uint32_t n) {
  LayerOp op;
  op.id = "row";
  op.m = op.k = 256;
  op.n = n;
  op.mode = mode;
  return op;
}

Mask weights() {
  PatternSpec spec;
  spec.name = "block";
  spec.block_rows = spec.block_cols = 4;
  spec.density = Decimal{2, 1};
  return generate_mask(spec, 256, 256, 3);
}

/// Four tiles of 128 KiB: X and Y of 256 columns take half of the memory, and what a plan makes of
/// all columns at once does not fit beside them.
std::unique_ptr<Machine> small_machine(bool serial) {
  auto machine = make_ipu_machine("test");
  machine->set("ipu.tiles", "4", "");
  machine->set("tile.memory.kib", "128", "");
  machine->set("planner.serial_columns", serial ? "true" : "false", "");
  return machine;
}

std::string note(const OpResult& result, const std::string& name) {
  for (const auto& [title, text] : result.notes) {
    if (title == name) return text;
  }
  return "";
}

class SerialColumns : public ::testing::TestWithParam<Mode> {};

TEST_P(SerialColumns, AreRefusedWithTheParameterThatAllowsThem) {
  const Mask mask = weights();
  try {
    small_machine(false)->run(product(GetParam(), 256), &mask, 1, {});
    ADD_FAILURE() << "it fitted";
  } catch (const OutOfMemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("planner.serial_columns"), std::string::npos);
  }
}

TEST_P(SerialColumns, GiveTheProductOfAllColumnsInBothEngines) {
  const Mask mask = weights();
  const LayerOp op = product(GetParam(), 256);
  Execution execution;
  execution.values = true;
  execution.event_log = true;
  const OpResult event = small_machine(true)->run(op, &mask, 1, execution);
  execution.engine = Engine::clocked;
  execution.shuffle = 9;
  const OpResult clocked = small_machine(true)->run(op, &mask, 1, execution);
  EXPECT_NE(note(event, "serial steps"), "");
  EXPECT_EQ(event.cycles, clocked.cycles);
  EXPECT_TRUE(event.events == clocked.events);
  EXPECT_EQ(event.mac_useful, mask.nnz() * 256);
  EXPECT_EQ(event.mac_algorithmic, 256U * 256U * 256U);
  for (const OpResult& result : {event, clocked}) {
    EXPECT_EQ(result.values->compared, 256U * 256U);
    EXPECT_EQ(result.values->wrong, 0U);
  }
}

// What fits is not cut, and each step of a cut product takes what its columns take alone.
TEST_P(SerialColumns, TakeAsManyTimesTheCyclesOfOneStep) {
  const Mask mask = weights();
  const OpResult all = small_machine(true)->run(product(GetParam(), 256), &mask, 1, {});
  std::uint32_t steps = 0;
  for (const std::uint32_t candidate : {2U, 4U, 8U, 16U, 32U}) {
    const std::string said = std::to_string(candidate) + " steps of ";
    if (note(all, "serial steps").find(said) == 0) steps = candidate;
  }
  ASSERT_NE(steps, 0U) << note(all, "serial steps");
  const OpResult one = small_machine(true)->run(product(GetParam(), 256 / steps), &mask, 1, {});
  EXPECT_EQ(note(one, "serial steps"), "");
  EXPECT_LE(all.cycles, steps * one.cycles);  // a step may begin before all tiles ended the last
  EXPECT_GE(all.cycles, steps * one.cycles * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Modes, SerialColumns, ::testing::Values(Mode::static_, Mode::dynamic),
                         [](const auto& mode) {
                           return std::string(mode.param == Mode::dynamic ? "dynamic" : "static");
                         });

// Inputs stay while rows change, weights while columns do.
TEST(SerialDense, StepsGiveTheProductInBothEngines) {
  for (const auto& [rows, columns] : {std::pair{"2", "1"}, {"1", "4"}, {"4", "2"}}) {
    auto machine = make_ipu_machine("test");
    machine->set("ipu.tiles", "16", "");
    machine->set("planner.dense_row_steps", rows, "");
    machine->set("planner.dense_column_steps", columns, "");
    Execution execution;
    execution.values = true;
    const OpResult event = machine->run(product(Mode::dense, 40), nullptr, 1, execution);
    execution.engine = Engine::clocked;
    execution.shuffle = 5;
    const OpResult clocked = machine->run(product(Mode::dense, 40), nullptr, 1, execution);
    EXPECT_EQ(note(event, "serial steps"), std::string("rows ") + rows + " x columns " + columns);
    EXPECT_EQ(event.cycles, clocked.cycles);
    for (const OpResult& result : {event, clocked}) {
      EXPECT_EQ(result.values->compared, 256U * 40U);
      EXPECT_EQ(result.values->wrong, 0U);
    }
  }
}

}  // namespace
}  // namespace lacuna
