// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RepeatedLayers : public ::testing::TestWithParam<const char*> {
 protected:
  /// Two layers of a small BERT on the machine of the test.
  Ran two_layers(const std::string& pattern, const std::string& output = "") const {
    const std::string trace = bench_.path("t.csv");
    const Ran made = run_real("trace make bert-tiny --part weights --layers 2 --tokens 16 --out " +
                              trace + " " + pattern);
    EXPECT_EQ(made.status, 0) << made.err;
    return run_real(std::string("run ") + GetParam() + " --trace " + trace + " --quiet --wide" +
                    output);
  }

  /// Cycles of the operations of the result, then of the whole run, out of summary.csv.
  std::vector<std::string> cycles() const {
    std::istringstream text(file_text(bench_.path("result") + "/summary.csv"));
    std::vector<std::string> result;
    std::string line;
    std::getline(text, line);
    while (std::getline(text, line)) {
      std::istringstream cells(line);
      constexpr int kCycles = 19;  // run, machine, engine, exact, workload, op_id, op, m, k, ...
      for (int i = 0; i < kCycles; ++i) std::getline(cells, line, ',');
      result.push_back(line);
    }
    return result;
  }

  static std::string repeated(int count) {
    return std::to_string(count) +
           " of 12 operations have the shape, types and mask of an earlier one";
  }

  ProgramBench bench_;
};

// q, k, v and o of both layers are one product, ffn1 and ffn2 one each: 3 of 12 are simulated.
TEST_P(RepeatedLayers, OfDenseWeightsAreSimulatedOnce) {
  EXPECT_THAT(two_layers("").out, HasSubstr(repeated(9) + ": simulated once"));
}

TEST_P(RepeatedLayers, WithRandomMasksAreAllSimulated) {
  EXPECT_THAT(two_layers("--pattern unstructured:0.25").out, Not(HasSubstr("simulated once")));
}

TEST_P(RepeatedLayers, ThatShareTheirMasksTakeTheCyclesOfTheFirst) {
  EXPECT_THAT(
      two_layers("--pattern unstructured:0.25 --same-mask", " --out " + bench_.path("result")).out,
      HasSubstr(repeated(6)));
  const std::vector<std::string> all = cycles();
  ASSERT_EQ(all.size(), 13U);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(all[i], all[i % 6]);
    sum += std::stoull(all[i]);
  }
  EXPECT_EQ(all[12], std::to_string(sum));
}

// The first 2 of every 4 are the same mask in every row of a shape, whatever its name and seed.
TEST_P(RepeatedLayers, AreKnownByTheContentOfTheirMasks) {
  EXPECT_THAT(two_layers("--pattern nm:2:4:pos=first").out, HasSubstr(repeated(9)));
}

std::string machine_of(const ::testing::TestParamInfo<const char*>& info) {
  return info.index == 0 ? "OnTiles" : "OnCores";
}

INSTANTIATE_TEST_SUITE_P(Of, RepeatedLayers,
                         ::testing::Values("--machine bow --set ipu.tiles=16",
                                           "--machine wse2 --set wafer.columns=8 --set "
                                           "wafer.rows=8 --residency streamed"),
                         machine_of);

// dQ takes the gradients of scores as they lie, dK transposed.
TEST(RepeatedRows, OfTransposedScoresAreNotThoseOfScores) {
  const ProgramBench bench;
  const std::string trace = bench.file("t.csv",
                                       "# lacuna-trace v1\n"
                                       "id,op,layer,phase,m,k,n,batch,dtype,fn,depends_on\n"
                                       "q,eltwise,q,fwd,12,,16,,fp16,bias,\n"
                                       "k,eltwise,k,fwd,12,,16,,fp16,scale,-\n"
                                       "s,bmm,s,fwd,8,3,8,8,fp16,dot,q;k\n"
                                       "p,softmax,p,fwd,8,,8,8,fp16,,s\n"
                                       "dp,softmax,p,bwd,8,,8,8,fp16,,p\n"
                                       "dq,bmm,s,bwd,8,8,3,8,fp16,dot,dp\n"
                                       "dk,bmm,s,bwd,8,8,3,8,fp16,dot,dp\n");
  const Ran ran = run_real(
      "run --machine wse2 --set wafer.columns=8 --set wafer.rows=6 --quiet --wide "
      "--trace " +
      trace);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("simulated once")));
}

}  // namespace
}  // namespace lacuna::test
