// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// 8 x 8 cores. Weights of 64 x 64 are 8 x 8 elements of 2 B on each of them: 128 B.
constexpr const char* kResidentWafer =
    " --quiet --wide --layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8 ";
constexpr const char* kResidentChip = " --quiet --wide --machine bow --set ipu.tiles=16 ";

/// The cell `column` of the last row of a result folder's summary.
std::string last_cell(const ProgramBench& bench, const std::string& column) {
  return CsvTable(bench.read("out/summary.csv")).column(column).back();
}

struct Measured {
  std::uint64_t cycles = 0;
  std::string mode;
  std::string residency;
  Ran ran;
};

Measured measured(const std::string& line) {
  const ProgramBench bench;
  Measured result;
  result.ran = run_real("run" + line + " --out " + bench.path("out"));
  EXPECT_EQ(result.ran.status, 0) << result.ran.err;
  if (result.ran.status != 0) return result;
  result.cycles = std::strtoull(last_cell(bench, "cycles").c_str(), nullptr, 10);
  result.mode = last_cell(bench, "mode");
  result.residency = last_cell(bench, "residency");
  return result;
}

TEST(Residency, OfADenseProductOnAWaferIsWhatIsAskedAndAutoIsTheFaster) {
  // 4 tokens: resident weights send 4 x 64 activations, streamed ones 64 x 64 weights.
  for (const char* const shape : {"64x64x4", "16x64x512"}) {
    const std::string gemm = std::string(kResidentWafer) + "--gemm " + shape + " --values";
    const Measured streamed = measured(gemm + " --residency streamed");
    const Measured resident = measured(gemm + " --residency resident");
    const Measured best = measured(gemm);
    EXPECT_EQ(streamed.residency, "streamed");
    EXPECT_EQ(resident.residency, "resident");
    EXPECT_EQ(resident.mode, "dense");
    EXPECT_EQ(best.cycles, std::min(streamed.cycles, resident.cycles)) << shape;
    const bool few = std::string(shape) == "64x64x4";
    EXPECT_EQ(best.residency, few ? "resident" : "streamed");
    EXPECT_THAT(best.ran.out, HasSubstr(few ? "weights stay in the cores (residency auto)"
                                            : "weights are streamed (residency auto)"));
    EXPECT_THAT(best.ran.out, HasSubstr(few ? "; 128 B of the fullest core" : "; 32 B of the"));
  }
}

TEST(Residency, OfASparseProductOnAWaferIsTheFasterToo) {
  // 1 token: 64 activations for about 1024 weights; 512 of them: 32,768 for about 256
  for (const char* const shape : {"64x64x1", "16x64x512"}) {
    const std::string gemm =
        std::string(kResidentWafer) + "--gemm " + shape + " --pattern unstructured:0.25 ";
    const Measured streamed = measured(gemm + "--residency streamed");
    const Measured resident = measured(gemm + "--residency resident");
    const Measured best = measured(gemm);
    EXPECT_EQ(best.cycles, std::min(streamed.cycles, resident.cycles)) << shape;
    const bool few = std::string(shape) == "64x64x1";
    EXPECT_EQ(best.residency, few ? "resident" : "streamed") << shape;
    EXPECT_EQ(best.mode, few ? "static" : "streamed");
  }
}

TEST(Residency, OfNonzerosThatTakeLongToSimulateFollowsFromABound) {
  // 64 x 64 cores and 2,049 tokens are more than 2^23 of both together.
  const std::string wafer =
      " --quiet --wide --layout first --machine wse2 --set wafer.columns=64 --set wafer.rows=64 ";
  // Of one row of W resident ones send 8 words and 64 commands for each token, streamed ones some 4
  // words and 64 commands for all: the bound of the first is above the cycles of the second.
  const Measured few = measured(wafer + "--gemm 1x8x2049 --pattern unstructured:0.5");
  EXPECT_EQ(few.residency, "streamed");
  EXPECT_THAT(few.ran.out, HasSubstr("cycles if they stay in the cores"));
}

