// SPDX-License-Identifier: Apache-2.0
// Tiled star stencils of both generations in the vendor's simulator (Jorineg/cerebras, numbers
// only). The bounds are agreed, not recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

/// Absolute errors in percent of the tiled rows: by generation and radius, "W2-r1", or "history".
std::map<std::string, std::vector<double>> errors_by_group() {
  const TempFolder own;
  const std::string folder = own.path().string();
  const Ran ran = run_real("validate --quiet --points " +
                           source_path("traces/validation/wse_stencil_sim_dev.csv") +
                           " --family stencil_star2d --out " + folder + "/out");
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(file_text(folder + "/out/errors.csv"));
  std::map<std::string, std::vector<double>> groups;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string id;
    std::getline(cells, id, ',');
    std::string cell;
    for (int i = 0; i < 6; ++i) std::getline(cells, cell, ',');
    const bool history = id.find("history") != std::string::npos;
    groups[history ? "history" : id.substr(4, 5)].push_back(
        100 * std::abs(std::strtod(cell.c_str(), nullptr)));
  }
  for (auto& [name, errors] : groups) std::sort(errors.begin(), errors.end());
  return groups;
}

/// As `validate` has it: between the two errors that stand next to the part.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  return sorted.at(below) +
         rest * (sorted.at(std::min(below + 1, sorted.size() - 1)) - sorted[below]);
}

TEST(StencilPoints, SmallTilesCostWhatTheirOperationsCostToStart) {
  const std::map<std::string, std::vector<double>> errors = errors_by_group();
  for (const char* const group : {"W2-r1", "W3-r1"}) {
    ASSERT_GE(errors.at(group).size(), 45U) << group;
    EXPECT_LE(quantile(errors.at(group), 0.95), 5) << group;
  }
  ASSERT_GE(errors.at("W2-r2").size(), 22U);
  EXPECT_LE(quantile(errors.at("W2-r2"), 0.5), 1);
  ASSERT_EQ(errors.at("history").size(), 2U);
  EXPECT_LE(errors.at("history").back(), 6);
}

}  // namespace
}  // namespace lacuna::test
