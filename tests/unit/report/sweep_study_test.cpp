// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sweep_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report/answer/mean.hpp"

namespace lacuna::test {
namespace {

using ::testing::ElementsAre;

RunRecord a_run(std::uint64_t index, double seconds, double pj, const std::string& machine = "bow",
                std::uint64_t seed = 1) {
  RunRecord run;
  run.run = index;
  run.machine = machine;
  run.workload = "w";
  run.pattern = "block16:0.1";
  run.seed = seed;
  run.total.op_id = kTotal;
  run.total.run = index;
  run.total.seed = seed;
  run.total.cycles = static_cast<std::uint64_t>(seconds * 1e9);
  run.total.time_s = seconds;
  run.total.useful_flop = 1000;
  run.total.useful_tflops = 1 / seconds;
  run.total.pj_per_useful_flop = pj;
  run.total.energy_j = JouleRange{pj * 500e-12, pj * 1000e-12, pj * 2000e-12};
  return run;
}

TEST(ParetoFront, HasTheRunsThatNoOtherOfTheirMachineBeats) {
  // 1 is slower and dearer than 0; 2 is faster and dearer; 3 as fast as 2 and dearer
  const std::vector<RunRecord> runs = {a_run(0, 2, 5), a_run(1, 3, 6), a_run(2, 1, 8),
                                       a_run(3, 1, 9), a_run(4, 9, 9, "wse2")};
  EXPECT_THAT(pareto_front(runs), ElementsAre(&runs[0], &runs[2], &runs[4]));
}

TEST(Sensitivity, ComparesRunsThatDifferInOneAxisAlone) {
  // time = 1, 2 by a; x 4 by b: 1, 4, 2, 8
  const std::vector<RunRecord> runs = {a_run(0, 1, 1), a_run(1, 4, 1), a_run(2, 2, 1),
                                       a_run(3, 8, 1)};
  const SweepAxes axes{{"a", "b"}, {{"1", "x"}, {"1", "y"}, {"2", "x"}, {"2", "y"}}};
  const std::vector<Sensitivity> found = sensitivities(runs, axes);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].axis, "b");
  EXPECT_DOUBLE_EQ(found[0].time_typical, 4);
  EXPECT_EQ(found[0].groups, 2U);
  EXPECT_EQ(found[0].fastest, "x");
  EXPECT_DOUBLE_EQ(found[1].time_most, 2);
  EXPECT_DOUBLE_EQ(found[1].energy_typical, 1);
}

// 1 and 3 J by a; an empty product has no energy per FLOP, and joules all the same
TEST(Sensitivity, ComparesJoules) {
  std::vector<RunRecord> runs = {a_run(0, 1, 1), a_run(1, 1, 3)};
  runs[0].total.useful_flop = 0;
  runs[0].total.pj_per_useful_flop.reset();
  const std::vector<Sensitivity> found = sensitivities(runs, {{"a"}, {{"1"}, {"2"}}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].energy_typical, 3);
  EXPECT_DOUBLE_EQ(found[0].energy_most, 3);
}

TEST(Mean, OfFourValuesHasTheIntervalOfStudentsT) {
  // mean 5, deviation sqrt((9+1+1+9)/3) = 2.582; t of 3 degrees 3.182; half = 3.182*2.582/2
  const Mean mean = mean_of({2, 4, 6, 8});
  EXPECT_DOUBLE_EQ(mean.mean, 5);
  EXPECT_NEAR(*mean.half, 4.108, 0.001);
  EXPECT_FALSE(mean_of({7}).half.has_value());
  EXPECT_NEAR(student_t95(60), 2.000, 0.003);
  EXPECT_NEAR(student_t95(1000), 1.962, 0.002);
}

TEST(SeedGroups, HoldRunsThatDifferInTheirSeedAlone) {
  const std::vector<RunRecord> runs = {a_run(0, 1, 1), a_run(1, 2, 1, "bow", 2),
                                       a_run(2, 1, 1, "wse2")};
  const std::vector<SeedGroup> groups = seed_groups(runs);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].size(), 2U);
}

}  // namespace
}  // namespace lacuna::test