TEST(Residency, OfMoreThanCanBeSimulatedIsTheFasterByASampleOfRows) {
  // 128 x 128 cores and 513 tokens are more than 2^23 of both together. Of 8,192 rows streamed ones
  // have as many commands in each core, resident ones 513, and some 64 cycles for the elements and
  // sums of each.
  const std::string product =
      " --quiet --wide --layout first --machine wse2 --set wafer.columns=128 --set wafer.rows=128 "
      "--set resident.nonzero_cycles=1 --gemm 8192x8x513 --pattern unstructured:0.5 ";
  const Measured sampled = measured(product);
  EXPECT_EQ(sampled.residency, "resident");
  EXPECT_THAT(sampled.ran.out, HasSubstr("not exact: 26 of 128 rows of cores"));
  EXPECT_THAT(sampled.ran.out, HasSubstr("cycles if they are streamed"));
  // A sample has no values and no record of all rows, and who did not ask for them waits for none.
  for (const char* const wish : {"--fold off", "--values integer", "--interval 5000"}) {
    EXPECT_THAT(run_real("run" + product + wish).out,
                HasSubstr("need all rows of 16384 cores that all differ, with 513 tokens"))
        << wish;
  }
  const Measured all = measured(product + "--residency resident");
  EXPECT_THAT(all.ran.out, Not(HasSubstr("not exact")));
  EXPECT_NEAR(static_cast<double>(sampled.cycles) / static_cast<double>(all.cycles), 1, 0.002);
  // Of words that run to both ends no sample of rows is taken.
  const Measured open = measured(product + "--set ws.inject=middle_row");
  EXPECT_EQ(open.residency, "streamed");
  EXPECT_THAT(open.ran.out, HasSubstr("not compared with resident ones, of at least"));
}

TEST(Residency, OfOneTokenOnAWideWaferIsTheFasterOfBoth) {
  // 8,388,608 weights at 37.8 words a cycle take more than 220,000 cycles to enter; resident, a
  // token goes once around a ring of 755 columns.
  const Measured best = measured(
      " --wide --layout first --machine wse3 --set wafer.rows=117 --gemm 4096x4096x1 --pattern "
      "2:4 ");
  EXPECT_EQ(best.residency, "resident");
  EXPECT_EQ(best.cycles, 8913U);
  EXPECT_THAT(best.ran.out, HasSubstr("(residency auto): 8913 cycles, at least "));
}

TEST(Residency, ModeStaticOfDenseWeightsIsResidentOnAWaferWithARemark) {
  const std::string gemm = std::string(kResidentWafer) + "--gemm 16x64x512 ";
  const Measured asked = measured(gemm + "--mode static");
  EXPECT_EQ(asked.cycles, measured(gemm + "--residency resident").cycles);
  EXPECT_EQ(asked.residency, "resident");
  EXPECT_EQ(asked.mode, "dense");
  EXPECT_THAT(asked.ran.out, HasSubstr("mode static of dense weights means residency resident"));
}

TEST(Residency, ModeStaticOfDenseWeightsIsRefusedOnAnIpu) {
  for (const char* const mode : {"static", "dynamic"}) {
    const Ran ran = run_real(std::string("run") + kResidentChip + "--gemm 64x64x64 --mode " + mode);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, HasSubstr(std::string("mode '") + mode + "' of a dense row"));
  }
  const Measured dense =
      measured(std::string(kResidentChip) + "--gemm 64x64x64 --residency resident");
  EXPECT_EQ(dense.mode, "dense");
  EXPECT_EQ(dense.residency, "resident");
  EXPECT_EQ(dense.cycles, measured(std::string(kResidentChip) + "--gemm 64x64x64").cycles);
  const Ran streamed =
      run_real(std::string("run") + kResidentChip + "--gemm 64x64x64 --residency streamed");
  EXPECT_EQ(streamed.status, 1);
  EXPECT_THAT(streamed.out, HasSubstr("residency 'streamed'"));
}

