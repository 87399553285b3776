// SPDX-License-Identifier: Apache-2.0
// How an answer is come by is no part of it: engine, folding, values, order of stepping, processes,
// shares, caches and interruptions change nothing.
#include <gtest/gtest.h>

#include "sim/machines/machine.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(OtherWays, OfARowAreItsEngineFoldAndValues) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const Words words =
        joined(joined({"run", "--machine", request.machine}, request.product()), request.options());
    const auto plain = numbers_of(words);
    ASSERT_EQ(plain.size(), 1U);
    EXPECT_EQ(numbers_of(joined(words, {"--engine", "clocked"})), plain);
    EXPECT_EQ(numbers_of(joined(words, {"--values", "integer"})), plain);
    if (request.machine.rfind("wse", 0) != 0) return;  // chips have no rows to fold
    EXPECT_EQ(numbers_of(joined(words, {"--fold", "off"})), plain);
    EXPECT_EQ(numbers_of(joined(words, {"--fold", "off", "--values", "integer"})), plain);
  });
}

// Functions and products of activations too, whose units take their turns in a drawn order.
TEST(OtherWays, OfARowAreOrdersOfStepping) {
  for_each_draw([](Random& random) {
    LayerOp op;
    op.op = pick<std::string>(random, {"gemm", "bmm", "softmax", "rmsnorm", "allreduce"});
    op.m = 8 * upto(random, 6);
    op.k = 8 * upto(random, 6);
    op.n = 8 * upto(random, 4);
    op.batch = op.op == "bmm" ? upto(random, 3) : 1;
    if (op.op == "allreduce") op.fn = "chain";
    if (op.op == "allreduce") op.args = {{"ranks", "6"}};
    const auto wafer = make_wse_machine("wse2");
    wafer->set("wafer.columns", std::to_string(6 + random.bounded(4)), "");
    wafer->set("wafer.rows", std::to_string(6 + random.bounded(4)), "");
    const auto run = [&](const Execution& how) { return wafer->run(op, nullptr, 1, how); };
    run_both(run, 1 + random.bounded(1000));
  });
}

/// A sweep whose points differ in everything.
std::string points(Random& random) {
  const auto size = [&] { return std::to_string(8 * upto(random, 8)); };
  return "gemm: " + size() + "x" + size() + "x" + size() +
         "\nset: {ipu.tiles: 16, wafer.columns: 6, wafer.rows: 5}\n"
         "grid: {machine: [bow, wse2], pattern: [dense, \"unstructured:0.2\"], seed: [1, " +
         std::to_string(2 + random.bounded(100)) + "]}\n";
}

/// What a sweep prints: all of its summary.
std::string summary_of(const Words& words) {
  const Ran ran = run_real(joined(words, {"--quiet", "--json"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(OtherWays, OfASweepAreItsProcesses) {
  for_each_draw([](Random& random) {
    const TempFile file(points(random), ".yaml");
    const Words sweep = {"sweep", file.path()};
    const std::string alone = summary_of(joined(sweep, {"--jobs", "1"}));
    ASSERT_NE(alone, "");
    EXPECT_EQ(summary_of(joined(sweep, {"--jobs", "3"})), alone);
    EXPECT_EQ(summary_of(joined(sweep, {"--jobs", "1", "--no-cache"})), alone);
  });
}

constexpr std::uint64_t kFew = 3;  // draws of what takes longer than a row

// Shares that are kept one by one, then made into the result.
TEST(OtherWays, OfASweepAreItsSharesAndInterruptions) {
  for (std::uint64_t draw = 0; draw < kFew; ++draw) {
    Random random(draw);
    const TempFile file(points(random), ".yaml");
    const TempFolder out;
    const auto sweep = [&](const char* name, const Words& more) {
      const Words words = {"sweep", file.path(), "--quiet", "--out", out.path() / name};
      const Ran ran = run_real(joined(words, more));
      EXPECT_EQ(ran.status, 0) << ran.err;
      return file_text(out.path() / name / "summary.csv");
    };
    const std::string alone = sweep("alone", {"--jobs", "1"});
    ASSERT_NE(alone, "");
    EXPECT_EQ(sweep("shares", {"--shard", "2/2"}), "");  // there is no result yet
    EXPECT_EQ(sweep("shares", {"--shard", "1/2"}), "");
    EXPECT_EQ(sweep("shares", {"--resume"}), alone);
  }
}

/// All that is said of a decoder's token.
std::string token_of(const Words& words) {
  const Ran ran = run_real(joined(words, {"--json", "--quiet"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(OtherWays, OfATokenAreItsEngineAndWhatIsKept) {
  for (std::uint64_t draw = 0; draw < kFew; ++draw) {
    Random random(draw);
    const TempFile model(
        R"({"model_type":"qwen3","hidden_size":)" + std::to_string(32 * upto(random, 4)) +
            R"(,"intermediate_size":)" + std::to_string(32 * upto(random, 4)) +
            R"(,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,)"
            R"("num_hidden_layers":2,"vocab_size":256,"hidden_act":"silu","rms_norm_eps":1e-6,)"
            R"("max_position_embeddings":4096})",
        ".json");
    const TempFolder kept;
    const Words words = {"run",      "--machine",  "wse3",
                         "--model",  model.path(), "--decode",
                         "--blocks", "1x1",        "--block-cores",
                         "8x8",      "--context",  std::to_string(upto(random, 90))};
    const std::string alone = token_of(joined(words, {"--no-cache"}));
    EXPECT_EQ(token_of(joined(words, {"--no-cache", "--engine", "clocked"})), alone);
    for (int time = 0; time < 2; ++time) {  // kept, then found
      EXPECT_EQ(token_of(joined(words, {"--cache", kept.path() / "programs"})), alone);
    }
  }
}

}  // namespace
}  // namespace lacuna::test
