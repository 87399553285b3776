// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/energy/chips.hpp"
#include "tests/support/energy/energy_comparison.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

/// Watts of a component at peak activity, nominal.
double watts(const EnergyResult& result, Component component) {
  return result.of(component).nominal / result.seconds;
}

struct PeakPower {
  test::Chip chip;
  double mac, sram, issue, fabric, clock, tree, leak, nominal, low, high, factor;
};

TEST(EnergyModel, GivesTheTableOfPeakPowerOfSevenChips) {
  // mac, sram, issue, fabric, clock, clock tree, leakage, nominal, low, high in watts; spread. The
  // tree: 23 (7.3 to 73) pJ a tile and cycle, 6.5 (2.1 to 20.6) a core, times 1.85 at 16 nm and
  // 0.72 at 5 nm: of GC200 1,472 * 1.325 GHz * 23 pJ = 44.9 W
  const std::vector<PeakPower> table{
      {test::gc200(), 89.9, 39.9, 12.9, 0, 17.1, 44.9, 21.8, 226.5, 99.3, 526.8, 1.48},
      {test::gc2(), 82.9, 67.7, 23.3, 0, 20.9, 82.8, 10.1, 287.7, 113.9, 657.3, 1.59},
      {test::bow(), 116.7, 51.9, 16.7, 0, 22.2, 58.2, 21.8, 287.6, 127.6, 660.2, 1.49},
      {test::c600(), 101.7, 45.2, 14.6, 0, 19.4, 50.8, 21.8, 253.5, 111.8, 585.8, 1.48},
      {test::wse2(), 1870, 15558, 1870, 1772, 2528, 6078, 1093, 30769, 7444, 72661, 2.11},
      {test::wse1(), 1391, 10636, 1391, 1410, 1779, 4521, 570, 21700, 5411, 51496, 2.07},
      {test::wse3(), 2851, 13508, 1426, 1446, 2308, 4633, 1452, 27625, 7127, 63803, 2.05}};
  for (const PeakPower& row : table) {
    SCOPED_TRACE(row.chip.name);
    const EnergyResult result = test::at_peak(row.chip);
    const auto expect = [](double found, double published) {
      EXPECT_NEAR(found, published, published * 0.005);
    };
    expect(watts(result, Component::mac), row.mac);
    expect(watts(result, Component::sram), row.sram);
    expect(watts(result, Component::issue), row.issue);
    expect(watts(result, Component::fabric), row.fabric);
    expect(watts(result, Component::clock), row.clock);
    expect(watts(result, Component::clock_tree), row.tree);
    expect(watts(result, Component::leakage), row.leak);
    expect(result.standing().nominal / result.seconds, row.tree + row.leak);
    expect(result.power_w(Corner::nominal), row.nominal);
    expect(result.power_w(Corner::low), row.low);
    expect(result.power_w(Corner::high), row.high);
    EXPECT_NEAR(result.uncertainty_factor(), row.factor, 0.01);
  }
}

TEST(EnergyModel, TheBusiestCycleOfATileOrCoreCostsWhatTheDatasheetSays) {
  // tile: 64*0.72 + (2*64*0.10 + 64*0.12) + 5 + 64*0.10/4 = 46.08 + 20.48 + 5 + 1.6
  EXPECT_NEAR(test::model_of(test::gc200()).unit_peak_pj().nominal, 73.16, 1e-9);
  // core, without its two hops: 4*0.5 + (2*64*0.08 + 64*0.10) + 2 = 2 + 16.64 + 2
  EXPECT_NEAR(test::model_of(test::wse2()).unit_peak_pj().nominal, 20.64, 1e-9);
}

/// One core of a WSE-2: 1,000 weights for 64 tokens, 90 % of the weights zero, in which a kept
/// weight takes 16 cycles of four lanes.
struct CoreRun {
  Cycle cycles;
  std::uint64_t macs, zero_tests, index_decodes, idle_cycles;
};

constexpr CoreRun kZerosMultiplied{16000, 64000, 0, 0, 0};
constexpr CoreRun kGated{16000, 6400, 1000, 0, 14400};
constexpr CoreRun kSkipped{1600, 6400, 1000, 100, 0};

