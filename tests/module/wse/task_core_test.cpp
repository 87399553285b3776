// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

Instruction axpy(Element element, std::uint32_t length, std::uint32_t to, std::uint32_t from) {
  Instruction instruction;
  instruction.op = VectorOp::fma;
  instruction.element = element;
  instruction.to = in_memory(to);
  instruction.a = in_memory(from);
  instruction.b = number(2);
  instruction.length = length;
  return instruction;
}

Cycle cycles_of_steps(const std::vector<Step>& steps) {
  return run_tasks(lone_core({first_task(steps)})).cycles;
}

std::uint64_t cycles_spent(const TaskOutcome& outcome, std::size_t core, TaskCycle kind) {
  return outcome.cores[core].cycles[static_cast<std::size_t>(kind)];
}

/// A rectangle of four cores: the first of a way sends words of its memory to the last, which takes
/// them out of input queue 1.
TaskProgram one_stream(const std::vector<std::size_t>& way, std::uint32_t words) {
  TaskBuilder builder(2, 2);
  builder.path(way, Color{3});
  Instruction send;
  send.to = on_fabric(Color{3});
  send.a = in_memory(0);
  send.length = words;
  CoreProgram sender;
  sender.tasks = {first_task({run(send)})};
  Instruction take = send;
  take.to = in_memory(0);
  take.a = on_fabric(Color{3});
  CoreProgram taker;
  taker.tasks = {first_task({run(take)})};
  taker.in = {{Color{3}, 1}};
  builder.core(way.front(), builder.add(sender));
  builder.core(way.back(), builder.add(taker));
  return std::move(builder).finish();
}

TEST(TaskCore, AnAxpyInHalfPrecisionMoves24BytesAndDoes8FlopInACycle) {
  // 4000 elements at 4 in a cycle; sums at 4 modulo 8 do not meet the operand at 0 modulo 8
  const TaskOutcome outcome =
      run_tasks(lone_core({first_task({run(axpy(Element::fp16, 4000, 8004, 0))})}));
  EXPECT_EQ(outcome.cycles, 1000U);
  EXPECT_EQ(outcome.cores[0].read_bytes + outcome.cores[0].write_bytes, 24U * 1000U);
  EXPECT_EQ(outcome.cores[0].mac16 * 2, 8U * 1000U);
}

TEST(TaskCore, TwoReadsInOneBankTakeTwoCycles) {
  EXPECT_EQ(cycles_of_steps({run(axpy(Element::fp16, 4000, 8000, 0))}), 2000U);
}

TEST(TaskCore, AMultiplyAccumulateInPlaceStallsThreeTimesInSixteenSingleElements) {
  // 68 = 4 x 16 + 4 elements: 4 x 19 + 4
  EXPECT_EQ(cycles_of_steps({run(axpy(Element::fp32, 68, 4004, 0))}), 80U);
  // in conflict a beat takes two cycles and meets no write: 2 x 68
  EXPECT_EQ(cycles_of_steps({run(axpy(Element::fp32, 68, 4000, 0))}), 136U);
}

TEST(TaskCore, AProductOfTwoVectorsTakesACycleOrTwoForEachElementByTheirPlaceAlone) {
  Instruction product;
  product.op = VectorOp::mul;
  product.to = in_memory(20000);
  product.a = in_memory(0);
  product.length = 1028;
  product.b = in_memory(8004);
  EXPECT_EQ(cycles_of_steps({run(product)}), 1028U);
  product.b = in_memory(8000);
  EXPECT_EQ(cycles_of_steps({run(product)}), 2056U);
}

TEST(TaskCore, StridesNarrowTheDatapathAsTheVendorsTableSays) {
  const auto cycles = [](std::int32_t stride) {
    Instruction move;
    move.element = Element::fp16;
    move.to = in_memory(0);
    move.a = in_memory(0, stride);
    move.length = 64;
    return cycles_of_steps({run(move)});
  };
  EXPECT_EQ(cycles(0), 16U);  // one element, kept in a register
  EXPECT_EQ(cycles(1), 16U);
  for (const std::int32_t full : {2, 3, 5, 6, 10, 11}) EXPECT_EQ(cycles(full), 16U) << full;
  for (const std::int32_t two : {4, 7, 9, 12, 15}) EXPECT_EQ(cycles(two), 32U) << two;
  for (const std::int32_t one : {8, 16}) EXPECT_EQ(cycles(one), 64U) << one;
}

TEST(TaskCore, ADotProductReadsSixteenBytesInACycle) {
  Instruction dot;
  dot.op = VectorOp::fma;
  dot.element = Element::fp16;
  dot.to = in_memory(40000, 0);
  dot.a = in_memory(0);
  dot.b = in_memory(8004);
  dot.length = 4000;
  const TaskOutcome outcome = run_tasks(lone_core({first_task({run(dot)})}));
  EXPECT_EQ(outcome.cycles, 1000U);
  EXPECT_EQ(outcome.cores[0].read_bytes, 16000U);
  EXPECT_EQ(outcome.cores[0].write_bytes, 0U);
}

