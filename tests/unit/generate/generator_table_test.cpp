// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/generator_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Generators, MakeEveryNameTheyList) {
  for (const Generator& generator : generators()) {
    const std::map<std::string, Pairs> others = {
        {"gemm", {{"shape", "64x32x16"}, {"pattern", "block4:0.5"}}},
        {"popsparse", {}},
        {"blas", {}},
        {"kge", {{"width", "8"}, {"entities", "9"}, {"relations", "3"}, {"positives", "4"}}}};
    const auto other = others.find(generator.name);
    Pairs settings = {{"layers", "1"}, {"tokens", "16"}, {"density", "0.25"}};
    if (other != others.end()) settings = other->second;
    for (const ModelShape& shape : model_shapes()) {
      const bool is_first = find_value(settings, "size") == nullptr;
      const std::vector<std::string> series = model_series();
      const bool of_series = shape.name.rfind(generator.name + "-", 0) == 0 &&
                             std::count(series.begin(), series.end(), generator.name) != 0;
      if ((generator.name == family_name(shape.family) || of_series) && is_first) {
        settings.emplace_back("size", shape.name);
      }
    }
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

TEST(Generators, TakeASizeByFamily) {
  const Pairs one = {{"layers", "1"}, {"tokens", "16"}};
  const auto with_size = [&](const char* size) {
    Pairs settings = one;
    settings.emplace_back("size", size);
    return settings;
  };
  EXPECT_EQ(generate_workload("bert", with_size("base")).name, "bert-base");
  EXPECT_EQ(generate_workload("llama", with_size("2-7b")).name, "llama2-7b");
  EXPECT_EQ(generate_workload("gpt", with_size("gpt3-xl")).name, "gpt3-xl");
  EXPECT_EQ(generate_workload("qwen3", with_size("30b-a3b")).name, "qwen3-30b-a3b");
  EXPECT_EQ(generate_workload("mixtral", with_size("mixtral-8x7b")).name, "mixtral-8x7b");
  EXPECT_THAT([&] { generate_workload("llama", with_size("8x7b")); },
              ThrowsMessage<RequestError>(HasSubstr("llama2-70b, llama3-8b")));
  EXPECT_THAT([&] { generate_workload("bert", with_size("bse")); },
              ThrowsMessage<RequestError>(HasSubstr("allowed: bert-tiny, bert-mini")));
  EXPECT_THAT([&] { generate_workload("bert", one); },
              ThrowsMessage<RequestError>(HasSubstr("allowed: bert-tiny, bert-mini")));
}

std::string pattern_of(const WorkloadTrace& trace, const std::string& id) {
  for (const LayerOp& op : trace.ops) {
    if (op.id == id) return pattern_label(op.pattern);
  }
  return "no such row";
}

TEST(Generators, GiveEachWeightThePatternOfTheLastRuleThatMatchesItsName) {
  const WorkloadTrace trace = generate_workload("bert-base", {{"part", "weights"},
                                                              {"layers", "2"},
                                                              {"density", "0.25"},
                                                              {"sparse", "*.ffn?=block16:0.1"},
                                                              {"sparse", "l1.*=nm:2:4"},
                                                              {"sparse", "l1.o=dense"}});
  EXPECT_EQ(pattern_of(trace, "fwd.l0.q"), "unstructured:0.25");
  EXPECT_EQ(pattern_of(trace, "fwd.l0.ffn2"), "block16:0.1");
  EXPECT_EQ(pattern_of(trace, "fwd.l1.ffn2"), "nm:2:4");
  EXPECT_EQ(pattern_of(trace, "fwd.l1.o"), "dense");
  EXPECT_THAT(
      [] {
        generate_workload("bert-base", {{"sparse", "l12.q=nm:2:4"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("no weight of bert-base")));
  EXPECT_THAT(
      [] {
        generate_workload("bert-base", {{"sparse", "nm:2:4"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("WHERE=PATTERN")));
}

// No weight has a bracket in its name, so what stands in them was never a letter.
TEST(Generators, TakeOneOfTheLettersInBrackets) {
  const WorkloadTrace trace = generate_workload(
      "bert-base", {{"part", "weights"}, {"layers", "3"}, {"sparse", "l[02].[q-v]=nm:2:4"}});
  for (const char* id : {"fwd.l0.q", "fwd.l0.v", "fwd.l2.q"}) {
    EXPECT_EQ(pattern_of(trace, id), "nm:2:4") << id;
  }
  for (const char* id : {"fwd.l0.k", "fwd.l1.q", "fwd.l2.ffn1"}) {
    EXPECT_EQ(pattern_of(trace, id), "dense") << id;
  }
}

// BERT-base at 0.1: 0.13333394 for the square matrices, 0.08333371 for the two others, as computed
// for Erdos-Renyi by the formula of Mocanu et al.
TEST(Generators, ShareADensityBetweenUnlikeMatrices) {
  const WorkloadTrace trace = generate_workload(
      "bert-base", {{"part", "weights"}, {"layers", "1"}, {"density", "0.1"}, {"layerwise", "er"}});
  EXPECT_NEAR(trace.ops[0].pattern.density->value(), 0.13333394, 1e-8);
  EXPECT_NEAR(trace.ops[4].pattern.density->value(), 0.08333371, 1e-8);
}

TEST(Generators, GiveAllLayersTheMasksOfTheFirstIfAsked) {
  const WorkloadTrace trace = generate_workload(
      "bert-tiny", {{"part", "weights"}, {"density", "0.25"}, {"same-mask", "1"}});
  EXPECT_EQ(pattern_of(trace, "fwd.l0.q"), "unstructured:0.25");
  EXPECT_EQ(pattern_of(trace, "fwd.l1.q"), "ref:of=fwd.l0.q");
  EXPECT_EQ(*make_mask(trace.ops[6], trace, 3), *make_mask(trace.ops[0], trace, 3));
}

TEST(Generators, MakeSparseAttention) {
  const WorkloadTrace trace = generate_workload(
      "bert-base", {{"layers", "1"}, {"tokens", "512"}, {"attention", "longformer:w=64:global=4"}});
  // 65,452 of 512 x 512 scores, counted for this window and these global tokens
  EXPECT_EQ(make_mask(trace.ops[4], trace, 1)->nnz(), 65452U);
  EXPECT_EQ(trace.ops[4].op, "sddmm");
  EXPECT_EQ(pattern_of(trace, "fwd.l0.ctx"), "ref:of=fwd.l0.scores");
  EXPECT_THAT(
      [] {
        generate_workload("bert-base", {{"tokens", "100"}, {"attention", "bigbird16"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("attention=bigbird16")));
}

TEST(Generators, CoverTheGridOfPopSparseAndTheLevelsOfBlas) {
  EXPECT_EQ(generate_workload("popsparse", {}).ops.size(), 100U);  // 5 sides, 5 densities, 4 blocks
  const WorkloadTrace blas = generate_workload("blas", {{"dtype", "fp32"}});
  EXPECT_EQ(blas.ops.size(), 10U);
  EXPECT_EQ(blas.ops.back().dtype, DType::fp32);
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
      ThrowsMessage<RequestError>(HasSubstr("--tokens: found 'x'; allowed: an integer")));
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