test::Chip one_core() {
  test::Chip core = test::wse2();
  core.params.chip_units = 1;
  core.sram_mb = 0.049152;
  core.area_mm2 = 0.03876;
  return core;
}

EnergyRun counted(const CoreRun& run) {
  const std::uint64_t busy = run.macs / 4;
  EnergyRun result;
  result.statistics = {test::counted("mac_actual", "mac_fp16_acc16", run.macs),
                       test::counted("sram_reads", "sram_read", 2 * busy),
                       test::counted("sram_writes", "sram_write", busy),
                       test::counted("issues", "issue", run.cycles),
                       test::counted("zero_tests", "zero_test", run.zero_tests),
                       test::counted("index_decodes", "index_decode", run.index_decodes)};
  result.input.cycles = run.cycles;
  result.input.clock_ghz = one_core().clock_ghz;
  result.input.units = 1;
  one_core().add_silicon(result.input);
  result.input.idle_cycles = run.idle_cycles;
  return result;
}

EnergyResult priced(const CoreRun& run) {
  const EnergyRun made = counted(run);
  return test::model_of(one_core()).price(made.statistics, made.input);
}

EnergyComparison compared(const CoreRun& one, const CoreRun& other) {
  return compare_energy(test::shipped_prices(), test::shipped_actions(), "wse", one_core().params,
                        counted(one), counted(other));
}

double picojoules(const EnergyResult& result, Component component) {
  return result.of(component).nominal * 1e12;
}

TEST(EnergyModel, PricesZerosMultipliedGatedAndSkippedAsWorkedByHand) {
  const EnergyResult multiplied = priced(kZerosMultiplied);
  EXPECT_NEAR(picojoules(multiplied, Component::mac), 32000, 0.1);      // 64,000 * 0.5
  EXPECT_NEAR(picojoules(multiplied, Component::sram), 266240, 0.1);    // 16,000 * 16.64
  EXPECT_NEAR(picojoules(multiplied, Component::issue), 32000, 0.1);    // 16,000 * 2
  EXPECT_NEAR(picojoules(multiplied, Component::clock), 39628.8, 0.1);  // 12 % of 330,240
  // 1.07292 mW for 16,000 cycles of 1.1 GHz
  EXPECT_NEAR(picojoules(multiplied, Component::leakage), 15606.1, 0.1);
  EXPECT_NEAR(picojoules(multiplied, Component::clock_tree), 104000, 0.1);  // 16,000 * 6.5
  EXPECT_NEAR(multiplied.total.nominal * 1e12, 489474.9, 0.1);

  const EnergyResult gated = priced(kGated);
  EXPECT_NEAR(picojoules(gated, Component::metadata), 15, 0.1);  // 1,000 * 0.015
  EXPECT_NEAR(picojoules(gated, Component::clock), 7420.7, 0.1);
  // 0.3 * 0.12 * 14,400 * 20.64
  EXPECT_NEAR(picojoules(gated, Component::idle_clock), 10699.8, 0.1);
  EXPECT_NEAR(gated.total.nominal * 1e12, 199565.6, 0.1);  // the tree as before

  const EnergyResult skipped = priced(kSkipped);
  EXPECT_NEAR(picojoules(skipped, Component::metadata), 17, 0.1);  // and 100 * 0.02
  EXPECT_NEAR(picojoules(skipped, Component::leakage), 1560.6, 0.1);
  EXPECT_NEAR(skipped.total.nominal * 1e12, 48966.5, 0.1);  // a tenth of the tree's 104,000
}

TEST(EnergyModel, AbsoluteEnergyRangesTenfoldBetweenTheCorners) {
  const EnergyResult multiplied = priced(kZerosMultiplied);
  EXPECT_NEAR(multiplied.total.low * 1e6, 0.1116, 0.0005);  // microjoules
  EXPECT_NEAR(multiplied.total.high * 1e6, 1.07, 0.005);
}

TEST(EnergyComparison, SkippingSavesNineTenthsWhateverTheEventsCost) {
  const EnergyComparison ratio = compared(kSkipped, kZerosMultiplied);
  EXPECT_NEAR(ratio.nominal, 0.1, 0.0001);
  EXPECT_NEAR(ratio.least, 0.1, 0.00015);
  EXPECT_NEAR(ratio.most, 0.1, 0.00015);
  EXPECT_TRUE(ratio.robust());
}

