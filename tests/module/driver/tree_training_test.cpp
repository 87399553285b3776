// SPDX-License-Identifier: Apache-2.0
// Models that are trained on chips that share a store of weights.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/machines/machine_kind.hpp"
#include "sim/report/view_page.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two wafers of 16 x 64 cores with as much memory as a step of a tiny model needs.
const std::string kWafers =
    " --set chip.wafer.columns=16 --set chip.wafer.rows=64 --set chip.mem.kib=1024 --quiet";

std::string tiny(const ProgramBench& bench, const std::string& more = "") {
  return bench.file("tiny.yaml",
                    "system: cs2x2\nmodel: bert-tiny\nmodel_layers: 1\ntokens: 16\n"
                    "predictions: 2\nmicro_batch: 1\nreplicas: 2\nrecipe: plain\n"
                    "optimizer: adam\n" +
                        more);
}

/// The names of a system's passes, in their order.
std::vector<std::string> passes_of(const std::string& csv) { return CsvTable(csv).column("pass"); }

std::string value_of(const std::string& metrics, const std::string& quantity) {
  return CsvTable(metrics).where({{"quantity", quantity}}).cell("value");
}

// The same rows, made by hand, with --trace: the passes and what is held are the same, and so are
// times but for look-ups, which rows of a model and of a trace draw from seeds of their own.
TEST(TreeTraining, IsTheTraceThatTraceMakeMakesOfTheModel) {
  const ProgramBench bench;
  for (const std::string activations : {"stored", "recomputed"}) {
    const std::string again = activations == "stored" ? "" : " --recompute";
    const std::string trace = bench.path(activations + ".csv");
    const Ran made = run_real(
        "trace make bert-tiny --part training --layers 1 --embedding --heads --sequences 1 "
        "--tokens 16 --predictions 2 --recipe plain --optimizer adam" +
        again + " --out " + trace);
    ASSERT_EQ(made.status, 0) << made.err;
    const Ran rows = run_real("run --machine cs2x2 --trace " + trace + " --out " +
                              bench.path("rows" + activations) + kWafers);
    ASSERT_EQ(rows.status, 0) << rows.err;
    const Ran model = run_real("run --system-config " + tiny(bench) +
                               " --wide --no-cache --set training.activations=" + activations +
                               " --out " + bench.path("model" + activations) + kWafers);
    ASSERT_EQ(model.status, 0) << model.err;
    EXPECT_EQ(bench.read("model" + activations + "/memory.csv"),
              bench.read("rows" + activations + "/memory.csv"));
    EXPECT_EQ(passes_of(bench.read("model" + activations + "/passes.csv")),
              passes_of(bench.read("rows" + activations + "/passes.csv")));
    const auto step = [&](const std::string& out) {
      return std::stod(value_of(bench.read(out + activations + "/metrics.csv"), "step_time"));
    };
    EXPECT_NEAR(step("model"), step("rows"), 1e-6);
    const std::vector<std::string> passes =
        passes_of(bench.read("model" + activations + "/passes.csv"));
    const bool done_again =
        std::find(passes.begin(), passes.end(), "bwd.l0.q_again") != passes.end();
    EXPECT_EQ(done_again, activations == "recomputed");
    EXPECT_THAT(model.out, HasSubstr("bert-tiny on 2 chips, 1 sequences of 16 tokens on each"));
  }
}

// The head multiplies with the table of tokens, which is there once: 30,522 x 128 numbers, with
// 512 positions, 2 types and a norm 3,972,864; a layer of 4 x 128^2 + 2 x 128 x 512 and 1,664 of
// biases and norms; 33,280 of the head beside it (two of 128^2 + 128, a norm): 4,204,416, each
// and its gradient 2 bytes, two moments 8. The store updates the table once, when both of its
// gradients are there.
TEST(TreeTraining, HoldsATableThatTheHeadSharesOnce) {
  const ProgramBench bench;
  const Ran ran = run_real("run --system-config " + tiny(bench) + " --no-cache --out " +
                           bench.path("out") + kWafers);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CsvTable store = CsvTable(bench.read("out/memory.csv")).where({{"chip", "store"}});
  EXPECT_EQ(store.number("weights"), 2 * 4204416);
  EXPECT_EQ(store.number("gradients"), 2 * 4204416);
  EXPECT_EQ(store.number("state"), 8 * 4204416);
  for (const char* const none : {"activations", "working", "code", "buffers", "cache"}) {
    EXPECT_EQ(store.number(none), 0) << none;
  }
  EXPECT_EQ(store.number("total"), 12 * 4204416);
}

