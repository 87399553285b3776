// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "sim/driver/command/program.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "tests/support/driver/fake_machine.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A request that is wrong, and what its message must say.
struct Wrong {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<const char*> says;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongRequest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongRequest, GivesOneClearMessageAndStatus2AndWritesNothing) {
  const ProgramBench lacuna;
  std::vector<std::string> arguments = GetParam().arguments;
  const bool simulates = !arguments.empty() && (arguments[0] == "run" || arguments[0] == "compare");
  const bool has_out = std::count(arguments.begin(), arguments.end(), "--out") > 0;
  if (simulates && !has_out) {
    arguments.emplace_back("--out");
    arguments.push_back(lacuna.path("result"));
  }
  const Ran ran = lacuna(arguments);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  for (const char* const text : GetParam().says) EXPECT_THAT(ran.err, HasSubstr(text));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_THAT(lacuna.listing(), IsEmpty());
}

const std::vector<Wrong>& command_lines() {
  static const std::vector<Wrong> list = {
      {"Nothing", {}, {"a verb is missing", "run, compare"}},
      {"EmptyWord", {""}, {"there is no verb ''"}},
      {"UnknownVerb", {"rnu"}, {"'rnu'", "did you mean 'run'?"}},
      {"UnknownOption", {"run", "--gem", "8x8x8"}, {"'--gem'", "did you mean '--gemm'?"}},
      {"WordTooMany", {"run", "--gemm", "8x8x8", "more"}, {"does not take the word 'more'"}},
      {"ValueMissing", {"run", "--gemm", "8x8x8", "--seed"}, {"--seed"}},
      {"OptionTwice",
       {"run", "--gemm", "8x8x8", "--seed", "1", "--seed", "2"},
       {"--seed is given 2 times"}},
      {"VerbWithinAVerb",
       {"trace", "make", "gpt2", "--tokans", "8"},
       {"lacuna trace make has no option '--tokans'; did you mean '--tokens'?"}},
      {"OptionUnknownAndWordMissing",
       {"sweep", "--resumee"},
       {"lacuna sweep has no option '--resumee'; did you mean '--resume'?"}},
      {"OptionUnknownAndItsValueTakenForAWord",
       {"trace", "show", "t.csv", "--sed", "2"},
       {"lacuna trace show has no option '--sed'; did you mean '--seed'?"}},
      {"OptionUnknownAndNoVerb", {"--verion"}, {"lacuna has no option '--verion'"}},
      {"VerbUnknownBeforeItsOptions", {"rnu", "--gem", "8x8x8"}, {"did you mean 'run'?"}},
      {"TwoWordsForOne", {"sweep", "a.yaml", "b.yaml"}, {"more than one FILE is given"}},
      {"EmptyFileName", {"trace", "check", ""}, {"lacuna trace check: a word is empty"}},
      {"ValueMissingAtTheEnd",
       {"run", "--gemm", "8x8x8", "--out"},
       {"--out: a value is missing\n"}},
      {"SettingThatNothingUses",
       {"describe", "machines", "--set", "unit.count=2"},
       {"--set: goes with fit alone"}},
      {"NoHintFarOff", {"run", "--gemm", "8x8x8", "--bogus"}, {"has no option '--bogus'\n"}},
      {"CapitalMachine", {"run", "--machine", "FAKE", "--gemm", "8x8x8"}, {"did you mean 'fake'?"}},
      {"SeedsOfNothingDrawn",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--seeds", "3"},
       {"--seeds: found '3', but nothing here is drawn from a seed"}},
      {"DensityInPlaceOfAMatrix",
       {"run", "--machine", "fake", "--matrix", "x.smtx", "--n", "4", "--density", "0.5"},
       {"--density: the matrix has a pattern of its own", "--pattern"}},
      {"BlocksWithoutASide",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "block:0.5"},
       {"--pattern block:0.5: error E201", "the side of the blocks, such as block16"}},
      {"PatternsOfAMachine",
       {"describe", "patterns", "--machine", "fake"},
       {"--machine: patterns are the same for every machine"}},
      {"NameThatTheMachineLacks",
       {"describe", "wafer.rows", "--machine", "fake"},
       {"fake has nothing called 'wafer.rows'"}},
      {"SettingWithoutALikeness",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "router.hop=2"},
       {"there is no parameter 'router.hop'\n"}},
      {"ResumeOfNothing", {"validate", "--resume"}, {"--resume: needs --out"}},
      {"NoWorkload", {"run", "--machine", "fake"}, {"no workload", "--gemm"}},
      {"TwoWorkloads",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--trace", "x.csv"},
       {"more than one workload"}},
      {"NoSuchMachine",
       {"run", "--machine", "fakw", "--gemm", "8x8x8"},
       {"there is no machine 'fakw'", "did you mean 'fake'?"}},
      {"EmptyMachine", {"run", "--machine", "", "--gemm", "8x8x8"}, {"there is no machine ''"}},
      {"MachineTwice",
       {"compare", "--machine", "fake", "--machine", "fake", "--gemm", "8x8x8"},
       {"--machine 'fake' is given twice"}},
      {"NothingToCompare", {"compare", "--gemm", "8x8x8"}, {"--machine"}},
      {"SeedNotANumber",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--seed", "1e3"},
       {"--seed", "'1e3'", "a whole number from 0"}},
      {"SeedTooLarge",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--seed", "18446744073709551616"},
       {"--seed"}},
      {"SeedNegative",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--seed=-1"},
       {"--seed", "'-1'"}},
      {"EngineMisspelt",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--engine", "clokced"},
       {"--engine", "event, clocked", "did you mean 'clocked'?"}},
      {"FoldMisspelt",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--fold", "offf"},
       {"--fold", "on, off", "did you mean 'off'?"}},
      {"NoJobs",
       {"compare", "--machine", "fake", "--gemm", "8x8x8", "--jobs", "0"},
       {"--jobs", "'0'", "from 1"}},
      {"ModeMisspelt",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--mode", "statik"},
       {"--mode", "did you mean 'static'?"}},
      {"TypeMisspelt",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--dtype", "fp17"},
       {"--dtype", "fp16"}}};
  return list;
}

