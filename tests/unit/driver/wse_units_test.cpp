// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/wse/program/event_units.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/units.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& name) {
  WseParams params;
  params.set("wafer.columns", "3", "");
  params.set("wafer.rows", "2", "");
  return describe_wafer_unit(params, "small", name);
}

TEST(WaferUnits, EveryUnitThatAnEventLogNamesIsDescribed) {
  for (const std::string& name : wse::event_unit_names(2, 3, 3)) {
    EXPECT_THAT(text_of(name), HasSubstr(name + ": ")) << name;
  }
}

TEST(WaferUnits, ARouterNamesItsNeighboursAndTheEdges) {
  EXPECT_THAT(text_of("wafer.r0.c2.router"),
              HasSubstr("north the edge, east the edge, south wafer.r1.c2.router, west "
                        "wafer.r0.c1.router, ramp wafer.r0.c2.core"));
  EXPECT_THAT(text_of("wafer.r1.c0.router"),
              HasSubstr("north wafer.r0.c0.router, east wafer.r1.c1.router, south the edge, west "
                        "the edge, ramp wafer.r1.c0.core"));
}

TEST(WaferUnits, ANameBeyondTheRectangleIsRefusedWithWhatIsThere) {
  for (const char* const name :
       {"wafer.r2.c0.core", "wafer.r0.c3.router", "wafer.r2", "wafer.r0.c9", "wafer.injector.c3"}) {
    try {
      text_of(name);
      ADD_FAILURE() << name;
    } catch (const RequestError& error) {
      EXPECT_THAT(error.what(), HasSubstr("rows r0 to r1 and columns c0 to c2")) << name;
    }
  }
}

TEST(WaferUnits, OtherWordsAreNoUnits) {
  for (const char* const name :
       {"", "wafer", "wafer.rows", "wafer.r", "wafer.r1.c", "wafer.r1.c1.", "wafer.r1.c1.cores",
        "wafer.r1.c1.core.x", "wafer.rx.c1.core", "wafer.r-1", "wafer.injector", "tile3"}) {
    EXPECT_EQ(text_of(name), "") << name;
  }
}

}  // namespace
}  // namespace lacuna
