// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/ipu/chip_params.hpp"
#include "models/ipu/exchange/plan.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::ipu {

/// The elements of a tile's memory by addresses of words. Plain ones have one port. Interleaved
/// ones have two, one for a word that is sent and one for a word that is received. The memory
/// begins at address `first`.
class PlainElements {
 public:
  PlainElements(const MemoryParams& memory, std::uint32_t first)
      : size_(memory.element.kib * 256U),
        first_(first),
        end_(first + std::min(memory.element.plain_kib.value(), memory.kib.value()) * 256U) {}

  std::uint32_t size() const { return size_; }
  bool contains(std::uint32_t word) const { return word < end_; }
  /// The first word of the element of a word.
  std::uint32_t begin(std::uint32_t word) const { return word - (word - first_) % size_; }
  /// The number of words from this to the end of its element; the last of them may be a part of
  /// one.
  std::uint32_t left(std::uint32_t word) const {
    const std::uint32_t end = begin(word) + size_;
    return (contains(word) ? std::min(end, end_) : end) - word;
  }

  /// True if both words are in one such element.
  bool share(std::uint32_t a, std::uint32_t b) const {
    return contains(a) && contains(b) && begin(a) == begin(b);
  }

 private:
  std::uint32_t size_;
  std::uint32_t first_;
  std::uint32_t end_;
};

/// Calls visit(begin, end) for the cycles of a phase in which a tile reads what it sends from the
/// plain element that it writes what it receives into. Instructions are in the order of their
/// starts. At double width the first word of a cycle decides.
template <class Visit>
void for_each_conflict(const PlainElements& elements, const Send* send, const Send* send_end,
                       const Receive* receive, const Receive* receive_end, Visit visit) {
  const auto word = [](const auto& instruction, Cycle at) {
    const Cycle done = at - instruction.start;
    return instruction.address + static_cast<std::uint32_t>(instruction.wide ? 2 * done : done);
  };
  // The first cycle after `at` in which the next element is accessed.
  const auto leaves = [&](const auto& instruction, Cycle at) {
    const std::uint32_t left = elements.left(word(instruction, at));
    return at + (instruction.wide ? (left + 1) / 2 : left);
  };
  while (send != send_end && receive != receive_end) {
    const Cycle sent = Cycle{send->start} + send->cycles();
    const Cycle received = Cycle{receive->start} + receive->cycles();
    const Cycle to = std::min(sent, received);
    for (Cycle at = std::max(send->start, receive->start); at < to;) {
      const Cycle until = std::min({to, leaves(*send, at), leaves(*receive, at)});
      if (elements.share(word(*send, at), word(*receive, at))) visit(at, until);
      at = until;
    }
    if (sent <= received) {
      ++send;
    } else {
      ++receive;
    }
  }
}

}  // namespace lacuna::ipu
