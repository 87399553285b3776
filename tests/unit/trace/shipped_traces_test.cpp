// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "models/sparsity/mask_statistics.hpp"
#include "models/sparsity/pattern.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/printed_row.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/text_file.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_show.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string shipped(const std::string& name) { return test::source_path("traces/" + name); }

TEST(ShippedTraces, AreAllRightAndTheirMasksCanBeMade) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(shipped(""))) {
    if (entry.path().extension() != ".csv") continue;
    found.insert(entry.path().filename().string());
    const WorkloadTrace trace = read_trace(entry.path().string());
    for (const LayerOp& op : trace.ops) make_mask(op, trace, 1);
    EXPECT_THAT(check_trace(entry.path().string()), HasSubstr("no problem found"));
  }
  EXPECT_THAT(found, ::testing::IsSupersetOf({"bert_base_layer.csv", "gemm_popsparse.csv",
                                              "small_gemms.csv", "transformer_l0_mag90.csv"}));
}

// 4 masks of 26,214 and 2 of 104,857: 314,570 non-zeros times 2,048 columns.
TEST(ShippedTraces, PrunedTransformerKeepsOneTenthOfItsWeights) {
  const WorkloadTrace trace = read_trace(shipped("transformer_l0_mag90.csv"));
  OpCost total;
  for (const LayerOp& op : trace.ops) total += cost_of(op, make_mask(op, trace, 1)->nnz());
  EXPECT_EQ(trace.ops.size(), 6U);
  EXPECT_EQ(total.useful_macs, std::uint64_t{314570} * 2048);
  EXPECT_EQ(total.algorithmic_macs, std::uint64_t{3145728} * 2048);
}

// 16 rows; 2 * 2,048 * 12 * 768^2 FLOP of weights and 4 * 4 * 512^2 * 768 of attention.
TEST(ShippedTraces, BertBaseLayerIsAWholeLayerAsTheGeneratorWritesIt) {
  TransformerOptions forward;
  forward.sequences = 4;
  forward.tokens = 512;
  forward.layers = 1;
  const std::string text =
      format_trace(make_transformer(find_model_shape("bert-base"), forward), "",
                   {"lacuna trace make bert-base --layers 1 --sequences 4 --tokens 512"});
  EXPECT_EQ(read_text_file(shipped("bert_base_layer.csv")), text);
  const WorkloadTrace trace = read_trace(shipped("bert_base_layer.csv"));
  EXPECT_EQ(trace.ops.size(), 16U);
  std::uint64_t macs = 0;
  for (const LayerOp& op : trace.ops) macs += cost_of(op, masked_elements(op)).algorithmic_macs;
  EXPECT_EQ(2 * macs, 28991029248U + 3221225472U);
}

TEST(ShippedTraces, SmallProductsCoverEveryPattern) {
  std::set<std::string> covered;
  for (const char* name : {"small_gemms.csv", "small_trained.csv"}) {
    for (const LayerOp& op : read_trace(shipped(name)).ops) covered.insert(op.pattern.name);
  }
  for (const PatternKind& kind : pattern_kinds())
    EXPECT_EQ(covered.count(kind.name), 1U) << kind.name;
  EXPECT_EQ(covered.count("file"), 1U);
}

TEST(ShippedMatrices, HaveTheSizesOfTheirSource) {
  const Mask diagonal = read_pattern_file(shipped("mtx/bcsstm02.mtx")).mask;
  EXPECT_EQ(diagonal.rows, 66U);
  EXPECT_EQ(diagonal.cols, 66U);
  EXPECT_EQ(diagonal.nnz(), 66U);
  for (std::uint32_t r = 0; r < 66; ++r) EXPECT_EQ(diagonal.columns[r], r);
  const Mask graph = read_pattern_file(shipped("mtx/rmat4.4x4.lb.mtx")).mask;
  EXPECT_EQ(graph.rows, 16U);
  EXPECT_EQ(graph.nnz(), 108U);
}