TEST(EnergyComparison, WhatGatingSavesRestsOnTheClockTreeAndMemory) {
  // 199,565.6 / 489,474.9; with the tree at its low, 2.1 pJ, both are 70,400 pJ less, at its high,
  // 20.6 pJ, 225,600 more
  const EnergyComparison ratio = compared(kGated, kZerosMultiplied);
  EXPECT_NEAR(ratio.nominal, 0.408, 0.0005);
  EXPECT_NEAR(ratio.least, 0.308, 0.0005);
  EXPECT_NEAR(ratio.most, 0.595, 0.0005);
  EXPECT_FALSE(ratio.robust());
  ASSERT_GE(ratio.movers.size(), 3U);
  const std::vector<std::string> strongest{ratio.movers[0].event, ratio.movers[1].event,
                                           ratio.movers[2].event};
  EXPECT_THAT(strongest,
              UnorderedElementsAre("sram_write_small", "sram_read_small", "clock_tree_wafer_core"));
}

TEST(EnergyComparison, ARatioThatMayBeOnEitherSideOfOneIsNotRobust) {
  EnergyComparison near_one{1.01, 0.99, 1.05, {}};
  EXPECT_FALSE(near_one.robust());
  near_one.least = 1.001;
  EXPECT_TRUE(near_one.robust());
}

TEST(EnergyModel, ComponentsSumToEveryTotal) {
  for (const EnergyResult& result : {priced(kGated), test::at_peak(test::bow())}) {
    for (const Corner corner : kCorners) {
      double sum = 0;
      for (const EnergyRange& component : result.components) sum += component.at(corner);
      EXPECT_NEAR(sum, result.total.at(corner), result.total.at(corner) * 1e-12);
    }
  }
}

/// Two members: nominal, and memory and issue of a core at twice, the clock tree at half of it.
EnergyTable with_two_members() {
  const test::TempFile set(
      "event,nominal,other\nsram_read_small,1,2\nsram_write_small,1,2\n"
      "instr_issue_wafer_core,1,2\nclock_tree_wafer_core,2,1\n");
  return test::shipped_prices().with_set(set.path());
}

TEST(EnergySet, RangesAreOverItsMembersAndNotOverAllPrices) {
  const EnergyModel model(with_two_members(), test::shipped_actions(), "wse", one_core().params);
  const EnergyRun run = counted(kZerosMultiplied);
  const EnergyResult result = model.price(run.statistics, run.input);
  // nominal: the tree at 13 pJ, 208,000 pJ in place of 104,000
  EXPECT_NEAR(result.total.nominal * 1e12, 593474.9, 0.1);
  EXPECT_NEAR(result.total.low * 1e12, 593474.9, 0.1);
  // the other: memory 266,240 and issue 32,000 once more, with their 12 % of clock; the tree at 6.5
  const double other = 489474.9 + 1.12 * (266240 + 32000);
  EXPECT_NEAR(result.total.high * 1e12, other, 0.1);
  EXPECT_NEAR(result.of(Component::clock_tree).low * 1e12, 104000, 0.1);
  // two members: half the distance of their logarithms
  EXPECT_NEAR(result.uncertainty_factor(), std::sqrt(other / 593474.9), 1e-6);
  // of a sum each member has its own total: idle, the first member is the larger
  EnergyInput idle = run.input;
  EnergyResult sum = model.price({}, idle);
  sum += result;
  EXPECT_NEAR(sum.total.low * 1e12, 593474.9 + 208000 + 15606.1, 0.2);
  EXPECT_NEAR(sum.total.high * 1e12, other + 104000 + 15606.1, 0.2);
}

TEST(EnergySet, RefusesWhatIsNoEventOrNoFactor) {
  const auto read = [](const std::string& text) {
    test::shipped_prices().with_set(test::TempFile(text).path());
  };
  EXPECT_THAT([&] { read("event,nominal\nwyre,1\n"); },
              ThrowsMessage<RequestError>(
                  HasSubstr(":2: found 'wyre', which is no event; did you mean 'wire'?")));
  EXPECT_THAT([&] { read("event,nominal\nwire,0\n"); },
              ThrowsMessage<RequestError>(HasSubstr(":2: found '0'; allowed: a factor above 0")));
  EXPECT_THAT([&] { read("event,nominal\nwire,1,2\n"); },
              ThrowsMessage<RequestError>(HasSubstr(":2: found 3 cells; allowed: 2")));
}

