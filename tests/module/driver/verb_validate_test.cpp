// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/command/verbs.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct FormulaParams : ParameterSet {
  Param<double> clock = param(this, "clock", 1.0, range(0.1, 4.0), "GHz", "Clock frequency.");
  Param<unsigned> macs = param(this, "macs", 1, range(1, 1024), "MAC/cycle", "Its speed.");
};

/// A machine that takes one cycle for each stored weight, column and 1 / macs; it has no room for
/// more than 64 columns, and dies of 13.
class FormulaMachine final : public Machine {
 public:
  explicit FormulaMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "ipu"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return energy_; }
  std::vector<DeclaredStatistic> statistics() const override { return {}; }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  void check() const override {}
  Mode default_mode() const override { return Mode::static_; }
  std::string extent() const override { return "a formula"; }
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t /*seed*/,
               const Execution& /*execution*/) const override {
    if (op.n > 64) throw OutOfMemoryError("no room for so many columns");
    if (op.n == 13) _exit(9);
    if (op.n == 14) throw SimulationError("stuck");
    OpResult result;
    const std::uint64_t weights = mask == nullptr ? std::uint64_t{op.m} * op.k : mask->nnz();
    result.cycles = weights * op.n / params_.macs + 1000;
    result.clock_ghz = params_.clock;
    StatEntry kernel;
    kernel.name = "kernel_cycles";
    kernel.value = weights * op.n / params_.macs;  // what is waited for does not count
    result.statistics.push_back(kernel);
    return result;
  }

 private:
  std::string name_;
  FormulaParams params_;
  EnergyParams energy_;
};

const MachineTable& formula_machines() {
  static const MachineTable table = {
      {"ipu", "a formula", [](std::string name) -> std::unique_ptr<Machine> {
         return std::make_unique<FormulaMachine>(std::move(name));
       }}};
  return table;
}

/// A folder with a preset `bow`, the shipped prices and areas, and the points of a test.
class Validate : public ::testing::Test {
 protected:
  Validate() {
    for (const char* const table : {"energy_table.csv", "energy_set.csv", "energy_actions.csv",
                                    "energy_units.csv", "area_table.csv", "area_chips.csv"}) {
      std::filesystem::copy_file(test::source_path(std::string("sim/config/") + table),
                                 folder_ / table);
    }
    std::ofstream(folder_ / "bow.yaml") << "machine: ipu\nmacs: 2\n";
    setenv("LACUNA_CONFIG", folder_.c_str(), 1);
  }

  int validate(const std::string& rows) {
    const std::filesystem::path file = folder_ / "points.csv";
    std::ofstream(file) << "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,"
                           "source,confidence\n"
                        << rows;
    options_.points = {file.string()};
    out_.str("");
    return validate_verb(options_, formula_machines(), {out_, progress_});
  }

  Options options_;
  std::ostringstream out_;
  std::ostringstream progress_;
  const test::TempFolder own_;
  const std::filesystem::path folder_ = own_.path();
};

TEST_F(Validate, ComparesTheMetricWithoutTheCyclesWaited) {
  // 64 * 64 * 16 / 2 = 32768 cycles; at the 2 GHz of the second point they take 16.384 us
  options_.fail_above = "0.001";
  EXPECT_EQ(validate("P1,Bow,gemm,64,64,16,1,,FP16,dense,cycles,32768,cycles,s,H\n"
                     "P2,Bow@2GHz,gemm,64,64,16,1,,FP16,dense,time,16.384,us,s,H\n"),
            0);
  for (const char* const metric : {"cycles", "time"}) {
    const auto row = test::printed_row(out_.str(), std::string("bow gemm dense fp16 ") + metric);
    ASSERT_GE(row.size(), 3U) << metric;
    EXPECT_EQ(row[0], "1") << metric;    // point
    EXPECT_EQ(row[2], "0.0") << metric;  // % off
  }
}

TEST_F(Validate, KeepsAtLeastTheDensityOfThePoint) {
  // 10 x 10 elements at 0.251: 26 are kept, so 26 * 2 / 2 cycles
  options_.fail_above = "0";
  EXPECT_EQ(validate("P1,Bow,spmm,10,10,2,0.251,1,FP16,static,cycles,26,cycles,s,H\n"), 0);
  EXPECT_EQ(validate("P1,Bow,spmm,10,10,2,0.26,1,FP16,static,cycles,25,cycles,s,H\n"), 3);
}

TEST_F(Validate, EndsInThreeIfTheMedianErrorOfAFamilyIsAboveTheLimit) {
  const std::string row = "P1,Bow,gemm,64,64,16,1,,FP16,dense,cycles,40960,cycles,s,H\n";  // -20 %
  options_.fail_above = "21";
  EXPECT_EQ(validate(row), 0);
  options_.fail_above = "19";
  EXPECT_EQ(validate(row), 3);
  EXPECT_THAT(out_.str(), HasSubstr("the median error, 20.0 %, is above 19 %"));
}

