// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "tests/support/agreement/drawn_decoder.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna::test {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

/// What a program counts by itself; the other statistics follow from these.
void add(Counts& counts, const std::vector<StatEntry>& statistics) {
  for (const StatEntry& entry : statistics) {
    if (entry.path == "wafer.limits" || entry.name == "mac_edge" || entry.name == "mac_skipped" ||
        entry.name == "idle_cycles") {
      continue;
    }
    counts[entry.path + "." + entry.name] += entry.value;
  }
}

/// Cycles and counters of the rows of a trace of `drawn`; nothing if a core cannot hold it.
bool run_rows(const DrawnDecoder& drawn, const Machine& machine, Cycle& cycles, Counts& counts) {
  TransformerOptions options;
  options.part = TransformerOptions::Part::decode;
  options.sequences = drawn.batch;
  options.context = drawn.context;
  WorkloadTrace trace = make_transformer(drawn.model, options);
  machine.relate(
      trace, [](const LayerOp&) { return nullptr; }, 1);
  if (!trace.ops.front().share.alone.empty()) return false;
  for (const LayerOp& op : trace.ops) {
    EXPECT_NE(op.share.group, nullptr) << op.id;
    const OpResult result = machine.run(op, nullptr, 1, Execution());
    cycles += result.cycles;
    add(counts, result.statistics);
  }
  return true;
}

// The layers of --decode, hand-overs left out: the first of the block and those behind it.
TEST(RowsOfADecoder, TakeTheCyclesAndCountersOfTheModelsLayers) {
  std::uint64_t compared = 0;
  for_each_draw([&](Random& random) {
    const DrawnDecoder drawn(random);
    const std::unique_ptr<Machine> machine = make_wse_machine("drawn");
    machine->set("wafer.columns", std::to_string(drawn.columns), "");
    machine->set("wafer.rows", std::to_string(drawn.rows), "");
    Cycle cycles = 0;
    Counts rows;
    if (!run_rows(drawn, *machine, cycles, rows)) return;
    const auto& params = static_cast<const WseParams&>(machine->parameters());
    DecodeTimes times(params, Engine::event);
    const DecodeStep step = times.step(drawn.model, drawn.placement(), drawn.context);
    const std::uint32_t behind = drawn.model.layers - 1;
    EXPECT_EQ(static_cast<double>(cycles), step.layer.first + behind * step.layer.next);
    Counts layers;
    wse::DecodeBlock block = step.kinds.front().block;
    for (std::uint32_t layer = 0; layer <= behind; ++layer) {
      block.receives = layer == 0;
      add(layers, times.layer_run(decoder_model(drawn.model), block).statistics);
    }
    EXPECT_EQ(rows, layers);
    ++compared;
  });
  EXPECT_GE(2 * compared, draws()) << "too few of them fit into a core";
}

/// What a layer of a model takes whose product down has these zeros of X, hand-over left out.
Cycle layer_with_zeros(const WseParams& params, const DrawnDecoder& drawn, const Mask& x) {
  DecodeTimes times(params, Engine::event);
  const wse::DecoderModel decoder = decoder_model(drawn.model);
  wse::DecodeBlock block = times.built({});
  block.columns = drawn.columns;
  block.rows = drawn.rows;
  block.context = drawn.context;
  block.batch = drawn.batch;
  block.receives = true;
  auto zeros = std::make_shared<wse::DecodeZeros>();
  zeros->name = "down";
  zeros->skip = true;
  zeros->inputs.at(static_cast<std::size_t>(wse::Projection::down)) = wse::NonZeros(x);
  block.zeros = zeros;
  const RunTotals& run = times.layer_run(decoder, block);
  return run.stamps.back() - run.stamps.at(1);
}

