// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/dense/conv_codelets.hpp"
#include "workloads/mapping/ipu/dynamic/codelets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/static/codelets.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

/// A program under construction, and what a vertex of it costs and counts.
class CodeletTest : public ::testing::Test {
 protected:
  std::uint64_t cycles(std::uint32_t vertex) {
    issues_.assign(builder_.program().bundles.size(), 0);
    return vertex_cost(builder_.program(), builder_.program().vertices[vertex], issues_).cycles;
  }

  /// The total of a tally in the vertex that cycles() was asked for.
  std::uint64_t tally(Tally tally) const {
    std::uint64_t total = 0;
    for (std::size_t b = 0; b < issues_.size(); ++b) {
      const Tallies& tallies = program().bundles[b].tallies;
      total += issues_[b] * tallies.at(static_cast<std::size_t>(tally));
    }
    return total;
  }

  const Program& program() const { return const_cast<ProgramBuilder&>(builder_).program(); }

  ChipParams params_;
  Target target_;
  ProgramBuilder builder_{params_};
  std::vector<std::uint64_t> issues_;
};

RowCounts counts(const std::vector<std::uint32_t>& rows) {
  return {rows.data(), rows.data() + rows.size()};
}

// The worked example: field 342, 18 groups of 16 inputs, 8 groups of 16 outputs.
TEST_F(CodeletTest, ConvVertexTakesTheCyclesOfTheFormulaAndFormsEveryProduct) {
  ConvCodelets conv(builder_, target_, kHalf);
  EXPECT_EQ(cycles(conv.vertex({342, 18, 8})), 228869U);
  EXPECT_EQ(tally(Tally::amp_mac_fp16), 342U * 18 * 16 * 8 * 16);
  // Weights: 64 accesses for each pair of groups. Partials: 4 accesses for each element and pair.
  EXPECT_EQ(tally(Tally::read_weight), 64U * 18 * 8);
  EXPECT_EQ(tally(Tally::write_partial), 4U * 342 * 18 * 8);
  EXPECT_EQ(tally(Tally::read_partial), 4U * 342 * 17 * 8);
}

TEST_F(CodeletTest, ConvVertexOfEveryTypeTakesTheCyclesOfTheFormula) {
  for (const Types types : {kHalf, kMixed, kSingle, Types{DType::fp8, DType::fp16}}) {
    ConvCodelets conv(builder_, target_, types);
    for (const std::uint64_t field : {1U, 2U, 3U, 7U, 13U, 40U}) {
      for (const std::uint64_t groups : {1U, 2U, 5U}) {
        const ConvVertexShape shape{field, groups, groups + 1};
        EXPECT_EQ(cycles(conv.vertex(shape)),
                  conv_vertex_clocks(target_, types, shape, Form::run_time));
        const Tally macs = types.data == DType::fp32  ? Tally::amp_mac_fp32
                           : types.data == DType::fp8 ? Tally::amp_mac_fp8
                                                      : Tally::amp_mac_fp16;
        EXPECT_EQ(tally(macs), field * groups * conv_in_group(target_, types) * (groups + 1) * 16);
      }
    }
  }
}

// 48 blocks in 24 rows, 64 columns: 11 for five workers and 9 for the last. The worked example
// counts 434 clocks for a block and 23 for a row, and 108 for the entry.
TEST_F(CodeletTest, BlockVertexTakes434ClocksForABlockOf16) {
  StaticCodelets codelets(builder_, target_, kHalf, 16);
  const std::vector<std::uint32_t> rows(24, 2);
  EXPECT_EQ(cycles(codelets.vertex(counts(rows), 64)), 108U + 24 * 23 + 48 * 434);
  EXPECT_EQ(tally(Tally::amp_mac_fp16), 48U * 256 * 64);
  EXPECT_EQ(tally(Tally::read_weight), 48U * 64);
}

TEST_F(CodeletTest, BlockVertexOfEveryTypeTakesTheCyclesOfTheFormula) {
  for (const Types types : {kHalf, kSingle}) {
    for (const unsigned block : {4U, 8U, 16U}) {
      StaticCodelets codelets(builder_, target_, types, block);
      for (const std::uint64_t columns : {6U, 12U, 60U, 66U}) {
        const std::vector<std::uint32_t> rows(5, 3);
        EXPECT_EQ(cycles(codelets.vertex(counts(rows), columns)),
                  block_vertex_clocks(target_, types, block, 5, 3, columns / 6));
        const Tally macs = types.half() ? Tally::amp_mac_fp16 : Tally::amp_mac_fp32;
        EXPECT_EQ(tally(macs), 15U * block * block * columns);
      }
    }
  }
}

