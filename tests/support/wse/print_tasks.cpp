// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/random_tasks.hpp"

namespace lacuna::wse {
namespace {

std::string print(const Operand& operand) {
  const auto color = static_cast<unsigned>(operand.color);
  std::string at = fmt::format("[{}", operand.address);
  if (operand.index_bytes != 0) at += fmt::format(" + index * {}", operand.index_bytes);
  if (operand.offset_bytes != 0) at += fmt::format(" + offset * {}", operand.offset_bytes);
  if (operand.stride != 1) at += fmt::format(" stride {}", operand.stride);
  if (operand.inner != 0) at += fmt::format(" inner {} outer {}", operand.inner, operand.outer);
  switch (operand.kind) {
    case Operand::Kind::none:
      return "-";
    case Operand::Kind::memory:
      return at + "]";
    case Operand::Kind::fabric:
      return fmt::format("color {}", color);
    case Operand::Kind::fifo:
      return fmt::format("fifo {}", operand.fifo);
    case Operand::Kind::number:
      return fmt::format("{}", operand.value);
    case Operand::Kind::cell:
      return "cell " + at + "]";
    case Operand::Kind::word:
      return "word";
  }
  return "";
}

std::string print(const Instruction& what) {
  static constexpr const char* kOps[] = {"move", "add",     "sub",    "mul", "fma",
                                         "max",  "abs",     "divide", "exp", "rsqrt",
                                         "tanh", "sigmoid", "erf",    "work"};
  static constexpr const char* kElements[] = {"fp16",    "fp32",  "fp16_32",
                                              "fp32_16", "int16", "int32"};
  std::string text = fmt::format("{} {} x{}", kOps[static_cast<unsigned>(what.op)],
                                 kElements[static_cast<unsigned>(what.element)], what.length);
  if (what.op != VectorOp::work) {
    text += fmt::format(" {} <- {}, {}", print(what.to), print(what.a), print(what.b));
  }
  if (what.thread != kMainThread) text += fmt::format(" thread {}", what.thread);
  if (what.activates != kNoTask) text += fmt::format(" activates {}", what.activates);
  if (what.unblocks != kNoTask) text += fmt::format(" unblocks {}", what.unblocks);
  if (what.starts_sum) text += " starts_sum";
  if (what.control) text += " control";
  if (what.simd64) text += " simd64";
  if (what.switches != 0) text += fmt::format(" switches {:#x}", what.switches);
  return text;
}

std::string print(const Step& step) {
  switch (step.kind) {
    case Step::Kind::vector:
      return print(step.vector);
    case Step::Kind::activate:
      return fmt::format("activate {}", step.task);
    case Step::Kind::block:
      return fmt::format("block {}", step.task);
    case Step::Kind::unblock:
      return fmt::format("unblock {}", step.task);
    case Step::Kind::call:
      return fmt::format("call {}", step.routine);
    case Step::Kind::stamp:
      return "stamp";
  }
  return "";
}

std::string print(const Task& task) {
  static constexpr const char* kKinds[] = {"data", "local", "control"};
  std::string text = fmt::format("{}", kKinds[static_cast<unsigned>(task.kind)]);
  if (task.kind == Task::Kind::data) {
    text += fmt::format(" color {}", static_cast<unsigned>(task.color));
  }
  if (task.kind == Task::Kind::control) text += fmt::format(" id {}", task.id);
  if (task.active) text += " active";
  if (task.blocked) text += " blocked";
  for (const Step& step : task.steps) text += "\n      " + print(step);
  return text;
}

std::string print(const RouterProgram& router) {
  std::string text;
  for (const Route& route : router.routes) {
    text += fmt::format("\n    color {} from {} to", static_cast<unsigned>(route.color),
                        port_name(route.from));
    for (unsigned port = 0; port < kPorts; ++port) {
      if ((route.to & bit(port)) != 0) text += fmt::format(" {}", port_name(port));
    }
    if (route.position != 0) text += fmt::format(" at position {}", route.position);
  }
  for (const RouterProgram::Rule& rule : router.rules) {
    text += fmt::format("\n    color {}{}{}", static_cast<unsigned>(rule.color),
                        rule.ring ? " ring" : "", rule.pop ? " pop" : "");
  }
  for (const RouterProgram::Filter& filter : router.filters) {
    text += fmt::format("\n    color {} filter {}: {} {} {}", static_cast<unsigned>(filter.color),
                        static_cast<unsigned>(filter.filter.kind()), filter.filter.pass(),
                        filter.filter.period(), filter.filter.offset());
  }
  return text;
}

std::string print(const CoreProgram& core) {
  std::string text;
  for (std::size_t i = 0; i < core.tasks.size(); ++i) {
    text += fmt::format("\n    task {} {}", i, print(core.tasks[i]));
  }
  for (const QueueUse& use : core.in) {
    text += fmt::format("\n    in: color {} queue {}", static_cast<unsigned>(use.color), use.queue);
  }
  for (const QueueUse& use : core.out) {
    text +=
        fmt::format("\n    out: color {} queue {}", static_cast<unsigned>(use.color), use.queue);
  }
  for (const SoftwareFifo& fifo : core.fifos)
    text += fmt::format("\n    fifo of {}", fifo.capacity);
  return text;
}

}  // namespace

std::string print(const TaskCase& made) {
  const TaskProgram& program = made.program;
  std::string text =
      fmt::format("{} x {} cores, {}\nparameters:{}", program.columns, program.rows,
                  program.memory.empty() ? "no values" : "values", changed_parameters(made.params));
  for (std::size_t i = 0; i < program.routines.size(); ++i) {
    text += fmt::format("\nroutine {}", i);
    for (const Instruction& what : program.routines[i]) text += "\n    " + print(what);
  }
  for (std::size_t place = 0; place < program.core_of.size(); ++place) {
    const RouterProgram& router = program.routers[program.router_of[place]];
    const CoreProgram& core = program.cores[program.core_of[place]];
    const bool acts = std::any_of(core.tasks.begin(), core.tasks.end(),
                                  [](const Task& task) { return !task.steps.empty(); });
    if (router.routes.empty() && !acts) continue;
    text += fmt::format("\nplace {} (column {}, row {}){}{}", place, place % program.columns,
                        place / program.columns, print(router), print(core));
  }
  return text;
}

}  // namespace lacuna::wse
