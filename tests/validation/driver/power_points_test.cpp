// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "models/system/params.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

struct Power {
  std::string kind, role;
  double published, predicted, low, high;
};

/// power.csv of `lacuna validate` on the shipped powers, by id; no field has a comma.
std::map<std::string, Power> shipped_powers() {
  const TempFolder own;
  const std::string folder = own.path().string();
  const Ran ran =
      run_real("validate --quiet --points " + source_path("traces/validation/power.csv") +
               " --out " + folder + "/out");
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::map<std::string, Power> powers;
  std::istringstream lines(file_text(folder + "/out/power.csv"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    const auto number = [&](std::size_t i) { return std::strtod(cells.at(i).c_str(), nullptr); };
    powers[cells.at(0)] = {cells.at(4), cells.at(5), number(6), number(7), number(8), number(9)};
  }
  return powers;
}

TEST(PowerPoints, TheMeasuredPowerIsPredictedWithoutBeingUsedAndNoneIsAboveItsMaximum) {
  const std::map<std::string, Power> powers = shipped_powers();
  ASSERT_EQ(powers.size(), 10U);
  const Power& measured = powers.at("PWR-01");
  EXPECT_EQ(measured.role, "predicted");
  EXPECT_NEAR(measured.predicted, measured.published, 0.25 * measured.published);
  for (const auto& [id, power] : powers) {
    SCOPED_TRACE(id);
    EXPECT_LE(power.low, power.predicted);
    EXPECT_LE(power.predicted, power.high);
    if (power.kind == "maximum") {
      EXPECT_LE(power.predicted, power.published);
    }
    // a talk gives 800 to 1,200 W for the first anchor; the second is taken within a fifth
    if (power.role == "anchor") {
      EXPECT_NEAR(power.predicted, power.published, 200);
    }
  }
}

TEST(PowerPoints, TrainingStepsAndBoundariesAgreeOnWhatAMachineDrawsBesideItsChips) {
  std::ifstream file(source_path("sim/config/power_boundaries.csv"));
  std::string line;
  double nominal = 0;
  while (std::getline(file, line)) {
    if (line.rfind("machine,rest,", 0) != 0) continue;
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < 4; ++i) std::getline(cells, cell, ',');
    nominal = std::strtod(cell.c_str(), nullptr);
  }
  EXPECT_DOUBLE_EQ(nominal, system::SystemParams().machine_w);
}

}  // namespace
}  // namespace lacuna::test
