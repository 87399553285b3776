// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/core_code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "models/wse/pe/instruction_time.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

bool is_fabric(const Instruction& what) {
  return what.to.is_fabric() || what.a.is_fabric() || what.b.is_fabric();
}

/// Adds what an operand of a routine is to a key.
void add(std::vector<std::uint32_t>& key, const Operand& o) {
  std::uint32_t value = 0;
  static_assert(sizeof value == sizeof o.value);
  std::memcpy(&value, &o.value, sizeof value);
  const std::uint32_t kind =
      static_cast<std::uint32_t>(o.kind) << 8 | static_cast<std::uint32_t>(o.color);
  key.insert(key.end(), {kind, o.address, static_cast<std::uint32_t>(o.stride), o.inner,
                         static_cast<std::uint32_t>(o.outer), value});
}

/// Of an instruction on memory, or of the words of one that sends or takes them.
Cycle issue_cycles(const Instruction& what, const Datapath& datapath) {
  constexpr unsigned kFabricWords = 1;
  const BeatCost cost(what, datapath.simd, datapath.mem, kFabricWords, 0);
  return is_fabric(what) ? cost.beats(0, what.length) : cycles_alone(what, cost, 0);
}

}  // namespace

std::uint32_t SharedRoutines::of(const Routine& routine) {
  constexpr std::size_t kWordsOfOne = 20;
  std::vector<std::uint32_t> key;
  key.reserve(kWordsOfOne * routine.size());
  for (const Instruction& what : routine) {
    key.push_back(static_cast<std::uint32_t>(what.op) << 16 |
                  static_cast<std::uint32_t>(what.element) << 8 | (what.starts_sum ? 1 : 0));
    key.push_back(what.length);
    for (const Operand* const operand : {&what.to, &what.a, &what.b}) add(key, *operand);
  }
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const std::uint32_t number = builder_.add_routine(routine);
  known_.emplace(std::move(key), number);
  return number;
}

void CoreCode::scalar(std::uint32_t cycles) {
  if (cycles == 0) return;
  stretch_.setup += cycles;
  const Instruction work = wse::work(cycles).vector;
  if (!local_.empty() && local_.back().op == VectorOp::work) {
    local_.back().length += cycles;
  } else {
    local_.push_back(work);
  }
}

void CoreCode::rewrite(unsigned routes) {
  const std::uint32_t cycles = routes * params_.route_write;
  scalar(cycles);
  stretch_.setup -= cycles;
  stretch_.rewriting += cycles;
}

void CoreCode::count(const Datapath& datapath) {
  counts_ = &datapath;
  stretch_ = {};
  shares_.clear();
}

void CoreCode::count(const Instruction& what) {
  if (counts_ == nullptr) return;
  (is_fabric(what) ? stretch_.words : stretch_.arithmetic) += issue_cycles(what, *counts_);
}

void CoreCode::put(const Instruction& instruction) {
  if (instruction.length == 0) return;
  loop_ = {};
  count(instruction);
  if (is_fabric(instruction)) {
    flush();
    steps_.push_back(run(instruction));
  } else {
    local_.push_back(instruction);
  }
}

void CoreCode::vector(VectorOp op, Element element, const Operand& to, const Operand& a,
                      const Operand& b, std::uint64_t length) {
  if (length == 0) return;
  const Instruction what = instruction(op, element, to, a, b, length);
  scalar(costs_.start(what));
  put(what);
}

void CoreCode::dispatch() {
  loop_edge();
  scalar(costs_.scalar.load + costs_.next(0));
}

void CoreCode::loop_edge() {
  if (!params_.unrolled) scalar(costs_.scalar.loop);
}

void CoreCode::step(VectorOp op, Element element, const Operand& to, const Operand& a,
                    const Operand& b, std::uint32_t length) {
  if (length == 0) return;
  loop_edge();
  vector(op, element, to, a, b, length);
}

bool CoreCode::Descriptor::follows(const Operand& operand, std::uint32_t bytes) {
  const std::uint32_t from = std::exchange(address, operand.address);
  const auto now = operand.address == from           ? Way::stays
                   : operand.address == from + bytes ? Way::moves
                                                     : Way::loaded;
  if (way == Way::loaded) way = now;
  return now != Way::loaded && now == way;
}

bool CoreCode::goes_on(Element element, const Operand& to, const Operand& a, std::uint32_t length) {
  if (!params_.moving_descriptors || loop_.length != length) return false;
  const bool results = loop_.to.follows(to, length * result_bytes(element));
  const bool sources = loop_.a.follows(a, length * source_bytes(element));
  return results && sources;
}

