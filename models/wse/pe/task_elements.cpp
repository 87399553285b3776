// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "models/wse/pe/task_core.hpp"

// What a beat of a task's instruction moves and computes.

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

}  // namespace

std::uint32_t TaskCores::take_word(Core& core, const Operand& operand, LinkId link, Cycle now) {
  if (operand.is_fabric()) return take(core, link, now).payload;
  Fifo& fifo = core.fifos[operand.fifo];
  const std::uint32_t word = fifo.words[fifo.head];
  fifo.head = static_cast<std::uint32_t>((fifo.head + 1) % fifo.words.size());
  --fifo.count;
  return word;
}

/// Puts a word that an instruction has made on the fabric or into a FIFO.
void TaskCores::put_word(Core& core, const Thread& thread, std::uint32_t word, bool last,
                         Cycle now) {
  const Instruction& what = *thread.instruction;
  if (what.to.is_fabric()) {
    links_.push(thread.to, now,
                {word, what.to.color, what.control, last ? what.switches : SwitchCommands{0}});
    ++core.unsent;
    return;
  }
  Fifo& fifo = core.fifos[what.to.fifo];
  fifo.words[(fifo.head + fifo.count) % fifo.words.size()] = word;
  ++fifo.count;
}

/// Element `i` of a beat. A word of the fabric or of a FIFO holds one or two.
float TaskCores::take_element(Core& core, const Thread& thread, Source& from, std::uint32_t i,
                              Cycle now) {
  const Element element = thread.instruction->element;
  const unsigned bytes = source_bytes(element);
  const Operand& operand = *from.operand;
  if (operand.is_stream()) {
    const unsigned packed = bytes == 2 ? 2 : 1;
    if (i % packed == 0) from.word = take_word(core, operand, from.link, now);
    return unpack(from.word, i % packed, bytes == 4, is_integer(element));
  }
  if (operand.kind != Kind::memory || core.memory.empty()) return from.scalar;
  const std::uint32_t where = address_of(operand, bytes, thread.done + i, thread.word);
  return load_element(core.memory, where, bytes == 4, is_integer(element));
}

/// What element `i` of a beat comes to, which is stored if it belongs in memory.
float TaskCores::make_element(Core& core, const Thread& thread, std::uint32_t i, float a, float b) {
  const Instruction& what = *thread.instruction;
  if (what.to.kind != Kind::memory || core.memory.empty()) {
    return compute(what.op, what.element, 0, a, b);
  }
  const unsigned bytes = result_bytes(what.element);
  const bool integer = is_integer(what.element);
  const std::uint32_t where = address_of(what.to, bytes, thread.done + i, thread.word);
  const float old =
      what.op == VectorOp::fma ? load_element(core.memory, where, bytes == 4, integer) : 0;
  const float result = compute(what.op, what.element, old, a, b);
  store_element(core.memory, where, bytes == 4, integer, result);
  return result;
}

/// Without values words are all that moves: as many as the elements of a beat fill.
void TaskCores::move_words(Core& core, const Thread& thread, std::uint32_t elements, Cycle now) {
  const Instruction& what = *thread.instruction;
  const std::uint32_t in = words_of(source_bytes(what.element), elements);
  const std::array<std::pair<const Operand*, LinkId>, 2> sources{
      {{&what.a, thread.a}, {&what.b, thread.b}}};
  for (const auto& [operand, link] : sources) {
    if (!operand->is_stream()) continue;
    for (std::uint32_t i = 0; i < in; ++i) take_word(core, *operand, link, now);
  }
  if (!what.to.is_stream()) return;
  const std::uint32_t out = words_of(result_bytes(what.element), elements);
  const bool ends = thread.done + elements == what.length;
  for (std::uint32_t i = 0; i < out; ++i) put_word(core, thread, 0, ends && i + 1 == out, now);
}

/// Moves the words of `elements` elements, and computes them if there are values.
void TaskCores::move_elements(Core& core, const Thread& thread, std::uint32_t elements, Cycle now) {
  const Instruction& what = *thread.instruction;
  const bool values = !core.memory.empty();
  const bool integer = is_integer(what.element);
  if (what.op == VectorOp::work) return;
  if (!values && !integer) {
    move_words(core, thread, elements, now);
    return;
  }
  const unsigned bytes = result_bytes(what.element);
  const unsigned packed = bytes == 2 ? 2 : 1;
  Source from_a{&what.a, thread.a, thread.scalar_a};
  Source from_b{&what.b, thread.b, thread.scalar_b};
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < elements; ++i) {
    const float a = take_element(core, thread, from_a, i, now);
    const float b = take_element(core, thread, from_b, i, now);
    const float result = make_element(core, thread, i, a, b);
    if (!what.to.is_stream()) continue;
    word = pack(word, i % packed, bytes == 4, integer, result);
    if ((i + 1) % packed != 0 && i + 1 != elements) continue;
    put_word(core, thread, word, thread.done + i + 1 == what.length, now);
    word = 0;
  }
}

}  // namespace lacuna::wse