// A product with zeros of X takes their tests and what is left of its instructions, as in a model.
TEST(RowsOfADecoder, LeaveZerosOfTheLastProductsInputOut) {
  std::uint64_t compared = 0;
  for_each_draw([&](Random& random) {
    DrawnDecoder drawn(random);
    drawn.model.layers = 1;
    const std::unique_ptr<Machine> machine = make_wse_machine("drawn");
    machine->set("wafer.columns", std::to_string(drawn.columns), "");
    machine->set("wafer.rows", std::to_string(drawn.rows), "");
    machine->set("llm.skip", "act", "");
    TransformerOptions options;
    options.part = TransformerOptions::Part::decode;
    options.sequences = drawn.batch;
    options.context = drawn.context;
    WorkloadTrace trace = make_transformer(drawn.model, options);
    LayerOp& down = trace.ops.at(trace.ops.size() - 2);
    ASSERT_EQ(down.k, drawn.model.ffn);
    down.x_pattern = "bernoulli";
    down.x_density = Decimal{1, 1};
    machine->relate(
        trace, [](const LayerOp&) { return nullptr; }, 1);
    if (!trace.ops.front().share.alone.empty()) return;
    Cycle cycles = 0;
    for (const LayerOp& op : trace.ops) {
      ASSERT_NE(op.share.group, nullptr) << op.id;
      cycles += machine->run(op, nullptr, 1, Execution()).cycles;
    }
    const auto& params = static_cast<const WseParams&>(machine->parameters());
    EXPECT_EQ(cycles, layer_with_zeros(params, drawn, *make_x_mask(down, 1)));
    ++compared;
  });
  EXPECT_GE(2 * compared, draws()) << "too few of them fit into a core";
}

constexpr const char* kSmallModel =
    R"({"model_type":"qwen3","hidden_size":256,"intermediate_size":512,"num_attention_heads":8,)"
    R"("num_key_value_heads":4,"head_dim":32,"num_hidden_layers":2,"vocab_size":1024,)"
    R"("hidden_act":"silu","rms_norm_eps":1e-6,"max_position_embeddings":4096})";

/// What --decode prints of its first layer, on one block of such cores.
double first_layer(const TempFile& model, const std::string& context, const std::string& cores) {
  const Ran asked = run_real({"run", "--quiet", "--json", "--machine", "wse3", "--model",
                              model.path(), "--decode", "--context", context, "--blocks", "1x1",
                              "--block-cores", cores, "--layers", "1"});
  std::smatch printed;
  EXPECT_TRUE(std::regex_search(asked.out, printed, std::regex("first_layer_cycles\": ([0-9]+)")))
      << asked.out << asked.err;
  return printed.empty() ? 0 : std::stod(printed[1]);
}

/// What the rows of that layer take in all on a rectangle of 16 x 16 cores.
double rows_of_layer(const TempFile& model, const std::string& context,
                     const std::vector<std::string>& more) {
  const TempFile trace(run_real({"trace", "import", model.path(), "--part", "decode", "--context",
                                 context, "--layers", "1"})
                           .out);
  std::vector<std::string> arguments = {"run",           "--machine",        "wse3",
                                        "--set",         "wafer.columns=16", "--set",
                                        "wafer.rows=16", "--trace",          trace.path()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto rows = numbers_of(arguments);
  return rows.size() == 1 ? rows.front().values.at("cycles").value_or(0) : 0;
}

// As a user asks: a layer of a file on 16 x 16 cores, as a model and as a trace with nothing given.
TEST(RowsOfADecoder, AreTheModelsFirstLayerAsItIsPrinted) {
  const TempFile model(kSmallModel, ".json");
  for (const char* const context : {"64", "256", "1024"}) {
    EXPECT_EQ(rows_of_layer(model, context, {}), first_layer(model, context, "16x16")) << context;
  }
}

// The same on a block of half of the columns: what a layout file, or --set, says of blocks is what
// --block-cores says.
TEST(RowsOfADecoder, LieOnTheBlocksThatALayoutFileOrASettingSays) {
  const TempFile model(kSmallModel, ".json");
  const TempFile layouts(
      "layouts:\n  - machine: wse3\n    layout: {blocks.columns: 8, blocks.rows: 16}\n", ".yaml");
  const double asked = first_layer(model, "64", "8x16");
  EXPECT_NE(asked, first_layer(model, "64", "16x16"));
  EXPECT_EQ(rows_of_layer(model, "64", {"--layout", layouts.path()}), asked);
  EXPECT_EQ(rows_of_layer(model, "64", {"--set", "blocks.columns=8", "--set", "blocks.rows=16"}),
            asked);
}

}  // namespace
}  // namespace lacuna::test
