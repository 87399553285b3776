// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory_layout.hpp"

#include <algorithm>

#include "models/ipu/memory_ports.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kKib = 1024;

std::uint64_t count(const Bundle& bundle, Tally first, std::size_t operand) {
  return bundle.tallies.at(static_cast<std::size_t>(first) + operand);
}

std::uint64_t accesses(const Bundle& bundle, std::size_t operand) {
  return count(bundle, Tally::read_weight, operand) + count(bundle, Tally::write_weight, operand);
}

/// Of these, the ones that are to the same tensor: partials are read and written in place, while a
/// copy within another class goes from one tensor to another.
std::uint64_t accesses_at_once(const Bundle& bundle, std::size_t operand) {
  const std::uint64_t reads = count(bundle, Tally::read_weight, operand);
  const std::uint64_t writes = count(bundle, Tally::write_weight, operand);
  return operand == static_cast<std::size_t>(Operand::partial) ? reads + writes
                                                               : std::max(reads, writes);
}

class Allocator {
 public:
  Allocator(const MemoryParams& memory, const OperandBytes& operands,
            const std::vector<Bundle>& bundles)
      : all_(std::uint64_t{memory.kib} * kKib),
        element_(std::uint64_t{memory.element.kib} * kKib),
        plain_end_(std::min(all_, std::uint64_t{memory.element.plain_kib} * kKib)),
        operands_(operands) {
    for (const Bundle& bundle : bundles) {
      for (std::size_t o = 0; o < kOperands; ++o) {
        if (accesses_at_once(bundle, o) > 1) paired_.at(o) = true;
      }
    }
    for (std::size_t o = 0; o < kOperands; ++o) left_ += bytes(o);
  }

  MemoryLayout place() {
    for (std::size_t o = 0; o < kOperands; ++o) {
      if (paired_.at(o)) put_high(o);
    }
    for (std::size_t o = 0; o < kOperands; ++o) {
      if (!paired_.at(o)) put_low(o);
    }
    return layout_;
  }

 private:
  std::uint64_t bytes(std::size_t o) const { return operands_.bytes.at(o); }

  /// At the end of what is free, in whole elements if all that is to come still fits.
  void put_high(std::size_t o) {
    if (bytes(o) == 0) return;
    left_ -= bytes(o);
    const std::uint64_t begin = high_ - std::min(high_, bytes(o));
    const std::uint64_t aligned = border(begin);
    high_ = low_ + left_ <= aligned ? aligned : begin;
    set(o, high_);
  }

  /// At the beginning of what is free, likewise.
  void put_low(std::size_t o) {
    if (bytes(o) == 0) return;
    const std::uint64_t aligned = border(low_ + element_ * (low_ < plain_end_ ? 1 : 2) - 1);
    if (aligned + left_ <= high_) low_ = aligned;
    left_ -= bytes(o);
    set(o, low_);
    low_ += bytes(o);
  }

  /// Where the element of a byte begins; interleaved ones are pairs.
  std::uint64_t border(std::uint64_t byte) const {
    return byte < plain_end_ ? byte - byte % element_ : byte - (byte - plain_end_) % (2 * element_);
  }

  void set(std::size_t o, std::uint64_t begin) {
    OperandPlace& place = layout_.at(o);
    place.begin = begin;
    place.end = begin + bytes(o);
    place.first_element = element_of(place.begin);
    place.last_element = element_of(place.end - 1);
    place.interleaved = begin >= plain_end_;
  }

  std::uint32_t element_of(std::uint64_t byte) const {
    const std::uint64_t at = std::min(byte, all_ - 1);
    const std::uint64_t plain = (plain_end_ + element_ - 1) / element_;
    const std::uint64_t element =
        at < plain_end_ ? at / element_ : plain + (at - plain_end_) / (2 * element_);
    return static_cast<std::uint32_t>(element);
  }

  const std::uint64_t all_;
  const std::uint64_t element_;
  const std::uint64_t plain_end_;
  const OperandBytes operands_;
  std::array<bool, kOperands> paired_{};
  std::uint64_t left_ = 0;  // bytes still to be placed
  std::uint64_t low_ = 0;
  std::uint64_t high_ = all_;
  MemoryLayout layout_;
};

bool share_an_element(const OperandPlace& a, const OperandPlace& b) {
  return !a.empty() && !b.empty() && a.first_element <= b.last_element &&
         b.first_element <= a.last_element;
}

}  // namespace

MemoryLayout place_operands(const MemoryParams& memory, const OperandBytes& operands,
                            const std::vector<Bundle>& bundles) {
  return Allocator(memory, operands, bundles).place();
}

std::uint32_t lost_to_ports(const MemoryParams& memory, const Bundle& bundle) {
  return MemoryPorts(memory).lost(bundle);
}

std::vector<std::uint32_t> conflicts_of(const MemoryLayout& layout,
                                        const std::vector<Bundle>& bundles) {
  std::vector<std::uint32_t> conflicts;
  for (const Bundle& bundle : bundles) {
    // The busiest element decides: the accesses of a class and of all that share one with it.
    std::uint64_t slots = 1;
    for (std::size_t a = 0; a < kOperands; ++a) {
      std::uint64_t here = accesses_at_once(bundle, a);
      if (here == 0 || layout.at(a).empty()) continue;
      bool interleaved = layout.at(a).interleaved;
      for (std::size_t b = 0; b < kOperands; ++b) {
        if (b == a || !share_an_element(layout.at(a), layout.at(b))) continue;
        here += accesses(bundle, b);
        interleaved = interleaved && layout.at(b).interleaved;
      }
      slots = std::max(slots, MemoryPorts::element_slots(here, interleaved));
    }
    conflicts.push_back(static_cast<std::uint32_t>(slots - 1));
  }
  return conflicts;
}

}  // namespace lacuna::ipu
