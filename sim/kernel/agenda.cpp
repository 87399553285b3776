// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/agenda.hpp"

#include <algorithm>

namespace lacuna {

void Agenda::book(Cycle at, std::uint32_t block) {
  at = std::max(at, first_);
  if (at - first_ >= kBuckets) {
    far_.emplace(at, block);
    return;
  }
  const std::size_t bucket = at % kBuckets;
  ring_[bucket].push_back(block);
  occupied_[bucket / kWordBits] |= std::uint64_t{1} << (bucket % kWordBits);
  ++near_;
}

Cycle Agenda::next() const {
  const Cycle near = next_near();
  return far_.empty() ? near : std::min(near, far_.top().first);
}

/// Looks for the first occupied bucket from first_ on, once around the ring.
Cycle Agenda::next_near() const {
  if (near_ == 0) return kNever;
  const std::size_t start = first_ % kBuckets;
  const std::uint64_t behind = (std::uint64_t{1} << (start % kWordBits)) - 1;
  for (std::size_t i = 0; i <= kWords; ++i) {
    const std::size_t word = (start / kWordBits + i) % kWords;
    std::uint64_t bits = occupied_[word];
    if (i == 0) bits &= ~behind;
    if (i == kWords) bits &= behind;
    if (bits == 0) continue;
    const std::size_t bucket = word * kWordBits + static_cast<std::size_t>(__builtin_ctzll(bits));
    return first_ + (bucket + kBuckets - start) % kBuckets;
  }
  return kNever;
}

void Agenda::take(Cycle now, std::vector<std::uint32_t>& due) {
  for (Cycle at = next_near(); at <= now && at != kNever; at = next_near()) {
    const std::size_t bucket = at % kBuckets;
    due.insert(due.end(), ring_[bucket].begin(), ring_[bucket].end());
    near_ -= ring_[bucket].size();
    ring_[bucket].clear();
    occupied_[bucket / kWordBits] &= ~(std::uint64_t{1} << (bucket % kWordBits));
  }
  while (!far_.empty() && far_.top().first <= now) {
    due.push_back(far_.top().second);
    far_.pop();
  }
  first_ = std::max(first_, now + 1);
}

}  // namespace lacuna