TEST(TaskCore, ScalarWorkAndMicrothreadsShareOneIssueSlot) {
  Instruction beside = axpy(Element::fp16, 40, 4, 0);
  beside.thread = 3;
  // the microthread has its first beat in cycle 1 and goes first: 10 beats; 30 of scalar work
  const TaskOutcome outcome = run_tasks(lone_core({first_task({run(beside), work(30)})}));
  EXPECT_EQ(outcome.cycles, 41U);
  EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::scalar), 30U);
  EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::vector), 10U);
  EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::idle), 1U);
}

TEST(TaskCore, WithTwoSlotsMicrothreadsAndTheMainThreadDoNotWaitForEachOther) {
  TaskParams params;
  params.core.slots = 2;
  Instruction beside = axpy(Element::fp16, 40, 4, 0);
  beside.thread = 3;
  for (const Engine engine : {Engine::clocked, Engine::event}) {
    // both begin in cycle 1
    const TaskOutcome outcome =
        run_tasks(lone_core({first_task({run(beside), work(30)})}), engine, 0, 0, params);
    EXPECT_EQ(outcome.cycles, 31U);
    EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::scalar), 30U);
    EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::vector), 0U);
    EXPECT_EQ(outcome.cores[0].beside, 10U);
    EXPECT_EQ(cycles_spent(outcome, 0, TaskCycle::idle), 1U);
    // Two reads in one bank: beats in 1, 3, ... 19, each with a stall. Scalar work has 1 to 5, and
    // so three of the beats and two of the stalls are beside it.
    beside.to = in_memory(0);
    const TaskOutcome stalls =
        run_tasks(lone_core({first_task({run(beside), work(5)})}), engine, 0, 0, params);
    EXPECT_EQ(stalls.cycles, 21U);
    EXPECT_EQ(cycles_spent(stalls, 0, TaskCycle::scalar), 5U);
    EXPECT_EQ(cycles_spent(stalls, 0, TaskCycle::vector), 7U);
    EXPECT_EQ(stalls.cores[0].beside, 3U);
    EXPECT_EQ(cycles_spent(stalls, 0, TaskCycle::conflict), 8U);
    beside.to = in_memory(4);
  }
}

TEST(TaskWafer, WordsThatTurnTakeLongerAndFollowEachOtherAsFast) {
  const auto cycles = [](const std::vector<std::size_t>& way, unsigned turn) {
    TaskParams params;
    params.router.turn = turn;
    const TaskProgram program = one_stream(way, 40);
    const Cycle clocked = run_tasks(program, Engine::clocked, 0, 0, params).cycles;
    EXPECT_EQ(run_tasks(program, Engine::event, 0, 0, params).cycles, clocked);
    return clocked;
  };
  // A beat in each of cycles 0 to 39; the last word leaves the output queue in 40, is at its router
  // in 42 and at the next ones in 43 and 44, and is taken in 46.
  EXPECT_EQ(cycles({0, 1, 3}, 0), 47U);
  EXPECT_EQ(cycles({0, 1, 3}, 20), 67U);  // one turn, paid once
  EXPECT_EQ(cycles({0, 2, 3}, 20), 67U);
  EXPECT_EQ(cycles({0, 1}, 20), 46U);  // ramps are no turns
}

TEST(TaskCore, ACompletedInstructionActivatesATaskThatStartsADispatchLater) {
  Instruction first = axpy(Element::fp16, 40, 4, 0);
  first.thread = 1;
  first.activates = 1;
  Task second;
  second.steps = {work(5)};
  // beats in cycles 1 to 10; over, picked and dispatched in 11 to 14; work in 15 to 19
  EXPECT_EQ(run_tasks(lone_core({first_task({run(first)}), second})).cycles, 20U);
}

TEST(TaskCore, ABlockedTaskWaitsUntilItIsUnblockedAndActivatingTwiceIsOnce) {
  Task second;
  second.blocked = true;
  second.steps = {work(5)};
  const auto first = first_task({activate(1), activate(1), work(7), unblock(1)});
  // work in cycles 0 to 6; unblocked and picked in 7, dispatched until 10; work in 11 to 15
  EXPECT_EQ(run_tasks(lone_core({first, second})).cycles, 16U);
  EXPECT_EQ(run_tasks(lone_core({first_task({activate(1), work(7)}), second})).cycles, 7U);
}

TEST(TaskCore, ASoftwareFifoCostsABeatInAndABeatOut) {
  TaskProgram program = lone_core({}, 4096);
  CoreProgram& core = program.cores.back();
  core.fifos = {{2048, 4}};
  Instruction in;
  in.to = in_fifo(0);
  in.a = in_memory(0);
  in.length = 16;
  in.thread = 1;
  Instruction out = in;
  out.to = in_memory(1024);
  out.a = in_fifo(0);
  out.thread = 2;
  core.tasks = {first_task({run(in), run(out)})};
  for (std::uint32_t i = 0; i < 64; ++i) program.memory[0][i] = static_cast<std::uint8_t>(i);
  const TaskOutcome outcome = run_tasks(program);
  EXPECT_EQ(outcome.cycles, 33U);  // from cycle 1 on, 16 in and 16 out
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(outcome.memory[0][1024 + i], i);
}

