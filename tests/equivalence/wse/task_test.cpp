// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "models/wse/simulate.hpp"
#include "sim/base/mix.hpp"
#include "tests/support/wse/random_links.hpp"
#include "tests/support/wse/random_memory.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/kernels/collective.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

/// A random rectangle, collective and machine.
struct Case {
  Collective what;
  TaskParams params;
};

Case random_case(std::uint64_t seed) {
  std::uint64_t draws = 0;
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(mix(seed * 1000 + ++draws) % (high - low + 1));
  };
  Case made;
  Collective& what = made.what;
  what.columns = pick(1, 9);
  what.rows = pick(1, 3);
  what.elements = pick(1, 40);
  what.values = true;
  what.seed = seed;
  what.op = static_cast<CollectiveOp>(pick(0, 2));
  constexpr ReducePattern kPatterns[] = {ReducePattern::chain,     ReducePattern::star,
                                         ReducePattern::tree,      ReducePattern::two_phase,
                                         ReducePattern::generated, ReducePattern::snake};
  what.pattern = kPatterns[pick(0, 5)];
  if (what.op == CollectiveOp::allreduce && what.rows == 1 && what.columns > 2 && pick(0, 1) == 1) {
    what.pattern = ReducePattern::ring;
  }
  if (pick(0, 2) == 0) what.element = Element::fp16;
  made.params.router.ramp = pick(1, 5);
  made.params.router.hop = pick(1, 2);
  made.params.router.entries = pick(1, 4);
  if (pick(0, 1) == 0) made.params.router.multicast = Multicast::lockstep;
  if (pick(0, 1) == 0) made.params.router.arbiter = Arbiter::fixed;
  made.params.core.sched = static_cast<Sched>(pick(0, 2));
  made.params.core.dispatch = pick(0, 8);
  made.params.core.dispatch_overlap = pick(0, 1) == 0;
  made.params.core.fabric_words_per_issue = pick(1, 2);
  made.params.core.fabric_simd64 = pick(0, 3) != 0;
  const bool ring = what.pattern == ReducePattern::ring;
  if (ring && pick(0, 2) == 0) what.elements = pick(41, 300);
  // two words in a slot need room for two; a ring's cores all send before they take, so that its
  // queues hold what the published depths hold
  const auto depths = [&](std::uint32_t queues) {
    std::string list;
    for (std::uint32_t i = 0; i < queues; ++i) {
      list += (i == 0 ? "" : ",") + std::to_string(pick(2, 8) + (ring ? 4 : 0));
    }
    return list;
  };
  made.params.queue.in = depths(8);
  made.params.queue.out = depths(6);
  made.params.mem.port_cycles = pick(1, 3);
  draw_link_rule(seed, made.params.router, true);
  draw_memory_rules(seed, made.params);
  return made;
}

TEST(TaskEngines, AgreeOnRandomCollectivesWhateverTheOrderOfStepsAndTheDelays) {
  const char* more = std::getenv("LACUNA_LONG");
  const std::uint64_t cases = more == nullptr ? 150 : 5000;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Case made = random_case(seed);
    const TaskProgram program = plan_collective(made.what, 40960);
    for (const Cycle jitter : {Cycle{0}, Cycle{5}}) {
      const TaskOutcome clocked = run_tasks(program, Engine::clocked, 0, jitter, made.params);
      for (const std::uint64_t shuffle : {std::uint64_t{0}, seed}) {
        const TaskOutcome event = run_tasks(program, Engine::event, shuffle, jitter, made.params);
        ASSERT_EQ(difference(clocked, event), "") << "seed " << seed << " jitter " << jitter;
      }
      ASSERT_EQ(difference(clocked, run_tasks(program, Engine::clocked, seed, jitter, made.params)),
                "")
          << "seed " << seed;
      ASSERT_EQ(compare_collective(made.what, clocked.memory).wrong, 0U) << "seed " << seed;
      for (const TaskCounters& core : clocked.cores) {
        std::uint64_t booked = 0;
        for (const std::uint64_t cycles : core.cycles) booked += cycles;
        ASSERT_EQ(booked, clocked.cycles) << "seed " << seed;
      }
    }
  }
}

TEST(TaskModules, GiveTheSameOutcomeAsRowsByEitherEngineInAnyOrder) {
  const char* more = std::getenv("LACUNA_LONG");
  const std::uint64_t cases = more == nullptr ? 60 : 2000;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const Case made = random_case(seed);
    const TaskProgram program = plan_collective(made.what, 40960);
    const Cycle jitter = seed % 2 == 0 ? 0 : 5;
    const TaskOutcome rows = run_tasks(program, Engine::clocked, 0, jitter, made.params);
    RunOptions options;
    options.modules = true;
    options.event_log = true;
    options.shuffle = seed;
    options.jitter = jitter;
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      options.engine = engine;
      ASSERT_EQ(difference(rows, simulate(made.params, program, options)), "") << "seed " << seed;
    }
  }
}

TEST(TaskModules, HaveTheNameOfTheirPlace) {
  Collective what;
  what.columns = 3;
  what.rows = 2;
  const std::vector<std::string> names = module_names(TaskParams(), plan_collective(what, 40960));
  EXPECT_EQ(names.size(), 1U + 2U + 3U * 2U * 3U);  // wafer, rows, places with two each
  EXPECT_EQ(names[2], "wafer.r0.c0");
  EXPECT_EQ(names[3], "wafer.r0.c0.router");
  EXPECT_EQ(names.back(), "wafer.r1.c2.core");
}

