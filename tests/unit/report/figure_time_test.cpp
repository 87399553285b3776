// SPDX-License-Identifier: Apache-2.0
#include "sim/report/figures/figure_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/json_member.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

TEST(LoadMap, PutsUnitsRowByRowFromTheTop) {
  const Figure figure = draw_load_map({"load", {}, "Busy", 2, {10, 20, 30, std::nan("")}});
  EXPECT_EQ(figure.csv,
            "column,row,Busy\n"
            "0,0,10\n"
            "1,0,20\n"
            "0,1,30\n"
            "1,1,NaN\n");
  EXPECT_THAT(figure.script, HasSubstr("set yrange [1.5:-0.5]"));
  EXPECT_THAT(figure.script, HasSubstr("set cbrange [0:30]"));
  // the same values and the same scale in the description
  EXPECT_EQ(test::member_of(figure.description, "value"), "Busy");
  EXPECT_EQ(test::member_of(figure.description, "most"), 30);
}

TEST(Phases, StandOnTheirTracksInTheOrderOfAppearance) {
  const Figure figure = draw_phases("phases", {},
                                    {{"tiles", "matmul", Layer::compute, 0, 100, 1},
                                     {"exchange", "gather", Layer::exchange, 100, 130, 1},
                                     {"tiles", "reduce", Layer::compute, 130, 150, 0}});
  EXPECT_EQ(figure.csv,
            "track,phase,layer,place,from,to,busy\n"
            "tiles,matmul,compute,0,0,100,1\n"
            "exchange,gather,exchange,1,100,130,1\n"
            "tiles,reduce,compute,0,130,150,0\n");
  EXPECT_THAT(figure.script,
              HasSubstr("of(kind) = kind eq 'compute' ? blue : kind eq 'exchange' ? skyblue"));
  EXPECT_THAT(figure.script, HasSubstr("set xrange [0:150]"));
  EXPECT_THAT(
      figure.script,
      HasSubstr(
          "set xtics ('0' 0, '50' 50, '100' 100, '150' 150)"));  // 20 would be more than five marks
  EXPECT_EQ(test::member_of(figure.description, "place"), "place");
  EXPECT_EQ(test::member_of(figure.description, "busy"), "busy");
  EXPECT_THAT(nlohmann::json::parse(figure.description).dump(),
              HasSubstr("[\"exchange\",\"skyblue\"]"));
}

}  // namespace
}  // namespace lacuna