TEST(EnergyModel, TwoRunsAddAndRepeatsMultiply) {
  EnergyResult sum = priced(kGated);
  sum += priced(kSkipped);
  EXPECT_NEAR(sum.total.nominal * 1e12, 199565.6 + 48966.5, 0.2);
  EXPECT_NEAR(sum.seconds, 17600 / 1.1e9, 1e-15);
  EXPECT_EQ(sum.items.size(), 6U);

  const EnergyResult thrice = priced(kSkipped).repeated(3);
  EXPECT_NEAR(thrice.total.high, 3 * priced(kSkipped).total.high, 1e-18);
  EXPECT_NEAR(thrice.power_w(Corner::nominal), priced(kSkipped).power_w(Corner::nominal), 1e-12);
  EXPECT_NEAR(thrice.uncertainty_factor(), priced(kSkipped).uncertainty_factor(), 1e-12);
}

EnergyResult on_gc200(double calibration, std::uint64_t macs, std::uint64_t link_bits) {
  test::Chip chip = test::gc200();
  chip.params.calibration = calibration;
  EnergyInput input;
  input.cycles = 1000;
  input.clock_ghz = chip.clock_ghz;
  input.units = 1472;
  return test::model_of(chip).price({test::counted("amp_macs", "amp_mac_fp16", macs),
                                     test::counted("link_bits", "link_bit", link_bits)},
                                    input);
}

TEST(EnergyModel, CalibrationScalesTheChipAndLeavesRatiosAndLinksAlone) {
  EXPECT_DOUBLE_EQ(on_gc200(2, 1000000, 0).total.nominal,
                   2 * on_gc200(1, 1000000, 0).total.nominal);
  EXPECT_DOUBLE_EQ(on_gc200(2, 1000000, 0).total.high / on_gc200(2, 500000, 0).total.high,
                   on_gc200(1, 1000000, 0).total.high / on_gc200(1, 500000, 0).total.high);
  // 1,000 bits at 6 pJ, with neither clock nor calibration
  EXPECT_DOUBLE_EQ(on_gc200(2, 0, 1000).of(Component::off_chip).nominal, 6e-9);
}

TEST(EnergyModel, TwiceTheClockLeaksHalfAsMuchForTheSameWork) {
  test::Chip fast = test::gc200();
  fast.clock_ghz *= 2;
  const EnergyResult once = test::at_peak(test::gc200());
  const EnergyResult twice = test::at_peak(fast);
  EXPECT_DOUBLE_EQ(twice.of(Component::mac).nominal, once.of(Component::mac).nominal);
  EXPECT_DOUBLE_EQ(twice.of(Component::clock).high, once.of(Component::clock).high);
  EXPECT_DOUBLE_EQ(twice.of(Component::leakage).low, once.of(Component::leakage).low / 2);
  EXPECT_DOUBLE_EQ(twice.seconds, once.seconds / 2);
}

TEST(EnergyModel, SupplyVoltageScalesActionsButNotLeakage) {
  test::Chip lower = test::gc200();
  lower.params.vdd_squared = 0.5;
  EXPECT_DOUBLE_EQ(watts(test::at_peak(lower), Component::sram),
                   watts(test::at_peak(test::gc200()), Component::sram) / 2);
  EXPECT_DOUBLE_EQ(watts(test::at_peak(lower), Component::leakage),
                   watts(test::at_peak(test::gc200()), Component::leakage));
}

