// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/summary_rows.hpp"

#include <gtest/gtest.h>

#include "models/sparsity/mask.hpp"

namespace lacuna::test {
namespace {

OpResult a_result() {
  OpResult result;
  result.cycles = 1000;
  result.clock_ghz = 2.0;
  result.units = 3;
  result.mac_algorithmic = 8000;
  result.mac_useful = 4000;
  result.sram_read_bytes = 600;
  result.sram_write_bytes = 400;
  result.fabric_bytes = 500;
  result.io_bytes = 250;
  result.peaks.flop_per_cycle = 16;
  result.stack = {{Layer::compute, "mac", 1000}, {Layer::idle, "drained", 2000}};
  return result;
}

OpRecord a_record(const OpResult& result) {
  OpRecord op;
  LayerOp layer;
  layer.id = "q";
  layer.m = layer.k = layer.n = 20;
  op.result = result;
  op.row = describe_op(layer, nullptr, Mode::static_);
  add_result(op.row, op.result);
  return op;
}

TEST(Measure, RatesFollowFromCountsCyclesAndClock) {
  const SummaryRow row = a_record(a_result()).row;
  EXPECT_EQ(*row.time_s, 5e-7);        // 1000 cycles at 2 GHz
  EXPECT_EQ(*row.useful_flop, 8000U);  // 2 x 4000
  EXPECT_DOUBLE_EQ(*row.useful_tflops, 0.016);
  EXPECT_EQ(*row.utilisation, 0.5);  // of 16 x 1000
  EXPECT_DOUBLE_EQ(*row.sram_gbps, 2.0);
  EXPECT_DOUBLE_EQ(*row.fabric_gbps, 1.0);
  EXPECT_DOUBLE_EQ(*row.io_gbps, 0.5);
}

TEST(Measure, ARepeatedOperationCountsAsOftenAndSaysSo) {
  const OpResult thrice = repeated(a_result(), 3);
  EXPECT_EQ(thrice.cycles, 3000U);
  EXPECT_EQ(thrice.mac_useful, 12000U);
  EXPECT_EQ(thrice.stack[1].cycles, 6000U);
  EXPECT_EQ(thrice.io_bytes, 750U);
  EXPECT_EQ(thrice.notes.back().first, "repeat");
  EXPECT_TRUE(repeated(a_result(), 1).notes.empty());
}

TEST(Measure, EnergyGivesPowerAndPicojoulesPerUsefulFlop) {
  SummaryRow row = a_record(a_result()).row;
  add_energy(row, {1e-9, 4e-9, 8e-9});
  EXPECT_DOUBLE_EQ(*row.power_w, 4e-9 / 5e-7);
  EXPECT_DOUBLE_EQ(*row.pj_per_useful_flop, 0.5);  // 4000 pJ over 8000
}

TEST(Measure, ADenseRowHasNoBlockAndTheDenseKernelUnlessItAsksForAnother) {
  LayerOp op;
  const SummaryRow row = describe_op(op, nullptr, Mode::static_);
  EXPECT_EQ(row.mode, "dense");
  EXPECT_EQ(row.residency, "");
  op.residency = Residency::resident;
  EXPECT_EQ(describe_op(op, nullptr, Mode::static_).residency, "resident");
  EXPECT_EQ(row.block, "");
  EXPECT_EQ(*row.density, 1.0);
}

TEST(Measure, WhatWasRunStandsInPlaceOfWhatWasAsked) {
  LayerOp op;
  op.mode = Mode::static_;
  SummaryRow row = describe_op(op, nullptr, Mode::streamed);
  EXPECT_EQ(row.mode, "static");
  OpResult result = a_result();
  result.mode = "dense";
  result.residency = "resident";
  result.x_density = 0.25;
  add_result(row, result);
  EXPECT_EQ(row.mode, "dense");
  EXPECT_EQ(row.residency, "resident");
  EXPECT_EQ(*row.x_density, 0.25);
}

TEST(Measure, DensityIsThatOfTheMaskAndNotTheOneAskedFor) {
  Mask mask = dense_mask(4, 4, 2);
  mask.offsets = {0, 1, 1};
  mask.columns = {0};
  LayerOp op;
  op.pattern.name = "block";
  op.pattern.density = Decimal{3, 1};
  op.pattern.block_rows = op.pattern.block_cols = 2;
  const SummaryRow row = describe_op(op, &mask, Mode::static_);
  EXPECT_EQ(*row.density, 0.25);
  EXPECT_EQ(row.block, "2");
  EXPECT_EQ(row.mode, "static");
}

TEST(Measure, TotalSumsAndKeepsWhatAllHaveInCommon) {
  OpRecord second = a_record(a_result());
  second.row.dtype = "fp32";
  const SummaryRow total = total_of({a_record(a_result()), second});
  EXPECT_EQ(total.op_id, "TOTAL");
  EXPECT_EQ(*total.cycles, 2000U);
  EXPECT_EQ(*total.time_s, 1e-6);
  EXPECT_EQ(*total.utilisation, 0.5);
  EXPECT_EQ(*total.density, 1.0);
  EXPECT_EQ(total.pattern, "dense");
  EXPECT_EQ(total.dtype, "");
  EXPECT_FALSE(total.m);
}

// A layer has products of weights, and rows without: 3/4 of 20 x 20 and 1/4 of 20 x 20 are 1/2.
TEST(Measure, TotalOfALayerHasThePatternAndDensityOfItsWeights) {
  OpRecord one = a_record(a_result());
  one.row.pattern = "unstructured";
  one.row.mode = "static";
  one.row.density = 0.75;
  OpRecord two = one;
  two.row.density = 0.25;
  OpRecord scores = a_record(a_result());
  scores.row.op = "bmm";
  OpRecord softmax = a_record(a_result());
  softmax.row.op = "softmax";
  softmax.row.k.reset();
  const SummaryRow total = total_of({one, scores, softmax, two});
  EXPECT_EQ(total.pattern, "unstructured");
  EXPECT_EQ(total.mode, "static");
  EXPECT_EQ(*total.density, 0.5);
  EXPECT_EQ(total_of({scores, scores}).pattern, "dense");
}

TEST(Measure, TotalOfARunWithAFailedOperationHasNoValues) {
  OpResult failed;
  failed.status = Status::out_of_memory;
  failed.reason = "needs 2 bytes, has 1";
  const SummaryRow total = total_of({a_record(a_result()), a_record(failed)});
  EXPECT_EQ(total.status, Status::out_of_memory);
  EXPECT_EQ(total.reason, "q: needs 2 bytes, has 1");
  EXPECT_FALSE(total.cycles);
  EXPECT_FALSE(total.useful_flop);
}

}  // namespace
}  // namespace lacuna::test
