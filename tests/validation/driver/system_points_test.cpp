// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"

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

/// What `lacuna validate` makes of points of a file of its own: system, workload and metric each.
class SystemPoints : public ::testing::Test {
 protected:
  Ran validate(const std::string& points, const std::string& more = "") {
    std::ofstream(folder_ + "/points.csv")
        << "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,confidence\n"
        << points;
    const Ran ran = run_real("validate --quiet --points " + folder_ + "/points.csv --out " +
                             folder_ + "/out " + more);
    errors_ = file_text(folder_ + "/out/errors.csv");
    std::filesystem::remove_all(folder_ + "/out");
    return ran;
  }

  double simulated(const std::string& id) const { return column(errors_, 5).at(id); }

  const TempFolder own_;
  const std::string folder_ = own_.path().string();
  std::string errors_;
};

// CARAML's layout of four chips, with four replicas on a POD16: a quarter of the micro-batches
// each, and the gradients' reduction beside. A batch is less work on more chips, and not four times
// less.
TEST_F(SystemPoints, APodWithoutALayoutTakesThatOfAnotherWithMoreReplicas) {
  const Ran ran = validate(
      "A,POD4-GC200,GPT-117M seq1024 GBS=16,,,,,,FP16,train,time_per_iteration,1,s,,\n"
      "B,POD16-GC200,GPT-117M seq1024 GBS=16,,,,,,FP16,train,time_per_iteration,1,s,,\n"
      "C,BowPod4,BERT-Large packed512 GBS=3072,,,,,,FP16,,training_rate,1,seq/s,,\n"
      "D,POD32-GC200,GPT-117M seq1024 GBS=16,,,,,,FP16,train,time_per_iteration,1,s,,\n",
      "--set gateway.update_ms=0 --set training.tokens=64");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LT(simulated("B"), simulated("A"));
  EXPECT_GT(simulated("B"), simulated("A") / 4);
  EXPECT_NE(errors_.find("no known layout of 'BERT-Large packed512' is for BowPod4"),
            std::string::npos);
  EXPECT_NE(errors_.find("is for POD32-GC200"), std::string::npos);
}

// Four updates in an iteration, with 110 ms between them.
TEST_F(SystemPoints, ASettingOfASystemIsTakenAndAWrongOneIsRefused) {
  const std::string point =
      "A,POD4-GC200,GPT-117M seq1024 GBS=16,,,,,,FP16,train,time_per_iteration,1,s,,\n";
  validate(point, "--set training.tokens=64");
  const double with = simulated("A");
  validate(point, "--set training.tokens=64 --set gateway.update_ms=0");
  EXPECT_NEAR(with - simulated("A"), 4 * 0.110, 1e-6);
  const Ran wrong = validate(point, "--set gateway.updat_ms=0");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("did you mean 'gateway.update_ms'"), std::string::npos) << wrong.err;
}

// MLPerf training v1.0 and v2.0, raw logs of three submitters, BERT-Large on POD16, Bow Pod16 and
// Bow Pod64: one set of parameters for all. 15 % for each weight update; from Bow Pod16 to Bow
// Pod64 the throughput of a chip falls to 80.5 % as published, and 10 points either way are
// allowed.
TEST(MlPerf, WeightUpdatesOfAllPodsAreWithin15PercentAndScaleWithin10Points) {
  const TempFolder own;
  const std::string folder = own.path().string();
  const Ran ran =
      run_real("validate --quiet --points " + source_path("traces/validation/mlperf.csv") +
               " --family weight_update_time --fail-above 15 --out " + folder + "/out");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const std::string errors = file_text(folder + "/out/errors.csv");
  const std::map<std::string, double> published = column(errors, 4);
  const std::map<std::string, double> simulated = column(errors, 5);
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
