// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/printed_row.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Describe, MachinesListsThePresetsAndWhatTheySimulate) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe machines");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(
      printed_row(ran.out, "fake"),
      ElementsAre("ipu", "a", "machine", "without", "hardware", "4", "units", "2", ::testing::_));
  EXPECT_THAT(printed_row(ran.out, "slow"), Contains("ipu"));
}

TEST(Describe, ParametersGivesPathDefaultUnitRangeAndMeaning) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe parameters");
  EXPECT_THAT(printed_row(ran.out, "unit.macs"),
              ElementsAre("8", "MAC/cycle", "[1,", "64]", "Of", "each", "unit."));
  // the declared default is 1.325 GHz
  EXPECT_THAT(printed_row(lacuna("describe parameters --machine slow").out, "clock"),
              Contains("1"));
  EXPECT_THAT(lacuna("describe parameters --markdown").out,
              HasSubstr("| unit.count | 4 | units | [1, 64] | How many units. |"));
}

TEST(Describe, OneParameterGivesItsValuesInAllPresets) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe clock");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("clock: The clock."));
  EXPECT_THAT(printed_row(ran.out, "fake"), ElementsAre("2"));
  EXPECT_THAT(printed_row(ran.out, "slow"), ElementsAre("1"));
}

TEST(Describe, StatisticsGivesUnitLayerActionAndMeaning) {
  const ProgramBench lacuna;
  EXPECT_THAT(lacuna("describe statistics --markdown").out,
              HasSubstr("| unit | mac_actual | MAC |  | amp_mac_fp16 | A counter of the fake"));
}

TEST(Describe, PatternsAndFormatsAreListed) {
  const ProgramBench lacuna;
  EXPECT_THAT(printed_row(lacuna("describe patterns").out, "unstructured"), Contains("required"));
  EXPECT_THAT(printed_row(lacuna("describe formats").out, "summary.csv"), Contains("written"));
}

TEST(Describe, AnUnknownNameHasANearestOne) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe unit.cuont");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'unit.count'?"));
}

TEST(Describe, AGroupIsItsParametersAndStatistics) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe unit");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Parameters unit of machines of kind ipu"),
                             HasSubstr("Statistics unit of")));
  EXPECT_THAT(printed_row(ran.out, "unit.count"), Contains("units"));
  EXPECT_THAT(printed_row(ran.out, "unit.macs"), Contains("MAC/cycle"));
  EXPECT_THAT(printed_row(ran.out, "unit mac_actual"), Contains("MAC"));
  EXPECT_THAT(ran.out, Not(HasSubstr("clock ")));
  const Ran energy = lacuna("describe energy");
  EXPECT_EQ(energy.status, 0) << energy.err;
  EXPECT_THAT(energy.out, AllOf(HasSubstr("Prices of events"), HasSubstr("(Jouppi")));
  EXPECT_THAT(printed_row(energy.out, "mac_fp16_acc32"), Contains("pJ/op"));
}

// A stack and a comparison of results call a part LAYER.KIND, and a result's statistics PATH.NAME:
// describe knows each of them by that name.
TEST(Describe, KnowsPartsOfAStackAndStatisticsAsResultsCallThem) {
  const TempFolder folder;
  const std::string out = (folder.path() / "out").string();
  ASSERT_EQ(run_real("compare --machine bow --machine wse2 --gemm 64x64x32 --set ipu.tiles=8 --set "
                     "wafer.columns=8 --set wafer.rows=8 --quiet --out " +
                     out)
                .status,
            0);
  std::set<std::string> names;
  const auto add = [&](const char* file, const char* first, const char* second) {
    for (const CsvRow& row : CsvTable(file_text(out + file)).rows()) {
      names.insert(row.at(first) + '.' + row.at(second));
    }
  };
  add("/cycle_stack.csv", "layer", "kind");
  add("/statistics.csv", "path", "name");
  EXPECT_GT(names.size(), 20U);
  for (const std::string& name : names) {
    const Ran ran = run_real({"describe", name});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("of a machine of kind")) << name;
  }
}

