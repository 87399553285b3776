// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/code.hpp"

namespace lacuna::wse {

namespace {

Step step(std::uint8_t thread, VectorOp op, Element element, const Operand& to, const Operand& a,
          const Operand& b, std::uint64_t length) {
  Instruction instruction;
  instruction.op = op;
  instruction.element = element;
  instruction.to = to;
  instruction.a = a;
  instruction.b = b;
  instruction.length = static_cast<std::uint32_t>(length);
  instruction.thread = thread;
  return run(instruction);
}

}  // namespace

void LayerCode::vector(VectorOp op, Element element, const Operand& to, const Operand& a,
                       const Operand& b, std::uint64_t length) {
  if (length == 0) return;
  scalar(vec_issue_);
  bare(op, element, to, a, b, length);
}

void LayerCode::bare(VectorOp op, Element element, const Operand& to, const Operand& a,
                     const Operand& b, std::uint64_t length) {
  if (length != 0) steps_.push_back(step(kMainThread, op, element, to, a, b, length));
}

void LayerCode::beside(std::uint8_t thread, VectorOp op, Element element, const Operand& to,
                       const Operand& a, std::uint64_t length) {
  if (length != 0) steps_.push_back(step(thread, op, element, to, a, Operand(), length));
}

// An instruction of no elements waits for its thread as any other.
void LayerCode::wait_for(std::uint8_t thread) {
  steps_.push_back(step(thread, VectorOp::move, Element::fp16, Operand(), Operand(), Operand(), 0));
}

CoreProgram LayerCode::program() const {
  CoreProgram program;
  if (steps_.empty()) return program;
  Task task;
  task.kind = Task::Kind::local;
  task.active = true;
  task.steps = steps_;
  program.tasks.push_back(std::move(task));
  return program;
}

}  // namespace lacuna::wse
