// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

std::string label(const std::string& text) { return pattern_label(parse_pattern(text)); }

std::string error_of(const PatternOptions& options) {
  try {
    make_pattern(options);
  } catch (const RequestError& error) {
    return error.what();
  }
  return "";
}

std::string chosen(const PatternOptions& options) {
  const auto spec = make_pattern(options);
  return spec ? pattern_label(*spec) : "none";
}

TEST(Options, ReadPatternsAsTheyAreLabelled) {
  for (const char* text :
       {"dense", "unstructured:0.1", "block16:0.1", "block16x4:0.25", "nm:2:4", "rows:0.1:alpha=1",
        "window:w=64:causal=1", "nm:2:4:pos=first", "bernoulli4:0.5"}) {
    EXPECT_EQ(label(text), text);
  }
  EXPECT_EQ(label("2:4"), "nm:2:4");
  EXPECT_EQ(label("block:0.50"), "block:0.5");
  EXPECT_EQ(parse_pattern("file:a:b/c.smtx").file, "a:b/c.smtx");
}

TEST(Options, CombineToAPattern) {
  EXPECT_EQ(chosen({}), "none");
  EXPECT_EQ(chosen({{}, "0.1", {}, {}}), "unstructured:0.1");
  EXPECT_EQ(chosen({{}, "0.1", "8", {}}), "block8:0.1");
  EXPECT_EQ(chosen({{}, "1", {}, {}}), "dense");
  EXPECT_EQ(chosen({{}, {}, {}, "2:4"}), "nm:2:4");
  EXPECT_EQ(chosen({"block", "0.0625", "16", {}}), "block16:0.0625");
  EXPECT_EQ(chosen({"block16:0.1", {}, {}, {}}), "block16:0.1");
  EXPECT_EQ(chosen({"nm", {}, {}, "1:4"}), "nm:1:4");
}

TEST(Options, APathIsNotCutAtItsFirstDigit) {
  EXPECT_THAT(error_of({"/tmp/h2/w.smtx", {}, {}, {}}),
              StrEq("--pattern /tmp/h2/w.smtx: error E206: found '/tmp/h2/w.smtx'; allowed: "
                    "file:PATH of a matrix; did you mean 'file:/tmp/h2/w.smtx'?"));
  EXPECT_THAT(error_of({"w.npy", {}, {}, {}}), HasSubstr("did you mean 'file:w.npy'"));
}

TEST(Options, AreRefusedWithTheirCode) {
  EXPECT_THAT(error_of({"block16:1.5", {}, {}, {}}),
              StrEq("--pattern block16:1.5: error E205: found '1.5'; allowed: a decimal number in "
                    "[0, 1]"));
  EXPECT_THAT(error_of({"block:16:0.1", {}, {}, {}}),
              StrEq("--pattern block:16:0.1: error E205: found '16'; allowed: a decimal number in "
                    "[0, 1]; did you mean 'block16:0.1'?"));
  EXPECT_THAT(error_of({"blok16:0.5", {}, {}, {}}), HasSubstr("did you mean 'block'?"));
  EXPECT_THAT(error_of({"unstructured", {}, {}, {}}), HasSubstr("error E201"));
  EXPECT_THAT(error_of({"unstructured:0.1", {}, "4", {}}), HasSubstr("error E208"));
  EXPECT_THAT(error_of({"unstructured:0.1", "0.2", {}, {}}), HasSubstr("error E214"));
  EXPECT_THAT(error_of({"block4:0.1", {}, "8", {}}), HasSubstr("error E214"));
  EXPECT_THAT(error_of({"block:0.1", {}, {}, {}}), HasSubstr("the side of the blocks, such as"));
  EXPECT_THAT(error_of({"dense", "0.5", {}, {}}), HasSubstr("error E208"));
  EXPECT_THAT(error_of({"causal", "0.5", {}, {}}), HasSubstr("error E214"));
  EXPECT_THAT(error_of({"file:w.smtx", "0.5", {}, {}}), HasSubstr("the file of a pattern implies"));
  EXPECT_THAT(error_of({"nm:5:4", {}, {}, {}}), HasSubstr("error E214"));
  EXPECT_THAT(error_of({"rows:0.1:alpa=1", {}, {}, {}}), HasSubstr("did you mean 'alpha'?"));
  EXPECT_THAT(error_of({{}, "50%", {}, {}}), HasSubstr("--density: error E204: found '50%'"));
  EXPECT_THAT(error_of({{}, "0.5", "0", {}}), HasSubstr("--block: error E203: found '0'"));
}

TEST(Options, TakeWeightsOfAFileToTheEndOfTheText) {
  const PatternSpec spec = parse_pattern("magnitude:0.25:norm=l2:field=file:a/w:1.npy");
  EXPECT_EQ(spec.density->text(), "0.25");
  ASSERT_EQ(spec.args.size(), 2U);
  EXPECT_EQ(*find_value(spec.args, "norm"), "l2");
  EXPECT_EQ(*find_value(spec.args, "field"), "file:a/w:1.npy");
}

TEST(Options, ReadShapesAndWords) {
  const GemmShape shape = parse_gemm("4096x1024x64");
  EXPECT_EQ(shape.m, 4096U);
  EXPECT_EQ(shape.k, 1024U);
  EXPECT_EQ(shape.n, 64U);
  EXPECT_EQ(gemm_workload(shape).name, "4096x1024x64");
  EXPECT_THAT([] { parse_gemm("4x5"); },
              ThrowsMessage<RequestError>(
                  StrEq("--gemm 4x5: error E202: found '4x5'; allowed: MxKxN, three integers")));
  EXPECT_THAT([] { parse_gemm("4x0x5"); }, ThrowsMessage<RequestError>(HasSubstr("E203")));
  EXPECT_THAT([] { parse_gemm("4x5.5x5"); }, ThrowsMessage<RequestError>(HasSubstr("E202")));
  EXPECT_THAT([] { parse_gemm("2147483647x2147483647x3"); },
              ThrowsMessage<RequestError>(HasSubstr("E213")));
  EXPECT_EQ(parse_dtype("fp8"), DType::fp8);
  EXPECT_EQ(parse_mode("static"), Mode::static_);
  EXPECT_THAT([] { parse_dtype("bf61"); },
              ThrowsMessage<RequestError>(HasSubstr("did you mean 'bf16'?")));
}

TEST(Options, PutTheirPatternOnEveryGemm) {
  const WorkloadTrace trace =
      with_pattern(gemm_workload({64, 32, 4}), parse_pattern("block16:0.25"));
  const auto mask = make_mask(trace.ops[0], trace, 1);
  ASSERT_TRUE(mask.has_value());
  EXPECT_EQ(mask->nnz(), 512U);
  EXPECT_THAT(
      [] {
        with_pattern(gemm_workload({60, 32, 4}), parse_pattern("block16:0.25"));
      },
      ThrowsMessage<RequestError>(
          StrEq("--pattern block16:0.25, row 'gemm': error E212: column 'm': found '60'; "
                "allowed: a multiple of 16")));
}

}  // namespace
}  // namespace lacuna