struct Statistics {
  std::uint64_t nnz, empty_rows, empty_cols;
  double grid_8, grid_16, grid_32, bands, occupancy_4, occupancy_16, violations, row_cv, col_cv;
  double row_head_cv, col_head_cv;
};

// Measured on the files by an independent program, to the digits given.
TEST(ShippedMatrices, HaveTheStatisticsMeasuredElsewhere) {
  const std::map<std::string, Statistics> expected = {
      {"q",
       {26214, 0, 53, 3.030, 3.213, 3.555, 1.497, 0.6885, 0.9990, 0.0146, 0.343, 0.695, 0.272,
        0.473}},
      {"k",
       {26214, 1, 0, 3.538, 3.867, 4.649, 1.787, 0.7195, 0.9990, 0.0188, 0.547, 0.483, 0.355,
        0.331}},
      {"v",
       {26214, 0, 0, 1.975, 2.158, 2.344, 1.692, 0.7352, 1, 0.0119, 0.492, 0.535, 0.127, 0.364}},
      {"output",
       {26214, 2, 0, 1.738, 1.914, 2.148, 1.519, 0.7740, 1, 0.0055, 0.357, 0.321, 0.249, 0.198}},
      {"ffn1",
       {104857, 0, 0, 1.143, 1.211, 1.416, 1.110, 0.7938, 1, 0.0079, 0.239, 0.165, 0.030, 0.084}},
      {"ffn2",
       {104857, 0, 0, 1.099, 1.199, 1.533, 1.357, 0.8042, 1, 0.0040, 0.197, 0.297, 0.038, 0.039}}};
  for (const auto& [name, e] : expected) {
    SCOPED_TRACE(name);
    const MaskStatistics s =
        mask_statistics(read_pattern_file(shipped("dlmc/encoder0_mag90_" + name + ".smtx")).mask);
    constexpr double kThird = 0.0005001;   // three decimals
    constexpr double kFourth = 0.0000501;  // four
    EXPECT_EQ(s.nnz, e.nnz);
    EXPECT_EQ(s.empty_rows, e.empty_rows);
    EXPECT_EQ(s.empty_cols, e.empty_cols);
    EXPECT_NEAR(*s.imbalance_8, e.grid_8, kThird);
    EXPECT_NEAR(*s.imbalance_16, e.grid_16, kThird);
    EXPECT_NEAR(*s.imbalance_32, e.grid_32, kThird);
    EXPECT_NEAR(*s.row_bands, e.bands, kThird);
    EXPECT_NEAR(*s.occupancy_4, e.occupancy_4, kFourth);
    EXPECT_NEAR(*s.occupancy_16, e.occupancy_16, kFourth);
    EXPECT_NEAR(*s.violations_2_4, e.violations, kFourth);
    EXPECT_NEAR(*s.row_cv, e.row_cv, kThird);
    EXPECT_NEAR(*s.col_cv, e.col_cv, kThird);
    EXPECT_NEAR(*s.row_head_cv, e.row_head_cv, kThird);
    EXPECT_NEAR(*s.col_head_cv, e.col_head_cv, kThird);
  }
}

TEST(ShowTrace, ListsRowsTotalsAndMasks) {
  const std::string text = show_trace(read_trace(shipped("transformer_l0_mag90.csv")), 1);
  EXPECT_THAT(text, HasSubstr("transformer_l0_mag90.csv: 6 rows, seed 1"));
  EXPECT_THAT(test::printed_row(text, "fwd.l0.q"),
              ElementsAre("gemm", "file:encoder0_mag90_q.smtx", "512", "512", "2048", "1", "1",
                          "fp16", "0.099998", "26214", "107372544", "1073741824", ::testing::_));
  EXPECT_THAT(test::words_of(text),
              ::testing::IsSupersetOf({"1288478720", "3.030"}));  // 2 * 314,570 * 2,048
}

}  // namespace
}  // namespace lacuna
