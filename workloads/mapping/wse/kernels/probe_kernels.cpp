// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/probe_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {
namespace {

constexpr Color kData{0};

std::uint32_t array_bytes(std::uint32_t elements, unsigned bytes) {
  return (elements * bytes + 15) / 16 * 16;
}

Instruction move(std::uint32_t length, const Operand& to, const Operand& from) {
  return move(Element::fp32, to, from, length);
}

/// A word of what a core holds, sent by itself: its one descriptor stays loaded.
void send_word(std::vector<Step>& steps, Color color, const CodeCosts& costs) {
  steps.push_back(work(costs.vec.setup_use));
  steps.push_back(run(move(1, on_fabric(color), number(1))));
}

/// Test of a word or a counter that is there: comparison and branch.
std::uint32_t test(const CodeCosts& costs, bool taken) {
  return costs.scalar.dependent +
         (taken ? costs.scalar.branch_taken.value() : costs.scalar.branch_not.value());
}

/// A counter in memory: load, increment that waits for it, store.
std::uint32_t count_up(const CodeCosts& costs) { return 1 + costs.scalar.dependent + 1; }

/// Instructions of a data task that checks a word and does with it what it is there for: its tag
/// (extracted, compared), its number (the counter loaded, compared), the counter, whether it is the
/// last, and the word stored behind an address that is computed.
std::uint32_t word_instructions(const CodeCosts& costs) {
  const std::uint32_t tag = 1 + test(costs, false);
  const std::uint32_t number = 1 + test(costs, false);
  const std::uint32_t last = test(costs, true);
  const std::uint32_t store = costs.scalar.dependent + 1;
  return tag + number + count_up(costs) + last + store;
}

Task data_task(Color color, std::uint32_t instructions, const CodeCosts& costs) {
  Task task;
  task.kind = Task::Kind::data;
  task.color = color;
  task.steps.push_back(work(costs.data_task(instructions)));
  return task;
}

/// A row of cores with one color from each to the next, or through all.
TaskBuilder row_of(std::uint32_t cores) { return {cores, 1}; }

std::vector<std::size_t> places(std::uint32_t first, std::uint32_t last) {
  std::vector<std::size_t> line;
  for (std::uint32_t i = first; i <= last; ++i) line.push_back(i);
  return line;
}

}  // namespace

TaskProgram plan_vector_probe(const VectorProbe& probe, const CodeCosts& costs) {
  using Kind = VectorProbe::Kind;
  const unsigned bytes = source_bytes(probe.element);
  const auto span = probe.length * static_cast<std::uint32_t>(probe.stride);
  Instruction what;
  what.element = probe.element;
  what.length = probe.length;
  what.to = in_memory(0, probe.kind == Kind::fma ? probe.stride : 1);
  const std::uint32_t second = array_bytes(span, bytes);
  what.a = in_memory(second + probe.offset, probe.stride);
  std::uint32_t descriptors = 2;
  std::uint32_t scalar = 0;
  switch (probe.kind) {
    case Kind::copy:
      break;
    case Kind::fill:
      what.a = number(1);
      descriptors = 1;
      break;
    case Kind::fma:
      what.op = VectorOp::fma;
      what.b = number(2);
      scalar = costs.vec.setup_scalar;
      break;
    case Kind::add:
      what.op = VectorOp::add;
      what.b = in_memory(2 * second + probe.offset, probe.stride);
      descriptors = 3;
      break;
    case Kind::sum:
      what.op = VectorOp::add;
      what.to = in_memory(0, 0);
      what.b = in_memory(0, 0);
      descriptors = 1;
      break;
    case Kind::to_register:
      what.to = in_memory(0, 0);
      descriptors = 1;
      break;
  }
  Script script;
  script.then(work(costs.setup(descriptors) + scalar));
  script.then(what);
  return single_core(std::move(script).finish());
}

TaskProgram plan_line_probe(const LineProbe& probe, const CodeCosts& costs) {
  TaskBuilder builder = row_of(probe.receivers + 1);
  builder.route(0, kData, kRamp, bit(kEast));
  Script sender;
  sender.then(work(costs.setup(2)));
  sender.then(move(probe.words, on_fabric(kData), in_memory(0)));
  builder.core(0, std::move(sender).finish());
  CoreProgram receiver;
  Task start;
  start.active = true;
  Instruction take = move(probe.words, in_memory(0), on_fabric(kData));
  take.thread = 1;
  if (probe.stamps) take.activates = 1;
  start.steps = {run(take)};
  Task stamp;
  stamp.steps = {work(1)};
  receiver.tasks = {start, stamp};
  const std::uint32_t program = builder.add(std::move(receiver));
  for (std::uint32_t i = 1; i <= probe.receivers; ++i) {
    const bool last = i == probe.receivers;
    PortSet to = last || !probe.last_only ? bit(kRamp) : PortSet{0};
    if (!last) to = static_cast<PortSet>(to | bit(kEast));
    builder.route(i, kData, kWest, to);
    if (last || !probe.last_only) builder.core(i, program);
  }
  return std::move(builder).finish();
}

