// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/random_memory.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/probe_kernels.hpp"
#include "workloads/mapping/wse/kernels/tiled_stencil.hpp"

namespace lacuna::wse {
namespace {

CodeCosts costs_of(const TaskParams& params) {
  CodeCosts costs;
  costs.core = params.core;
  costs.task = params.task;
  return costs;
}

TaskProgram random_program(std::uint64_t seed, const CodeCosts& costs) {
  Random random(stream_seed(seed, "probe"));
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random.bounded(high - low + 1));
  };
  switch (pick(0, 7)) {
    case 0:
    case 1: {
      VectorProbe probe;
      probe.kind = static_cast<VectorProbe::Kind>(pick(0, 5));
      probe.element = pick(0, 1) == 0 ? Element::fp16 : Element::fp32;
      probe.length = pick(1, 90);
      probe.stride = static_cast<std::int32_t>(pick(1, 9));
      probe.offset = 2 * pick(0, 7);
      return plan_vector_probe(probe, costs);
    }
    case 2:
      return plan_line_probe({pick(1, 40), pick(1, 6), pick(0, 1) == 0, true}, costs);
    case 3: {
      const auto kind = static_cast<WordWork>(pick(0, 3));
      return plan_word_tasks(kind, pick(1, 12), costs);
    }
    case 4: {
      const std::uint32_t stages = pick(1, 5);
      return plan_store_and_forward(stages, pick(1, 40), costs);
    }
    case 5: {
      const bool bulk = pick(0, 1) == 0;
      const std::uint32_t cores = pick(1, 5);
      const std::uint32_t words = pick(1, 9);
      return plan_reload(cores, words, bulk, costs);
    }
    case 6:
      return plan_point_stencil({pick(2, 5), pick(2, 5), pick(1, 6), pick(0, 1) == 0, pick(1, 4)},
                                costs);
    default:
      return plan_tiled_stencil(
          {pick(1, 3), pick(1, 9), pick(1, 9), pick(1, 3), pick(0, 1) == 0, pick(0, 3) == 0},
          costs);
  }
}

TEST(ProbeEngines, AgreeOnRandomProbesAndStencilsWithPortsAndBanksOfAnyKind) {
  const char* more = std::getenv("LACUNA_LONG");
  const std::uint64_t cases = more == nullptr ? 200 : 5000;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    TaskParams params;
    params.core.dispatch_overlap = seed % 3 != 0;
    params.router.hop = static_cast<unsigned>(1 + seed % 2);
    draw_memory_rules(seed, params);
    draw_link_rule(seed, params.router, true);
    const TaskProgram program = random_program(seed, costs_of(params));
    const TaskOutcome clocked = run_tasks(program, Engine::clocked, 0, 0, params);
    for (const std::uint64_t shuffle : {std::uint64_t{0}, seed}) {
      ASSERT_EQ(difference(clocked, run_tasks(program, Engine::event, shuffle, 0, params)), "")
          << "seed " << seed;
    }
    ASSERT_EQ(difference(run_tasks(program, Engine::clocked, seed, 3, params),
                         run_tasks(program, Engine::event, 0, 3, params)),
              "")
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace lacuna::wse
