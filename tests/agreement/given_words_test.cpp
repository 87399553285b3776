// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/report/layout_note.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::test {
namespace {

using Strings = std::vector<std::string>;

/// A word of a layout and the values that it is given.
struct Word {
  std::string key;
  Strings values;
};

const std::vector<Word> kWords = {{"ws.groups", {"1", "2", "3", "4"}},
                                  {"ws.share", {"rows", "tokens"}},
                                  {"ws.lie", {"interleaved", "side_by_side"}},
                                  {"ws.reduce", {"chain", "ring", "tree", "two_phase"}},
                                  {"ws.row_order", {"natural", "ring", "rotate"}},
                                  {"ws.inject", {"middle_row", "column_top", "west_edge"}},
                                  {"ws.k_partition", {"block", "cyclic", "balanced"}},
                                  {"ws.lookahead", {"4", "8", "16", "64", "128"}},
                                  {"ws.exchange", {"product", "next"}},
                                  {"ws.buses", {"1", "2", "3"}},
                                  {"ws.zero_filter", {"true", "false"}}};

/// Those of which the rule's estimates know other values too.
const Strings kCounted = {"ws.groups",      "ws.share",     "ws.inject",
                          "ws.k_partition", "ws.lookahead", "ws.zero_filter"};

/// A product on a small wafer, by itself or after others.
struct Asked {
  std::string machine;
  unsigned columns = 1;
  unsigned rows = 1;
  LayerOp op;
  std::vector<LayerOp> before = {};
};

Asked draw(Random& random, std::uint32_t most) {
  Asked asked;
  asked.machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
  asked.columns = 4 + static_cast<unsigned>(random.bounded(most));
  asked.rows = 4 + static_cast<unsigned>(random.bounded(most));
  asked.op.id = "gemm";
  asked.op.op = "gemm";
  asked.op.m = 16 * upto(random, 12);
  asked.op.k = 16 * upto(random, 12);
  asked.op.n = 4 + upto(random, 90);
  asked.op.pattern = parse_pattern(pick<std::string>(
      random, {"dense", "unstructured:0.1", "unstructured:0.4", "block4:0.2", "nm:2:4"}));
  return asked;
}

struct Outcome {
  double cycles = std::numeric_limits<double>::infinity();  // as it is if it cannot be
  Strings words;                                            // as the rule laid it out
};

Outcome run(const Asked& asked, const std::string& layout, const Strings& given) {
  setenv("LACUNA_CONFIG", source_path("sim/config").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  Strings settings = {"wafer.columns=" + std::to_string(asked.columns),
                      "wafer.rows=" + std::to_string(asked.rows)};
  settings.insert(settings.end(), given.begin(), given.end());
  Outcome outcome;
  try {
    auto machine = std::move(make_machines(standard_machines(), {asked.machine}, settings)[0]);
    machine = with_layouts(std::move(machine), layout_request(layout, true));
    WorkloadTrace workload;
    workload.ops = asked.before;
    workload.ops.push_back(asked.op);
    MaskStore masks(1);
    const MaskOf mask_of = [&](const LayerOp& op) { return masks.mask(op, workload); };
    machine->relate(workload, mask_of, 1);
    const LayerOp& op = workload.ops.back();
    const OpResult result = machine->run(op, mask_of(op), 1, {});
    outcome.cycles = static_cast<double>(result.cycles);
    std::istringstream words(note_of(result, kPlannedLayoutNote));
    for (std::string word; words >> word;) outcome.words.push_back(word);
  } catch (const SimulationError&) {
  } catch (const RequestError&) {
  }
  return outcome;
}

std::string text_of(const Asked& asked, const Strings& given) {
  std::ostringstream text;
  text << asked.machine << " " << asked.columns << " x " << asked.rows << ", " << asked.op.m << "x"
       << asked.op.k << "x" << asked.op.n << " " << pattern_label(asked.op.pattern);
  for (const std::string& word : given) text << " " << word;
  return text.str();
}

/// A word with a value that is drawn.
std::string given_word(Random& random) {
  const Word& word = kWords[random.bounded(kWords.size())];
  return word.key + "=" + word.values[random.bounded(word.values.size())];
}

TEST(GivenWords, AWordOfTheRuleChangesNothing) {
  for_each_draw([](Random& random) {
    const Asked asked = draw(random, 44);
    const Outcome planned = run(asked, "planned", {});
    ASSERT_FALSE(planned.words.empty()) << text_of(asked, {});
    const std::string word = planned.words[random.bounded(planned.words.size())];
    Strings given = {pick<std::string>(  // as they are declared
        random, {"ws.exchange=product", "ws.copies=routed", "ws.buses=2"})};
    if (word.rfind("ws.", 0) == 0) given.push_back(word);  // others say what there is
    for (const std::string& each : given) {
      EXPECT_EQ(run(asked, "planned", {each}).cycles, planned.cycles) << text_of(asked, {each});
    }
  });
}

TEST(GivenWords, TheOtherWordsAreTheRulesWhateverIsGiven) {
  std::vector<double> gains;
  for_each_draw([&](Random& random) {
    const Asked asked = draw(random, 44);
    const std::string word = given_word(random);
    const double planned = run(asked, "planned", {word}).cycles;
    const double first = run(asked, "first", {word}).cycles;
    EXPECT_LE(planned, 1.02 * first) << text_of(asked, {word});
    const bool counted = std::any_of(kCounted.begin(), kCounted.end(), [&](const auto& key) {
      return word.rfind(key + "=", 0) == 0;
    });
    if (!counted && std::isfinite(first)) gains.push_back(first / planned);
  });
  // one word costs no cliff: the default gains more than this over all columns in ring order
  if (gains.size() < 10) return;
  std::sort(gains.begin(), gains.end());
  EXPECT_GT(gains[gains.size() / 2], 1.3);
}

/// Words of a layout that is drawn, but for what is given.
Strings random_words(Random& random, const std::string& given) {
  Strings words = {given};
  const auto add = [&](const std::string& key, const std::string& value) {
    if (given.rfind(key + "=", 0) != 0) words.push_back(key + "=" + value);
  };
  for (const Word& word : kWords) {
    if (word.key == "ws.row_order" || word.key == "ws.exchange" || word.key == "ws.inject")
      continue;
    add(word.key, word.values[random.bounded(word.values.size())]);
  }
  add("ws.row_order", random.bounded(2) == 0 ? "ring" : "natural");
  add("ws.inject", random.bounded(2) == 0 ? "middle_row" : "column_top");
  return words;
}

TEST(GivenWords, TheBestIsNotSlowerThanPlannedNorThanRandomLayouts) {
  constexpr int kRandom = 5;
  for_each_draw([](Random& random) {
    if (random.bounded(2) != 0) return;  // a climb takes its time
    const Asked asked = draw(random, 12);
    const std::string word = given_word(random);
    const double best = run(asked, "best:24", {word}).cycles;
    EXPECT_LE(best, run(asked, "planned", {word}).cycles) << text_of(asked, {word});
    const double share = asked.columns / (asked.machine == "wse1"   ? 600.0
                                          : asked.machine == "wse2" ? 750.0
                                                                    : 755.0);
    Asked part = asked;
    for (int i = 0; i < kRandom; ++i) {
      Strings words = random_words(random, word);
      words.push_back("io.share=" + std::to_string(share));
      part.columns = upto(random, asked.columns);
      part.rows = upto(random, asked.rows);
      EXPECT_LE(best, 1.05 * run(part, "first", words).cycles) << text_of(part, words);
    }
  });
}

/// A sampled gradient has an order and a place of its own in a trace, unless they are given.
TEST(GivenWords, ASampledGradientOfATraceObeysThem) {
  for_each_draw([](Random& random) {
    Asked asked = draw(random, 12);
    asked.op.pattern = parse_pattern("dense");
    asked.before = {asked.op};
    asked.op.id = "gradient";
    asked.op.op = "sddmm";
    asked.op.phase = Phase::bwd;
    std::swap(asked.op.k, asked.op.n);  // of as many tokens
    asked.op.pattern = parse_pattern("unstructured:0.2");
    asked.op.depends_on = {"gemm"};
    const std::string key = pick<std::string>(random, {"ws.row_order", "ws.lie"});
    const std::string value = key == "ws.lie" ? "interleaved" : "natural";
    const Outcome planned = run(asked, "planned", {key + "=" + value});
    for (const std::string& word : planned.words) {
      const bool same = word.rfind(key + "=", 0) != 0 || word == key + "=" + value;
      EXPECT_TRUE(same) << text_of(asked, {}) << " " << word;
    }
  });
}

/// What sends the zeros of weights too is one of the ways of a row, whatever is given of the layout
/// of all rows: a filter that gains less than it costs is left out.
TEST(GivenWords, ZerosOfARowOfATraceNeverCost) {
  for_each_draw([](Random& random) {
    const std::uint32_t m = 16 * upto(random, 8);
    const std::uint32_t k = 16 * upto(random, 8);
    const std::uint32_t n = 16 * upto(random, 8);
    const TempFile trace(
        fmt::format("id,op,m,k,n,pattern,density,depends_on\na,gemm,{1},{0},{2},dense,,\n"
                    "b,spmm,{0},{1},{2},unstructured,{3},a\n",
                    m, k, n, pick<std::string>(random, {"0.9", "0.8", "0.7", "0.5"})));
    Strings asked = {"run", "--trace", trace.path(), "--no-cache", "--set", "ws.reduce=ring"};
    append(asked, Strings{"--machine", pick<std::string>(random, {"wse1", "wse2"}), "--set",
                          fmt::format("wafer.columns={}", 3 + upto(random, 45)), "--set",
                          fmt::format("wafer.rows={}", 3 + upto(random, 33))});
    Strings whole = asked;
    append(whole, Strings{"--set", "ws.zero_filter=false"});
    const auto cycles = [](const Strings& words) {
      return *numbers_of(words, "TOTAL").at(0).values.at("cycles");
    };
    EXPECT_LE(cycles(asked), cycles(whole)) << ::testing::PrintToString(asked);
  });
}

}  // namespace
}  // namespace lacuna::test
