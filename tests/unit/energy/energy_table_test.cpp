// SPDX-License-Identifier: Apache-2.0
#include "models/energy/energy_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "models/energy/action_table.hpp"
#include "sim/base/error.hpp"
#include "tests/support/energy/chips.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

using test::TempFile;

const char* const kHeader =
    "event,unit,class,n16_low,n16_nominal,n16_high,n7_low,n7_nominal,n7_high,n5_low,n5_nominal,"
    "n5_high,mark,source\n";

TEST(EnergyTable, PricesRiseFromLowToHighInEveryRow) {
  const EnergyTable table = test::shipped_prices();
  EXPECT_EQ(table.rows().size(), 42U);
  for (const EnergyRow& row : table.rows()) {
    for (const EnergyRange& price : row.nodes) {
      EXPECT_LE(price.low, price.nominal) << row.event;
      EXPECT_LE(price.nominal, price.high) << row.event;
    }
  }
}

TEST(EnergyTable, OtherNodesAreTheSevenNanometrePriceTimesTheFactorOfTheClass) {
  const std::map<std::string, std::pair<double, double>> factors{
      {"logic", {1.85, 0.72}}, {"sram", {1.70, 0.82}}, {"wire", {1.50, 0.85}}, {"none", {1, 1}}};
  const EnergyTable table = test::shipped_prices();
  for (const EnergyRow& row : table.rows()) {
    if (row.scaling == "leak") continue;  // leakage has values of its own for each node
    const auto& [n16, n5] = factors.at(row.scaling);
    for (const Corner corner : kCorners) {
      const double base = row.price(Node::n7).at(corner);
      EXPECT_NEAR(row.price(Node::n16).at(corner), base * n16, base * 0.001) << row.event;
      EXPECT_NEAR(row.price(Node::n5).at(corner), base * n5, base * 0.001) << row.event;
    }
  }
}

TEST(EnergyTable, EveryEventOfEveryActionHasAPrice) {
  const EnergyTable table = test::shipped_prices();
  const ActionTable actions = test::shipped_actions();
  EXPECT_EQ(actions.rows().size(), 45U);
  for (const ActionRow& row : actions.rows()) {
    EXPECT_NE(table.find(row.event), nullptr) << row.action;
  }
}

TEST(EnergyTable, TakesAUsersPricesAndListsTheShippedOnesItFellBackOn) {
  const TempFile file(std::string(kHeader) + "pcie,pJ/bit,none,1,2,3,1,2,3,1,2,3,A,my bench\n");
  const EnergyTable shipped = test::shipped_prices();
  const EnergyTable table = EnergyTable::read_over(file.path(), shipped);
  EXPECT_EQ(table.find("pcie")->price(Node::n7).nominal, 2);
  EXPECT_EQ(table.find("wire")->price(Node::n7).nominal, 0.06);
  EXPECT_THAT(table.taken_from_shipped(), SizeIs(shipped.rows().size() - 1));
}

TEST(EnergyTable, RefusesAnEventItDoesNotKnowAndNamesTheNearest) {
  const TempFile file(std::string(kHeader) + "wires,pJ/bit,wire,1,2,3,1,2,3,1,2,3,A,mine\n");
  EXPECT_THAT([&] { EnergyTable::read_over(file.path(), test::shipped_prices()); },
              ThrowsMessage<RequestError>(
                  HasSubstr("there is no energy event 'wires'; did you mean 'wire'?")));
}