TEST_F(Validate, CountsALackOfMemoryAsAPredictionWhereTheSourceHasNoResult) {
  EXPECT_EQ(validate("P1,Bow,spmm,8,8,128,0.5,1,FP16,static,speedup_vs_dense,,x,s,H\n"
                     "P2,Bow,spmm,8,8,64,0.5,1,FP16,static,speedup_vs_dense,2,x,s,H\n"),
            0);
  EXPECT_THAT(out_.str(), HasSubstr("1 of 1"));
}

TEST_F(Validate, GivesTheSameTextWhateverTheNumberOfProcesses) {
  const std::string rows =
      "P1,Bow,spmm,64,64,best,0.25,1,FP16,static,speedup_vs_dense,4.1,x,s,H\n"
      "P2,Bow,spmm,64,32,16,0.125,4,FP16,static,speedup_vs_dense,7,x,s,H\n"
      "P3,A100,gemm,64,32,16,1,,FP16,dense,throughput,7,TFLOP/s,s,H\n";
  EXPECT_EQ(validate(rows), 0);
  const std::string one = out_.str();
  EXPECT_THAT(one, HasSubstr("'A100' is not a machine of Lacuna"));
  options_.jobs = "4";
  EXPECT_EQ(validate(rows), 0);
  EXPECT_EQ(out_.str(), one);
}

TEST_F(Validate, FinishesTheRestAndEndsInOneIfAPointFails) {
  options_.jobs = "2";
  EXPECT_EQ(validate("P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,256,cycles,s,H\n"
                     "P2,Bow,gemm,8,8,14,1,,FP16,dense,cycles,256,cycles,s,H\n"),
            1);
  EXPECT_THAT(out_.str(), HasSubstr("P2 failed: stuck"));
  EXPECT_EQ(validate("P1,Bow,gemm,8,8,13,1,,FP16,dense,cycles,256,cycles,s,H\n"
                     "P2,Bow,gemm,4096,8,8,1,,FP16,dense,cycles,256,cycles,s,H\n"),
            1);
  EXPECT_THAT(out_.str(), HasSubstr("P1 failed: its process ended with status 9"));
}

TEST_F(Validate, AppliesSettingsToTheMachinesOfThePoints) {
  options_.settings = {"macs=4"};
  options_.fail_above = "0";
  EXPECT_EQ(validate("P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,128,cycles,s,H\n"), 0);
  options_.settings = {"mac=4"};
  EXPECT_THAT([&] { validate("P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,128,cycles,s,H\n"); },
              ThrowsMessage<ParameterError>(HasSubstr("did you mean 'macs'?")));
}

TEST_F(Validate, WritesAFolderThatIsAResultAndReplacesItsOldOne) {
  options_.out = (folder_ / "result").string();
  options_.by = {"n"};
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(validate("P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,128,cycles,s,H\n"), 0);
  }
  std::ifstream errors(folder_ / "result" / "errors.csv");
  std::string header;
  std::string row;
  std::getline(errors, header);
  std::getline(errors, row);
  EXPECT_EQ(header.rfind("id,system,workload,metric,published,simulated,relative_error,status", 0),
            0U);
  EXPECT_EQ(row.rfind("P1,Bow,gemm,cycles,128,256,1,ok", 0), 0U);
  for (const char* const name :
       {"families.csv", "by.csv", "result.json", "figures/validation_cycles.svg",
        "figures/validation_cycles.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "result" / name)) << name;
  }
}

TEST_F(Validate, LeavesAFolderAloneThatIsNotAResult) {
  options_.out = folder_.string();  // holds the preset of this test
  EXPECT_THAT([&] { validate("P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,128,cycles,s,H\n"); },
              ThrowsMessage<RequestError>(HasSubstr("is not a result of Lacuna")));
}

TEST_F(Validate, RefusesWrongRequests) {
  const std::string row = "P1,Bow,gemm,8,8,8,1,,FP16,dense,cycles,128,cycles,s,H\n";
  options_.fail_above = "much";
  EXPECT_THAT([&] { validate(row); },
              ThrowsMessage<RequestError>(HasSubstr("--fail-above = 'much'")));
  options_.fail_above.reset();
  options_.by = {"blok"};
  EXPECT_THAT([&] { validate(row); },
              ThrowsMessage<RequestError>(HasSubstr("did you mean 'block'?")));
  options_.by.clear();
  options_.families = {"wafer"};
  EXPECT_THAT([&] { validate(row); },
              ThrowsMessage<RequestError>(HasSubstr("no family has any of 'wafer'")));
  options_.families.clear();
  EXPECT_THAT([&] { validate(""); },
              ThrowsMessage<RequestError>(HasSubstr("the files hold no point")));
}

}  // namespace
}  // namespace lacuna
