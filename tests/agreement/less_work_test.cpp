// SPDX-License-Identifier: Apache-2.0
// Less work on the same cores and in the same layout is never more of anything. A row whose layout
// is planned anew is default_layout_test's; a step from dense to sparse changes the stream's form.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/agreement/drawn_decoder.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/random_operation.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Costs = std::map<std::string, double>;

/// Of a product on a piece of a wafer, on average over the masks of some seeds; none if refused.
Costs costs_of(Request request, const std::string& residency) {
  constexpr int kSeeds = 5;
  Costs sums;
  const int seeds = request.pattern == "dense" ? 1 : kSeeds;
  for (int seed = 1; seed <= seeds; ++seed) {
    request.seed = static_cast<std::uint64_t>(seed);
    std::vector<std::string> words = {"run",   "--machine",   request.machine, "--layout",
                                      "first", "--residency", residency};
    for (const auto& more : {request.product(), request.options()}) {
      words.insert(words.end(), more.begin(), more.end());
    }
    const auto rows = numbers_of(words);
    if (rows.size() != 1 || rows[0].status != "ok") return {};
    for (const char* const name : {"cycles", "sram_read_bytes", "sram_write_bytes", "fabric_bytes",
                                   "io_bytes", "energy_j"}) {
      sums[name] += rows[0].values.at(name).value_or(0) / seeds;
    }
  }
  return sums;
}

/// Beyond what chance may cost: two in a hundred, and some cycles or bytes of runs of few.
void expect_no_more(const Costs& less, const Costs& costs, const std::string& what) {
  for (const auto& [name, cost] : less) {
    const double few = name == "energy_j" ? 0 : 8;
    EXPECT_LE(cost, 1.02 * costs.at(name) + few) << name << " of " << what;
  }
}

Request product_on_a_wafer(Random& random) {
  Request request = small_product(random);
  request.machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
  request.settings = {"wafer.columns=" + std::to_string(upto(random, 12)),
                      "wafer.rows=" + std::to_string(upto(random, 12))};
  return request;
}

// 94 of 79 x 4 dot products are kept. Each of four rows of cores writes its part of them once, in
// two bytes, and reads it for the chain: 94 * 4 * 2 = 752 bytes more than if they leave as they
// form.
TEST(LessWork, DotProductsThatLeaveAsTheyFormAreNeitherWrittenNorRead) {
  const TempFile trace("id,op,phase,m,k,n,pattern,density\na,sddmm,bwd,79,98,4,unstructured,0.3\n");
  const auto values = [&](const std::string& gradient) {
    return numbers_of({"run", "--machine", "wse2", "--set", "wafer.columns=2", "--set",
                       "wafer.rows=4", "--layout", "first", "--trace", trace.path(), "--set",
                       "ws.gradient=" + gradient})
        .at(0)
        .values;
  };
  auto kept = values("kept");
  auto chained = values("chained");
  ASSERT_EQ(kept.at("useful_flop"), 2.0 * 94 * 98);
  for (const char* const bytes : {"sram_read_bytes", "sram_write_bytes"}) {
    EXPECT_EQ(*kept.at(bytes) - *chained.at(bytes), 752) << bytes;
  }
}

TEST(LessWork, OfARowIsNoMoreOfAnything) {
  for_each_draw([](Random& random) {
    Request request = product_on_a_wafer(random);
    const std::string residency = pick<std::string>(random, {"streamed", "resident"});
    const std::string density = pick<std::string>(random, {"0.5", "0.2", "0.05"});
    request.pattern = random.bounded(4) == 0 ? "dense" : "unstructured:" + density;
    Request less = request;
    const std::uint64_t axis = random.bounded(request.pattern == "dense" ? 3 : 4);
    if (axis == 3) less.pattern = "unstructured:0.0" + density.substr(2);  // a tenth
    std::uint32_t& size = axis == 0 ? less.m : axis == 1 ? less.k : less.n;
    if (axis != 3) size = (size + 1) / 2;
    const Costs costs = costs_of(request, residency);
    if (costs.empty()) return;
    const Costs fewer = costs_of(less, residency);
    ASSERT_FALSE(fewer.empty()) << less.shape() << " is refused, and the larger one is not";
    expect_no_more(fewer, costs,
                   request.machine + " " + request.settings[0] + " " + request.settings[1] + " " +
                       residency + " " + request.dtype + " " + request.shape() + " " +
                       request.pattern + " made " + less.shape() + " " + less.pattern);
  });
}

