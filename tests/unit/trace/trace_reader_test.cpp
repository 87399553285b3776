// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/trace_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> messages(const std::string& text) {
  std::vector<std::string> lines;
  try {
    parse_trace(text, "t.csv");
  } catch (const TraceError& error) {
    std::istringstream stream(error.what());
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  return lines;
}

// "LINE:COLUMN CODE" of each problem.
std::vector<std::string> places(const std::string& text) {
  std::vector<std::string> result;
  for (const std::string& message : messages(text)) {
    const std::size_t colon = message.find(": error ");
    result.push_back(message.substr(6, colon - 6) + " " + message.substr(colon + 8, 4));
  }
  return result;
}

// A header and one row.
std::vector<std::string> row(const std::string& header, const std::string& cells) {
  return places(header + "\n" + cells + "\n");
}

TEST(TraceReader, FindsEveryProblemOfAFileAtItsPlace) {
  EXPECT_THAT(places("id,op,m,k,n,pattern,density,block\n"
                     "a,gemm,64,64,32,unstructured,0.25,1\n"
                     "b,gemm,64,6.5,32,unstructured,0.25,1\n"
                     "c,gemm,64,64,-32,unstructured,0.25,1\n"
                     "d,gemm,64,64,32,unstructured,1.25,1\n"
                     "e,gemm,66,64,32,block,0.25,4\n"
                     "a,gemm,64,64,32,unstructured,0.25,1\n"
                     "f,gemm,64,64,32,unstructurde,0.25,1\n"
                     "g,gemm,64,64,32,unstructured\n"),
              ElementsAre("3:11 E202", "4:14 E203", "5:30 E205", "6:8 E212", "7:1 E209",
                          "8:17 E206", "9:1 E004"));
}

TEST(TraceReader, SaysWhatWasFoundAndWhatIsAllowed) {
  EXPECT_THAT(
      messages("id,op,m,k,n,pattern,density\na,gemm,8,8,8,unstructurde,0.5\n"),
      ElementsAre("t.csv:2:14: error E206: column 'pattern': found 'unstructurde'; "
                  "allowed: dense, unstructured, block, bernoulli, nm, rows, magnitude, banded, "
                  "blockdiag, butterfly, causal, window, longformer, bigbird, fixed, "
                  "strided, file, ref; did you mean 'unstructured'?"));
  EXPECT_THAT(messages("id,op,m,k,n\na,gemm,8,2147483648,8\n"),
              ElementsAre("t.csv:2:10: error E203: column 'k': found '2147483648'; allowed: an "
                          "integer in [1, 2147483647]"));
}

TEST(TraceReader, ReadsColumnsByNameInAnyOrderWithDefaults) {
  const WorkloadTrace trace = parse_trace("n,k,op,m,id\n32, 16 ,gemm,\"8\",a\n", "x/t.csv");
  ASSERT_EQ(trace.ops.size(), 1U);
  EXPECT_EQ(trace.name, "t.csv");
  const LayerOp& op = trace.ops[0];
  EXPECT_EQ(op.id, "a");
  EXPECT_EQ(op.m, 8U);
  EXPECT_EQ(op.k, 16U);
  EXPECT_EQ(op.n, 32U);
  EXPECT_EQ(op.batch, 1U);
  EXPECT_EQ(op.repeat, 1U);
  EXPECT_EQ(op.dtype, DType::fp16);
  EXPECT_EQ(op.partials, Partials::automatic);
  EXPECT_EQ(op.mode, Mode::automatic);
  EXPECT_EQ(op.pattern.name, "dense");
  EXPECT_EQ(op.line, 2U);
  EXPECT_FALSE(op.seed.has_value());
}

TEST(TraceReader, SkipsBlankLinesAndCommentsAndTakesBomAndCrLf) {
  const WorkloadTrace trace = parse_trace(
      "\xEF\xBB\xBF# lacuna-trace v1\r\n\r\n  # note\r\nid,op,m,k,n\r\n \t\r\na,gemm,1,2,3\r\n",
      "t.csv");
  ASSERT_EQ(trace.ops.size(), 1U);
  EXPECT_EQ(trace.ops[0].line, 6U);
  EXPECT_EQ(trace.ops[0].n, 3U);
}

