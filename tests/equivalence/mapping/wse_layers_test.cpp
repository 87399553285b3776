// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

using test::pick;
using test::ragged_mask;
using test::upto;

/// A row of a trace other than a product with streamed weights, on a small wafer.
struct LayerScenario {
  LayerOp op;
  std::optional<Mask> mask;
  std::vector<std::pair<std::string, std::string>> settings;
  std::uint64_t seed = 0;
  std::string text;
};

void shape_layer(Random& random, LayerScenario& s) {
  LayerOp& op = s.op;
  const bool product = op.op == "bmm" || op.op == "sddmm";
  op.m = upto(random, 20);
  op.batch = upto(random, 3);
  if (op.op == "optim" || op.op == "embed" || product) op.k = upto(random, 20);
  if (op.op != "optim") op.n = upto(random, 20);
  if (op.op == "optim") op.dtype = DType::fp32;
  if (op.fn == "rope") {
    op.m += op.m % 2;
    op.n += op.n % 2;
  }
  if (op.op == "eltwise" && random.bounded(4) == 0) {  // of gradients, which have no tokens
    op.phase = Phase::upd;
    op.m *= op.n;
    op.n = op.batch = 1;
  }
  const bool takes_mask =
      op.op == "optim" || op.op == "softmax" || (product && op.fn != "l1" && op.fn != "l2");
  if (op.op == "sddmm" || (takes_mask && random.bounded(2) == 0)) {
    const MaskShape of = mask_shape(op);
    s.mask = ragged_mask(random, of.rows, of.cols);
  }
}

// Seeds from here on are of rows that take the largest out, which have no backward.
constexpr std::uint64_t kOfLayerChoices = 1001;
// And from here on of products of attention of whose X zeros are left out.
constexpr std::uint64_t kOfZeros = 2001;

// What a wse3 has of its own, each drawn or not.
constexpr std::array<std::pair<const char*, const char*>, 18> kOfTheWse3{{
    {"simd.by_rows", "true"},
    {"simd.to_register", "2"},
    {"mem.write_share", "0.6667"},
    {"mem.conflict_bytes", "16"},
    {"mem.row_bytes", "16"},
    {"mem.read_bits", "128"},
    {"mem.write_bits", "128"},
    {"router.ramp_in", "1"},
    {"vec.setup_scalar", "5"},
    {"vec.setup_descriptor", "1"},
    {"vec.setup_use", "4"},
    {"vec.setup_first", "4"},
    {"vec.setup_next", "2"},
    {"task.overhead", "16"},
    {"task.completion", "3"},
    {"scalar.branch_taken", "6"},
    {"scalar.dependent", "2"},
    {"core.fabric_words_per_issue", "2"},
}};

LayerScenario layer_scenario(std::uint64_t seed) {
  Random random(stream_seed(seed, "layers"));
  LayerScenario s;
  s.seed = seed;
  LayerOp& op = s.op;
  op.id = "row";
  op.op = pick<std::string>(random, {"eltwise", "eltwise", "eltwise", "softmax", "layernorm",
                                     "rmsnorm", "optim", "bmm", "bmm", "sddmm", "embed", "embed"});
  op.phase = pick<Phase>(random, {Phase::fwd, Phase::bwd});
  if (seed >= kOfLayerChoices) {
    op.op = seed >= kOfZeros ? "bmm" : "take_max";
    op.phase = Phase::fwd;
  }
  const OpKind& kind = kind_of(op);
  if (!kind.functions.empty()) op.fn = pick(random, kind.functions);
  op.dtype = pick<DType>(random, {DType::fp16, DType::fp32});
  shape_layer(random, s);
  if (seed >= kOfZeros) {
    op.fn.clear();
    s.mask.reset();
    op.x_pattern = pick<std::string>(random, {"bernoulli", "channel"});
    op.x_density = Decimal{random.bounded(11), 1};
  }
  const auto set = [&](const char* path, std::string text) {
    s.settings.emplace_back(path, std::move(text));
  };
  set("wafer.columns",
      std::to_string(op.op == "bmm" || op.op == "sddmm" ? 3 + random.bounded(7) : upto(random, 9)));
  set("wafer.rows", std::to_string(1 + random.bounded(9)));
  set("router.ramp", std::to_string(1 + random.bounded(4)));
  set("router.hop", std::to_string(1 + random.bounded(2)));
  set("router.entries", std::to_string(1 + random.bounded(3)));
  set("core.sched", pick<std::string>(random, {"ut_first", "main_first", "round_robin"}));
  set("core.dispatch", std::to_string(random.bounded(8)));
  set("vec.setup_next", std::to_string(random.bounded(8)));
  set("simd.special_cycles", std::to_string(1 + random.bounded(20)));
  set("mem.model", pick<std::string>(random, {"rule", "none"}));
  for (const auto& [path, value] : kOfTheWse3) {
    if (random.bounded(2) == 0) set(path, value);
  }
  if (random.bounded(2) == 0) {
    set("router.link_words", "8");
    set("router.link_cycles", "9");
  }
  s.text = fmt::format("seed {}: {} {} {} {} m {} k {} n {} x {}{}, {} x {}", seed, op.op, op.fn,
                       word(op.phase), word(op.dtype), op.m, op.k, op.n, op.batch,
                       s.mask         ? " masked"
                       : op.x_density ? " x " + op.x_density->text()
                                      : "",
                       s.settings[0].second, s.settings[1].second);
  return s;
}