// 12 rows of 5, 64 columns: two rows for each worker. 33 + 2 (12 + 8 (14 + 3 * 4)) = 473 bundles.
TEST_F(CodeletTest, ElementWiseVertexTakesSixClocksForEachBundleOfItsLongestWorker) {
  StaticCodelets codelets(builder_, target_, kHalf, 1);
  const std::vector<std::uint32_t> rows(12, 5);
  EXPECT_EQ(cycles(codelets.vertex(counts(rows), 64)), 6U * 473);
  EXPECT_EQ(tally(Tally::mac_fp16), 60U * 64);
  EXPECT_EQ(tally(Tally::meta_words), 60U * 8);
}

// Four columns: 31 + 7 + 2 * 4 = 46 bundles for a row of five. Eight: 30 + 10 + 3 * 4 = 52.
TEST_F(CodeletTest, ElementWiseCodeletsForFourAndEightColumnsAreShorter) {
  StaticCodelets codelets(builder_, target_, kHalf, 1);
  const std::vector<std::uint32_t> rows(6, 5);
  EXPECT_EQ(cycles(codelets.vertex(counts(rows), 4)), 6U * 46);
  EXPECT_EQ(tally(Tally::mac_fp16), 30U * 4);
  EXPECT_EQ(cycles(codelets.vertex(counts(rows), 8)), 6U * 52);
  EXPECT_EQ(tally(Tally::mac_fp16), 30U * 8);
}

// Three rows and 16 columns: each row goes to two workers with eight columns each.
// 30 + 10 + 3 * 4 = 52 bundles.
TEST_F(CodeletTest, FewRowsAreSplitByColumnsOverTheWorkers) {
  StaticCodelets codelets(builder_, target_, kHalf, 1);
  const std::vector<std::uint32_t> rows(3, 5);
  EXPECT_EQ(cycles(codelets.vertex(counts(rows), 16)), 6U * 52);
  EXPECT_EQ(tally(Tally::mac_fp16), 15U * 16);
}

TEST_F(CodeletTest, FillWritesEveryWordOnce) {
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  // 100 stores over six workers: 17 for the first. 14 + 17 bundles.
  EXPECT_EQ(cycles(reduce.fill_vertex(800)), 6U * 31);
  EXPECT_EQ(tally(Tally::write_output), 100U);
}

// 2880 halves are 360 vectors, 60 for each worker, of 15 partials:
// 6 (32 + 60 (3 * 15 + 8)) = 19,272.
TEST_F(CodeletTest, ReduceAddTakesTheCyclesOfTheFormula) {
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(reduce.add_vertex({2880, 15})), 19272U);
  EXPECT_EQ(reduce_clocks(target_, 2880, 15, DType::fp16, DType::fp16), 19272U);
  EXPECT_EQ(tally(Tally::vec_add_fp16), 2880U * 15);
  EXPECT_EQ(tally(Tally::write_output), 2880U / 4);
}

// 2880 halves are 60 vectors for each worker; 14 partials are added to the one on the tile, each in
// two reads of 64 bits: 33 + 6 (20 + 60 (2 * 14 + 9)) = 13,473.
TEST_F(CodeletTest, ReduceAddOfOneContiguousInputReads64BitsAtOnce) {
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(reduce.contiguous_vertex({2880, 14})), 13473U);
  EXPECT_EQ(dense_reduce_clocks(target_, 2880, 15, DType::fp16, DType::fp16), 19272U);  // too long
  EXPECT_EQ(tally(Tally::vec_add_fp16), 2880U * 15);
  EXPECT_EQ(tally(Tally::read_partial), 2880U * 15 / 4);
}

// In interleaved memory 128 bits: 33 + 6 (20 + 60 (14 + 9)) = 8433.
TEST_F(CodeletTest, FastReduceReads128BitsAtOnce) {
  target_.fast_reduce = true;
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(reduce.contiguous_vertex({2880, 14})), 8433U);
  EXPECT_EQ(tally(Tally::vec_add_fp16), 2880U * 15);
  EXPECT_EQ(tally(Tally::read_partial), 2880U * 15 / 4);
}

// 16 partials of 160 halves, 4,800 B received: 33 + 6 (20 + ceil(20 / 6) (2 * 15 + 9)) = 1,089. Of
// 161 halves, no multiple of 8, by pointers: 20 vectors and a piece for six workers, 6 (32 + 2 * 16
// + 11 + 3 (3 * 16 + 8)) = 1,458.
TEST_F(CodeletTest, SumsAreOfOneContiguousInputIfThatIsShortAndEven) {
  EXPECT_EQ(dense_reduce_clocks(target_, 160, 16, DType::fp16, DType::fp16), 1089U);
  EXPECT_EQ(dense_reduce_clocks(target_, 161, 16, DType::fp16, DType::fp16), 1458U);
  EXPECT_TRUE(sums_contiguously(target_, 2488, 9, DType::fp16));   // 39,808 B
  EXPECT_FALSE(sums_contiguously(target_, 2496, 9, DType::fp16));  // 39,936 B: a sixteenth
}

