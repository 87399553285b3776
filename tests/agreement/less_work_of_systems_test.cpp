// SPDX-License-Identifier: Apache-2.0
// Less work on the same plan is never more cycles, bytes or joules.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "tests/support/agreement/decoder.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/agreement/store_step.hpp"
#include "tests/support/driver/random_operation.hpp"

namespace lacuna::test {
namespace {

/// What a step comes to, as far as less work is to be less of it.
struct Came {
  double ns = 0;
  double bytes = 0;
  double joules = 0;
};

/// Two in a hundred are what another plan of a row explains.
void expect_no_more(const Came& less, const Came& more, const std::string& what) {
  EXPECT_LE(less.ns, 1.02 * more.ns) << what;
  EXPECT_LE(less.bytes, 1.02 * more.bytes) << what;
  EXPECT_LE(less.joules, 1.02 * more.joules) << what;
}

Came came(const PodPass& pass) {
  const std::vector<std::uint64_t>& bytes = pass.run.bytes;
  return {static_cast<double>(pass.run.ns), std::accumulate(bytes.begin(), bytes.end(), 0.0),
          pass.energy.total().nominal};
}

// The chips share the model alike: half the context, half the layers.
TEST(LessWorkOfSystems, OfADecoderIsNeverMore) {
  for_each_draw([](Random& random) {
    SmallDecoder decoder(random);
    decoder.set("inference.tensor=1").set("inference.pipeline=1");
    decoder.model.layers = 2 * upto(random, 3);
    if (random.bounded(2) == 0) decoder.set("inference.weights=streaming");
    const Came all = came(decoder.pass(128));
    expect_no_more(came(decoder.pass(64)), all, "half the context");
    decoder.model.layers /= 2;
    expect_no_more(came(decoder.pass(128)), all, "half the layers");
  });
}

Came came(const WaferSystemRun& run) {
  const system::WaferSystemResult& result = run.result;
  double bytes = static_cast<double>(result.store_bytes);
  for (const auto* const way : {&result.down_bytes, &result.up_bytes}) {
    bytes += std::accumulate(way->begin(), way->end(), 0.0);
  }
  return {static_cast<double>(result.ns), bytes, run.energy.total().nominal};
}

// Half the weights of a matrix, and its forward pass without the gradient.
TEST(LessWorkOfSystems, OfWafersWithAStoreIsNeverMore) {
  for_each_draw([](Random& random) {
    StoreStep step(random);
    step.density = "0.5";
    const Came all = came(step.run("fp16"));
    StoreStep forward = step;
    forward.trains = false;
    expect_no_more(came(forward.run("fp16")), all, "no gradient");
    step.density = "0.25";
    expect_no_more(came(step.run("fp16")), all, "half the weights");
  });
}

}  // namespace
}  // namespace lacuna::test