TaskProgram plan_word_tasks(WordWork kind, std::uint32_t words, const CodeCosts& costs) {
  TaskBuilder builder = row_of(3);
  const Color onward{1};
  builder.path({0, 1}, kData);
  Script sender;
  sender.then(move(words, on_fabric(kData), in_memory(0)));
  builder.core(0, std::move(sender).finish());
  CoreProgram middle;
  switch (kind) {
    case WordWork::count:
    case WordWork::store:
      middle.tasks = {data_task(kData, word_instructions(costs), costs)};
      break;
    case WordWork::relay:  // a counter in a register and its test, then the word
      middle.tasks = {data_task(kData, costs.scalar.loop, costs)};
      break;
    case WordWork::forward:  // a full receive; whose it is, how many went on, was it the last
      middle.tasks = {data_task(
          kData, word_instructions(costs) + test(costs, true) + count_up(costs) + test(costs, true),
          costs)};
      break;
  }
  if (kind == WordWork::relay || kind == WordWork::forward) {
    builder.path({1, 2}, onward);
    // before the end of the task, which hides the dispatch of the next
    std::vector<Step> steps;
    send_word(steps, onward, costs);
    steps.push_back(middle.tasks[0].steps[0]);
    middle.tasks[0].steps = std::move(steps);
    Script last;
    last.then(move(words, in_memory(0), on_fabric(onward)));
    builder.core(2, std::move(last).finish());
  }
  builder.core(1, std::move(middle));
  return std::move(builder).finish();
}

TaskProgram plan_store_and_forward(std::uint32_t stages, std::uint32_t words,
                                   const CodeCosts& costs) {
  TaskBuilder builder = row_of(stages + 2);
  for (std::uint32_t i = 0; i <= stages; ++i) {
    builder.path(places(i, i + 1), static_cast<Color>((i + 1) % 2));
  }
  for (std::uint32_t i = 0; i < stages + 2; ++i) {
    Script script;
    const auto in = static_cast<Color>(i % 2);
    const auto out = static_cast<Color>((i + 1) % 2);
    if (i > 0) {
      script.then(move(words, in_memory(0), on_fabric(in)));
      use_in_queue(script, in);
    }
    if (i <= stages) {
      // the array's descriptor is that of the receive; the output queue's was loaded before it
      script.then(work(costs.setup(0)));
      script.then(move(words, on_fabric(out), in_memory(0)));
      use_out_queue(script, out);
    }
    builder.core(i, std::move(script).finish());
  }
  return std::move(builder).finish();
}

TaskProgram plan_reload(std::uint32_t cores, std::uint32_t words, bool bulk,
                        const CodeCosts& costs) {
  TaskBuilder builder(1, cores + 1);
  CoreProgram storage;
  Task loop;
  loop.active = true;
  Instruction opened = move(1, on_fabric(kData), number(0));
  opened.control = true;
  opened.switches = first_command(SwitchCommand::advance);
  for (std::uint32_t r = 0; r < cores; ++r) {
    for (std::uint32_t i = 0; i < words; ++i) {
      send_word(loop.steps, kData, costs);
      loop.steps.push_back(work(costs.scalar.loop));
    }
    loop.steps.push_back(work(costs.vec.setup_use));
    loop.steps.push_back(run(opened));
  }
  storage.tasks = {loop};
  builder.core(cores, std::move(storage));
  builder.route(cores, kData, kRamp, bit(kNorth));
  CoreProgram owner;
  Task control;
  control.kind = Task::Kind::control;
  control.steps = {work(1)};
  if (bulk) {
    Task take;
    take.active = true;
    take.steps = {run(move(words, in_memory(0), on_fabric(kData)))};
    owner.tasks = {take, control};
  } else {
    owner.tasks = {data_task(kData, word_instructions(costs), costs), control};
  }
  const std::uint32_t program = builder.add(std::move(owner));
  for (std::uint32_t r = 0; r < cores; ++r) {
    builder.core(r, program);
    builder.route(r, kData, kSouth, bit(kRamp), 0);
    if (r > 0) builder.route(r, kData, kSouth, bit(kNorth), 1);
  }
  return std::move(builder).finish();
}

TaskProgram plan_overlap(std::uint32_t vector, std::uint32_t scalar) {
  Script script;
  Instruction what = move(vector, in_memory(0), in_memory(4 * vector));
  what.op = VectorOp::mul;  // a beat an element
  what.b = number(1);
  script.then(what);
  script.then(work(scalar));
  return single_core(std::move(script).finish());
}

}  // namespace lacuna::wse
