// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna::test {
namespace {

using Words = std::vector<std::string>;

/// What chance may cost: two in a hundred, and some cycles of runs of a few hundred.
double at_most(double cycles) { return 1.02 * cycles + 8; }

constexpr int kSeeds = 5;  // of masks, on average

/// A number of at least `least` and at most `most`, all magnitudes alike.
std::uint32_t magnitude(Random& random, double least, double most) {
  const double draw = static_cast<double>(random.bounded(1000)) / 1000;
  return static_cast<std::uint32_t>(std::lround(least * std::pow(most / least, draw)));
}

/// A product, or the rows of a trace, that a wafer of `columns` x `rows` lays out by its rule.
struct Planned {
  std::uint32_t columns, rows;
  Request request;
  std::string trace = {};  // a file
};

Planned draw(Random& random) {
  Planned drawn;
  drawn.columns = magnitude(random, 16, 64);
  drawn.rows = magnitude(random, 16, 64);
  drawn.request.machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
  drawn.request.m = 16 * magnitude(random, 1, 12);
  drawn.request.k = 16 * magnitude(random, 1, 12);
  drawn.request.n = magnitude(random, 8, 100);
  return drawn;
}

/// Cycles on average over the masks of some seeds; infinite if the product has no room.
double cycles_of(Planned asked, int most_seeds = kSeeds,
                 const std::vector<std::string>& settings = {}) {
  Request& request = asked.request;
  request.settings = {"wafer.columns=" + std::to_string(asked.columns),
                      "wafer.rows=" + std::to_string(asked.rows)};
  request.settings.insert(request.settings.end(), settings.begin(), settings.end());
  double sum = 0;
  const int seeds = request.pattern.empty() ? 1 : most_seeds;
  for (int seed = 1; seed <= seeds; ++seed) {
    request.seed = static_cast<std::uint64_t>(seed);
    std::vector<std::string> words = {"run", "--machine", request.machine};
    const std::vector<std::string> trace = {"--trace", asked.trace};
    for (const auto& more : {asked.trace.empty() ? request.product() : trace, request.options()}) {
      words.insert(words.end(), more.begin(), more.end());
    }
    const auto rows = numbers_of(words);
    if (rows.empty() || rows[0].status != "ok") return std::numeric_limits<double>::infinity();
    sum += rows[0].values.at("cycles").value_or(0);
  }
  return sum / seeds;
}

std::string text_of(const Planned& asked) {
  return asked.request.machine + " " + std::to_string(asked.columns) + " x " +
         std::to_string(asked.rows) + ", " + asked.request.shape() + " " + asked.request.pattern;
}

TEST(DefaultLayout, FewerWeightsAreNeverSlower) {
  for_each_draw([](Random& random) {
    Planned asked = draw(random);
    const std::string pattern =
        pick<std::string>(random, {"unstructured", "unstructured", "block4", "block16"});
    double before = cycles_of(asked);  // dense
    double density = 1;
    for (int step = 0; step < 3; ++step) {
      density /= 1.5 + static_cast<double>(random.bounded(20)) / 10;
      asked.request.pattern = pattern + ":" + std::to_string(density).substr(0, 5);
      const double cycles = cycles_of(asked);
      EXPECT_LE(cycles, at_most(before)) << text_of(asked);
      before = cycles;
    }
  });
}

/// A row whose time may depend on zeros, by the cells that it has with them, and without any.
struct ZeroRow {
  std::string shape;
  std::string with_zeros;
  std::string dense;