const std::vector<Wrong>& shapes_and_patterns() {
  static const std::vector<Wrong> list = {
      {"TwoSides", {"run", "--machine", "fake", "--gemm", "8x8"}, {"--gemm", "'8x8'"}},
      {"SideZero", {"run", "--machine", "fake", "--gemm", "8x0x8"}, {"--gemm"}},
      {"SideNegative", {"run", "--machine", "fake", "--gemm", "8x-8x8"}, {"--gemm"}},
      {"SideAbsurd", {"run", "--machine", "fake", "--gemm", "8x99999999999x8"}, {"--gemm"}},
      {"EmptyGemm", {"run", "--machine", "fake", "--gemm", ""}, {"--gemm", "''"}},
      {"DensityAboveOne",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "unstructured:1.5"},
       {"'1.5'", "[0, 1]"}},
      {"DensityOptionAboveOne",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--density", "1.5"},
       {"--density", "'1.5'", "[0, 1]"}},
      {"DensityNotANumber",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--density", "nan"},
       {"--density", "'nan'"}},
      {"DensityTwice",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "unstructured:0.5", "--density",
        "0.5"},
       {"--density"}},
      {"BlockDoesNotDivide",
       {"run", "--machine", "fake", "--gemm", "66x64x8", "--pattern", "block4:0.5"},
       {"E212", "66"}},
      {"BlockZero",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "block", "--density", "0.5",
        "--block", "0"},
       {"--block", "'0'"}},
      {"RatioAboveOne",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--nm", "4:2"},
       {"--nm: error E214: found '4 of 2'"}},
      {"AttentionMisspelt",
       {"trace", "make", "gpt2", "--attention", "widow:w=4"},
       {"--attention", "did you mean 'window'?"}},
      {"PatternMisspelt",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "unstructurde:0.5"},
       {"unstructurde", "did you mean 'unstructured'?"}},
      {"PatternWithoutDensity",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--pattern", "unstructured"},
       {"density"}}};
  return list;
}

