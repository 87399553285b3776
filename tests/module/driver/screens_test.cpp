// SPDX-License-Identifier: Apache-2.0
// What a verb prints first fits a screen, and with --quiet it prints nothing beside its result.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/driver/command/program.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

constexpr std::size_t kColumns = 100;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> all;
  for (std::string each; text >> each;) all.push_back(each);
  return all;
}

/// What a line prints on a terminal.
std::string on_terminal(const std::string& line) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_lacuna(words_of(line), standard_machines(), {out, err, false, kColumns, true}), 0)
      << line << '\n'
      << err.str();
  return out.str();
}

class Screens : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  TempFolder folder_;
  const std::string points_ =
      file("points.csv",
           "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,confidence\n"
           "P1,Bow,gemm,64,64,16,1,,FP16,dense,cycles,3000,cycles,s,H\n"
           "P2,Bow,gemm,64,64,32,1,,FP16,dense,cycles,3000,cycles,s,H\n");
  const std::string space_ = file(
      "space.yaml",
      "machine: bow\ngemm: 32x32x32\npattern: unstructured\n"
      "set:\n  ipu.tiles: 8\nminimise: [time, area]\nstrategy: all\nspace:\n"
      "  density: [0.1, 0.2, 0.3, 0.4, 0.5]\n  tile.memory.kib: [500, 600, 700, 800, 900, 1000]\n");
};

TEST_F(Screens, Fit) {
  for (const std::string& line :
       {"search " + space_, std::string("describe parameters"), std::string("describe"),
        std::string("describe statistics --machine wse2"), std::string("describe trust"),
        "trace show " + source_path("traces/bert_base_layer.csv"),
        std::string("describe machines")}) {
    const std::string first = on_terminal(line);
    EXPECT_LE(std::count(first.begin(), first.end(), '\n'), 24) << line;
    std::istringstream lines(first);
    for (std::string each; std::getline(lines, each);) EXPECT_LE(each.size(), kColumns) << line;
    const std::string all = on_terminal(line + " --wide");
    EXPECT_GE(all.size(), first.size()) << line;
  }
}

// A pipe reads all of it.
TEST_F(Screens, OfATextThatIsReadByAnotherProgramAreWhole) {
  const std::string all = run_real("describe parameters").out;
  EXPECT_GT(std::count(all.begin(), all.end(), '\n'), 100);
}

TEST_F(Screens, QuietVerbsPrintTheirResultAlone) {
  const std::string run = " --machine bow --set ipu.tiles=8 --gemm 32x32x32";
  const std::string both = run + " --pattern dense --pattern unstructured:0.5";
  const std::string sweep = file("sweep.yaml",
                                 "machine: bow\ngemm: 32x32x32\nset:\n  ipu.tiles: 8\ngrid:\n"
                                 "  tile.memory.kib: [500, 600]\n");
  int folder = 0;
  const auto out = [&] { return " --out " + path("out" + std::to_string(++folder)); };
  const std::string drawn = path("out1");
  const std::string model =
      " --model qwen3-0.6b --decode --layers 1 --blocks 1x1 --block-cores 32x128 --machine wse3";
  for (const std::string& line :
       {"run" + run + out() + " --values", "compare" + both + out() + " --with-dense",
        "sweep " + sweep + out(), "search " + space_ + out(),
        "validate --points " + points_ + out(), "run" + model + out(), "compare" + model + out(),
        "plot " + drawn + out(), "trace make gemm --shape 64x64x64 --out " + path("made.csv"),
        "trace import " + source_path("traces/configs/gpt2.json") + " --tokens 32 --out " +
            path("read.csv"),
        "trace schedule dynamic --model bert-tiny --tokens 16 --block 16 --samples 2 --machine "
        "bow" +
            out()}) {
    const Ran loud = run_real(line);
    const Ran ran = run_real(line + " --quiet");
    EXPECT_EQ(ran.status, 0) << line << ran.err;
    EXPECT_EQ(ran.err, "") << line;
    EXPECT_EQ(ran.out, loud.out) << line;
  }
}

}  // namespace
}  // namespace lacuna::test