// A C600 copies 8 KiB with six workers in 1308 clocks, 11 of them the launch of the compute set:
// 193 + 6 (14 + ceil(1024 / 6)) + 11 = 1314.
TEST_F(CodeletTest, CopyOf8KibTakesTheMeasuredTime) {
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(reduce.copy_vertex(8192)) + 11, 1314U);
}

// 1000 halves are 500 words, 84 for the first workers: 14 + 84 (2 + 1) bundles. Of singles, each of
// 1000 words takes a load and a store; the first workers have 167.
TEST_F(CodeletTest, ElementsArePutIntoAnotherOrderThreeBundlesForTwoHalves) {
  ReduceCodelets halves(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(halves.reorder_vertex(1000)), 6U * (14 + 84 * 3));
  ReduceCodelets singles(builder_, target_, kSingle, DType::fp32);
  EXPECT_EQ(cycles(singles.reorder_vertex(1000)), 6U * (14 + 167 * 2));
}

// Of 9 partials, a vector of 64 bits takes 13 + 9 bundles. One worker has 2 vectors, the other 4
// and, as another reduction, one more: 16 + 4 * 22 + 16 + 22 = 142 bundles.
TEST_F(CodeletTest, StridedReductionsOfAWorkerFollowEachOther) {
  ReduceCodelets reduce(builder_, target_, kHalf, DType::fp16);
  EXPECT_EQ(cycles(reduce.strided_vertex({{{8, 9}}, {{16, 9}, {4, 9}}})), 6U * 142);
  EXPECT_EQ(tally(Tally::vec_add_fp16), 28U * 9);
  EXPECT_EQ(tally(Tally::write_output), 7U);  // of 64 bits
}

// Floats: 16 + 3 (10 + 9) for 6 of them.
TEST_F(CodeletTest, StridedReductionsOfFloatsTakeTwoAtATime) {
  ReduceCodelets reduce(builder_, target_, kSingle, DType::fp32);
  EXPECT_EQ(cycles(reduce.strided_vertex({{{6, 9}}})), 6U * 73);
}

// The worked example: 4 buckets, in each 64 rows of 11 non-zeros, 64 columns: six workers with 11
// rows at most. 30 + 4 (93 + 6 (33 + 11 (13 + 8 (17 + 33)))).
TEST_F(CodeletTest, DynamicElementVertexLaunchesTheWorkersOncePerBucket) {
  DynamicCodelets dynamic(builder_, target_, kMixed, 1, 4);
  const BucketWork bucket{std::vector<std::uint32_t>(64, 11), 0};
  EXPECT_EQ(cycles(dynamic.vertex({bucket, bucket, bucket, bucket}, 64)),
            30U + 4 * (93 + 6 * (33 + 11 * (13 + 8 * (17 + 33)))));
  EXPECT_EQ(tally(Tally::mac_fp16), 4U * 64 * 11 * 64);
}

// The worked example: 16 buckets, of 22 rows in all, 3 blocks each, 64 columns of which the first
// worker has 11 and the others fewer. Supervisor 40 + 16 * 102 + 22 (3 * 91 + 1) + 2 = 7702,
// workers 6 (23 + 22 * 3 * 2 (24 + 44 - 3)) = 51,618.
TEST_F(CodeletTest, DynamicBlockVertexTakesTheCyclesOfTheFormula) {
  DynamicCodelets dynamic(builder_, target_, kMixed, 16, 1);
  std::vector<BucketWork> buckets(16, BucketWork{{3}, 0});
  for (unsigned i = 0; i < 6; ++i) buckets[i].row_counts.push_back(3);
  EXPECT_EQ(cycles(dynamic.vertex(buckets, 64)), 7702U + 51618U);
  EXPECT_EQ(tally(Tally::amp_mac_fp16), 22U * 3 * 256 * 64);
  EXPECT_EQ(tally(Tally::read_weight), 22U * 3 * 64);
}

TEST_F(CodeletTest, DynamicVertexLooksAtTheSubGroupsOfOthers) {
  DynamicCodelets dynamic(builder_, target_, kMixed, 1, 4);
  EXPECT_EQ(cycles(dynamic.vertex({BucketWork{{}, 2}, BucketWork{{}, 1}}, 64)), 30U + 3 * 32);
}

TEST(DivideRows, WorkersTakeRowsUntilTheyHaveTheirShareOfNonZeros) {
  // 24 non-zeros: a worker is content with four.
  const std::vector<std::uint32_t> rows{1, 1, 1, 1, 8, 4, 4, 4};
  const std::vector<RowRange> ranges = divide_rows(counts(rows), 6);
  ASSERT_EQ(ranges.size(), 6U);
  EXPECT_EQ(ranges[0].last, 4U);
  EXPECT_EQ(ranges[1].last, 5U);
  EXPECT_EQ(ranges[4].last, 8U);
  EXPECT_EQ(ranges[5].first, ranges[5].last);
}

}  // namespace
}  // namespace lacuna::ipu
