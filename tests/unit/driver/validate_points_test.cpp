// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "sim/driver/validate/points.hpp"
#include "tests/support/paths.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

constexpr const char* kHeader =
    "id,system,workload,m,k,n,density,block,dtype,mode,metric,value,unit,source,confidence\n";

auto reading(const std::string& text) {
  return [text] { parse_validation_points(text, "my.csv"); };
}

TEST(ValidationPoints, ReadsARowWithItsShapeDensityAndValue) {
  const auto points =
      parse_validation_points(std::string(kHeader) +
                                  "P-1,Bow,spmm(popsparse),512,1024,64,0.03125,16,FP16,static,"
                                  "throughput,1.5,TFLOP/s,a figure,M\n",
                              "my.csv");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].id, "P-1");
  EXPECT_EQ(points[0].m, 512U);
  EXPECT_EQ(points[0].k, 1024U);
  EXPECT_EQ(points[0].n, 64U);
  EXPECT_FALSE(points[0].best_n);
  EXPECT_EQ(points[0].density->text(), "0.03125");
  EXPECT_EQ(points[0].block, 16U);
  EXPECT_EQ(points[0].value, 1.5);
  EXPECT_EQ(points[0].line, 2U);
}

TEST(ValidationPoints, TakesColumnsInAnyOrderQuotesAndRemarks) {
  const auto points = parse_validation_points(
      "# a remark\nunit,value,metric,mode,dtype,block,density,n,k,m,workload,system,id,confidence,"
      "source\n\nx,,speedup_vs_dense,static,FP16,,,best,8,8,\"spmm, \"\"mine\"\"\",Bow,P,H,\r\n",
      "my.csv");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].workload, "spmm, \"mine\"");
  EXPECT_TRUE(points[0].best_n);
  EXPECT_FALSE(points[0].value.has_value());
  EXPECT_FALSE(points[0].density.has_value());
  EXPECT_EQ(points[0].source, "");
}

TEST(ValidationPoints, ReadsParametersInPlaceOfAShape) {
  const auto points = parse_validation_points(
      "id,system,workload,parameters,metric,value,unit,source,confidence\n"
      "W,WSE2-model,broadcast_1d,P=16;B=1;T_R=2,model_cycles,21,cycles,s,H\n",
      "my.csv");
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].parameters.at("P"), "16");
  EXPECT_EQ(points[0].parameters.at("T_R"), "2");
}

TEST(ValidationPoints, NamesFileLineAndColumnOfAWrongNumber) {
  EXPECT_THAT(reading(std::string(kHeader) + "P,Bow,gemm,x4,8,8,1,,FP16,dense,t,1,x,s,H\n"),
              ThrowsMessage<TraceError>(
                  StrEq("my.csv:2:12: m = 'x4' is not a whole number in [1, 16777216]")));
  EXPECT_THAT(reading(std::string(kHeader) + "P,Bow,gemm,4,8,8,1.5,,FP16,dense,t,1,x,s,H\n"),
              ThrowsMessage<TraceError>(StrEq(
                  "my.csv:2:18: density = '1.5' is not a decimal in (0, 1] of at most 9 digits")));
  EXPECT_THAT(reading(std::string(kHeader) + "P,Bow,gemm,4,8,8,1,,FP16,dense,t,nan,x,s,H\n"),
              ThrowsMessage<TraceError>(StrEq("my.csv:2:34: value = 'nan' is not a number")));
  // no error is a share of nothing
  for (const char* const value : {"0", "-3"}) {
    EXPECT_THAT(
        reading(std::string(kHeader) + "P,Bow,gemm,4,8,8,1,,FP16,dense,t," + value + ",x,s,H\n"),
        ThrowsMessage<TraceError>(
            HasSubstr(std::string("value = '") + value + "' is not above 0")));
  }
}

TEST(ValidationPoints, NamesAMisspeltAMissingAndARepeatedColumn) {
  EXPECT_THAT(reading("id,sistem\n"),
              ThrowsMessage<TraceError>(
                  StrEq("my.csv:1:4: there is no column 'sistem'; did you mean 'system'?")));
  EXPECT_THAT(reading("id,system,workload,metric,value,unit,source,confidence,m,k,n\n"),
              ThrowsMessage<TraceError>(StrEq("my.csv:1:1: the column 'density' is missing")));
  EXPECT_THAT(reading("id,id\n"),
              ThrowsMessage<TraceError>(StrEq("my.csv:1:4: the column 'id' is given twice")));
}

TEST(ValidationPoints, RefusesRowsThatAreShortLongOrRepeated) {
  const std::string row = "P,Bow,gemm,4,8,8,1,,FP16,dense,t,1,x,s,H";
  EXPECT_THAT(reading(kHeader + row.substr(0, 20) + "\n"),
              ThrowsMessage<TraceError>(HasSubstr("cells, but the header has 15")));
  EXPECT_THAT(reading(kHeader + row + ",more\n"),
              ThrowsMessage<TraceError>(HasSubstr("my.csv:2:42: 16 cells")));
  EXPECT_THAT(reading(kHeader + row + "\n" + row + "\n"),
              ThrowsMessage<TraceError>(StrEq("my.csv:3:1: the id 'P' is given twice")));
  EXPECT_THAT(reading(kHeader + std::string("\"P,Bow\n")),
              ThrowsMessage<TraceError>(HasSubstr("my.csv:2:1: the quote is not closed")));
  EXPECT_THAT(reading(""), ThrowsMessage<TraceError>(StrEq("my.csv:1:1: the file is empty")));
}

TEST(ValidationPoints, OfEachShippedFileCanBeRead) {
  std::size_t points = 0;
  for (const char* const name :
       {"bess_kge", "c600_kernels", "caraml", "dense_gemm", "dynamic_sparse_bert_quality",
        "gc2_microbenchmarks", "hardware_parameters", "mlperf", "popsparse_best_n",
        "popsparse_speedup_table", "popsparse_static_heatmap", "poprt_inference", "wafer_dev"}) {
    points +=
        read_validation_points(test::source_path(std::string("traces/validation/") + name + ".csv"))
            .size();
  }
  // 84 dense, 150 + 36 + 9 sparse, 28 + 4 + 28 + 4 of models, 12 + 3 kernels, 48 losses, 55
  // parameters, 82 of wafers
  EXPECT_EQ(points, 543U);
}

}  // namespace
}  // namespace lacuna
