// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/transformer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Part = TransformerOptions::Part;

TransformerOptions options(Part part, std::uint32_t tokens) {
  TransformerOptions result;
  result.part = part;
  result.tokens = tokens;
  return result;
}

// 2 * algorithmic MACs of products whose id contains one of `names` (empty: of all).
std::uint64_t flop(const WorkloadTrace& trace, const std::vector<std::string>& names = {}) {
  std::uint64_t macs = 0;
  for (const LayerOp& op : trace.ops) {
    bool named = names.empty();
    for (const std::string& name : names) named = named || op.id.find(name) != op.id.npos;
    if (named) macs += cost_of(op, masked_elements(op)).algorithmic_macs;
  }
  return 2 * macs;
}

std::vector<std::string> ids(const WorkloadTrace& trace) {
  std::vector<std::string> result;
  for (const LayerOp& op : trace.ops) result.push_back(op.id);
  return result;
}

// Closed forms: BERT (V + 512 + 2) d + 2 d + L [4 (d^2 + d) + 2 d f + f + d + 4 d] + d^2 + d;
// GPT (V + P) d + L [4 d^2 + 4 d + 2 d f + f + d + 4 d] + 2 d;
// Llama 2 V d + L [2 d^2 + 2 d d_kv + 3 d f + 2 d] + d.
TEST(ModelShape, HasAsManyParametersAsPublished) {
  const std::map<std::string, std::uint64_t> expected = {
      {"bert-tiny", 4385920},
      {"bert-mini", 11170560},
      {"bert-small", 28763648},
      {"bert-medium", 41373184},
      {"bert-base", 109482240},
      {"bert-large", 335141888},
      {"gpt2", 124439808},
      {"gpt2-small", 124439808},
      {"gpt2-medium", 354823168},
      {"gpt2-large", 774030080},
      {"gpt2-xl", 1557611200},
      {"gpt3-xl", 1315723264},
      {"gpt3-2.7b", 2651553280},
      {"gpt3-6.7b", 6658404352},
      {"gpt-1t", 1000921436160},
      {"gpt3-13b", 12853386240},
      {"gpt3-175b", 174604259328},
      {"opt-125m", 125239296},
      {"llama2-7b", 6738415616},
      {"llama2-13b", 13015864320},
      {"llama2-70b", 68976648192},
      {"llama3-8b", 8030261248},
      {"mistral-7b", 7241732096},
      // 32 (2 * 4096^2 + 2 * 4096 * 1024 + 8 * 3 * 4096 * 14336 + 8 * 4096 + 2 * 4096)
      // + 2 * 32000 * 4096 + 4096
      {"mixtral-8x7b", 46702792704},
      {"mixtral-8x22b", 140620634112},
      {"qwen3-0.6b", 596049920},
      {"codellama-34b", 33743970304},
      {"qwen2-72b", 72706203648},
      {"qwen3-1.7b", 1720574976},
      {"qwen3-14b", 14768307200},
      {"qwen3-4b", 4022468096},
      {"qwen3-8b", 8190735360},
      {"qwen3-32b", 32762123264},
      {"qwen3-30b-a3b", 30532122624},
      {"qwen3-235b-a22b", 235093634560},
      // GroupBERT: of a layer the weights alone, 19 d^2 + 112 d
      {"groupbert-base", 159939840},
      {"groupbert-large", 513735680}};
  for (const auto& [name, count] : expected) {
    EXPECT_EQ(parameter_count(find_model_shape(name)), count) << name;
  }
  for (const ModelShape& shape : model_shapes()) EXPECT_EQ(expected.count(shape.name), 1U);
  EXPECT_THAT([] { find_model_shape("bert-bas"); },
              ThrowsMessage<RequestError>(HasSubstr("did you mean 'bert-base'?")));
}

struct Flop {
  const char* model;
  std::uint32_t tokens;
  std::uint64_t weights;
  std::uint64_t attention;
};

