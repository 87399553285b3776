// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refused(const ProgramBench& lacuna, const std::string& file) {
  const Ran ran = lacuna("run --machine fake --out " + lacuna.path("out") + " --trace " + file);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(std::filesystem::exists(lacuna.path("out")));
  return ran.err;
}

TEST(TraceRequest, EveryProblemOfAFileIsNamedWithItsPlaceAndNothingIsRun) {
  const ProgramBench lacuna;
  const std::string file = lacuna.file("t.csv",
                                       "id,op,m,k,n,pattern,density,block\n"
                                       "b,gemm,64,6.5,32,unstructured,0.25,1\n"
                                       "d,gemm,64,64,32,unstructured,1.25,1\n"
                                       "e,gemm,66,64,32,block,0.25,4\n"
                                       "f,gemm,64,64,32,unstructurde,0.25,1\n");
  const std::string message = refused(lacuna, file);
  EXPECT_THAT(message, HasSubstr("t.csv:2:11: error E202"));
  EXPECT_THAT(message, HasSubstr("t.csv:3:30: error E205"));
  EXPECT_THAT(message, HasSubstr("t.csv:4:8: error E212"));
  EXPECT_THAT(message, HasSubstr("t.csv:5:17: error E206"));
  EXPECT_THAT(message, HasSubstr("did you mean 'unstructured'?"));
}

TEST(TraceRequest, AFileOfAnotherKindIsSentWhereItIsRead) {
  const ProgramBench lacuna;
  const auto said = [&](const std::string& name, const std::string& text) {
    return refused(lacuna, lacuna.file(name, text));
  };
  EXPECT_THAT(said("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n"),
              HasSubstr("is a Matrix Market file: give it with --matrix, and --n"));
  EXPECT_THAT(said("a.smtx", "2, 2, 1\n0 1 1\n0\n"), HasSubstr("looks like a .smtx pattern"));
  EXPECT_THAT(said("a.csv", "Layer, M, N, K,\nA, 1, 2, 3,\n"), HasSubstr("trace import"));
  EXPECT_THAT(said("a.json", "{\"hidden_size\": 4}\n"), HasSubstr("trace import"));
}

TEST(TraceRequest, TwoFilesOfOneNameAreToldApart) {
  const ProgramBench lacuna;
  const std::string mine = lacuna.file("fake.yaml", "base: fake\nclock: 3\n");
  const Ran ran = lacuna("compare --gemm 8x8x8 --machine fake --machine " + mine);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("are both called 'fake'"));
}

TEST(TraceRequest, AMissingColumnIsNamed) {
  const ProgramBench lacuna;
  EXPECT_THAT(refused(lacuna, lacuna.file("t.csv", "id,op,m,k\na,gemm,8,8\n")),
              HasSubstr("error E101: column 'n'"));
  EXPECT_THAT(refused(lacuna, lacuna.file("t.csv", "op,m,k,n\ngemm,8,8,8\n")),
              HasSubstr("t.csv:1:1: error E101: column 'id'"));
}

TEST(TraceRequest, AFileThatCannotBeReadIsNamed) {
  const ProgramBench lacuna;
  EXPECT_THAT(refused(lacuna, lacuna.path("none.csv")), HasSubstr("none.csv"));
  EXPECT_THAT(refused(lacuna, "/usr"), HasSubstr("/usr"));
  EXPECT_THAT(refused(lacuna, "/dev/null"), HasSubstr("/dev/null"));
  EXPECT_THAT(refused(lacuna, lacuna.file("e.csv", "")), HasSubstr("E001"));
  EXPECT_THAT(refused(lacuna, lacuna.file("b.csv", std::string("id,op\n\0x\n", 9))),
              HasSubstr("E002"));
}

TEST(TraceRequest, ATruncatedMatrixIsNamedWithItsPlace) {
  const ProgramBench lacuna;
  for (const char* const text :
       {"", "4, 4, 4\n", "4, 4, 4\n0 1 2 3", "4, 4, 4\n0 1 2 3 4\n0 1 2", "99999999999, 4, 4\n0\n",
        "4, 4, 18446744073709551617\n0 1 2 3 4\n0 1 2 3\n"}) {
    const std::string file = lacuna.file("m.smtx", text);
    const Ran ran =
        lacuna("run --machine fake --n 8 --out " + lacuna.path("out") + " --matrix " + file);
    EXPECT_EQ(ran.status, 2) << text;
    EXPECT_THAT(ran.err, HasSubstr("m.smtx")) << text;
    EXPECT_FALSE(std::filesystem::exists(lacuna.path("out")));
  }
}

