// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {
namespace {

/// A column of errors.csv by the id of a point; fields before it have no commas.
std::map<std::string, double> column(const std::string& text, std::size_t which) {
  std::map<std::string, double> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string id;
    std::getline(cells, id, ',');
    std::string cell;
    for (std::size_t i = 0; i < which; ++i) std::getline(cells, cell, ',');
    values[id] = std::strtod(cell.c_str(), nullptr);
  }
  return values;
}

// MLPerf training v1.0 and v2.0, raw logs of three submitters, BERT-Large on POD16, Bow Pod16 and
// Bow Pod64: one set of parameters for all. 15 % for each weight update; from Bow Pod16 to Bow
// Pod64 the throughput of a chip falls to 80.5 % as published, and 10 points either way are
// allowed.
TEST(MlPerf, WeightUpdatesOfAllPodsAreWithin15PercentAndScaleWithin10Points) {
  std::string folder = std::filesystem::temp_directory_path() / "lacuna-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Ran ran =
      run_real("validate --quiet --points " + source_path("traces/validation/mlperf.csv") +
               " --family weight_update_time --fail-above 15 --out " + folder + "/out");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const std::string errors = file_text(folder + "/out/errors.csv");
  const std::map<std::string, double> published = column(errors, 4);
  const std::map<std::string, double> simulated = column(errors, 5);
  std::filesystem::remove_all(folder);
  ASSERT_GT(simulated.at("MLP-033"), 0);
  ASSERT_GT(simulated.at("MLP-036"), 0);
  const auto scaling = [](const std::map<std::string, double>& seconds) {
    const double pod16 = 3072 / seconds.at("MLP-033") / 16;
    const double pod64 = 4608 / seconds.at("MLP-036") / 64;
    return pod64 / pod16;
  };
  EXPECT_NEAR(scaling(published), 0.805, 0.001);
  EXPECT_NEAR(scaling(simulated), scaling(published), 0.1);
}

}  // namespace
}  // namespace lacuna::test
