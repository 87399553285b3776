// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/driver/command/program.hpp"
#include "sim/machines/systolic/machine.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

LayerOp product(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  LayerOp op;
  op.m = m;
  op.k = k;
  op.n = n;
  return op;
}

OpResult simulate(const LayerOp& op, const Mask* mask, Engine engine,
                  const std::vector<std::string>& settings = {}) {
  const auto machine = systolic_kind().make("array");
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    machine->set(setting.substr(0, equals), setting.substr(equals + 1), "test");
  }
  Execution execution;
  execution.engine = engine;
  return machine->run(op, mask, 1, execution);
}

// 64 inputs, 64 outputs, 10 tokens; 128 bytes a cycle are 64 elements. Load 64 rows of cells, a cycle
// each; 10 tokens, a cycle each; 64 + 64 - 1 cycles until the last sums have left: 201.
TEST(Systolic, APassLoadsStreamsAndDrains) {
  EXPECT_EQ(simulate(product(64, 64, 10), nullptr, Engine::event).cycles, 201U);
  // Half the memory: loads take 128, tokens 2 cycles each, of which one is starved.
  const OpResult slow =
      simulate(product(64, 64, 10), nullptr, Engine::event, {"buffer.read_bytes=64"});
  EXPECT_EQ(slow.cycles, 128U + 20 + 127);
  EXPECT_EQ(slow.stack.at(2).kind, "starved");
  EXPECT_EQ(slow.stack.at(2).cycles, 10U);
  // 65 outputs are a piece of 64 and one of 1: 201, and 64 + 10 + 64.
  EXPECT_EQ(simulate(product(65, 64, 10), nullptr, Engine::event).cycles, 201U + 138);
}

// Outputs 0 and 1 have weights of inputs 0, 5 and 100: one piece of 3 inputs and 2 outputs takes
// 3 + 10 + 4; all 128 inputs take 2 (64 + 10 + 65).
TEST(Systolic, InputsWithoutWeightsAreLeftOut) {
  const Mask mask{2, 128, 1, 1, {0, 2, 4}, {0, 5, 5, 100}};
  const LayerOp op = product(2, 128, 10);
  EXPECT_EQ(simulate(op, &mask, Engine::event).cycles, 17U);
  EXPECT_EQ(simulate(op, &mask, Engine::event, {"array.skip=false"}).cycles, 278U);
  EXPECT_EQ(simulate(op, &mask, Engine::event).mac_useful, 40U);
}

TEST(Systolic, BothEnginesCountTheSame) {
  for (std::uint32_t i = 1; i < 40; ++i) {
    const LayerOp op = product(7 * i % 90 + 1, 11 * i % 150 + 1, 5 * i % 17 + 1);
    const std::string bytes = "buffer.read_bytes=" + std::to_string(2 + 13 * i % 200);
    const OpResult a = simulate(op, nullptr, Engine::event, {bytes});
    const OpResult b = simulate(op, nullptr, Engine::clocked, {bytes});
    EXPECT_EQ(a.cycles, b.cycles);
    EXPECT_EQ(a.stack, b.stack);
    check_stack("array", a.stack, a.units, a.cycles);
  }
}

TEST(Systolic, RefusesWhatItCannotByName) {
  LayerOp softmax = product(8, 8, 8);
  softmax.op = "softmax";
  EXPECT_THROW(simulate(softmax, nullptr, Engine::event), UnsupportedError);
  EXPECT_THROW(simulate(product(8192, 8192, 8192), nullptr, Engine::event), OutOfMemoryError);
}

/// The program with three machines, on a configuration folder with the prices that the patch adds.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(SOURCE "/sim/config", folder_ / "config", fs::copy_options::recursive);
    fs::copy(SHOWN "/sim/config/systolic.yaml", folder_ / "config");
    add_prices();
    setenv("LACUNA_CONFIG", (folder_ / "config").c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add_prices() {
    std::ifstream patch(SOURCE "/tests/edits/a-third-machine.patch");
    fs::path table;
    for (std::string line; std::getline(patch, line);) {
      if (line.rfind("+++ b/", 0) == 0) table = fs::path(line.substr(6)).filename();
      if (line.rfind("+systolic,", 0) == 0) {
        std::ofstream(folder_ / "config" / table, std::ios::app) << line.substr(1) << '\n';
      }
    }
  }

  std::string lacuna(const std::string& line) {
    MachineTable machines = standard_machines();
    machines.push_back(systolic_kind());
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    std::ostringstream out;
    EXPECT_EQ(run_lacuna(arguments, machines, {out, out, false}), 0) << line << '\n' << out.str();
    return out.str();
  }
  std::string out() const { return (folder_ / "out").string(); }

  // each test is a process of its own
  fs::path folder_ = fs::temp_directory_path() /
                     ("systolic_" + std::string(::testing::UnitTest::GetInstance()
                                                    ->current_test_info()
                                                    ->name()) +
                      std::to_string(::getpid()));
};

// 256 x 256 x 10: 16 pieces of 201 cycles.
TEST_F(Program, RunsAndPricesIt) {
  const std::string text = lacuna("run --machine systolic --gemm 256x256x10 --explain --out " + out());
  EXPECT_THAT(text, HasSubstr("3216"));
  EXPECT_THAT(text, HasSubstr("no drain"));
  for (const char* file : {"report.html", "result.json", "summary.csv", "bounds.csv"}) {
    EXPECT_TRUE(fs::exists(fs::path(out()) / file)) << file;
  }
  std::ifstream summary(fs::path(out()) / "summary.csv");
  std::stringstream rows;
  rows << summary.rdbuf();
  EXPECT_THAT(rows.str(), HasSubstr("systolic"));
}

TEST_F(Program, ComparesItWithTheOthers) {
  const std::string text = lacuna(
      "compare --machine systolic --machine bow --machine wse2 --set ipu.tiles=64 --set "
      "wafer.columns=32 --set wafer.rows=32 --gemm 256x256x64 --pattern dense --pattern "
      "block16:0.25 --out " + out());
  EXPECT_THAT(text, HasSubstr("systolic"));
  EXPECT_THAT(text, HasSubstr("bow"));
  EXPECT_TRUE(fs::exists(fs::path(out()) / "report.html"));
}

TEST_F(Program, DescribesAndSweepsIt) {
  EXPECT_THAT(lacuna("describe systolic"), HasSubstr("array.skip"));
  EXPECT_THAT(lacuna("describe buffer.read_bytes"), HasSubstr("B/cycle"));
  std::ofstream(folder_ / "study.yaml") << "machine: systolic\n"
                                           "gemm: 256x256x64\n"
                                           "pattern: block16:0.25\n"
                                           "grid: {array.rows: [32, 64], array.columns: [32, 64]}\n";
  const std::string text = lacuna("sweep " + (folder_ / "study.yaml").string() + " --out " + out());
  EXPECT_THAT(text, Not(HasSubstr("failed")));
  EXPECT_TRUE(fs::exists(fs::path(out()) / "summary.csv"));
}

}  // namespace
}  // namespace lacuna