void CoreCode::accumulate(bool first, Element element, const Operand& to, const Operand& a,
                          const Operand& b, std::uint32_t length) {
  if (length == 0) return;
  Instruction what = instruction(first ? VectorOp::mul : VectorOp::fma, element, to, a, b, length);
  what.starts_sum = first;
  MappedLoop loop = {length, {to.address}, {a.address}};
  if (goes_on(element, to, a, length)) {
    loop = loop_;
    dispatch();
  } else {
    loop_edge();
    scalar(costs_.start(what));
  }
  put(what);
  loop_ = loop;
}

void CoreCode::stream(Element element, const Operand& to, const Operand& a, const Operand& b,
                      std::uint32_t length) {
  if (length == 0) return;
  dispatch();
  put(instruction(VectorOp::fma, element, to, a, b, length));
}

void CoreCode::multiply_add(bool stand, Element element, const Operand& to, const Operand& a,
                            const Operand& b, std::uint32_t length) {
  if (length == 0) return;
  scalar(costs_.next(stand ? 0 : 2));
  put(instruction(VectorOp::fma, element, to, a, b, length));
}

void CoreCode::as_one_piece(const Datapath& datapath, const std::function<void()>& write) {
  const Cycle cycles = cycles_of(datapath, write);
  const CodeShares written = stretch_;
  scalar(static_cast<std::uint32_t>(cycles));
  stretch_ = written;
}

Cycle CoreCode::cycles_of(const Datapath& datapath, const std::function<void()>& write) {
  Routine before = std::exchange(local_, {});
  const std::size_t steps = steps_.size();
  write();
  if (steps_.size() != steps) throw InternalError("a piece of code that uses the fabric");
  Cycle cycles = 0;
  for (const Instruction& what : std::exchange(local_, std::move(before))) {
    cycles += issue_cycles(what, datapath);
  }
  return cycles;
}

void CoreCode::beside(std::uint8_t thread, Element element, const Operand& to, const Operand& a,
                      std::uint64_t length) {
  if (length == 0) return;
  Instruction what = wse::move(element, to, a, length);
  what.thread = thread;
  scalar(costs_.start_beside(what));
  flush();
  steps_.push_back(run(what));
}

// An instruction of no elements waits for its thread as any other.
void CoreCode::wait_for(std::uint8_t thread) {
  Instruction none;
  none.thread = thread;
  flush();
  steps_.push_back(run(none));
}

void CoreCode::switch_after(SwitchCommands commands) {
  flush();
  steps_.back().vector.switches = commands;
}

void CoreCode::number_op(VectorOp op, Element element, std::uint32_t to, const Operand& a,
                         const Operand& b) {
  put(instruction(op, element, in_memory(to, 0), a, b, 1));
  scalar(costs_.scalar.dependent - 1);
}

void CoreCode::take(Color color, std::uint8_t slot) { in_[color] = slot; }

void CoreCode::send(Color color, std::uint8_t slot) {
  out_[color] = static_cast<std::uint8_t>(2 + slot % 2);
}

std::uint32_t CoreCode::keep(const std::function<void()>& write) {
  flush();
  write();
  return routines_->of(std::exchange(local_, {}));
}

void CoreCode::call_kept(std::uint32_t number) {
  flush();
  steps_.push_back(call(number));
}

void CoreCode::stamp() {
  flush();
  steps_.push_back(wse::stamp());
  if (counts_ != nullptr) shares_.push_back(std::exchange(stretch_, {}));
}

void CoreCode::flush() {
  if (local_.empty()) return;
  if (routines_ != nullptr) {
    steps_.push_back(call(routines_->of(std::exchange(local_, {}))));
    return;
  }
  for (const Instruction& what : std::exchange(local_, {})) steps_.push_back(run(what));
}

std::vector<Step> CoreCode::take_steps() && {
  flush();
  return std::move(steps_);
}

CoreProgram CoreCode::finish() && {
  flush();
  CoreProgram program;
  if (!steps_.empty()) {
    Task task;
    task.active = true;
    task.steps = std::move(steps_);
    program.tasks.push_back(std::move(task));
  }
  for (const auto& [color, queue] : in_) program.in.push_back({color, queue});
  for (const auto& [color, queue] : out_) program.out.push_back({color, queue});
  return program;
}

}  // namespace lacuna::wse
