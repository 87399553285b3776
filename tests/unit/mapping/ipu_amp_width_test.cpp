// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/static/codelets.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

constexpr Types kHalf{DType::fp16, DType::fp16};

class NarrowAmp : public ::testing::Test {
 protected:
  NarrowAmp() { target_.units_half = 8; }

  /// Clocks of a vertex, and what its bundles do together.
  Cycle run(std::uint32_t vertex) {
    std::vector<std::uint64_t> issues(builder_.program().bundles.size());
    const Program& program = builder_.program();
    const Cycle cycles = vertex_cost(program, program.vertices[vertex], issues).cycles;
    for (std::size_t b = 0; b < issues.size(); ++b) {
      for (std::size_t t = 0; t < kTallies; ++t) {
        done_.at(t) += issues[b] * program.bundles[b].tallies.at(t);
      }
    }
    return cycles;
  }

  std::uint64_t done(Tally tally) const { return done_.at(static_cast<std::size_t>(tally)); }

  ChipParams chip_;
  Target target_;
  ProgramBuilder builder_{chip_};
  Tallies done_{};
};

// An AMP of 8 columns makes two passes over a block of 16 rows. Each takes 16 clocks and the
// workers' 6 * (19 + 4 * 10) for 11 columns; the weights, 64 clocks, are loaded in halves. A row
// has 17 clocks and a bundle more for each pass of its first block; the entry 30 + 6 * 13.
TEST_F(NarrowAmp, MakesTwoPassesOverABlockOf16) {
  EXPECT_EQ(block_passes(target_, kHalf, 16), 2U);
  EXPECT_EQ(block_passes(target_, kHalf, 8), 1U);
  StaticCodelets codelets(builder_, target_, kHalf, 16);
  const std::vector<std::uint32_t> rows(24, 2);
  const Cycle row = 17 + 2 * 6 + 2 * (2 * (16 + 6 * 59) + 64);
  EXPECT_EQ(run(codelets.vertex({rows.data(), rows.data() + rows.size()}, 64)), 108U + 24 * row);
  // the same products, weights and partials as in one pass, the columns read twice
  EXPECT_EQ(done(Tally::amp_mac_fp16), 48U * 256 * 64);
  EXPECT_EQ(done(Tally::read_weight), 48U * 64);
  EXPECT_EQ(done(Tally::write_partial), 48U * 64 * 4);
  EXPECT_EQ(done(Tally::read_input), 48U * 64 * 4 * 2);
}

// 32 columns of FP16 partials are 64 B for each element, in bundles of 8 B or 16 B.
TEST(WideAmp, IsHeldBackByTheStorePort) {
  Target target;
  target.units_half = 32;
  EXPECT_EQ(conv_out_group(target, kHalf), 32U);
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 8U);
  target.store_bytes = 16;
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 4U);
}

}  // namespace
}  // namespace lacuna::ipu