/// Instructions on memory of any width and cost, and scalar code.
Routine random_routine(std::uint64_t seed) {
  constexpr VectorOp kOps[] = {VectorOp::work, VectorOp::fma, VectorOp::mul, VectorOp::exp};
  Routine routine;
  const std::uint64_t count = 1 + mix(seed) % 6;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = mix(seed + 100 * i);
    Instruction what;
    what.op = kOps[draw % 4];
    what.element = draw / 4 % 2 == 0 ? Element::fp16 : Element::fp32;
    what.length = static_cast<std::uint32_t>(1 + draw / 8 % 40);
    if (what.op != VectorOp::work) {
      what.to = in_memory(draw / 512 % 2 == 0 ? 256 : 260);
      what.a = in_memory(0);
      what.b = draw / 1024 % 2 == 0 ? cell(8) : in_memory(256);
    }
    routine.push_back(what);
  }
  return routine;
}

/// A line of cores that call shared code while words of a neighbour come and go beside it.
TaskProgram random_callers(std::uint64_t seed) {
  const auto pick = [&](std::uint64_t what, std::uint64_t high) {
    return static_cast<std::uint32_t>(mix(seed * 4096 + what) % high);
  };
  constexpr std::uint32_t kCores = 4;
  TaskBuilder builder(kCores, 1);
  const std::uint32_t words = 1 + pick(0, 30);
  for (std::uint64_t i = 0; i < 3; ++i) builder.add_routine(random_routine(seed * 8 + i));
  for (std::uint32_t c = 0; c < kCores; ++c) {
    const auto out = static_cast<Color>(c % 2);
    const auto in = static_cast<Color>((c + 1) % 2);
    CoreProgram core;
    Task first;
    first.active = true;
    Instruction move;
    move.length = words;
    if (c != 0) {
      core.in = {{in, 0}};
      move.to = in_memory(512);
      move.a = on_fabric(in);
      move.thread = 1;
      move.activates = 1;
      first.steps.push_back(run(move));
    }
    if (c + 1 != kCores) {
      builder.path({c, c + std::size_t{1}}, out);
      core.out = {{out, 2}};
      move.to = on_fabric(out);
      move.a = in_memory(512);
      move.thread = static_cast<std::uint8_t>(3 * pick(c + 10, 2));
      move.activates = kNoTask;
      if (pick(c + 20, 2) == 0) first.steps.push_back(work(pick(c + 30, 20)));
      first.steps.push_back(run(move));
    }
    for (std::uint32_t i = 0; i < 3; ++i) first.steps.push_back(call(pick(c * 8 + i + 40, 3)));
    Task second;
    second.active = c == 0;
    second.steps = {call(pick(c + 80, 3)), work(2), call(pick(c + 90, 3))};
    core.tasks = {first, second};
    builder.core(c, builder.add(core));
  }
  TaskProgram program = std::move(builder).finish();
  program.memory.assign(kCores, std::vector<std::uint8_t>(1024, 0));
  return program;
}

TEST(TaskEngines, AgreeOnSharedCodeThatWordsOfOthersInterrupt) {
  const std::uint64_t cases = std::getenv("LACUNA_LONG") == nullptr ? 60 : 5000;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const TaskProgram program = random_callers(seed);
    TaskParams params = random_case(seed).params;
    for (const Cycle jitter : {Cycle{0}, Cycle{4}}) {
      const TaskOutcome clocked = run_tasks(program, Engine::clocked, 0, jitter, params);
      const TaskOutcome event = run_tasks(program, Engine::event, seed, jitter, params);
      ASSERT_EQ(difference(clocked, event), "") << "seed " << seed << " jitter " << jitter;
      RunOptions modules{Engine::event, seed, jitter, 1, true};
      modules.modules = true;
      ASSERT_EQ(difference(clocked, simulate(params, program, modules)), "") << "seed " << seed;
    }
  }
}

// Messages of 28 or 29 words leave in two parts, the second in a microthread: that has to be gone
// before the next message begins, though the main thread could issue first.
TEST(TaskEngines, LongMessagesOfARingKeepTheirOrderWhoeverIssuesFirst) {
  Collective what;
  what.op = CollectiveOp::allreduce;
  what.pattern = ReducePattern::ring;
  what.columns = 7;
  what.elements = 199;
  what.values = true;
  what.ramp = 1;
  for (const Sched sched : {Sched::main_first, Sched::ut_first, Sched::round_robin}) {
    TaskParams params;
    params.core.sched = sched;
    params.router.ramp = 1;
    params.router.multicast = Multicast::lockstep;
    const TaskOutcome run = run_tasks(plan_collective(what, 40960), Engine::event, 0, 0, params);
    EXPECT_EQ(compare_collective(what, run.memory).wrong, 0U) << static_cast<int>(sched);
  }
}

/// The inside, four sides and four corners, besides the core that does nothing.
TEST(TaskPrograms, AStencilHasNineProgramsWhateverItsSize) {
  StencilJob job;
  job.columns = 6;
  job.rows = 5;
  job.width = 4;
  EXPECT_EQ(plan_stencil(job, CodeCosts()).program.cores.size(), 10U);
}

TEST(TaskPrograms, OneThatDiffersAnywhereIsAnother) {
  const auto written = [](std::uint32_t length, std::int32_t stride, std::uint8_t queue) {
    Script script;
    Instruction what;
    what.to = in_memory(0, stride);
    what.a = number(1);
    what.length = length;
    script.then(what);
    script.program().out.push_back({Color{1}, queue});
    return std::move(script).finish();
  };
  TaskBuilder builder(1, 1);
  const std::uint32_t first = builder.share(written(8, 1, 2));
  EXPECT_EQ(builder.share(written(8, 1, 2)), first);
  EXPECT_NE(builder.share(written(9, 1, 2)), first);
  EXPECT_NE(builder.share(written(8, 2, 2)), first);
  EXPECT_NE(builder.share(written(8, 1, 3)), first);
}

}  // namespace
}  // namespace lacuna::wse