TEST(EnergyTable, NamesFileLineAndColumnOfWhatItCannotRead) {
  const auto refusal = [](const std::string& rows, const std::string& text) {
    const TempFile file(kHeader + rows);
    EXPECT_THAT([&] { EnergyTable::read(file.path()); },
                ThrowsMessage<RequestError>(HasSubstr(text)));
  };
  const std::string good = "wire,pJ/bit,wire,1,2,3,1,2,3,1,2,3,A,mine\n";
  refusal(good + "pcie,pJ/bit,none,1,2,3,1,x,3,1,2,3,A,mine\n",
          ".csv:3: column 'n7': 'x' is not a number of at least 0");
  refusal("wire,pJ/bit,wire,1,2,3,1,2,3,1,5,3,A,mine\n",
          ".csv:2: column 'n5': low 1, nominal 5, high 3 are not in rising order");
  refusal(good + good, ".csv:3: column 'event': 'wire' is given twice");
  refusal("wire,pJ/bit,logik,1,2,3,1,2,3,1,2,3,A,mine\n",
          "'logik' is none of logic, sram, wire, leak, io, none; did you mean 'logic'?");
  refusal("wire,pJ/bit,wire,1,2,3\n", ".csv:2: found fewer cells than columns; allowed: 14");
  refusal(good + "pcie,pJ/bit,none,1,2,3,1,2,3,1,2,3,A,mine,more\n",
          ".csv:3: found more cells than columns; allowed: 14");
  refusal("wire,pJ/bit,wire,1,2,3,1,2,3,1,2,3,A,\"mine\n", ".csv:2: a quote is not closed");
  refusal("wire,pJ/bit,wire,1,2,nan,1,2,3,1,2,3,A,mine\n", "'nan' is not a number");
}

TEST(EnergyTable, SaysWhichFileOrColumnIsMissing) {
  const auto refusal = [](const std::string& path, const std::string& text) {
    EXPECT_THAT([&] { EnergyTable::read(path); }, ThrowsMessage<RequestError>(path + text));
  };
  const std::string columns =
      "; allowed: event,unit,class,n16_low,n16_nominal,n16_high,n7_low,n7_nominal,n7_high,n5_low,"
      "n5_nominal,n5_high,mark,source";
  refusal("/nowhere/table.csv", ": there is no such file");
  refusal("/usr", ": is a folder, not a file");
  const auto damaged = [&](const std::string& text, const std::string& why) {
    const TempFile file(text);
    refusal(file.path(), why);
  };
  damaged("", ":1: found no header" + columns);
  damaged("event,unit,class\n", ":1: there is no column 'n16_low'" + columns);
  damaged("event,unit,class,class\n", ":1: the column 'class' is given twice");
  damaged("event,units\n", ":1: found a column 'units'; did you mean 'unit'?");
}

TEST(EnergyTable, RefusesAPriceInAnotherUnit) {
  const TempFile file(std::string(kHeader) + "wire,nJ/bit,wire,1,2,3,1,2,3,1,2,3,A,mine\n");
  EXPECT_THAT([&] { EnergyTable::read_over(file.path(), test::shipped_prices()); },
              ThrowsMessage<RequestError>(
                  HasSubstr("event 'wire': found the unit 'nJ/bit'; allowed: pJ/bit")));
}

TEST(ActionTable, AnActionMayConsistOfSeveralEvents) {
  const ActionTable actions = test::shipped_actions();
  std::vector<std::string> events;
  for (const ActionRow* row : actions.find("wse", "hop")) events.push_back(row->event);
  EXPECT_THAT(events, ElementsAre("router_hop_32b", "wire"));
  EXPECT_TRUE(actions.find("ipu", "hop").empty());
}

TEST(ActionTable, ALengthOfTheChipMultipliesTheEventsOfAWire) {
  const ActionTable actions = test::shipped_actions();
  // 32 bits over the 17.2 mm of a GC200's exchange
  EXPECT_DOUBLE_EQ(actions.find("ipu", "exch_wire").front()->events(test::gc200().params),
                   32 * 17.2);
}

TEST(ActionTable, RefusesALengthThatNoChipHas) {
  const TempFile file(
      "machine,action,component,counts,event,multiplicity\n"
      "ipu,exch_wire,fabric,one word,wire,32*core_pitch\n");
  EXPECT_THAT([&] { ActionTable::read(file.path()); },
              ThrowsMessage<RequestError>(HasSubstr(
                  ":2: column 'multiplicity': 'core_pitch' is none of exchange_distance_mm, "
                  "core_pitch_mm; did you mean 'core_pitch_mm'?")));
}

}  // namespace
}  // namespace lacuna