  std::string trace(const std::string& row) const {
    return "id,op,phase,residency,pattern,density,block,pattern_args,m,k,n,batch,dtype\na," + row +
           "," + shape + "\n";
  }
};

/// A product, a gradient, scores of attention or what they are multiplied with.
ZeroRow drawn_row(Random& random, const Planned& asked) {
  const std::string pattern = pick<std::string>(
      random, {"unstructured,0.7,,", "unstructured,0.4,,", "unstructured,0.1,,",
               "unstructured,0.02,,", "block,0.5,4,", "block,0.1,16,", "nm,,,keep=2;of=4"});
  const std::uint64_t kind = random.bounded(3);
  const std::uint64_t batch = kind == 1 ? 1 : kind == 0 ? upto(random, 3) : 1 + upto(random, 3);
  const std::string residency = pick<std::string>(random, {"auto", "streamed", "resident"});
  std::string dtype = pick<std::string>(random, {"fp16", "fp16", "fp32"});
  if (kind == 0 && asked.request.machine == "wse3" && random.bounded(3) == 0) dtype = "int8";
  ZeroRow row;
  for (const std::uint64_t size : {std::uint64_t{asked.request.m}, std::uint64_t{asked.request.k},
                                   std::uint64_t{asked.request.n}, batch}) {
    row.shape += std::to_string(size) + ",";
  }
  row.shape += dtype;
  const std::string none = ",dense,,,";
  if (kind == 0)
    return {row.shape, "spmm,fwd," + residency + "," + pattern, "gemm,fwd," + residency + none};
  const std::string place = std::string(kind == 1 ? "bwd" : "fwd") + ",";
  const char* const sparse = kind == 2 && random.bounded(2) == 0 ? "bmm," : "sddmm,";
  return {row.shape, sparse + place + "," + pattern, "bmm," + place + none};
}

TEST(DefaultLayout, ZerosNeverCost) {
  std::uint64_t runs = 0;
  for_each_draw([&](Random& random) {
    Planned asked = draw(random);
    asked.request.n = 16 * ((asked.request.n + 15) / 16);  // of whole blocks
    const ZeroRow row = drawn_row(random, asked);
    const TempFile dense(row.trace(row.dense));
    const TempFile sparse(row.trace(row.with_zeros));
    asked.trace = dense.path();
    const double most = cycles_of(asked);
    runs += std::isfinite(most) ? 1 : 0;
    asked.trace = sparse.path();
    EXPECT_LE(cycles_of(asked), at_most(most)) << text_of(asked) << "\n"
                                               << row.trace(row.with_zeros);
  });
  EXPECT_GT(2 * runs, draws());  // others have no room
}

/// A layer of a transformer, or its training step, that runs in some milliseconds.
WorkloadTrace drawn_layer(Random& random) {
  ModelShape shape = shape_of_family(ModelFamily::bert);
  shape.name = "drawn";
  shape.layers = 1;
  shape.vocabulary = shape.positions = 64;
  shape.heads = shape.kv_heads = upto(random, 2);
  shape.width = shape.heads * pick<std::uint32_t>(random, {8, 16, 32});
  shape.ffn = shape.width * pick<std::uint32_t>(random, {2, 4});
  TransformerOptions options;
  options.tokens = 8 * upto(random, 4);
  if (random.bounded(8) == 0) options.part = TransformerOptions::Part::training;
  return make_transformer(shape, options);
}

// X with zeros is sent as a whole where that is faster, and best begins with planned.
TEST(DefaultLayout, ZerosOfActivationsNeverCost) {
  for_each_draw([](Random& random) {
    const Planned asked = draw(random);
    Words words = {"run", "--machine", asked.request.machine, "--no-cache"};
    for (const std::string& more : asked.request.product()) words.push_back(more);
    for (const std::string side : {"columns", "rows"}) {
      const std::uint32_t cores = side == "rows" ? asked.rows : asked.columns;
      words.insert(words.end(), {"--set", "wafer." + side + "=" + std::to_string(cores)});
    }
    words.insert(words.end(), {"--residency", pick<std::string>(random, {"auto", "resident"})});
    words.insert(words.end(),
                 {"--pattern", pick<std::string>(random, {"dense", "unstructured:0.3"})});
    words.emplace_back("--layout");
    const auto cycles = [&](const Words& more) {
      Words all = words;
      all.insert(all.end(), more.begin(), more.end());
      const Numbers numbers = numbers_of(all).at(0);
      return numbers.status == "ok" ? *numbers.values.at("cycles") : 0;
    };
    const double whole = cycles({"planned"});
    if (whole == 0) return;
    const Words zeros = {"--x-pattern",
                         pick<std::string>(random, {"bernoulli:0.1", "channel:0.6"})};
    const double planned = cycles({"planned", zeros[0], zeros[1]});
    const std::string text = text_of(asked) + " " + words[words.size() - 4] + " " +
                             words[words.size() - 2] + " " + zeros[1];
    EXPECT_LE(planned, at_most(whole)) << text;
    EXPECT_EQ(cycles({"best:1", zeros[0], zeros[1]}), planned) << text;
  });
}

TEST(DefaultLayout, FewerWeightsOfALayerAreNeverSlower) {
  for_each_draw([](Random& random) {
    Planned asked = draw(random);
    const TempFile trace(format_trace(drawn_layer(random)));
    asked.trace = trace.path();
    const std::string pattern = pick<std::string>(random, {"unstructured", "block4"});
    double before = cycles_of(asked);  // dense
    double density = 1;
    for (int step = 0; step < 2; ++step) {
      density /= 1.5 + static_cast<double>(random.bounded(40)) / 10;
      asked.request.pattern = pattern + ":" + std::to_string(density).substr(0, 5);
      constexpr int kFew = 3;
      const double cycles = cycles_of(asked, kFew);
      EXPECT_LE(cycles, at_most(before)) << text_of(asked);
      before = cycles;
    }
  });
}

TEST(DefaultLayout, BetterHardwareIsNeverSlower) {
  for_each_draw([](Random& random) {
    Planned asked = draw(random);
    if (random.bounded(3) != 0) asked.request.pattern = "unstructured:0.1";
    constexpr int kFew = 2;  // the same masks on both
    const double cycles = cycles_of(asked, kFew);
    Planned larger = asked;
    larger.columns += larger.columns / 2;
    larger.rows += larger.rows / 2;
    EXPECT_LE(cycles_of(larger, kFew), at_most(cycles))
        << text_of(asked) << " and half as much again";
    for (const char* const better :
         {"mem.kib=96", "io.gbit=2400", "router.entries=4", "queue.in=12,12,8,8,4,4,4,4"}) {
      EXPECT_LE(cycles_of(asked, kFew, {better}), at_most(cycles))
          << text_of(asked) << " " << better;
    }
  });
}

/// 16 INT8 weights read 16 B of features and 64 B of INT32 sums and write 64 B, of which two thirds
/// wait for a read: (16 + 64 + 42.7) / 16 = 7.67 cycles, and parts of a cycle add up. 256 x 256 x
/// 512 products on 128 x 64 cores take at least 256 * 256 * 512 / 16 * 7.67 / (128 * 64) = 1,963. A
/// rule that takes a beat for a cycle gives few cores long rows, 6.5 times as long, and keeps
/// zeros. So dense weights may take 2.5 times that, and 30 % of them 0.8 of it.
TEST(DefaultLayout, BeatsTakeWhatThePortsOfTheMemorySay) {
  const auto cycles_at = [](const std::string& pattern) {
    const auto rows = numbers_of({"run", "--machine", "wse3", "--set", "wafer.columns=128", "--set",
                                  "wafer.rows=64", "--gemm", "256x256x512", "--dtype", "int8",
                                  "--pattern", pattern});
    return rows.at(0).values.at("cycles").value();
  };
  EXPECT_LE(cycles_at("dense"), 2.5 * 1963);
  EXPECT_LE(cycles_at("unstructured:0.3"), 0.8 * 2.5 * 1963);
}

/// Up to 64 tokens through two products whose weights fit in the cores of 64 x 64, with zeros of
/// the second one's X as these cells say.
std::string drawn_pair(Random& random, std::uint32_t tokens, const std::string& zeros = ",") {
  const std::uint32_t wide = 64 * magnitude(random, 10, 20);
  const std::uint32_t narrow = 32 * magnitude(random, 8, 12);
  return fmt::format(
      "id,op,m,k,n,x_pattern,x_density,fn,depends_on\nup,gemm,{0},{1},{2},,,,\n"
      "act,eltwise,{0},,{2},,,relu,up\ndown,gemm,{1},{0},{2},{3},,act\n",
      wide, narrow, tokens, zeros);
}

/// 0 if one of the rows is refused.
double cycles_of_rows(const std::string& rows, const std::string& machine,
                      const std::string& pattern, const std::string& layout) {
  const TempFile trace(rows);
  const auto all = numbers_of(
      {"run", "--machine", machine, "--set", "wafer.columns=64", "--set", "wafer.rows=64",
       "--trace", trace.path(), "--pattern", pattern, "--layout", layout, "--no-cache"},
      "TOTAL");
  return all.at(0).status == "ok" ? *all.at(0).values.at("cycles") : 0;
}

// A core multiplies up to four a cycle. All weights past a few tokens, at 44 words a cycle, take up
// to 29 times as long as weights that stay; on few cores these take longer too.
TEST(DefaultLayout, WeightsThatMayStayAreNotStreamed) {
  for_each_draw([](Random& random) {
    if (random.bounded(4) != 0) return;  // a trace has several rows
    const std::string rows = drawn_pair(random, magnitude(random, 2, 64));
    const std::string machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
    const std::string pattern =
        pick<std::string>(random, {"dense", "unstructured:0.3", "block4:0.05"});
    const double first = cycles_of_rows(rows, machine, pattern, "first");
    if (first == 0) return;
    EXPECT_LE(cycles_of_rows(rows, machine, pattern, "planned"), at_most(first))
        << machine << " " << pattern << "\n"
        << rows;
  });
}

// A step of training changes all weights, so that those of a row come in: two bytes each.
TEST(DefaultLayout, WeightsThatChangeComeInWhateverXLeavesOut) {
  for_each_draw([](Random& random) {
    const std::uint32_t m = 16 * upto(random, 6);
    const std::uint32_t k = 16 * upto(random, 6);
    const std::string zeros = pick<std::string>(random, {"dense,", "channel,0.1", "bernoulli,0.5"});
    const TempFile trace(fmt::format(
        "id,op,phase,m,k,n,x_pattern,x_density\na,gemm,bwd,{},{},{},{}\n", m, k, 4, zeros));
    const auto all = numbers_of({"run", "--machine", "wse2", "--set", "wafer.columns=16", "--set",
                                 "wafer.rows=16", "--trace", trace.path(), "--no-cache"});
    EXPECT_GE(all.at(0).values.at("io_bytes").value_or(0), 2.0 * m * k) << zeros;
  });
}

// What reads no words of streams lies on the best rectangle: within a fifth of others, as layers.
TEST(DefaultLayout, OfFunctionsAndAttentionIsNearlyAsFastAsAnySmallerRectangle) {
  for_each_draw([](Random& random) {
    const std::string op = pick<std::string>(random, {"bmm", "layernorm", "softmax", "rmsnorm"});
    const auto size = [&] { return magnitude(random, 1, 200); };
    const TempFile trace(op == "bmm" ? fmt::format("id,op,m,k,n,batch\na,bmm,{},{},{},{}\n", size(),
                                                   size(), size(), magnitude(random, 1, 12))
                                     : fmt::format("id,op,m,n\na,{},{},{}\n", op, size(), size()));
    const std::string machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
    const std::uint32_t columns = 2 + upto(random, 40);
    const std::uint32_t rows = 2 + upto(random, 40);
    const auto cycles = [&](std::uint32_t width, std::uint32_t height, const char* layout) {
      const auto all =
          numbers_of({"run", "--machine", machine, "--set", fmt::format("wafer.columns={}", width),
                      "--set", fmt::format("wafer.rows={}", height), "--trace", trace.path(),
                      "--layout", layout, "--no-cache"});
      return all.at(0).status == "ok" ? *all.at(0).values.at("cycles") : 0;
    };
    const double planned = cycles(columns, rows, "planned");
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t width = i == 0 ? columns : upto(random, columns);
      const std::uint32_t height = i == 1 ? rows : upto(random, rows);
      const double other = cycles(width, height, "first");
      if (other == 0) continue;
      EXPECT_GT(planned, 0);
      EXPECT_LE(planned, 1.2 * other) << op << " " << machine << " " << columns << " x " << rows
                                      << ", best " << width << " x " << height;
    }
  });
}

