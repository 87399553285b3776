// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/flop_convention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/transformer.hpp"

namespace lacuna {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

WorkloadTrace whole_bert(const char* name, std::uint32_t tokens, std::uint32_t sequences) {
  TransformerOptions options;
  options.part = TransformerOptions::Part::training;
  options.tokens = tokens;
  options.sequences = sequences;
  options.predictions = tokens * 5 / 32;  // 15.625 %, as the script has it
  options.embedding = true;
  options.heads = true;
  return make_transformer(find_model_shape(name), options);
}

struct Published {
  const char* model;
  double inference;  // FLOP of a sequence of 128
  double training;   // of a million updates of 256 sequences of 512
};

// What the script prints, to three digits (Clark et al., ICLR 2020).
TEST(FlopConvention, CountsAsTheScriptOfElectraDoes) {
  constexpr double kSequences = 256e6;
  for (const Published& model :
       {Published{"bert-base", 2.86e10, 6.43e19}, Published{"bert-large", 8.75e10, 1.92e20}}) {
    EXPECT_NEAR(electra_flop(whole_bert(model.model, 128, 1)).inference / model.inference, 1, 2e-3)
        << model.model;
    EXPECT_NEAR(
        electra_flop(whole_bert(model.model, 512, 1)).training * kSequences / model.training, 1,
        2e-3)
        << model.model;
  }
}

TEST(FlopConvention, IsOfOneSequenceHoweverManyThereAre) {
  const ElectraFlop one = electra_flop(whole_bert("bert-tiny", 64, 1));
  const ElectraFlop four = electra_flop(whole_bert("bert-tiny", 64, 4));
  EXPECT_DOUBLE_EQ(one.inference, four.inference);
  EXPECT_DOUBLE_EQ(one.training, four.training);
}

TEST(FlopConvention, AsksForTheRowsThatItCounts) {
  TransformerOptions options;
  options.tokens = 64;
  const WorkloadTrace layers = make_transformer(find_model_shape("bert-tiny"), options);
  EXPECT_THAT([&] { electra_flop(layers); },
              ThrowsMessage<RequestError>(HasSubstr("--part training --embedding --heads")));
}

}  // namespace
}  // namespace lacuna
