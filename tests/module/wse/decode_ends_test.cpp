// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_ends.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/base/error.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/inference/decode_layer.hpp"

namespace lacuna::wse {
namespace {

Cycle ends_in(const TaskProgram& program) { return run_tasks(program).cycles; }

TEST(DecodeEnds, AHandOver) {
  // Sender: a test 2 + 6, two descriptors 2 + 4 + 2; in cycle 16 the first of 5 words of halves.
  // Each is taken 6 later (ramp, hop, ramp, see LineSums); the last sent in 20: 20 + 6 + 1.
  EXPECT_EQ(ends_in(plan_hand_over({10}, {}, {})), 27U);
}

TEST(DecodeEnds, APipeStoresAndForwards) {
  // Three cores, one word each. All but the last send theirs in 16, taken by the next in 22 at the
  // earliest. The second has to be set up for it: 17 + 8 = 25; then to send it: 26 + 8 = 34. The
  // last takes the second's own in 22 and this one 6 after 34: in 40, until 41.
  EXPECT_EQ(ends_in(plan_pipe(3, {2}, {}, {})), 41U);
}

TEST(DecodeEnds, OneColumnOfTheTailStandsForAll) {
  // columns have no traffic between them: a hidden vector twice as long on twice the rows, or a
  // vocabulary of other columns, changes a column by its own parts alone
  DecodeTail tail;
  tail.rows = 8;
  tail.columns = 4;
  tail.width = 40;
  tail.vocabulary = 100;
  tail.top_k = 5;
  const Cycle four = ends_in(plan_tail_column(tail, {}, {}));
  tail.columns = 8;
  tail.vocabulary = 200;
  EXPECT_EQ(ends_in(plan_tail_column(tail, {}, {})), four);
  const Cycle row = ends_in(plan_tail_row(tail, {}, {}));
  tail.top_k = 10;
  EXPECT_GT(ends_in(plan_tail_row(tail, {}, {})), row);
}

TEST(DecodeEnds, EveryParameterOfItsFunctionsActs) {
  DecoderModel model{40, 4, 2, 8, 40, true, true, {}};
  DecodeBlock block;
  block.columns = 8;
  block.rows = 8;
  block.context = 20;
  DecodeTail tail;
  tail.rows = 8;
  tail.columns = 4;
  tail.width = 40;
  tail.vocabulary = 100;
  const CodeCosts costs;
  const auto time = [&](const InferenceParams& params) {
    return ends_in(DecodeLayer(DecodeShape(model, block), costs, params).plan()) +
           ends_in(plan_tail_row(tail, costs, params));
  };
  const Cycle before = time({});
  for (const char* const setting :
       {"groups=4", "sum_step=0", "unrolled=false", "moving_descriptors=false", "route_write=0",
        "exp_degree=5", "exp_squarings=6", "silu_terms=4", "select_logit=10"}) {
    const std::string text = setting;
    const std::size_t equals = text.find('=');
    InferenceParams params;
    params.set(text.substr(0, equals), text.substr(equals + 1));
    EXPECT_NE(time(params), before) << setting;
  }
  for (const char* const code : {"attention_code", "ffn_code"}) {
    InferenceParams params;
    params.set(code, "49000");
    EXPECT_THROW(require_memory(DecodeShape(model, block), params, 48 * 1024), OutOfMemoryError);
  }
}

}  // namespace
}  // namespace lacuna::wse