// A mask that rounding leaves empty is no more than one block: no layout is ruled out for it.
TEST(DefaultLayout, OfAnEmptyGradientIsNoSlowerThanThatOfOneBlock) {
  const auto cycles = [](const char* density) {
    const TempFile trace(
        fmt::format("id,op,m,k,n,pattern,density,block\na,sddmm,16,32,16,block,{},1x8\n", density));
    return *numbers_of({"run", "--machine", "wse1", "--set", "wafer.columns=6", "--set",
                        "wafer.rows=17", "--trace", trace.path(), "--no-cache"})
                .at(0)
                .values.at("cycles");
  };
  EXPECT_LE(cycles("0.02"), cycles("0.05"));
}

// Rows with zeros of X have the layouts of rows without, and each may have all of its X sent.
TEST(DefaultLayout, ZerosOfActivationsOfRowsNeverCost) {
  for_each_draw([](Random& random) {
    if (random.bounded(4) != 0) return;
    const std::string zeros = pick<std::string>(random, {"channel,0.1", "bernoulli,0.5"});
    const std::uint32_t tokens = magnitude(random, 2, 64);
    Random same = random;
    const std::string whole = drawn_pair(random, tokens);
    const std::string rows = drawn_pair(same, tokens, zeros);
    const std::string machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
    const std::string pattern = pick<std::string>(random, {"dense", "unstructured:0.3"});
    const double most = cycles_of_rows(whole, machine, pattern, "planned");
    if (most == 0) return;
    EXPECT_LE(cycles_of_rows(rows, machine, pattern, "planned"), at_most(most))
        << machine << " " << pattern << "\n"
        << rows;
  });
}