// The figures have what the tables have: a bar of the first wafer for each pass and one from its
// end until it is in the store, the time of each wafer, and what a wafer holds, in ms and MB.
TEST(TreeTraining, HasFiguresOfPassesTimeAndMemory) {
  const ProgramBench bench;
  const Ran ran =
      run_real("run --system-config " + tiny(bench) + " --out " + bench.path("out") + kWafers);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CsvTable bars(bench.read("out/figures/pipeline.csv"));
  const auto bars_with = [&](const CsvRow& cells) { return bars.where(cells).rows().size(); };
  const std::vector<std::string> passes = passes_of(bench.read("out/passes.csv"));
  EXPECT_EQ(bars_with({{"track", "0"}}), passes.size());
  const nlohmann::json timeline = nlohmann::json::parse(bench.read("out/timeline.json"));
  std::size_t to_store = 0;
  for (const nlohmann::json& event : timeline.at("traceEvents")) {
    if (event.value("tid", 0) == 1 && event.contains("ts")) ++to_store;
  }
  EXPECT_EQ(bars_with({{"track", "1"}}), to_store);
  EXPECT_GT(to_store, 0U);
  const auto starting = [&](const std::string& id) {
    return static_cast<std::size_t>(
        std::count_if(passes.begin(), passes.end(),
                      [&](const std::string& name) { return name.rfind(id, 0) == 0; }));
  };
  const auto again = static_cast<std::size_t>(
      std::count_if(passes.begin(), passes.end(), [](const std::string& name) {
        return name.size() > 6 && name.substr(name.size() - 6) == "_again";
      }));
  EXPECT_GT(again, 0U);
  EXPECT_EQ(bars_with({{"track", "0"}, {"use", "forward"}}), starting("fwd."));
  EXPECT_EQ(bars_with({{"track", "0"}, {"use", "recompute"}}), again);
  EXPECT_EQ(bars_with({{"track", "0"}, {"use", "backward"}}), starting("bwd.") - again);
  EXPECT_EQ(bars_with({{"track", "0"}, {"use", "optimizer"}}), starting("upd."));
  const auto bars_of = [&](const char* figure) {
    return CsvTable(bench.read(std::string("out/figures/") + figure + ".csv")).column("bar");
  };
  EXPECT_THAT(bars_of("time_stack"), Contains("chip 1"));
  EXPECT_THAT(bars_of("memory"), Contains("wafer"));
}

// A page has both wafers over time: the same of both engines, with the passes of the first one as
// names of its steps; and of systems beside each other all.
TEST(TreeTraining, HasAPageOfItsWafers) {
  const ProgramBench bench;
  const std::string run = "run --system-config " + tiny(bench) + kWafers + " --view --out ";
  ASSERT_EQ(run_real(run + bench.path("event")).status, 0);
  const std::string page = bench.read("event/view.html");
  EXPECT_EQ(read_views("", page).size(), 1U);
  EXPECT_THAT(page, HasSubstr("tiny on cs2x2"));
  EXPECT_THAT(page, HasSubstr("bwd.l0.q_again"));
  ASSERT_EQ(run_real(run + bench.path("clocked") + " --engine clocked").status, 0);
  EXPECT_EQ(bench.read("clocked/view.html"), page);
  const std::string chips = "chip:\n  wafer: {columns: 16, rows: 64}\n  mem: {kib: 1024}\n";
  const std::string two = bench.file("two.yaml", "base: cs2x1\nmachines: 2\n" + chips);
  const std::string one = bench.file("one.yaml", "base: cs2x1\nmachines: 1\n" + chips);
  const Ran both =
      run_real("compare --quiet --view --system-config " + tiny(bench) + " --machine " + one +
               " --machine " + two + " --out " + bench.path("both"));
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_EQ(read_views("", bench.read("both/view.html")).size(), 2U);
}

/// A cache in `folder` as long as it lives; other tests have none.
class WithCache {
 public:
  explicit WithCache(const std::string& folder) { set(folder); }
  ~WithCache() { set(""); }
  WithCache(const WithCache&) = delete;
  WithCache& operator=(const WithCache&) = delete;

