// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/random_memory.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

TaskProgram random_program(std::uint64_t seed, const WseParams& costs) {
  Random random(stream_seed(seed, "probe"));
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random.bounded(high - low + 1));
  };
  switch (pick(0, 7)) {
    case 0:
    case 1:
      return shipped("vector",
                     {{"kind", pick(0, 5)},
                      {"type", pick(0, 1) == 0 ? "fp16" : "fp32"},
                      {"length", pick(1, 90)},
                      {"stride", pick(1, 9)},
                      {"offset", 2 * pick(0, 7)}},
                     costs);
    case 2:
      return shipped("line",
                     {{"words", pick(1, 40)}, {"receivers", pick(1, 6)}, {"last_only", pick(0, 1)}},
                     costs);
    case 3:
      return shipped("word_tasks", {{"kind", pick(0, 2)}, {"words", pick(1, 12)}}, costs);
    case 4:
      return shipped("store_and_forward", {{"stages", pick(1, 5)}, {"words", pick(1, 40)}}, costs);
    case 5:
      return shipped("reload", {{"bulk", pick(0, 1)}, {"cores", pick(1, 5)}, {"words", pick(1, 9)}},
                     costs);
    case 6:
      return shipped("point_stencil",
                     {{"wide", pick(3, 6)},
                      {"high", pick(3, 6)},
                      {"iterations", pick(1, 6)},
                      {"pairs", pick(0, 1)},
                      {"send", pick(1, 4)}},
                     costs);
    default:
      return shipped("tiled_stencil",
                     {{"radius", pick(1, 3)},
                      {"width", pick(1, 9)},
                      {"height", pick(1, 9)},
                      {"iterations", pick(1, 3)},
                      {"waits", pick(0, 1)},
                      {"first_version", pick(0, 3) / 3}},
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
    WseParams costs;
    costs.set("core.dispatch_overlap", params.core.dispatch_overlap ? "true" : "false");
    const TaskProgram program = random_program(seed, costs);
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