OpResult run_layer(const LayerScenario& s, const Execution& execution) {
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  for (const auto& [path, text] : s.settings) machine->set(path, text, "");
  machine->check();
  return machine->run(s.op, s.mask ? &*s.mask : nullptr, s.seed, execution);
}

std::string text_of(const OpResult& result) {
  std::string text =
      fmt::format("cycles {} read {} written {} fabric {}\n", result.cycles, result.sram_read_bytes,
                  result.sram_write_bytes, result.fabric_bytes);
  for (const StatEntry& entry : result.statistics) {
    text += fmt::format("{}.{} {}\n", entry.path, entry.name, entry.value);
  }
  for (const StackPart& part : result.stack) {
    text += fmt::format("{} {} {}\n", layer_name(part.layer), part.kind, part.cycles);
  }
  return text;
}

/// Products that share a slot are not carried with values.
bool can_have_values(const LayerScenario& s) {
  try {
    Execution execution;
    execution.values = true;
    run_layer(s, execution);
  } catch (const UnsupportedError&) {
    return false;
  }
  return true;
}

void check_executions(const LayerScenario& scenario) {
  SCOPED_TRACE(scenario.text);
  Execution execution;
  execution.engine = Engine::clocked;
  execution.fold = false;
  const OpResult definition = run_layer(scenario, execution);
  const std::string expected = text_of(definition);
  std::uint64_t height = 0;
  for (const StackPart& part : definition.stack) height += part.cycles;
  EXPECT_EQ(height, definition.units * definition.cycles);
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    for (const bool fold : {false, true}) {
      execution.engine = engine;
      execution.fold = fold;
      execution.shuffle = fold ? 0 : scenario.seed + 1;
      EXPECT_EQ(text_of(run_layer(scenario, execution)), expected) << fold;
    }
  }
}

void check_events(const LayerScenario& scenario) {
  SCOPED_TRACE(scenario.text);
  Execution execution;
  execution.event_log = true;
  execution.jitter = scenario.seed % 3;
  execution.jitter_seed = scenario.seed;
  const OpResult event = run_layer(scenario, execution);
  execution.engine = Engine::clocked;
  const OpResult clocked = run_layer(scenario, execution);
  EXPECT_EQ(text_of(event), text_of(clocked));
  EXPECT_TRUE(event.events == clocked.events);
}

void check_values(const LayerScenario& scenario) {
  SCOPED_TRACE(scenario.text);
  if (!can_have_values(scenario)) return;
  Execution execution;
  const std::string expected = text_of(run_layer(scenario, execution));
  execution.values = true;
  const OpResult result = run_layer(scenario, execution);
  EXPECT_EQ(text_of(result), expected);
  ASSERT_TRUE(result.values);
  EXPECT_EQ(result.values->wrong, 0U) << result.values->largest_error;
  EXPECT_TRUE(scenario.mask || result.values->compared > 0);
  execution.jitter = 5;
  EXPECT_EQ(run_layer(scenario, execution).values->wrong, 0U);
}

/// Ten seeds from the parameter on.
class WseLayers : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  template <class Check>
  static void for_each_seed(const Check& check) {
    for (std::uint64_t seed = GetParam(); seed < GetParam() + 10; ++seed) {
      check(layer_scenario(seed));
    }
  }
};

TEST_P(WseLayers, NeitherEngineNorOrderNorFoldingChangesTheResult) {
  for_each_seed(check_executions);
}

TEST_P(WseLayers, TheEventsOfBothEnginesAreTheSame) { for_each_seed(check_events); }

TEST_P(WseLayers, TheNumbersAreThoseOfTheReferenceAndCarryingThemCostsNothing) {
  for_each_seed(check_values);
}

INSTANTIATE_TEST_SUITE_P(Random, WseLayers,
                         ::testing::Range(std::uint64_t{1}, std::uint64_t{201}, std::uint64_t{10}));
INSTANTIATE_TEST_SUITE_P(Choices, WseLayers,
                         ::testing::Range(kOfLayerChoices, kOfLayerChoices + 20,
                                          std::uint64_t{10}));