TEST(TraceRequest, AnAbsurdShapeIsRefusedBeforeMemoryIsTaken) {
  const ProgramBench lacuna;
  EXPECT_THAT(refused(lacuna, lacuna.file("t.csv",
                                          "id,op,m,k,n,batch\n"
                                          "a,gemm,2147483647,2147483647,2147483647,2147483647\n")),
              HasSubstr("E213"));
}

TEST(TraceRequest, AMatrixNeedsItsColumnsAndOnlyAMatrixTakesThem) {
  const ProgramBench lacuna;
  const std::string matrix = source_path("traces/dlmc/encoder0_mag90_q.smtx");
  EXPECT_THAT(lacuna("run --machine fake --matrix " + matrix).err, HasSubstr("needs --n"));
  EXPECT_THAT(lacuna("run --machine fake --gemm 8x8x8 --n 8").err, HasSubstr("--matrix alone"));
  const Ran ran = lacuna("run --json --machine fake --n 8 --matrix " + matrix);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const nlohmann::json row = nlohmann::json::parse(ran.out).at(0);
  EXPECT_DOUBLE_EQ(row.at("density"), 26214.0 / (512 * 512));  // as many elements are kept
}

TEST(TraceRequest, AModeWithoutSparseWeightsIsForTheDenseOnes) {
  const ProgramBench lacuna;
  const Ran ran = lacuna("run --json --machine fake --gemm 8x8x8 --mode static");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(nlohmann::json::parse(ran.out).at(0).at("mode"), "static");
  // beside sparse ones it is for those alone
  const Ran both = lacuna(
      "compare --machine fake --gemm 8x8x8 --mode static --pattern dense "
      "--pattern unstructured:0.5 --out " +
      lacuna.path("out"));
  EXPECT_EQ(both.status, 0) << both.err;
  const CsvTable rows = CsvTable(lacuna.read("out/summary.csv")).where({{"op_id", "gemm"}});
  EXPECT_EQ(rows.where({{"pattern", "dense"}, {"density", "1"}}).cell("mode"), "dense");
  EXPECT_EQ(rows.where({{"pattern", "unstructured"}, {"density", "0.5"}}).cell("mode"), "static");
}

TEST(TraceRequest, RunsARealLayerWithItsOwnPatternsAndItsDensePartners) {
  const ProgramBench lacuna;
  const Ran ran = lacuna(
      "compare --machine fake --machine slow --with-dense --pattern own "
      "--pattern block16:0.1 --trace " +
      source_path("traces/transformer_l0_mag90.csv") + " --out " + lacuna.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CsvTable summary(lacuna.read("out/summary.csv"));
  const CsvTable query = summary.where(
      {{"op_id", "fwd.l0.q"}, {"m", "512"}, {"k", "512"}, {"n", "2048"}, {"dtype", "fp16"}});
  const CsvTable own = query.where({{"pattern", "file"}, {"machine", "fake"}});
  EXPECT_DOUBLE_EQ(own.number("density"), 26214.0 / (512 * 512));
  const CsvTable blocks = query.where({{"pattern", "block"}, {"machine", "fake"}});
  EXPECT_EQ(blocks.number("density"), 102.0 / 1024);  // 102 of 1,024 blocks
  EXPECT_EQ(blocks.cell("block"), "16");
  EXPECT_EQ(blocks.cell("mode"), "static");
  EXPECT_THAT(summary.column("pattern"), Each(Not("dense"))) << "dense was run to compare with";
  EXPECT_EQ(summary.rows().size(), 4 * 7U);
}

TEST(TraceVerb, ChecksAndShows) {
  const ProgramBench lacuna;
  const std::string trace = source_path("traces/transformer_l0_mag90.csv");
  const Ran check = lacuna("trace check " + trace);
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("6 rows, 6 with a pattern, 6 of them from files: no problem"));
  const Ran show = lacuna("trace show " + trace);
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_THAT(printed_row(show.out, "fwd.l0.q"), Contains("file:encoder0_mag90_q.smtx"));
  EXPECT_EQ(lacuna("trace check " + lacuna.path("none")).status, 2);
  EXPECT_EQ(lacuna("trace").status, 2);
  EXPECT_THAT(lacuna("trace shwo x").err, HasSubstr("did you mean 'show'?"));
}

}  // namespace
}  // namespace lacuna::test