// A row that needs nothing of another has the whole wafer. Its weights lie beside the other's, in
// no more bytes than were counted for them; where a layout with more is the fastest, that is
// missed.
TEST(DefaultLayout, OfARowIsThatWhichItHasBesideAnother) {
  for_each_draw([](Random& random) {
    const std::string machine = pick<std::string>(random, {"wse2", "wse3"});
    const std::string columns = "wafer.columns=" + std::to_string(3 + random.bounded(10));
    const std::string height = "wafer.rows=" + std::to_string(3 + random.bounded(10));
    const auto row = [&](const char* id) {
      const auto size = [&] { return 8 * upto(random, 10); };
      return fmt::format("{},gemm,{},{},{},{},-\n", id, size(), size(), size(),
                         pick<std::string>(random, {"dense,", "unstructured,0.3"}));
    };
    const std::string a = row("a");
    const auto cycles = [&](const std::string& others) {
      const TempFile trace("id,op,m,k,n,pattern,density,depends_on\n" + a + others);
      const auto all = numbers_of({"run", "--machine", machine, "--set", columns, "--set", height,
                                   "--trace", trace.path(), "--no-cache"},
                                  "a");
      return all.at(0).values.at("cycles").value_or(0);
    };
    const std::string b = row("b");
    EXPECT_LE(cycles(b), 1.05 * cycles("")) << machine << " " << columns << " " << height << "\n"
                                            << a << b;
  });
}

