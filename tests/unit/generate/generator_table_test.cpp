// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/generator_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Generators, MakeEveryNameTheyList) {
  for (const Generator& generator : generators()) {
    const Pairs settings = generator.name == "gemm"
                               ? Pairs{{"shape", "64x32x16"}, {"pattern", "block4:0.5"}}
                               : Pairs{{"layers", "1"}, {"tokens", "16"}, {"density", "0.25"}};
    const WorkloadTrace trace = generate_workload(generator.name, settings);
    EXPECT_FALSE(trace.ops.empty());
    EXPECT_EQ(parse_trace(format_trace(trace), "t.csv").ops.size(), trace.ops.size());
  }
}

TEST(Generators, TakeSettings) {
  const WorkloadTrace trace = generate_workload("bert-base", {{"part", "weights"},
                                                              {"layers", "1"},
                                                              {"sequences", "4"},
                                                              {"tokens", "512"},
                                                              {"pattern", "block16:0.1"},
                                                              {"mode", "dynamic"},
                                                              {"dtype", "fp32"}});
  ASSERT_EQ(trace.ops.size(), 6U);
  EXPECT_EQ(trace.ops[5].k, 3072U);
  EXPECT_EQ(trace.ops[5].n, 2048U);
  EXPECT_EQ(trace.ops[5].dtype, DType::fp32);
  EXPECT_EQ(trace.ops[5].mode, Mode::dynamic);
  EXPECT_EQ(trace.ops[5].pattern.block_rows, 16U);
}

TEST(Generators, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT([] { generate_workload("bert-bas", {}); },
              ThrowsMessage<RequestError>(HasSubstr("did you mean 'bert-base'?")));
  EXPECT_THAT(
      [] {
        generate_workload("gpt2", {{"token", "5"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("did you mean 'tokens'?")));
  EXPECT_THAT(
      [] {
        generate_workload("gpt2", {{"tokens", "x"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("tokens=x: found 'x'; allowed: an integer")));
  EXPECT_THAT(
      [] {
        generate_workload("gpt2", {{"tokens", "5"}, {"tokens", "6"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("given twice")));
  EXPECT_THAT(
      [] {
        generate_workload("gpt2", {{"part", "trainig"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("did you mean 'training'?")));
  EXPECT_THAT([] { generate_workload("gemm", {}); },
              ThrowsMessage<RequestError>(HasSubstr("MxKxN")));
}

}  // namespace
}  // namespace lacuna
