// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/ipu/types.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"
#include "workloads/mapping/ipu/static/codelets.hpp"
#include "workloads/mapping/ipu/static/cost.hpp"

namespace lacuna::ipu {
namespace {

AmpUnit amp_of(const std::string& path, const std::string& value, unsigned store_bytes = 8) {
  AmpParams params;
  params.set(path, value, "test");
  return {params, store_bytes};
}

class NarrowAmp : public ::testing::Test {
 protected:
  NarrowAmp() { target_.amp = amp_of("fp16_macs", "32"); }

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
  target.amp = amp_of("fp16_macs", "128");
  EXPECT_EQ(conv_out_group(target, kHalf), 32U);
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 8U);
  target.amp = amp_of("fp16_macs", "128", 16);
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 4U);
}

// A column that forms two products in a clock takes 8 bundles for 16 inputs, and there are 32 of
// them. Four columns as deep as 16 take an element in 4 bundles all the same: its inputs are 32 B,
// 8 of them in a bundle; in 2 if a bundle takes 16.
TEST(DeepAmp, IsHeldBackByItsInputs) {
  Target target;
  EXPECT_EQ(target.amp.columns(AmpMode::half), 16U);
  target.amp = amp_of("depth", "2");
  EXPECT_EQ(conv_units(target, kHalf), 32U);
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 8U);
  target.amp = amp_of("depth", "16");
  EXPECT_EQ(conv_units(target, kHalf), 4U);
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 4U);
  AmpParams wide;
  wide.set("depth", "16", "test");
  wide.set("input_bytes", "16", "test");
  target.amp = {wide, 8};
  EXPECT_EQ(conv_amp_bundles(target, kHalf), 2U);
}

// A result that leaves three elements after its own keeps a worker 2 * 4 bundles longer, whatever
// it does; a store of 64 B contracts 32 inputs of FP16, in 8 bundles, and takes twice the loads.
TEST(DeepAmp, FillsAndContractsLonger) {
  Target target;
  const std::uint64_t sold = conv_worker_bundles(target, kHalf, 10, false, Form::run_time);
  EXPECT_EQ(sold, 38U + 4 * 7 - 7);
  target.amp = amp_of("latency", "3");
  EXPECT_EQ(conv_worker_bundles(target, kHalf, 10, false, Form::run_time), sold + 8);
  EXPECT_EQ(block_worker_bundles(target, kHalf, 16, 10), 19U + 4 * 9 + 8);
  target.amp = amp_of("column_bytes", "64");
  EXPECT_EQ(conv_in_group(target, kHalf), 32U);
  EXPECT_EQ(conv_worker_bundles(target, kHalf, 10, false, Form::run_time), sold + 4 * 10 + 4);
  EXPECT_EQ(conv_supervisor(target, kHalf).loads, 128U);
}

}  // namespace
}  // namespace lacuna::ipu