double cycles_on_wafer(const std::string& trace, const std::string& pattern) {
  const auto all = numbers_of(
      {"run", "--machine", "wse2", "--trace", source_path(trace), "--pattern", pattern}, "TOTAL");
  return *all.at(0).values.at("cycles");
}

// All weights may be sent on the rectangle of the dense layer, and gradients of kept weights may be
// made whole: half of the weights take no longer, whatever rectangles were looked into.
TEST(DefaultLayout, HalfOfTheWeightsOfALayerOnAWholeWaferNeverCosts) {
  for (const char* const trace :
       {"traces/bert_base_layer.csv", "traces/library/bert_base_training_step.csv"}) {
    EXPECT_LE(cycles_on_wafer(trace, "unstructured:0.5"), at_most(cycles_on_wafer(trace, "dense")))
        << trace;
  }
}

/// A search over all rectangles of a whole wafer found 55 x 32 cores in five groups.
TEST(DefaultLayout, OfASmallProductIsAsFastAsTheRectangleThatWasFound) {
  Planned asked{750, 994, {}};
  asked.request.machine = "wse2";
  asked.request.m = asked.request.k = asked.request.n = 64;
  Planned found = asked;
  found.columns = 55;
  found.rows = 32;
  EXPECT_LE(cycles_of(asked), cycles_of(found, 1, {"ws.groups=5", "io.share=1"}));
}

}  // namespace
}  // namespace lacuna::test