TEST(Describe, AMachineFileIsDescribedAsAPresetIs) {
  const ProgramBench lacuna;
  const std::string mine = lacuna.file("mine.yaml", "base: fake\nunit.macs: 32\n");
  const Ran ran = lacuna("describe " + mine);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("a machine of kind ipu"));
  EXPECT_THAT(printed_row(ran.out, "unit.macs"), Contains("32"));
  EXPECT_THAT(lacuna("describe " + lacuna.path("none.yaml")).err, HasSubstr("none.yaml"));
}

TEST(Describe, AWordWithoutALikenessGetsNoUnrelatedOne) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("describe xylophone");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(Not(HasSubstr("did you mean")), HasSubstr("groups such as")));
  EXPECT_THAT(lacuna("describe unis").err, HasSubstr("did you mean 'unit'"));
}

TEST(Help, OfAVerbThatThereIsNotIsRefused) {
  const ProgramBench lacuna;
  for (const char* const line : {"nonsense --help", "--help nonsense", "trace nonsense --help"}) {
    const Ran ran = lacuna(line);
    EXPECT_EQ(ran.status, 2) << line;
    EXPECT_THAT(ran.err, HasSubstr("there is no verb 'nonsense'")) << line;
  }
  for (const char* const line : {"--help", "run --help", "--help run", "trace make --help"}) {
    EXPECT_EQ(lacuna(line).status, 0) << line;
  }
}

TEST(Plot, DrawsTheFiguresOfAResultAgainAndTheSame) {
  const ProgramBench lacuna;
  ASSERT_EQ(lacuna("compare --machine fake --gemm 64x64x64 --pattern dense "
                   "--pattern unstructured:0.5 --pattern unstructured:0.25 --out " +
                   lacuna.path("out"))
                .status,
            0);
  const Ran ran = lacuna("plot " + lacuna.path("out") + " --out " + lacuna.path("again"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(lacuna.path("out/figures"))) {
    const std::string name = file.path().filename().string();
    EXPECT_EQ(lacuna.read("out/figures/" + name), lacuna.read("again/" + name)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 4U);
}

TEST(Plot, RefusesWhatIsNoResult) {
  const ProgramBench lacuna;
  EXPECT_EQ(lacuna("plot " + lacuna.path("none")).status, 2);
  EXPECT_EQ(lacuna("plot /usr").status, 2);
  EXPECT_EQ(lacuna("plot").status, 2);
}

TEST(Help, OfRunFitsAScreenAndHasTheRestByGroup) {
  const ProgramBench lacuna;
  const std::string help = lacuna("run --help").out;
  EXPECT_LE(std::count(help.begin(), help.end(), '\n'), 40) << help;
  EXPECT_LT(help.find("Example:"), help.find("--machine NAME"));
  EXPECT_THAT(help, Not(HasSubstr("--kv-in N")));
  EXPECT_THAT(lacuna("run --help model").out,
              AllOf(HasSubstr("--kv-in N"), Not(HasSubstr("--gemm"))));
  EXPECT_THAT(lacuna("run --help all").out, AllOf(HasSubstr("--kv-in N"), HasSubstr("--gemm M")));
  const Ran none = lacuna("run --help modle");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no group of options 'modle'; there are all, "));
}

TEST(Help, OfEveryVerbEndsInAnExampleAndNamesTheWholeCommand) {
  const ProgramBench lacuna;
  for (const char* const verb : {"run", "compare", "sweep", "trace", "trace show", "trace check",
                                 "describe", "validate", "plot"}) {
    const Ran ran = lacuna(std::string(verb) + " --help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr(std::string("Usage: lacuna ") + verb)) << verb;
    EXPECT_THAT(ran.out, HasSubstr(std::string("Example:\n  lacuna ") + verb)) << verb;
  }
  const Ran all = lacuna("--help");
  EXPECT_THAT(printed_row(all.out, "sweep"), Contains("experiment"));
  EXPECT_THAT(lacuna("--version").out, HasSubstr("lacuna "));
}

}  // namespace
}  // namespace lacuna::test