TEST(LessWork, OfNoWeightsIsNoMoreThanOfHardlyAny) {
  for_each_draw([](Random& random) {
    Request request = product_on_a_wafer(random);
    request.pattern = "unstructured:0.002";
    const std::string residency = pick<std::string>(random, {"streamed", "resident"});
    const Costs hardly = costs_of(request, residency);
    if (hardly.empty()) return;
    request.pattern = "unstructured:0";
    const Costs none = costs_of(request, residency);
    ASSERT_FALSE(none.empty()) << request.machine << " " << request.shape();
    expect_no_more(none, hardly, request.machine + " " + request.shape());
  });
}

// A beat of more elements than a core has left takes what these need of the ports. Taken whole, 52
// tokens were four beats of 16 and 16 cycles instead of 13: on 12 x 5 cores of a WSE-1 192x97x257
// took 28,741 cycles with 16 products at a time and 24,721 with four.
TEST(LessWork, OnAWiderDatapathIsNoSlower) {
  for_each_draw([](Random& random) {
    Request request = product_on_a_wafer(random);
    request.pattern = "dense";
    request.n = upto(random, 500);
    const Costs costs = costs_of(request, "streamed");
    request.settings.insert(request.settings.end(), {"simd.fma16=16", "simd.fma32=4"});
    const Costs wider = costs_of(request, "streamed");
    ASSERT_EQ(costs.empty(), wider.empty());
    if (costs.empty()) return;
    expect_no_more({{"cycles", wider.at("cycles")}}, costs,
                   request.machine + " " + request.settings[0] + " " + request.settings[1] + " " +
                       request.dtype + " " + request.shape());
  });
}

// A core of some tokens more, so that rows of them are whole banks. A vector with a number for each
// token began in another bank than the row it is added to in every fourth row alone: on 4 x 4 cores
// of a WSE-1 `mask` of 96 x 255 took 669 cycles, and of 96 x 256 393.
TEST(LessWork, OfAFunctionOverAnOddNumberOfTokensIsNoSlower) {
  for_each_draw([](Random& random) {
    const std::string machine = pick<std::string>(random, {"wse1", "wse2", "wse3"});
    const std::string function = pick<std::string>(
        random, {"mask", "scale_mask", "bias", "bias_add", "bias_gelu", "add", "gelu"});
    const std::string type = pick<std::string>(random, {"fp16", "fp32"});
    const std::uint32_t features = upto(random, 100);
    const std::uint32_t rows = upto(random, 6);
    const std::uint32_t tokens = upto(random, 300);
    const std::uint32_t whole = (tokens + 4 * rows - 1) / (4 * rows) * (4 * rows);
    const auto cycles = [&](std::uint32_t n) {
      const TempFile trace("id,op,fn,m,n,dtype\na,eltwise," + function + "," +
                           std::to_string(features) + "," + std::to_string(n) + "," + type + "\n");
      const auto run = numbers_of({"run", "--machine", machine, "--set", "wafer.columns=4", "--set",
                                   "wafer.rows=" + std::to_string(rows), "--trace", trace.path()});
      const std::string& status = run.at(0).status;
      EXPECT_TRUE(status == "ok" || status.rfind("out_of_memory", 0) == 0) << status;
      return run.at(0).values.at("cycles").value_or(0);
    };
    const double most = cycles(whole);
    if (most == 0) return;  // three operands of all tokens have no room
    EXPECT_LE(cycles(tokens), 1.02 * most + 8)
        << machine << " " << function << " " << type << " " << features << "x" << tokens
        << " on 4 x " << rows << " cores";
  });
}

