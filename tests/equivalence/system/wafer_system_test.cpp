// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sim/base/mix.hpp"
#include "tests/support/system/wafer_layers.hpp"

namespace lacuna::system {
namespace {

struct Case {
  WaferSystemParams params;
  WaferEdge edge;
  std::vector<WaferPass> passes;
};

Case random_case(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto pick = [&](std::uint64_t low, std::uint64_t high) {
    return low + mix(seed * 1000 + ++draws) % (high - low + 1);
  };
  Case made;
  WaferSystemParams& params = made.params;
  params.machines = static_cast<unsigned>(pick(1, 12));
  params.swarmx.fanout = static_cast<unsigned>(pick(2, 4));
  params.swarmx.level_latency_ns = static_cast<unsigned>(pick(1, 60));
  params.swarmx.link_gbps = static_cast<double>(pick(3, 200));
  params.swarmx.tree_gbps = static_cast<double>(pick(3, 200));
  params.memoryx.read_gbps = static_cast<double>(pick(3, 200));
  params.memoryx.write_gbps = static_cast<double>(pick(3, 200));
  params.memoryx.update_ns_per_1k = static_cast<double>(pick(0, 2000));
  params.chunk_bytes = static_cast<unsigned>(pick(64, 600));
  params.prefetch_bytes = static_cast<unsigned>(pick(4096, 9000));
  made.edge.latency_ns = pick(1, 90);
  made.edge.half_duplex = pick(0, 1) == 0;
  std::vector<WaferLayer> layers;
  for (std::uint64_t l = pick(1, 4); l > 0; --l) {
    WaferLayer layer;
    layer.name = std::to_string(l);
    layer.nonzeros = pick(1, 900);
    const bool alike = pick(0, 1) == 0;
    for (unsigned w = 0; w < (alike ? 1U : params.chips()); ++w) {
      layer.forward_ns.push_back(pick(0, 900));
      layer.delta_ns.push_back(pick(0, 900));
      layer.gradient_ns.push_back(pick(0, 900));
    }
    layers.push_back(layer);
  }
  made.passes = training_passes(params, layers, static_cast<unsigned>(pick(1, 2)));
  return made;
}

std::string difference(const WaferSystemResult& a, const WaferSystemResult& b) {
  if (a.ns != b.ns) return "ns " + std::to_string(a.ns) + " and " + std::to_string(b.ns);
  if (a.chips != b.chips) return "times of wafers";
  for (std::size_t i = 0; i < a.passes.size(); ++i) {
    const bool same = a.passes[i].begin == b.passes[i].begin &&
                      a.passes[i].end == b.passes[i].end &&
                      a.passes[i].updated == b.passes[i].updated;
    if (!same) return "times of pass " + std::to_string(i);
  }
  if (a.down_bytes != b.down_bytes || a.up_bytes != b.up_bytes) return "bytes of links";
  if (a.link_busy_ns != b.link_busy_ns) return "times of links";
  if (a.events != b.events) return "events of wafers";
  return a.wait_ns == b.wait_ns && a.added_bytes == b.added_bytes ? "" : "the store or the tree";
}

/// What the events of a wafer say of its time.
std::vector<TimeStack> times_of(const WaferSystemResult& result) {
  std::vector<TimeStack> sums(result.chips.size());
  std::vector<Cycle> begun(result.chips.size());
  for (const Event& event : result.events) {
    if (event.kind % 2 == 0) {
      begun[event.unit] = event.cycle;
    } else {
      sums[event.unit].at(event.kind / 2U) += event.cycle + 1 - begun[event.unit];
    }
  }
  return sums;
}

TEST(WaferSystemEngines, AgreeOnRandomSystemsWhateverTheOrderOfStepsAndTheDelays) {
  const char* const more = std::getenv("LACUNA_LONG");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t cases = more != nullptr ? 2000 : 25;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Case made = random_case(seed);
    SystemExecution execution;
    execution.engine = Engine::clocked;
    execution.jitter = seed % 3 == 0 ? 30 : 0;
    execution.jitter_seed = seed;
    execution.event_log = true;
    const WaferSystemResult clocked =
        run_wafer_system(made.params, made.edge, made.passes, execution);
    EXPECT_EQ(times_of(clocked), clocked.chips) << "seed " << seed;
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      execution.engine = engine;
      execution.shuffle = seed;
      const WaferSystemResult other =
          run_wafer_system(made.params, made.edge, made.passes, execution);
      ASSERT_EQ(difference(clocked, other), "") << "seed " << seed;
    }
    if (execution.jitter != 0) continue;
    for (std::size_t p = 0; p < made.passes.size(); ++p) {
      EXPECT_GE(clocked.ns, least_ns(made.params, made.edge, made.passes[p])) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lacuna::system
