// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/ipu/chip_bench.hpp"

namespace lacuna::ipu {
namespace {

// What the public descriptions of a tile say, one test for a statement, in both engines. A compute
// set is launched in 11 clocks.
constexpr Cycle kLaunch = 11;

class TileConformance : public ::testing::TestWithParam<Engine> {
 protected:
  TileConformance() { begin(); }

  void begin() {
    builder_ = std::make_unique<ProgramBuilder>(params_);
    builder_->bundle(Bundle("idle"));
    work_ = builder_->bundle(Bundle("work"));
  }

  static ChipParams one_tile() {
    ChipParams params;
    params.ipu.tiles = 1;
    return params;
  }
  std::uint32_t code(Codelet codelet) { return builder_->codelet(std::move(codelet)); }
  std::uint32_t worker(std::uint32_t bundles) {
    return builder_->worker({{code({issue(work_, static_cast<std::int32_t>(bundles))}), {}}});
  }
  std::vector<std::uint32_t> set(const std::vector<std::uint32_t>& bundles) {
    std::vector<std::uint32_t> result;
    for (const std::uint32_t n : bundles) result.push_back(n == 0 ? kNone : worker(n));
    return result;
  }

  /// Clocks of a vertex with this supervisor and these worker sets.
  Outcome run_vertex(Codelet supervisor, const std::vector<std::uint32_t>& sets) {
    builder_->work(0, builder_->vertex({{code(std::move(supervisor)), {}}}, sets));
    builder_->superstep(builder_->compute_set("c"), kNone);
    builder_->program().mac_algorithmic = 1U << 20U;
    const Outcome outcome = simulate({params_, builder_->take()}, {GetParam(), GetParam()});
    begin();
    return outcome;
  }
  Cycle clocks(Codelet supervisor, const std::vector<std::uint32_t>& sets) {
    return run_vertex(std::move(supervisor), sets).cycles - kLaunch;
  }

  /// One worker that issues `bundle` ten times, with operands that fill the memory so.
  Outcome ten_times(const Bundle& bundle, const OperandBytes& operands = {}) {
    builder_->operands(operands);
    const std::uint32_t index = builder_->bundle(bundle);
    const std::uint32_t one = builder_->worker({{code({issue(index, 10)}), {}}});
    return run_vertex({run(0)}, {one, kNone, kNone, kNone, kNone, kNone});
  }