// One sequence, dense, all layers: 2 N sum(weights) + 4 T^2 d L. bert-base at 128 tokens:
// 2 * 128 * 12 * 12 * 768^2 = 21,743,271,936 and 4 * 128^2 * 768 * 12 = 603,979,776.
const std::vector<Flop>& published_flop() {
  static const std::vector<Flop> kFlop = {
      {"bert-tiny", 128, 100663296, 16777216},
      {"bert-mini", 128, 805306368, 67108864},
      {"bert-small", 128, 3221225472, 134217728},
      {"bert-medium", 128, 6442450944, 268435456},
      {"bert-base", 128, 21743271936, 603979776},
      {"bert-large", 128, 77309411328, 1610612736},
      {"bert-large", 512, 309237645312, 25769803776},
      {"gpt2", 1024, 173946175488, 38654705664},
      {"gpt2-small", 1024, 173946175488, 38654705664},
      {"gpt3-xl", 2048, 4947802324992, 824633720832},
      {"gpt3-2.7b", 2048, 10307921510400, 1374389534720},
      {"gpt3-6.7b", 2048, 26388279066624, 2199023255552},
      {"gpt-1t", 2048, 4096780325093376, 113799453474816},
      {"gpt3-13b", 2048, 51539607552000, 3435973836800},
      {"gpt3-175b", 2048, 712483534798848, 19791209299968},
      {"groupbert-base", 128, 34691088384, 603979776},
      {"llama2-7b", 2048, 26525718020096, 2199023255552},
      {"gpt2-medium", 1024, 618475290624, 103079215104},
      {"gpt2-large", 1024, 1449551462400, 193273528320},
      {"gpt2-xl", 1024, 3019898880000, 322122547200},
      {"opt-125m", 2048, 347892350976, 154618822656},
      {"llama2-13b", 2048, 51969104281600, 3435973836800},
      {"llama2-70b", 2048, 280375465082880, 10995116277760},
      {"groupbert-large", 128, 123111211008, 1610612736},
      // grouped heads: 2 * 128 * 32 * (2 * 4096^2 + 2 * 4096 * 1024 + 3 * 4096 * 14336), and
      // 4 * 128^2 * 4096 * 32, as every query head has its own scores
      {"llama3-8b", 128, 1786706395136, 8589934592},
      // with a window of 4096, which 128 tokens do not reach
      {"mistral-7b", 128, 1786706395136, 8589934592},
      // two experts of each layer and the router: 2 * 128 * 32 * (41943040 + 2 * 3 * 4096 * 14336
      // + 8 * 4096); who takes which changes nothing
      {"mixtral-8x7b", 128, 3230083842048, 8589934592},
      {"mixtral-8x22b", 128, 9922079096832, 22548578304},
      // 2 * 128 * 28 * (2 * 1024 * 2048 + 2 * 1024 * 1024 + 3 * 1024 * 3072), 4 * 128^2 * 2048 *
      // 28: heads are as wide together as their number says, whatever the width of the model
      {"qwen3-0.6b", 128, 112742891520, 3758096384},
      {"qwen3-4b", 128, 930128855040, 9663676416},
      {"codellama-34b", 128, 8504035246080, 25769803776},
      {"qwen2-72b", 128, 17974438133760, 42949672960},
      {"qwen3-1.7b", 128, 360777252864, 3758096384},
      {"qwen3-14b", 128, 3382286745600, 13421772800},
      {"qwen3-8b", 128, 1778116460544, 9663676416},
      {"qwen3-32b", 128, 7988639170560, 34359738368},
      {"qwen3-30b-a3b", 128, 699005927424, 12884901888},
      {"qwen3-235b-a22b", 128, 5361998233600, 50465865728}};
  return kFlop;
}

TEST(Transformer, ForwardHasTheFlopOfItsClosedForm) {
  for (const ModelShape& shape : model_shapes()) {
    const bool there = std::any_of(published_flop().begin(), published_flop().end(),
                                   [&](const Flop& row) { return shape.name == row.model; });
    EXPECT_TRUE(there) << shape.name;
  }
  for (const Flop& row : published_flop()) {
    const WorkloadTrace trace =
        make_transformer(find_model_shape(row.model), options(Part::forward, row.tokens));
    EXPECT_EQ(flop(trace, {".scores", ".ctx"}), row.attention) << row.model;
    EXPECT_EQ(flop(trace), row.weights + row.attention) << row.model;
  }
}

