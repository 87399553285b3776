// SPDX-License-Identifier: Apache-2.0
#include "sim/base/retired_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "sim/base/parameter.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna {
namespace {

struct Machine : ParameterSet {
  Group<ipu::PlannerParams> planner = group(this, "planner", "");
};

TEST(RetiredParameters, AreRefusedByNameAndSayWhatReplacedThem) {
  Machine machine;
  for (const char* const path :
       {"planner.home_sums", "planner.copy_results", "planner.copy_gathered",
        "planner.order_output", "planner.wide_sums"}) {
    EXPECT_EQ(machine.find(path), nullptr);
    EXPECT_THAT([&] { machine.set(path, "1", "study.yaml:7"); },
                ::testing::ThrowsMessage<ParameterError>(::testing::AllOf(
                    ::testing::HasSubstr(path), ::testing::HasSubstr("was removed: "),
                    ::testing::HasSubstr("(doc/migration.md) (study.yaml:7)"))));
  }
}

TEST(RetiredParameters, AreFoundInTheirGroupsOnly) {
  EXPECT_NE(retired_parameter("chip.planner.wide_sums"), "");
  EXPECT_EQ(retired_parameter("wide_sums"), "");
  EXPECT_EQ(retired_parameter("xplanner.wide_sums"), "");
  EXPECT_EQ(retired_parameter("planner.wide_sum"), "");
}

}  // namespace
}  // namespace lacuna