/// Cycles of the first layer of a block and of those behind it; none if cores cannot hold it.
double token_of(const DrawnDecoder& drawn) {
  WseParams params;
  params.set("wafer.columns", std::to_string(drawn.columns), "test");
  params.set("wafer.rows", std::to_string(drawn.rows), "test");
  try {
    const DecodeStep step =
        DecodeTimes(params, Engine::event).step(drawn.model, drawn.placement(), drawn.context);
    return step.layer.first + step.layer.next;
  } catch (const OutOfMemoryError&) {
    return 0;
  }
}

// Contexts that are a number of rows of cores apart have their newest position in one row of them.
TEST(LessWork, OfATokenIsNoLonger) {
  for_each_draw([](Random& random) {
    const DrawnDecoder drawn(random);
    const double cycles = token_of(drawn);
    if (cycles == 0) return;
    DrawnDecoder less = drawn;
    const std::uint64_t what = random.bounded(4);
    if (what == 0 && drawn.context > drawn.rows) less.context -= drawn.rows;
    if (what == 1 && drawn.batch > 1) --less.batch;
    if (what == 2) less.model.ffn = (drawn.model.ffn + 1) / 2;
    if (what == 3) less.model.heads = drawn.model.kv_heads;
    EXPECT_LE(token_of(less), 1.02 * cycles + 8) << what;
  });
}

// The core that has the newest position puts its key and its value into the cache: two moves of a
// sequence, each of 8 cycles to set up and of 4 halves a cycle. The core of the last position is
// another one in each row of cores, and as far as it lies from where a column's sums end its moves
// hide behind their way. So a longer context is quicker by these moves at most: on 8 rows with 4
// columns a head of 16 features by 2 x (8 + 4 / 4) = 18 cycles a layer, and by 24 of a model with
// 16 features a core. The same row is never quicker with more positions.
TEST(LessWork, OfAShorterContextIsLongerByTheMovesOfItsNewestPositionAtMost) {
  Random random(1);
  DrawnDecoder drawn(random);
  drawn.model.layers = 1;
  drawn.model.heads = 4;
  drawn.model.kv_heads = 2;
  drawn.model.head_dim = drawn.model.rotated = 16;
  drawn.model.width = 64;
  drawn.model.ffn = 96;
  drawn.columns = drawn.rows = 8;
  drawn.batch = 1;
  std::vector<double> layers;  // by context less 1
  for (drawn.context = 1; drawn.context <= 2 * drawn.rows; ++drawn.context) {
    WseParams params;
    params.set("wafer.columns", "8", "test");
    params.set("wafer.rows", "8", "test");
    DecodeTimes times(params, Engine::event);
    layers.push_back(times.step(drawn.model, drawn.placement(), drawn.context).layer.first);
  }
  constexpr double kMoves = 2 * (8 + 4 / 4);
  EXPECT_EQ(layers[0] - layers[7], kMoves);
  for (std::size_t shorter = 0; shorter < layers.size(); ++shorter) {
    for (std::size_t longer = shorter; longer < layers.size(); ++longer) {
      const bool same = (longer - shorter) % drawn.rows == 0;
      EXPECT_LE(layers[shorter], layers[longer] + (same ? 0 : kMoves)) << shorter << " " << longer;
    }
  }
}

/// Two groups of 51 places: of 102 rows each group has one of each place, of 101 the second group
/// lacks the last and ends with a row of no weights. That one need not go back to the first place,
/// which costs the way along all places: 50 of 1 + 2 ramps of 2 + 2 links of 1 cycle, 350 in all.
TEST(LessWork, ARowOfNoWeightsDoesNotGoBackToTheFirstPlace) {
  const auto cycles_of = [](const std::string& rows) {
    const auto result = numbers_of(
        {"run", "--machine", "wse2", "--layout", "first", "--gemm", rows + "x51x8", "--set",
         "wafer.columns=102", "--set", "wafer.rows=4", "--set", "ws.groups=2", "--set",
         "ws.lie=interleaved", "--set", "ws.reduce=chain", "--set", "ws.row_order=natural"});
    return result.at(0).values.at("cycles").value();
  };
  EXPECT_LE(cycles_of("101"), cycles_of("102"));
}

}  // namespace
}  // namespace lacuna::test