 private:
  static void set(const std::string& folder) {
    setenv("LACUNA_CACHE", folder.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
};

// Rows come from a cache the second time.
TEST(TreeTraining, IsTheSameFromItsCache) {
  const ProgramBench bench;
  const std::string cache = bench.path("cache");
  const WithCache with(cache);
  const std::string line = "run --json --system-config " + tiny(bench) + kWafers;
  const Ran first = run_real(line);
  ASSERT_EQ(first.status, 0) << first.err;
  ASSERT_TRUE(std::filesystem::exists(cache));
  EXPECT_EQ(run_real(line).out, first.out);
  EXPECT_EQ(run_real(line + " --no-cache").out, first.out);
}

TEST(TreeTraining, RefusesByNameWhatHasNoMeaningThere) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& settings) {
    const Ran ran = run_real("run --system-config " + tiny(bench) + kWafers + settings);
    EXPECT_EQ(ran.status, 2) << settings;
    return ran.err;
  };
  EXPECT_THAT(refused(" --set training.tensor=2"),
              HasSubstr("training.tensor: found '2' on cs2x2"));
  EXPECT_THAT(refused(" --set training.io_tiles=64"), HasSubstr("training.io_tiles: found '64'"));
  EXPECT_THAT(refused(" --set training.accumulation=4"), HasSubstr("micro_batch"));
  EXPECT_THAT(refused(" --set training.replicas=4"), HasSubstr("cs2x2 has 2 chips"));
  EXPECT_THAT(refused(" --set training.mode=static"), HasSubstr("weights come from the store"));
  EXPECT_THAT(refused(" --set training.activations=offloaded"), HasSubstr("stored or recomputed"));
  EXPECT_THAT(refused(" --set training.rows=kge"), HasSubstr("--trace"));
  EXPECT_THAT(run_real("describe fit --system-config " + tiny(bench)).err,
              HasSubstr("each chip of cs2x2 does the whole model"));
  EXPECT_THAT(run_real("run --machine cs2x2 --model gpt3-xl --decode").err,
              HasSubstr("all go through the link of each chip for every token"));
}

// 16 cores of 16 KiB less 8 of code hold 131,072 B.
TEST(TreeTraining, WhatAWaferDoesNotHoldIsAnErrorWithItsBytes) {
  const ProgramBench bench;
  const Ran small = run_real(
      "run --quiet --set chip.wafer.columns=4 --set chip.wafer.rows=4 --set chip.mem.kib=16 "
      "--system-config " +
      tiny(bench) + " --set training.tokens=128 --set training.micro_batch=8");
  EXPECT_EQ(small.status, 1);
  EXPECT_THAT(small.err, HasSubstr("each wafer of cs2x2 needs "));
  EXPECT_THAT(small.err, HasSubstr(" B and has 131072 B"));
}

// Four sequences are 2 on each of 2 wafers, 1 on each of 4, and one after another on the 2 replicas
// that a pod of 4 chips has of a model that 2 of them share.
TEST(TreeTraining, ABatchIsCutOverSystemsOfBothKinds) {
  const ProgramBench bench;
  const std::string chips = "chip:\n  wafer: {columns: 16, rows: 64}\n  mem: {kib: 1024}\n";
  const std::string two = bench.file("two.yaml", "base: cs2x1\nmachines: 2\n" + chips);
  const std::string four = bench.file("four.yaml", "base: cs2x1\nmachines: 4\n" + chips);
  const std::string pod = bench.file("pod.yaml", "base: pod4\nchip:\n  ipu: {tiles: 96}\n");
  const std::string line = "compare --quiet --system-config " +
                           tiny(bench, "accumulation: 2\ntensor: 2\n") + " --machine " + two +
                           " --machine " + four;
  const Ran both = run_real(line + " --machine " + pod + " --out " + bench.path("both"));
  ASSERT_EQ(both.status, 0) << both.err;
  const CsvTable scaling(bench.read("both/scaling.csv"));
  const auto cut = [&](const char* system) {
    const CsvTable row = scaling.where({{"system", system}});
    return std::vector<std::string>{row.cell("chips"), row.cell("replicas"),
                                    row.cell("accumulation")};
  };
  EXPECT_THAT(cut("two"), ElementsAre("2", "2", "1"));
  EXPECT_THAT(cut("four"), ElementsAre("4", "4", "1"));
  EXPECT_THAT(cut("pod"), ElementsAre("4", "2", "2"));
  const Ran trees = run_real(line);
  EXPECT_EQ(trees.status, 2);
  EXPECT_THAT(trees.err, HasSubstr("training.tensor: found '2'"));
  const Ran uneven = run_real(line + " --machine " + pod + " --set training.replicas=3");
  EXPECT_THAT(uneven.err, HasSubstr("6 sequences does not come out even over 4 chips"));
  const auto alone = [&](const std::string& machine, const std::string& setting) {
    const Ran ran = run_real("run --quiet --machine " + machine + " --out " + bench.path(setting) +
                             " --system-config " + tiny(bench, "") + " --set training." + setting);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return value_of(bench.read(setting + "/metrics.csv"), "step_time");
  };
  EXPECT_EQ(scaling.where({{"system", "four"}}).cell("step_time"), alone(four, "replicas=4"));
  EXPECT_EQ(scaling.where({{"system", "two"}}).cell("step_time"), alone(two, "micro_batch=2"));
}

}  // namespace
}  // namespace lacuna::test