TEST(TraceReader, DependsOnTheRowBeforeUnlessTold) {
  const WorkloadTrace trace = parse_trace(
      "id,op,m,k,n,depends_on\na,gemm,1,1,1,\nb,gemm,1,1,1,\nc,gemm,1,1,1,-\nd,gemm,1,1,1,a; b\n",
      "t.csv");
  EXPECT_THAT(trace.ops[0].depends_on, ElementsAre());
  EXPECT_THAT(trace.ops[1].depends_on, ElementsAre("a"));
  EXPECT_THAT(trace.ops[2].depends_on, ElementsAre());
  EXPECT_THAT(trace.ops[3].depends_on, ElementsAre("a", "b"));
}

TEST(TraceReader, RefusesFilesThatAreNoTraces) {
  EXPECT_THAT(places(""), ElementsAre("1:1 E001"));
  EXPECT_THAT(places("id,op,m,k,n\n"), ElementsAre("1:1 E001"));
  EXPECT_THAT(places(std::string("id,op\na\0b,gemm\n", 15)), ElementsAre("2:2 E002"));
  EXPECT_THAT(places("id,op\n\xC3(,gemm\n"), ElementsAre("2:1 E002"));
  // half of a surrogate pair, an overlong slash, and a character cut by the end
  EXPECT_THAT(places("id,op\n\xED\xA0\x80,gemm\n"), ElementsAre("2:1 E002"));
  EXPECT_THAT(places("id,op\na,\xC0\xAF\n"), ElementsAre("2:3 E002"));
  EXPECT_THAT(places("id,op\na,\xE2\x82"), ElementsAre("2:3 E002"));
  EXPECT_THAT(places("id,op,m,k,n\na,\"gemm,1,1,1\nb,gemm,1,1,1\n"), ElementsAre("2:3 E003"));
  EXPECT_THAT(places("id,op,m,k,n\na,\"gemm\"x,1,1,1\n"), ElementsAre("2:3 E003"));
  EXPECT_THAT(places("# lacuna-trace v2\nid,op,m,k,n\na,gemm,1,1,1\n"), ElementsAre("1:1 E005"));
  EXPECT_THAT(
      [] {
        try {
          read_trace("no/such/file.csv");
        } catch (const TraceError& error) {
          return std::string(error.what());
        }
        return std::string();
      }(),
      HasSubstr("no/such/file.csv:1:1: error E001"));
}

TEST(TraceReader, ChecksTheHeader) {
  EXPECT_THAT(row("id,m,k,n", "a,1,1,1"), ElementsAre("1:1 E101"));
  EXPECT_THAT(row("op,m,k,n", "gemm,1,1,1"), ElementsAre("1:1 E101"));
  EXPECT_THAT(row("id,op,m,k,n,densty", "a,gemm,1,1,1,"), ElementsAre("1:13 E102"));
  EXPECT_THAT(row("id,op,m,k,n,m", "a,gemm,1,1,1,1"), ElementsAre("1:13 E103"));
  // k is missed at the first row that needs it, once.
  EXPECT_THAT(places("id,op,m,n\na,softmax,4,4\nb,gemm,4,4\nc,gemm,4,4\n"),
              ElementsAre("3:1 E101"));
}