TEST(Residency, SparseWeightsThatStayHaveTheStaticKernel) {
  const std::string gemm =
      std::string(kResidentWafer) + "--gemm 64x64x8 --pattern unstructured:0.25 --values ";
  const Measured resident = measured(gemm + "--residency resident");
  EXPECT_EQ(resident.mode, "static");
  EXPECT_EQ(resident.cycles, measured(gemm + "--mode static").cycles);
  const Measured streamed = measured(gemm + "--residency streamed");
  EXPECT_EQ(streamed.mode, "streamed");
  EXPECT_EQ(streamed.cycles, measured(gemm + "--mode streamed").cycles);
}

TEST(Residency, ThatContradictsTheModeIsRefused) {
  for (const char* const both :
       {"--mode static --residency streamed", "--mode streamed --residency resident"}) {
    const Ran ran = run_real(std::string("run") + kResidentWafer +
                             "--gemm 64x64x8 --pattern unstructured:0.25 " + both);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, HasSubstr("on a wafer this kernel has its weights"));
  }
  const Ran word =
      run_real(std::string("run") + kResidentWafer + "--gemm 64x64x8 --residency residant");
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.err, HasSubstr("did you mean 'resident'?"));
}

// What no run would take is neither written nor read.
TEST(Residency, ThatContradictsTheModeIsNoTrace) {
  for (const char* const both :
       {"--mode streamed --residency resident", "--mode static --residency streamed",
        "--mode dynamic --residency streamed"}) {
    const Ran made = run_real(std::string("trace make gemm --shape 64x64x8 --pattern 2:4 ") + both);
    EXPECT_EQ(made.status, 2) << both;
    EXPECT_EQ(made.out, "");
    EXPECT_THAT(made.err, HasSubstr("where the kernel of --mode"));
  }
  const Ran agreed = run_real(
      "trace make gemm --shape 64x64x8 --pattern 2:4 --mode streamed --residency streamed");
  EXPECT_EQ(agreed.status, 0) << agreed.err;
  const ProgramBench bench;
  const std::string file = bench.file(
      "both.csv",
      "id,op,m,k,n,pattern,density,mode,residency\na,gemm,64,64,8,unstructured,0.5,streamed,"
      "resident\n");
  const Ran checked = run_real("trace check " + file);
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("error E208: column 'residency': found 'resident'; allowed: "
                                     "auto or streamed with mode streamed"));
}

/// 256 x 256 weights are 32 x 32 x 2 B = 2,048 B of a core. Of its 40,960 B beside code 16 such
/// layers and what they work on fit, 32 do not.
std::string layers(unsigned count, const char* residency) {
  std::string text = "id,op,m,k,n,residency\n";
  for (unsigned i = 0; i < count; ++i) {
    text += "l" + std::to_string(i) + ",gemm,256,256,4," + residency + "\n";
  }
  return text;
}

TEST(Residency, AutoKeepsWeightsOnlyIfThoseOfAllRowsFit) {
  const ProgramBench bench;
  const std::string few = bench.file("few.csv", layers(8, "auto"));
  const std::string many = bench.file("many.csv", layers(32, "auto"));
  const Measured fit = measured(kResidentWafer + ("--trace " + few));
  EXPECT_EQ(fit.residency, "resident");
  EXPECT_THAT(fit.ran.out, HasSubstr("would hold 16384 B with those of all rows"));
  const Measured not_fit = measured(kResidentWafer + ("--trace " + many));
  EXPECT_EQ(not_fit.residency, "streamed");
  EXPECT_THAT(not_fit.ran.out, HasSubstr("those of 32 rows would take 65536 B"));
  const std::string asked = bench.file("asked.csv", layers(32, "resident"));
  const Ran refused = run_real(std::string("run") + kResidentWafer + "--trace " + asked);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.out, HasSubstr("63488 B of weights that stay"));
}

TEST(Residency, TheWayToTheNextRowIsPartOfTheTime) {
  const ProgramBench bench;
  const std::string alone = bench.file("alone.csv", "id,op,m,k,n\na,gemm,64,64,4\n");
  const std::string taken =
      bench.file("taken.csv", "id,op,m,k,n,fn\na,gemm,64,64,4,\nb,eltwise,64,,4,relu\n");
  const auto cycles = [&](const std::string& trace) {
    const ProgramBench out;
    EXPECT_EQ(run_real(std::string("run") + kResidentWafer + "--residency resident --trace " +
                       trace + " --out " + out.path("out"))
                  .status,
              0);
    const std::string json = out.read("out/result.json");
    return json.find("move result") != std::string::npos;
  };
  EXPECT_FALSE(cycles(alone));
  EXPECT_TRUE(cycles(taken));
}