  const ChipParams params_ = one_tile();
  std::unique_ptr<ProgramBuilder> builder_;
  std::uint32_t work_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Engines, TileConformance,
                         ::testing::Values(Engine::clocked, Engine::event),
                         [](const auto& i) { return i.index == 0 ? "clocked" : "event"; });

TEST_P(TileConformance, BundlesOfAWorkerTakeSixClocksEachHoweverManyOthersRun) {
  EXPECT_EQ(clocks({run(0)}, set({7, 0, 0, 0, 0, 0})), 42U);
  EXPECT_EQ(clocks({run(0)}, set({7, 7, 7, 0, 0, 0})), 42U);
  EXPECT_EQ(clocks({run(0)}, set({7, 7, 7, 7, 7, 7})), 42U);
}

TEST_P(TileConformance, TheLongestWorkerOfALaunchDecides) {
  EXPECT_EQ(clocks({run(0)}, set({3, 9, 1, 4, 0, 5})), 54U);
}

// The supervisor does not advance while six workers live, and goes on when the last is out.
TEST_P(TileConformance, TheSupervisorsClocksAndTheWorkersAddUp) {
  const Codelet code{issue(0, 5), run(0), issue(0, 8)};
  const Outcome outcome = run_vertex(code, set({4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(outcome.cycles, kLaunch + 5 + 24 + 8);
  EXPECT_EQ(outcome.counters.at("supervisor"), kLaunch + 5 + 8);
  EXPECT_EQ(outcome.counters.at("worker"), 24U);
}

// rpt: one bundle to set up, none for a turn. Five turns of three bundles: 1 + 15.
TEST_P(TileConformance, ALoopOfAWorkerHasNoOverheadForATurn) {
  const std::uint32_t body =
      builder_->worker({{code({issue(0, 1), loop(2, 5), issue(1, 1), issue(1, 2)}), {}}});
  EXPECT_EQ(clocks({run(0)}, {body, kNone, kNone, kNone, kNone, kNone}), 96U);
}

// A loop of the supervisor with n turns: 6 (n - 1) + 1 beside its body, as a taken branch costs 6.
TEST_P(TileConformance, ATakenBranchOfTheSupervisorTakesSixClocks) {
  const Codelet turns{loop(2, 3), issue(0, 10), issue(0, 6), issue(0, 10), issue(0, 1)};
  EXPECT_EQ(clocks(turns, {}), 4U * 10 + 6 * 3 + 1);
}

// In the 1 x 1 convolution the supervisor prepares the next step from when the first worker is out:
// max(6 x longest, 6 x shortest + 14), + 9 in the n x 1 one.
TEST_P(TileConformance, TheSupervisorRunsAheadOfTheSlowestWorker) {
  EXPECT_EQ(clocks({run(0, 14)}, set({10, 10, 10, 10, 10, 10})), 74U);
  EXPECT_EQ(clocks({run(0, 14)}, set({10, 8, 10, 10, 10, 10})), 62U);
  EXPECT_EQ(clocks({run(0, 14)}, set({10, 7, 10, 10, 10, 10})), 60U);
  EXPECT_EQ(clocks({run(0, 9)}, set({10, 9, 10, 10, 10, 10})), 63U);
}

// A load of 64 or 128 bits, two loads, a load and a store, two loads and a store, a store.
TEST_P(TileConformance, EveryFormOfAccessOfTheIsaIsOneBundle) {
  const std::vector<Bundle> forms{
      Bundle("ld64").add(Tally::read_input, 1),
      Bundle("ld128").add(Tally::read_weight, 2),
      Bundle("ld2x64pace").add(Tally::read_input, 1).add(Tally::read_weight, 1),
      Bundle("ldst64pace").add(Tally::read_input, 1).add(Tally::write_output, 1),
      Bundle("ld2xst64pace")
          .add(Tally::read_input, 1)
          .add(Tally::read_partial, 1)
          .add(Tally::write_partial, 1),
      Bundle("st64").add(Tally::write_output, 1)};
  for (const Bundle& form : forms) {
    EXPECT_EQ(ten_times(form).cycles, kLaunch + 60) << form.name;
  }
}

TEST_P(TileConformance, ThreeLoadsOrTwoStoresInABundleAreRefused) {
  EXPECT_THROW(ten_times(Bundle("three").add(Tally::read_input, 2).add(Tally::read_weight, 1)),
               UnsupportedError);
  EXPECT_THROW(ten_times(Bundle("two").add(Tally::write_output, 2)), UnsupportedError);
}

// 16 B loaded and 8 B stored a clock: six workers that do so in every slot.
TEST_P(TileConformance, ATileLoadsSixteenBytesAndStoresEightInAClock) {
  const std::uint32_t bundle = builder_->bundle(Bundle("triad")
                                                    .add(Tally::read_input, 1)
                                                    .add(Tally::read_weight, 1)
                                                    .add(Tally::write_output, 1));
  const std::uint32_t one = builder_->worker({{code({issue(bundle, 50)}), {}}});
  const Outcome outcome = run_vertex({run(0)}, {one, one, one, one, one, one});
  EXPECT_EQ(outcome.cycles, kLaunch + 300);
  EXPECT_EQ(outcome.counters.at("bytes_sram_written"), 300U * 8);
  // one 64-bit fetch of instructions for four bundles comes in beside the loads
  EXPECT_EQ(outcome.counters.at("bytes_sram_read"), 300U * 16);
  EXPECT_GE(outcome.counters.at("ifetches"), 300U / 4);
}

// 416 of the 624 KiB are interleaved. Of more, a part is not, and two accesses take two slots.
TEST_P(TileConformance, WideLoadsNeedInterleavedMemory) {
  const Bundle wide = Bundle("ld128").add(Tally::read_weight, 2);
  const auto kib = [](std::uint64_t n) { return OperandBytes().add(Operand::weight, n * 1024); };
  const Outcome inside = ten_times(wide, kib(416));
  EXPECT_EQ(inside.cycles, kLaunch + 60);
  EXPECT_EQ(inside.counters.at("conflict"), 0U);
  const Outcome outside = ten_times(wide, kib(432));
  EXPECT_EQ(outside.cycles, kLaunch + 120);  // each bundle loses a slot
  EXPECT_EQ(outside.counters.at("conflict"), 10U);
}

// An operand that has room for elements of its own never meets another.
TEST_P(TileConformance, OperandsInElementsOfTheirOwnDoNotConflict) {
  const Bundle both = Bundle("ld2x64").add(Tally::read_input, 1).add(Tally::read_weight, 1);
  OperandBytes apart;
  apart.add(Operand::input, 200 * 1024).add(Operand::weight, 200 * 1024);
  EXPECT_EQ(ten_times(both, apart).cycles, kLaunch + 60);
}

// 64 products of halves a clock from six workers, 32 with partials in FP32, 16 of singles.
TEST_P(TileConformance, AllWorkersTogetherFormTheProductsOfOneInstructionAClock) {
  for (const auto& [tally, macs] :
       {std::pair{Tally::amp_mac_fp16, 64U}, {Tally::amp_mac_fp32, 16U}}) {
    const std::uint32_t amp = builder_->bundle(Bundle("amp").add(tally, macs));
    const std::uint32_t one = builder_->worker({{code({issue(amp, 20)}), {}}});
    const Outcome outcome = run_vertex({run(0)}, {one, one, one, one, one, one});
    EXPECT_EQ(outcome.counters.at("mac_actual"), 120U * macs);
    EXPECT_EQ(outcome.cycles, kLaunch + 120);
  }
}

}  // namespace
}  // namespace lacuna::ipu