TEST(EnergyModel, AnIdleChipLeaksAndClocksAndDoesNothingElse) {
  EnergyInput input;
  input.cycles = 1325;  // 1 microsecond
  input.clock_ghz = 1.325;
  input.units = 1472;
  test::gc200().add_silicon(input);
  input.idle_cycles = 1325 * 1472;
  const EnergyResult result = test::model_of(test::gc200()).price({}, input);
  // 940.6 MB * 10 mW + 823 mm2 * 15 mW = 21.751 W for 1 us
  EXPECT_NEAR(result.of(Component::leakage).nominal, 21.751e-6, 1e-12);
  // 0.3 * 0.12 * 1,950,400 * 73.16 pJ
  EXPECT_NEAR(result.of(Component::idle_clock).nominal, 5.1369e-6, 1e-10);
  // 23 pJ * 1,950,400
  EXPECT_NEAR(result.of(Component::clock_tree).nominal, 44.8592e-6, 1e-10);
  EXPECT_DOUBLE_EQ(result.total.nominal, result.standing().nominal);
  EXPECT_DOUBLE_EQ(result.activity().nominal, 0);
}

TEST(EnergyModel, APieceOfAWaferLeaksLikeThePiece) {
  EnergyInput input;
  input.cycles = 1100000;  // 1 ms
  input.clock_ghz = 1.1;
  input.units = 64 * 64;
  test::wse2().add_silicon(input);
  // (40,000 MB * 10 mW + 46,225 mm2 * 15 mW) * 4,096 / 850,000 for 1 ms, and the clock tree of
  // 4,096 cores, 6.5 pJ * 1.1 million cycles * 4,096
  EXPECT_NEAR(test::model_of(test::wse2()).price({}, input).total.nominal, 5.26878e-3 + 29.2864e-3,
              1e-8);
}

TEST(EnergyModel, ATileIdlesInAnExchangeAndACoreDoesNot) {
  const std::vector<StackPart> stack{
      {Layer::compute, "fmac", 1},       {Layer::exchange, "send", 10},
      {Layer::sync, "barrier", 100},     {Layer::stall, "bank", 1000},
      {Layer::imbalance, "wait", 10000}, {Layer::idle, "done", 100000}};
  EXPECT_EQ(idle_unit_cycles(test::shipped_actions().unit("ipu"), stack), 111110U);
  EXPECT_EQ(idle_unit_cycles(test::shipped_actions().unit("wse"), stack), 111100U);
}

TEST(EnergyModel, AWordAcrossTheExchangeOfAGc200CostsFortyPicojoules) {
  EnergyInput input;
  input.clock_ghz = 1.325;
  const EnergyResult result = test::model_of(test::gc200())
                                  .price({test::counted("exch_sent", "exch_send", 1),
                                          test::counted("exch_received", "exch_recv", 1),
                                          test::counted("exch_word_distance", "exch_wire", 1)},
                                         input);
  // wires 32*0.06*17.2, read 32*0.10, write 32*0.12
  EXPECT_NEAR(result.of(Component::fabric).nominal * 1e12, 33.024 + 3.2 + 3.84, 1e-9);
  EXPECT_NEAR(result.of(Component::fabric).low * 1e12, 8.4, 0.05);
  EXPECT_NEAR(result.of(Component::fabric).high * 1e12, 93, 0.5);
}

TEST(EnergyModel, RefusesACounterWhoseActionHasNoRow) {
  EXPECT_THAT([] { test::model_of(test::gc200()).price({test::counted("hops", "hop", 0)}, {}); },
              ThrowsMessage<RequestError>(
                  AllOf(HasSubstr("counter 'unit.hops'"), HasSubstr("'hop'"), HasSubstr("'ipu'"))));
}

TEST(EnergyModel, RefusesAnActionWhoseEventHasNoPrice) {
  std::vector<EnergyRow> rows = test::shipped_prices().rows();
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const EnergyRow& row) { return row.event == "link_serdes"; }),
             rows.end());
  const EnergyModel model(EnergyTable("cut.csv", rows), test::shipped_actions(), "ipu",
                          test::gc200().params);
  EXPECT_THAT([&] { model.price({test::counted("link_bits", "link_bit", 1)}, {}); },
              ThrowsMessage<RequestError>(AllOf(HasSubstr("counter 'unit.link_bits'"),
                                                HasSubstr("'link_bit'"), HasSubstr("'link_serdes'"),
                                                HasSubstr("cut.csv"))));
}

TEST(EnergyModel, CountersWithoutAnActionCostNothing) {
  EXPECT_EQ(
      test::model_of(test::gc200()).price({test::counted("mac_zero", "", 1000)}, {}).total.high, 0);
}

}  // namespace
}  // namespace lacuna