// What a row's operands come from and who takes its result is in the time of the dense one, too.
TEST(WithDense, IsTheDenseRunOfTheSameRows) {
  const ProgramBench bench;
  const std::string trace = bench.file(
      "t.csv", "id,op,m,k,n,fn\na,gemm,64,64,16,\nb,eltwise,64,,16,relu\nc,gemm,64,64,16,\n");
  const auto total = [&](const std::string& pattern, const char* column) {
    EXPECT_EQ(run_real(std::string("run") + kResidentWafer + "--trace " + trace + pattern +
                       " --out " + bench.path("out"))
                  .status,
              0);
    return std::strtod(last_cell(bench, column).c_str(), nullptr);
  };
  const double dense = total("", "cycles");
  const std::string sparse = " --pattern unstructured:0.5 --with-dense";
  const double cycles = total(sparse, "cycles");
  EXPECT_DOUBLE_EQ(total(sparse, "speedup_vs_dense"), dense / cycles);
}

TEST(Residency, TraceMakeKeepsModeAndResidency) {
  const Ran ran = run_real("trace make bert-tiny --layers 1 --mode static --residency resident");
  EXPECT_EQ(ran.status, 0) << ran.err;
  const CsvTable made = CsvTable(ran.out);
  EXPECT_THAT(made.where({{"op", "gemm"}}).column("mode"), Each("static"));
  EXPECT_THAT(made.where({{"op", "gemm"}}).column("residency"), Each("resident"));
  const Ran sparse =
      run_real("trace make bert-tiny --layers 1 --heads --mode static --pattern block16:0.25");
  const CsvTable with_mode = CsvTable(sparse.out).where({{"mode", "static"}});
  EXPECT_THAT(with_mode.column("pattern"), AllOf(Not(IsEmpty()), Each("block")));
}

// What takes a shortcut away is said before it takes its time, in the words of what refuses it.
TEST(SlowSettings, AreSaidBeforeARunTakesItsTime) {
  const std::string run =
      "run --layout first --machine wse2 --set wafer.columns=4 --set wafer.rows=4 --gemm 8x8x8 "
      "--residency streamed";
  const std::vector<std::pair<const char*, const char*>> slow = {
      {"router.arbiter=oldest", "routers choose by the age of words"},
      {"router.multicast=lockstep", "router.multicast = lockstep"},
      {"router.entries=1", "words stop in every router"},
      {"core.init_cycles=10", "core.init_cycles"}};
  for (const auto& [setting, why] : slow) {
    const Ran ran = run_real(run + " --set " + setting);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("simulated without a shortcut")) << setting;
    EXPECT_THAT(ran.err, HasSubstr(why));
  }
  EXPECT_THAT(run_real(run).err, Not(HasSubstr("shortcut")));
}

// 128 x 128 cores and 513 tokens are 8,404,992 of both together, at 10^-5 s each 84 s.
TEST(SlowSettings, ScatteredWeightsThatAreAskedToStaySayHowLongTheyTake) {
  const std::string run =
      "run --layout first --machine wse2 --set wafer.columns=128 --set wafer.rows=128 --gemm "
      "1x8x513 "
      "--pattern unstructured:0.5 --residency ";
  const Ran resident = run_real(run + "resident");
  EXPECT_EQ(resident.status, 0) << resident.err;
  EXPECT_THAT(resident.err, HasSubstr("16384 cores whose non-zeros all differ, with 513 tokens, "
                                      "are all simulated, which takes some 2 minutes"));
  EXPECT_THAT(run_real(run + "streamed").err, Not(HasSubstr("minutes")));
  EXPECT_THAT(run_real(run + "auto --mode dynamic").err, Not(HasSubstr("minutes")));
}

}  // namespace
}  // namespace lacuna::test