TEST(Transformer, TrainingHasThreeTimesTheFlopAndFourTimesWithRecomputation) {
  for (const Flop& row : published_flop()) {
    if (find_model_shape(row.model).experts.count != 0) continue;  // not trained here
    TransformerOptions training = options(Part::training, row.tokens);
    EXPECT_EQ(flop(make_transformer(find_model_shape(row.model), training)),
              3 * (row.weights + row.attention))
        << row.model;
    training.recompute = true;
    EXPECT_EQ(flop(make_transformer(find_model_shape(row.model), training)),
              4 * (row.weights + row.attention))
        << row.model;
  }
}

TEST(Transformer, HeadsHaveThePublishedFlop) {
  const auto head = [](const char* name, std::uint32_t tokens) {
    TransformerOptions with_heads = options(Part::forward, tokens);
    with_heads.heads = true;
    with_heads.layers = 1;
    return flop(make_transformer(find_model_shape(name), with_heads), {".head."});
  };
  EXPECT_EQ(head("gpt2", 1024), 79047426048U);
  EXPECT_EQ(head("gpt3-xl", 2048), 421586272256U);
  EXPECT_EQ(head("gpt3-175b", 2048), 2529517633536U);
  EXPECT_EQ(head("bert-base", 128), 962411520U);
  EXPECT_EQ(head("bert-large", 512), 4912173056U);
}

TEST(Transformer, DecodesOneTokenAgainstItsCache) {
  TransformerOptions decode = options(Part::decode, 1);
  decode.context = 2048;
  decode.heads = true;
  const WorkloadTrace trace = make_transformer(find_model_shape("llama2-7b"), decode);
  EXPECT_EQ(flop(trace, {".scores", ".ctx"}), 1073741824U);
  EXPECT_EQ(flop(trace, {".head."}), 262144000U);
  EXPECT_EQ(flop(trace), 14287896576U);
}

TEST(Transformer, LayerOfBertHasSixteenRowsAtInferenceAndNineteenInTraining) {
  TransformerOptions one = options(Part::forward, 16);
  one.layers = 1;
  const ModelShape& tiny = find_model_shape("bert-tiny");
  EXPECT_THAT(ids(make_transformer(tiny, one)),
              ElementsAre("fwd.l0.q", "fwd.l0.k", "fwd.l0.v", "fwd.l0.qkv_bias", "fwd.l0.scores",
                          "fwd.l0.scale", "fwd.l0.softmax", "fwd.l0.ctx", "fwd.l0.o",
                          "fwd.l0.o_add", "fwd.l0.ln1", "fwd.l0.ffn1", "fwd.l0.act", "fwd.l0.ffn2",
                          "fwd.l0.f_add", "fwd.l0.ln2"));
  one.part = Part::training;
  const WorkloadTrace trace = make_transformer(tiny, one);
  int forward = 0;
  for (const LayerOp& op : trace.ops) forward += op.phase == Phase::fwd ? 1 : 0;
  EXPECT_EQ(forward, 19);
}

TEST(Transformer, WeightsAloneAreSixProducts) {
  TransformerOptions weights = options(Part::weights, 512);
  weights.sequences = 4;
  weights.layers = 1;
  const WorkloadTrace trace = make_transformer(find_model_shape("bert-base"), weights);
  EXPECT_THAT(ids(trace), ElementsAre("fwd.l0.q", "fwd.l0.k", "fwd.l0.v", "fwd.l0.o", "fwd.l0.ffn1",
                                      "fwd.l0.ffn2"));
  for (const LayerOp& op : trace.ops) EXPECT_EQ(op.n, 2048U);
  // 2 * 2048 * 12 * 768^2
  EXPECT_EQ(flop(trace), 28991029248U);
}