const std::vector<Wrong>& settings() {
  static const std::vector<Wrong> list = {
      {"UnknownParameter",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit.cout=8"},
       {"'unit.cout'", "did you mean 'unit.count'?"}},
      {"ControlCharacters",  // as they are, these would clear the terminal
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit\x1b[2J.count=8"},
       {"'unit\\x1b[2J.count'"}},
      {"NoValue",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit.count"},
       {"'unit.count'", "path=value"}},
      {"NoPath", {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "=8"}, {"path=value"}},
      {"EmptySetting",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", ""},
       {"path=value"}},
      {"NotANumber",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit.count=many"},
       {"unit.count", "'many'", "[1, 64] units", "--set"}},
      {"OutsideTheRange",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit.count=65"},
       {"unit.count = 65 units is outside [1, 64]"}},
      {"GivenTwice",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "unit.count=2", "--set",
        "unit.count=3"},
       {"'unit.count' is given twice"}},
      {"OfAnAbsentMachine",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--set", "slow:unit.count=2"},
       {"there is no machine 'slow' in this request"}}};
  return list;
}

const std::vector<Wrong>& places() {
  static const std::vector<Wrong> list = {
      {"OutIsNoResult",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--out", "/usr"},
       {"'/usr'", "not a result of Lacuna"}},
      {"OutIsAFile",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--out", "/dev/null"},
       {"/dev/null"}},
      {"OutBelowAFile",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--out", "/dev/null/x"},
       {"/dev/null"}},
      {"OutCannotBeWritten",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--out", "/proc/x"},
       {"/proc"}},
      {"OutIsEmpty", {"run", "--machine", "fake", "--gemm", "8x8x8", "--out", ""}, {"--out"}},
      {"MachineOfAScheduleMissing",
       {"trace", "schedule", "dynamic", "--model", "bert-tiny", "--machine", "none", "--out",
        "/proc/x"},
       {"there is no machine 'none'"}},
      {"OneOfTheBlocksWrong",
       {"trace", "schedule", "dynamic", "--model", "bert-tiny", "--block", "1,x", "--out",
        "/proc/x"},
       {"--block: found 'x'"}},
      {"SettingOfAnotherSchedule",
       {"trace", "schedule", "rigl", "--fine-tuning", "0.1", "--out", "/proc/x"},
       {"--fine-tuning: goes with spdf alone"}},
      {"PruningThatGrows",
       {"trace", "schedule", "gmp", "--first-density", "0.01", "--out", "/proc/x"},
       {"--first-density: found 0.01; allowed: at least the density, 0.1"}},
      {"JobsOfAScheduleWithoutMachines",
       {"trace", "schedule", "dynamic", "--jobs", "2", "--out", "/proc/x"},
       {"--jobs: goes with --machine"}},
      {"BlockTwice",
       {"trace", "schedule", "dynamic", "--model", "bert-tiny", "--block", "4,4", "--out",
        "/proc/x"},
       {"--block: '4' is given twice"}},
      {"MachineFileMissing",
       {"run", "--machine", "/nowhere/m.yaml", "--gemm", "8x8x8"},
       {"/nowhere/m.yaml: there is no such file"}},
      {"LayoutsFileMissing",
       {"run", "--machine", "fake", "--gemm", "8x8x8", "--layout", "/nowhere/l.yaml"},
       {"--layout: found '/nowhere/l.yaml', and no file of that name; allowed: planned, first, "
        "best"}},
      {"MachineFileIsAFolder",
       {"run", "--machine", "/usr/", "--gemm", "8x8x8"},
       {"/usr/: is a folder, not a file"}}};
  return list;
}

TEST(LostOutput, IsNotTakenForSuccess) {
  std::ostream nowhere(nullptr);
  std::ostringstream err;
  EXPECT_EQ(run_lacuna({"--version"}, fake_machines(), {nowhere, err, false}), 1);
  EXPECT_EQ(err.str(), "lacuna: standard output cannot be written\n");
}

std::string mistake_of(const ::testing::TestParamInfo<Wrong>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(CommandLine, WrongRequest, ::testing::ValuesIn(command_lines()),
                         mistake_of);
INSTANTIATE_TEST_SUITE_P(Workload, WrongRequest, ::testing::ValuesIn(shapes_and_patterns()),
                         mistake_of);
INSTANTIATE_TEST_SUITE_P(Setting, WrongRequest, ::testing::ValuesIn(settings()), mistake_of);
INSTANTIATE_TEST_SUITE_P(Place, WrongRequest, ::testing::ValuesIn(places()), mistake_of);

}  // namespace
}  // namespace lacuna::test