TEST(TraceReader, ChecksNumbers) {
  const char* header = "id,op,m,k,n,density,pattern,seed";
  const auto m = [&](const std::string& text) { return row(header, "a,gemm," + text + ",1,1,,,"); };
  for (const char* text : {"12.5", "1e3", "+4", "0x10", "1_000", "1 0", "-", "\xC2\xBD"}) {
    EXPECT_THAT(m(text), ElementsAre("2:8 E202")) << text;
  }
  for (const char* text : {"0", "-1", "2147483648", "99999999999999999999999"}) {
    EXPECT_THAT(m(text), ElementsAre("2:8 E203")) << text;
  }
  EXPECT_THAT(m(""), ElementsAre("2:8 E201"));
  const auto density = [&](const std::string& text) {
    return row(header, "a,gemm,4,4,4," + text + ",unstructured,");
  };
  for (const char* text : {"nan", "inf", "50%", "\"0,5\"", "0.1.2", "1e", "+1"}) {
    EXPECT_THAT(density(text), ElementsAre("2:14 E204")) << text;
  }
  for (const char* text : {"1.5", "-0.1", "2"}) {
    EXPECT_THAT(density(text), ElementsAre("2:14 E205")) << text;
  }
  for (const char* text : {"0.3333333333333333", "1e-1"}) {  // as programs print them
    EXPECT_THAT(density(text), ElementsAre()) << text;
  }
  EXPECT_THAT(density(""), ElementsAre("2:14 E201"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,18446744073709551615"), ElementsAre());
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,18446744073709551616"), ElementsAre("2:16 E203"));
}

// A density that nobody gave is not 1; weights that are not there live nowhere.
TEST(TraceReader, TakesNothingForGranted) {
  const char* x = "id,op,m,k,n,x_pattern,x_density";
  EXPECT_THAT(row(x, "a,gemm,4,4,4,bernoulli,0.5"), ElementsAre());
  EXPECT_THAT(row(x, "a,gemm,4,4,4,bernoulli,1"), ElementsAre());
  EXPECT_THAT(row(x, "a,gemm,4,4,4,bernoulli,"), ElementsAre("2:24 E201"));
  EXPECT_THAT(row(x, "a,bmm,4,4,4,channel,"), ElementsAre("2:21 E201"));
  const char* place = "id,op,m,k,n,mode,residency";
  EXPECT_THAT(row(place, "a,gemm,4,4,4,,resident"), ElementsAre());
  EXPECT_THAT(row(place, "a,gemm,4,4,4,streamed,resident"), ElementsAre("2:23 E208"));
  EXPECT_THAT(row(place, "a,gemm,4,4,4,dynamic,streamed"), ElementsAre("2:22 E208"));
  EXPECT_THAT(row(place, "a,softmax,4,,4,,resident"), ElementsAre("2:17 E208"));
  EXPECT_THAT(row(place, "a,bmm,4,4,4,,streamed"), ElementsAre("2:14 E208"));
}

TEST(TraceReader, ChecksThatEachCellIsUsed) {
  const char* header = "id,op,m,k,n,fn,density,x_density,pattern_file,args,block,pattern";
  EXPECT_THAT(row(header, "a,softmax,4,4,4,,,,,,,"), ElementsAre("2:13 E208"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,relu,,,,,,"), ElementsAre("2:14 E208"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,0.5,,,,,"), ElementsAre("2:15 E208"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,1,,,,,"), ElementsAre());
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,0.5,,,,"), ElementsAre("2:16 E208"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,,f.smtx,,,"), ElementsAre("2:17 E208"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,,,ranks=4,,"), ElementsAre("2:18 E207"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,,,,4,"), ElementsAre("2:19 E208"));
  EXPECT_THAT(row(header, "a,eltwise,4,,4,relu,0.5,,,,,"), ElementsAre("2:21 E208"));
  EXPECT_THAT(row(header, "a,eltwise,4,,4,,,,,,,"), ElementsAre("2:16 E201"));
  EXPECT_THAT(row(header, "a,spmm,4,4,4,,,,,,,"), ElementsAre("2:20 E201"));
  EXPECT_THAT(row(header, "a,allreduce,4,,,,,,,,,"), ElementsAre("2:21 E201"));
}

TEST(TraceReader, ChecksKeys) {
  const char* header = "id,op,m,k,n,pattern,pattern_args,args";
  EXPECT_THAT(row(header, "a,gemm,4,4,4,nm,keep=2;of=4,"), ElementsAre());
  EXPECT_THAT(row(header, "a,gemm,4,4,4,nm,keep=2;off=4,"), ElementsAre("2:17 E207"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,nm,keep=2,"), ElementsAre("2:17 E201"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,nm,keep,"), ElementsAre("2:17 E207"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,nm,keep=5;of=4,"), ElementsAre("2:17 E214"));
  EXPECT_THAT(row(header, "a,gemm,4,6,4,nm,keep=2;of=4,"), ElementsAre("2:10 E212"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,x_unique=0"), ElementsAre("2:16 E203"));
  EXPECT_THAT(row(header, "a,gemm,4,4,4,,,x_unique=3;x_unique=4"), ElementsAre("2:16 E207"));
  EXPECT_THAT(row(header, "a,embed,4,9,4,,,index=zipf:1.1"), ElementsAre());
  EXPECT_THAT(row(header, "a,embed,4,9,4,,,index=zip:1.1"), ElementsAre("2:17 E206"));
  // read before and ignored
  EXPECT_THAT(row(header, "a,embed,4,9,4,,,index=file:rows.txt"), ElementsAre("2:17 E206"));
  const std::string routed = "a,embed,4,9,9,,,index=routing;experts=4;chosen=2";
  EXPECT_THAT(row(header, routed), ElementsAre());
  EXPECT_THAT(row(header, routed + ";round=1"), ElementsAre());
  EXPECT_THAT(row(header, routed + ";round=2"), ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, routed + ";routing=counts:9:4:5:0"), ElementsAre());
  EXPECT_THAT(row(header, routed + ";routing=counts:9:4:4:0"), ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, routed + ";routing=counts:10:4:4:0"), ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, routed + ";routing=counts:9:9"), ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, "a,embed,4,8,9,,,index=routing;experts=4;chosen=2"),
              ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, "a,embed,4,9,9,,,index=routing;experts=4;chosen=5"),
              ElementsAre("2:17 E206"));
  EXPECT_THAT(row(header, "a,embed,4,9,9,,,experts=4"), ElementsAre("2:17 E206"));
}

TEST(TraceReader, RefusesWordsOfKernelsThatAnOperationHasNot) {
  const char* header = "id,op,m,n,fn,mode,partials";
  EXPECT_THAT(row(header, "a,softmax,4,4,,,fp16"), ElementsAre("2:17 E208"));
  EXPECT_THAT(row(header, "a,softmax,4,4,,static,auto"), ElementsAre());
  EXPECT_THAT(row(header, "a,eltwise,4,4,relu,static,"), ElementsAre("2:20 E208"));
  EXPECT_THAT(row(header, "a,eltwise,4,4,relu,auto,"), ElementsAre());
  EXPECT_THAT(row("id,op,m,k,n,partials", "a,sddmm,4,4,4,fp32"), ElementsAre());
}

TEST(TraceReader, ChecksReferences) {
  const char* header = "id,op,m,k,n,pattern,pattern_args,depends_on\n";
  const std::string first = "a,gemm,4,8,2,nm,keep=1;of=4,\n";
  const auto second = [&](const std::string& cells) { return places(header + first + cells); };
  EXPECT_THAT(second("b,gemm,4,8,2,ref,of=a,\n"), ElementsAre());
  EXPECT_THAT(second("b,gemm,8,4,2,ref,of=a;transpose=1,\n"), ElementsAre());
  EXPECT_THAT(second("b,gemm,8,4,2,ref,of=a,\n"), ElementsAre("3:18 E211"));
  EXPECT_THAT(second("b,gemm,4,8,2,ref,of=b,\n"), ElementsAre("3:18 E210"));
  EXPECT_THAT(second("b,gemm,4,8,2,ref,,\n"), ElementsAre("3:18 E201"));
  EXPECT_THAT(second("b,gemm,4,8,2,,,a;c\n"), ElementsAre("3:16 E210"));
}

TEST(TraceReader, RefusesProductsThatOverflow) {
  const char* header = "id,op,m,k,n,batch,repeat";
  EXPECT_THAT(row(header, "a,gemm,2147483647,2147483647,2,1,1"), ElementsAre());
  EXPECT_THAT(row(header, "a,gemm,2147483647,2147483647,3,1,1"), ElementsAre("2:8 E213"));
  EXPECT_THAT(row(header, "a,gemm,2147483647,2147483647,2,2147483647,2147483647"),
              ElementsAre("2:8 E213"));
}

TEST(TraceReader, ReportsFiftyProblemsAndCountsTheRest) {
  std::string text = "id,op,m,k,n\n";
  for (int i = 0; i < 60; ++i) text += "r" + std::to_string(i) + ",gemm,0,1,1\n";
  const std::vector<std::string> lines = messages(text);
  ASSERT_EQ(lines.size(), 51U);
  EXPECT_THAT(lines[49], HasSubstr("t.csv:51:"));
  EXPECT_EQ(lines[50], "and 10 more problems");
}

}  // namespace
}  // namespace lacuna