INSTANTIATE_TEST_SUITE_P(Zeros, WseLayers,
                         ::testing::Range(kOfZeros, kOfZeros + 60, std::uint64_t{10}));

LayerOp layer_row(const char* op, const char* fn, std::uint32_t m, std::uint32_t n) {
  LayerOp result;
  result.id = "row";
  result.op = op;
  result.fn = fn;
  result.m = m;
  result.n = n;
  return result;
}

TEST(WseLayer, AnOperationThatAWaferCannotRunIsAnErrorThatNamesIt) {
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  for (const char* const op : {"io", "opaque", "repattern"}) {
    try {
      machine->run(layer_row(op, "", 8, 8), nullptr, 1, {});
      FAIL() << op;
    } catch (const UnsupportedError& error) {
      EXPECT_NE(std::string(error.what()).find(op), std::string::npos) << error.what();
    }
  }
}

// A stride of 8 halves allows one element in a slot, a row of one feature too where rows end
// beats; what is sent has both halves of each word all the same, as its receiver reckons.
TEST(WseLayer, LookUpsOfHalvesCrossTheFabricInWholeWords) {
  for (const char* const fn : {"gather", "scatter_add"}) {
    for (const std::uint32_t features : {1U, 2U, 3U}) {
      for (const char* const by_rows : {"true", "false"}) {
        LayerScenario scenario;
        scenario.op = layer_row("embed", fn, features, 16);
        scenario.op.k = 8;
        scenario.op.dtype = DType::fp16;
        for (const char* const rows : {"1", "2"}) {
          scenario.settings = {
              {"wafer.columns", "1"}, {"wafer.rows", rows}, {"simd.by_rows", by_rows}};
          scenario.text = fmt::format("{} of {} features, {} rows", fn, features, rows);
          check_executions(scenario);
          check_values(scenario);
        }
      }
    }
  }
}

TEST(WseLayer, OperandsThatDoNotFitAreRefusedWithTheBytes) {
  const std::unique_ptr<Machine> machine = make_wse_machine("test");
  machine->set("wafer.columns", "1", "");
  machine->set("wafer.rows", "1", "");
  try {
    machine->run(layer_row("eltwise", "add", 128, 64), nullptr, 1, {});
    FAIL();
  } catch (const OutOfMemoryError& error) {
    // Three times 128 x 64 x 2 B, the second 4 B further on, are 49152 and some.
    EXPECT_NE(std::string(error.what()).find("operands and results 491"), std::string::npos)
        << error.what();
  }
}

std::string facts_of(const OpResult& result) {
  std::string text;
  for (const ExplainSection& section : result.explanation.sections) {
    for (const auto& [name, fact] : section.facts) text += name + ": " + fact + "\n";
  }
  return text;
}

/// A layer norm of one feature a core waits for the sums that run along its row.
// 40 elements without tokens on 4 x 5 cores: two in each. Activations of one token take a row.
TEST(WseLayer, GradientsAreDealtToAllCoresAndActivationsToColumns) {
  const auto machine = make_wse_machine("wse");
  machine->set("wafer.columns", "4", "test");
  machine->set("wafer.rows", "5", "test");
  LayerOp op;
  op.op = "eltwise";
  op.fn = "cast";
  op.m = 40;
  op.n = 1;
  const auto used = [&](Phase phase) {
    op.phase = phase;
    for (const auto& [key, text] : machine->run(op, nullptr, 1, {}).notes) {
      if (key == "cores used") return text;
    }
    return std::string();
  };
  EXPECT_EQ(used(Phase::upd), "20");
  EXPECT_EQ(used(Phase::fwd), "4");
}

TEST(WseLayerExplanation, NamesTheLimitingCoreAndWhatItWaitedFor) {
  LayerScenario s;
  s.op.id = "row";
  s.op.op = "layernorm";
  s.op.m = 6;
  s.op.n = 4;
  s.op.dtype = DType::fp16;
  s.settings = {{"wafer.columns", "6"}, {"wafer.rows", "4"}};
  Execution execution;
  execution.explain = true;
  const std::string facts = facts_of(run_layer(s, execution));
  EXPECT_NE(facts.find("limiting core: wafer.r0.c"), std::string::npos) << facts;
  EXPECT_NE(facts.find("waiting for words of other cores"), std::string::npos) << facts;
}

TEST(WseLayerExplanation, IsTheSameByBothEngines) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LayerScenario s = layer_scenario(seed);
    SCOPED_TRACE(s.text);
    Execution execution;
    execution.explain = true;
    const std::string event = facts_of(run_layer(s, execution));
    execution.engine = Engine::clocked;
    EXPECT_EQ(facts_of(run_layer(s, execution)), event);
    EXPECT_NE(event.find("limiting"), std::string::npos);
  }
}

}  // namespace
}  // namespace lacuna