/// Two cores; the western one sends `sent` on color 0 to the eastern one.
TaskProgram pair_of_cores(const std::vector<Step>& sent, std::vector<Task> east) {
  TaskBuilder builder(2, 1);
  builder.path({0, 1}, Color{0});
  CoreProgram west;
  west.tasks = {first_task(sent)};
  CoreProgram core;
  core.tasks = std::move(east);
  builder.core(0, builder.add(west));
  builder.core(1, builder.add(core));
  return std::move(builder).finish();
}

TEST(TaskCore, EachWaveletOfADataTaskCostsItsWorkOrItsDispatchWhicheverIsLonger) {
  Instruction send;
  send.element = Element::int32;
  send.to = on_fabric(Color{0});
  send.a = number(1);
  send.length = 10;
  for (const std::uint32_t beats : {1U, 4U, 9U}) {
    Task handler;
    handler.kind = Task::Kind::data;
    handler.color = Color{0};
    handler.steps = {run(axpy(Element::fp16, 4 * beats, 4, 0))};
    const TaskOutcome outcome = run_tasks(pair_of_cores({run(send)}, {handler}));
    // in the queue in cycle 6 (beat, output queue, ramp 2, hop, ramp 2), dispatched until 10
    EXPECT_EQ(outcome.cycles, 10 + 9 * std::max(beats, 4U) + beats) << beats;
    EXPECT_EQ(outcome.cores[1].tasks, 10U);
  }
}

TEST(TaskCore, AControlWaveletStartsTheTaskItNamesAndNoOther) {
  Instruction send;
  send.element = Element::int32;
  send.to = on_fabric(Color{0});
  send.a = number(7U << 16U);
  send.length = 1;
  send.control = true;
  Task other;
  other.kind = Task::Kind::control;
  other.id = 6;
  other.steps = {work(100)};
  Task named = other;
  named.id = 7;
  named.steps = {work(3)};
  // in the queue in cycle 6, core.cmd_cycles = 4 later in effect
  EXPECT_EQ(run_tasks(pair_of_cores({run(send)}, {other, named})).cycles, 13U);
}

TEST(TaskCore, CoresThatWaitForEachOtherAreReportedAsACircle) {
  TaskBuilder builder(2, 1);
  builder.path({0, 1}, Color{0});
  builder.path({1, 0}, Color{1});
  // each sends 40 words before it takes one
  for (std::size_t place = 0; place < 2; ++place) {
    const Color out{static_cast<std::uint8_t>(place)};
    const Color in{static_cast<std::uint8_t>(1 - place)};
    Instruction forward;
    forward.to = on_fabric(out);
    forward.a = on_fabric(in);
    forward.length = 100;
    Instruction send = forward;
    send.a = in_memory(0);
    send.length = 4;
    CoreProgram core;
    core.tasks = {first_task({run(send), run(forward)})};
    Instruction more = send;
    more.length = 100;
    core.tasks[0].steps.insert(core.tasks[0].steps.begin(), run(more));
    core.in = {{in, 0}};
    builder.core(place, builder.add(core));
  }
  const TaskProgram program = std::move(builder).finish();
  std::vector<std::string> report;
  for (const bool modules : {false, true}) {
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      RunOptions options;
      options.engine = engine;
      options.modules = modules;
      try {
        simulate(TaskParams(), program, options);
        FAIL() << "nothing was noticed";
      } catch (const DeadlockError& error) {
        report.emplace_back(error.what());
      }
    }
  }
  for (const std::string& other : report) EXPECT_EQ(other, report[0]);
  for (const char* part :
       {"these wait for each other: ", "color 0 at router (1, 0) from west",
        "the queue of color 0 at core (1, 0)", "the output queue of color 1 at core (1, 0)",
        "color 1 at router (0, 0) from east", "-> and so on",
        "core (0, 0): the main thread at element"}) {
    EXPECT_NE(report[0].find(part), std::string::npos) << part << " in " << report[0];
  }
}

TEST(TaskWafer, AQueueThatCanNeverHoldTheWordsOfASlotIsRefusedWithItsNumber) {
  const TaskProgram program = one_stream({0, 1}, 6);
  const auto refusal = [&](const char* in, const char* out, const char* words) -> std::string {
    TaskParams params;
    params.queue.set("in", in, "");
    params.queue.set("out", out, "");
    params.core.set("fabric_words_per_issue", words, "");
    params.router.set("ramp", "1", "");
    try {
      simulate(params, program, RunOptions());
    } catch (const ParameterError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("6,1", "2,2,1", "1"), "");
  EXPECT_EQ(refusal("6,2", "2,2,2", "2"), "");
  EXPECT_NE(refusal("6,1", "2,2,6", "2").find("queue.in: input queue 1 of 1 words"),
            std::string::npos);
  EXPECT_NE(refusal("6,6", "2,2,1", "2").find("queue.out: output queue 2 of 1 words"),
            std::string::npos);
}

}  // namespace
}  // namespace lacuna::wse
