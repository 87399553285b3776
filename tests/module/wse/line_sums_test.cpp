// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/line_sums.hpp"

#include <gtest/gtest.h>

#include "models/wse/pe/vector_unit.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

struct LineBench {
  LineBench() { params.sum_step = 10; }

  TaskOutcome run(const LineSums& line, std::uint32_t elements, bool values = false) const {
    TaskProgram program = plan_line_sum(line, elements, costs, params);
    for (std::uint32_t i = 0; values && i < line.cores(); ++i) {
      MemoryImage image(4 * elements);
      for (std::uint32_t e = 0; e < elements; ++e) {
        image.put(4 * e, Element::fp32, static_cast<float>((i + 1) * (e + 3)));
      }
      program.memory.push_back(std::move(image).take());
    }
    return run_tasks(program);
  }

  CodeCosts costs;
  InferenceParams params;
};

TEST(LineSums, ThreeCoresInOneGroup) {
  // All: scalar code of 10 and the start of two descriptors, 2 + 4 + 2; the ends send in cycle 18.
  // The word is on the ramp from 19, in the router in 21, in the middle's in 22, and taken there
  // in 24. The other end's waits until the second addition is set up: 25 + 8 = 33. Then 34 + 10 + 8
  // = 52: the sum is sent, and taken at both ends 6 later, as before. A stamp is taken when a beat
  // is over.
  const TaskOutcome outcome = LineBench().run(LineSums(3, 1, 0), 1);
  EXPECT_EQ(outcome.stamps, (std::vector<std::vector<Cycle>>{{59}, {53}, {59}}));
}

TEST(LineSums, FourCoresInTwoGroups) {
  // Groups {0, 1} and {2, 3} have their middles at 1 and 3, the upper of two; that of group 1 is
  // the root. As above the word of 0 is taken in 24 in core 1, where it is added in place, and
  // that of 2 in core 3. In 25 both begin the second level: 10 + 8. In 43 core 1 sends on; the word
  // passes the router of core 2, a hop more: 43 + 7 = 50. In 51 the root begins the third: in
  // 51 + 18 = 69 it sends, and 0 takes the sum 3 hops away in 69 + 8.
  const TaskOutcome outcome = LineBench().run(LineSums(4, 2, 0), 1);
  EXPECT_EQ(outcome.stamps, (std::vector<std::vector<Cycle>>{{78}, {77}, {76}, {70}}));
}

TEST(LineSums, EveryCoreHasTheSum) {
  for (const std::uint32_t cores : {2U, 3U, 5U, 8U, 13U}) {
    for (std::uint32_t groups = 1; groups <= cores; ++groups) {
      const TaskOutcome outcome = LineBench().run(LineSums(cores, groups, 0), 3, true);
      for (const auto& memory : outcome.memory) {
        for (std::uint32_t e = 0; e < 3; ++e) {
          const float expected = static_cast<float>(cores * (cores + 1) / 2 * (e + 3));
          EXPECT_EQ(load_element(memory, 4 * e, true, false), expected) << cores << " " << groups;
        }
      }
    }
  }
}

TEST(LineSums, UsualGroupsAreWholeAndNearestToTheRoot) {
  EXPECT_EQ(LineSums::usual_groups(256), 16U);
  EXPECT_EQ(LineSums::usual_groups(420), 21U);   // 20 is as near: 420 = 20 x 21
  EXPECT_EQ(LineSums::usual_groups(128), 16U);   // 8 is as near
  EXPECT_EQ(LineSums::usual_groups(3), 3U);      // 1 is as near
  EXPECT_EQ(LineSums(256, 16, 0).root(), 136U);  // published
}

// Of 509 cores, a prime, or 508, four times one, no whole number is near: 23 groups of 22 or 23.
// The sum is as soon over as that of 512, in 32 groups of 16: each core of a group is an addition
// and a hop, each group an addition and its cores' hops. In one group it were 254 additions.
TEST(LineSums, LinesThatDoNotDivideTakeAsLongAsOthers) {
  EXPECT_EQ(LineSums::usual_groups(7), 3U);
  EXPECT_EQ(LineSums::usual_groups(508), 23U);
  const auto cycles = [](std::uint32_t cores) {
    return LineBench().run(LineSums(cores, LineSums::usual_groups(cores), 0), 2).cycles;
  };
  EXPECT_LE(cycles(509), cycles(512));
  EXPECT_LE(cycles(508), cycles(512));
  EXPECT_LT(cycles(509), LineBench().run(LineSums(509, 1, 0), 2).cycles);
}

}  // namespace
}  // namespace lacuna::wse