TEST(Transformer, CausalAttentionComputesOnlyWhatIsKept) {
  TransformerOptions causal = options(Part::forward, 64);
  causal.causal = true;
  causal.layers = 1;
  const WorkloadTrace trace = make_transformer(find_model_shape("gpt2"), causal);
  for (const LayerOp& op : trace.ops) {
    const bool masked =
        op.id == "fwd.l0.scores" || op.id == "fwd.l0.softmax" || op.id == "fwd.l0.ctx";
    const auto mask = make_mask(op, trace, 1);
    EXPECT_EQ(mask.has_value(), masked) << op.id;
    if (mask) {
      EXPECT_EQ(mask->nnz(), 2080U) << op.id;  // 64 * 65 / 2
    }
  }
}

TEST(Transformer, BackwardOfSparseWeightsStaysSparse) {
  TransformerOptions training = options(Part::training, 16);
  training.layers = 1;
  training.replicas = 2;
  training.pattern.name = "unstructured";
  training.pattern.density = Decimal{25, 2};
  const WorkloadTrace trace = make_transformer(find_model_shape("bert-tiny"), training);
  std::map<std::string, const LayerOp*> rows;
  for (const LayerOp& op : trace.ops) rows[op.id] = &op;
  EXPECT_EQ(rows.at("bwd.l0.ffn1_dw")->op, "sddmm");
  EXPECT_EQ(rows.at("bwd.l0.ffn1_dx")->m, 128U);
  const auto forward = make_mask(*rows.at("fwd.l0.ffn1"), trace, 3);
  EXPECT_EQ(*make_mask(*rows.at("bwd.l0.ffn1_dx"), trace, 3), forward->transposed());
  EXPECT_EQ(*make_mask(*rows.at("bwd.l0.ffn1_dw"), trace, 3), *forward);
  EXPECT_EQ(*make_mask(*rows.at("upd.l0.ffn1"), trace, 3), *forward);
  EXPECT_EQ(rows.at("upd.l0.ffn1_sum")->op, "allreduce");
}

TEST(Transformer, AddsTheGradientsOfAValueThatSeveralRowsRead) {
  // With two layers, the first one's ln2 is read by q, k, v and the residual of the second: 3
  // additions; ln1 by ffn1 and the residual: 1.
  TransformerOptions training = options(Part::training, 16);
  const WorkloadTrace trace = make_transformer(find_model_shape("bert-tiny"), training);
  std::map<std::string, int> sums;
  for (const LayerOp& op : trace.ops) {
    const std::size_t at = op.id.find("_sum");
    if (op.phase == Phase::bwd && at != op.id.npos) ++sums[op.id.substr(0, at)];
  }
  EXPECT_EQ(sums,
            (std::map<std::string, int>{{"bwd.l0.ln1", 1}, {"bwd.l1.ln1", 1}, {"bwd.l0.ln2", 3}}));
}

TEST(Transformer, TracesReadBackAsTheyWereMade) {
  for (const ModelShape& shape : model_shapes()) {
    for (const Part part : {Part::forward, Part::training}) {
      if (part == Part::training && shape.experts.count != 0) continue;
      TransformerOptions some = options(part, 32);
      some.layers = 1;
      some.embedding = some.heads = true;
      some.replicas = 4;
      some.recompute = true;
      some.causal = shape.family == ModelFamily::gpt;
      some.pattern.name = "block";
      some.pattern.density = Decimal{25, 2};
      some.pattern.block_rows = some.pattern.block_cols = 16;
      const WorkloadTrace made = make_transformer(shape, some);
      const std::string text = format_trace(made);
      const WorkloadTrace read = parse_trace(text, "made.csv");
      EXPECT_EQ(format_trace(read), text) << shape.name;
      EXPECT_EQ(ids(read), ids(made));
      EXPECT_EQ(flop(read), flop(made));
    }
  }
}

TEST(Transformer, RefusesWhatTheModelHasNot) {
  EXPECT_THAT([] { make_transformer(find_model_shape("bert-base"), options(Part::forward, 513)); },
              ThrowsMessage<RequestError>(HasSubstr("at most 512 tokens")));
  TransformerOptions deep = options(Part::forward, 16);
  deep.layers = 13;
  EXPECT_THAT([&] { make_transformer(find_model_shape("bert-base"), deep); },
              ThrowsMessage<RequestError>(HasSubstr("found 13 layers; allowed: at most 12")));
}

}  // namespace
}  // namespace lacuna
