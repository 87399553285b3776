// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/wse/engine/agenda.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/word_ports.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::wse {

using LinkId = std::uint32_t;
inline constexpr LinkId kNoLink = ~LinkId{0};

/// The queues between the routers and cores of a wafer, as arrays, each of a shape of its own.
class LinkArray {
 public:
  explicit LinkArray(Agendas& agendas) : agendas_(agendas) {}

  /// `writer` and `reader` are the units to wake, kNoUnit for none.
  LinkId add(const QueueShape& shape, UnitId writer, UnitId reader) {
    assert(shape.latency >= 1);
    Link link;
    link.base = static_cast<std::uint32_t>(slots_.size());
    link.capacity = shape.capacity;
    link.latency = static_cast<std::uint32_t>(shape.latency);
    link.writer = writer;
    link.reader = reader;
    link.varies = shape.varies;
    links_.push_back(link);
    if constexpr (kSlotFree != 1) popped_.emplace_back();
    slots_.resize(slots_.size() + shape.capacity);
    return static_cast<LinkId>(links_.size() - 1);
  }

  /// Delays each word by up to `most` further cycles, drawn from `seed`, its link, whose numbers
  /// here begin with `first`, and its number.
  void jitter(Cycle most, std::uint64_t seed, LinkId first = 0) {
    jitter_ = most;
    seed_ = seed;
    first_ = first;
    if (most != 0) history_.resize(links_.size());
  }

  /// What has passed a link, word by word, and in which cycles it came and went.
  struct Digest {
    std::uint64_t pushed = 0;
    std::uint64_t popped = 0;
  };
  /// From now on each of the links that are there has a digest.
  void keep_digests() { digests_.resize(links_.size()); }
  const Digest& digest(LinkId id) const { return digests_[id]; }

  /// Has link `id`, the next one not attached, stand for ends elsewhere: what is done with it is
  /// done with them. Either all links of an array are attached or none is.
  void attach(LinkId id, WordPushIf* push, WordPopIf* pop) {
    if (ends_.size() <= id) ends_.resize(id + std::size_t{1});
    ends_[id] = {push, pop};
  }

  /// A new set of links, whose words held() tells.
  std::uint32_t add_set() {
    held_.push_back(0);
    return static_cast<std::uint32_t>(held_.size() - 1);
  }
  /// Link `id` is number `bit`, below 32, of a set; it is in no other.
  void put_in_set(LinkId id, std::uint32_t set, unsigned bit) {
    if (id >= links_.size()) return;  // it will be attached
    Link& link = links_[id];
    link.set = set;
    link.mark = std::uint32_t{1} << bit;
    if (link.count != 0) held_[set] |= link.mark;
  }
  /// The links of a set that hold words, as bits; of attached ones all may.
  std::uint32_t held(std::uint32_t set) const { return ends_.empty() ? held_[set] : ~0U; }

  std::size_t size() const { return links_.size(); }
  QueueShape shape(LinkId id) const {
    return {links_[id].capacity, links_[id].latency, links_[id].varies};
  }

  /// Words in all links together.
  std::uint64_t words() const { return words_; }
  unsigned stored(LinkId id) const { return links_[id].count; }
  UnitId writer(LinkId id) const { return links_[id].writer; }
  UnitId reader(LinkId id) const { return links_[id].reader; }

  bool can_push(LinkId id, Cycle now, unsigned words = 1) const {
    if (!ends_.empty()) return ends_[id].push->can_push(now, words);
    const Link& link = links_[id];
    return link.count + freed(id, now) + words <= link.capacity;
  }

  /// Returns the cycle in which the word can be popped: `more` cycles later than its link's latency
  /// says, or with the word ahead of it.
  Cycle push(LinkId id, Cycle now, Wavelet word, Cycle more = 0) {
    assert(can_push(id, now));
    if (!ends_.empty()) return ends_[id].push->push(now, word, more);
    Link& link = links_[id];
    Cycle ready = now + link.latency + more;
    std::uint32_t place = link.head + link.count;
    if (place >= link.capacity) place -= link.capacity;
    if (link.varies && link.count != 0) {
      const std::uint32_t ahead = (place == 0 ? link.capacity : place) - 1;
      ready = std::max(ready, slots_[link.base + ahead].ready);
    }
    if (jitter_ != 0) ready = delayed(id, ready);
    if (!digests_.empty()) add_push(digests_[id], now, ready, word);
    slots_[link.base + place] = {ready, word};
    if (link.count++ == 0) {
      link.front = ready;
      if (link.mark != 0) held_[link.set] |= link.mark;
    }
    ++words_;
    agendas_.wake(link.reader, ready);
    return ready;
  }

  bool can_pop(LinkId id, Cycle now) const { return front_ready(id) <= now; }

  /// When the first word can be popped; kNever if there is none.
  Cycle front_ready(LinkId id) const {
    if (!ends_.empty()) return ends_[id].pop->front_ready();
    return links_[id].front;
  }

  /// When the first word was pushed, which there is, without jitter and turns. Of attached links
  /// that is not known: the logs of modules keep no events with it (PlaceRows).
  Cycle front_sent(LinkId id) const {
    assert(ends_.empty());
    return front_ready(id) - links_[id].latency;
  }

  /// True if at least `words` words can be popped.
  bool has(LinkId id, Cycle now, unsigned words) const {
    assert(words != 0);
    if (!ends_.empty()) return ends_[id].pop->has(now, words);
    const Link& link = links_[id];
    if (words == 1) return link.front <= now;
    if (link.count < words) return false;
    std::uint32_t place = link.head + words - 1;
    if (place >= link.capacity) place -= link.capacity;
    return slots_[link.base + place].ready <= now;
  }

  const Wavelet& front(LinkId id) const {
    if (!ends_.empty()) return ends_[id].pop->front();
    const Link& link = links_[id];
    return slots_[link.base + link.head].word;
  }

  Wavelet pop(LinkId id, Cycle now) {
    assert(can_pop(id, now));
    if (!ends_.empty()) return ends_[id].pop->pop(now);
    Link& link = links_[id];
    const Wavelet word = slots_[link.base + link.head].word;
    if (++link.head == link.capacity) link.head = 0;
    if (--link.count != 0) {
      link.front = slots_[link.base + link.head].ready;
    } else {
      link.front = kNever;
      if (link.mark != 0) held_[link.set] &= ~link.mark;
    }
    if (!digests_.empty()) digests_[id].popped = mix(digests_[id].popped ^ mix(now));
    --words_;
    link.freed = (link.freed_in == now ? link.freed : 0) + 1;
    link.freed_in = now;
    if constexpr (kSlotFree != 1) popped_[id].push_back(now);
    agendas_.wake(link.writer, now + kSlotFree);
    return word;
  }

 private:
  struct alignas(64) Link {  // a line of the host's cache
    Cycle front = kNever;    // when the first word can be popped
    Cycle freed_in = kNever;
    std::uint32_t count = 0;
    std::uint32_t freed = 0;
    std::uint32_t capacity = 0;
    std::uint32_t base = 0;
    std::uint32_t head = 0;
    std::uint32_t latency = 0;
    UnitId writer = kNoUnit;
    UnitId reader = kNoUnit;
    std::uint32_t set = 0;
    std::uint32_t mark = 0;  // its bit in the set; 0: it is in none
    bool varies = false;
  };
  struct Slot {
    Cycle ready = 0;
    Wavelet word;
  };
  struct Ends {
    WordPushIf* push = nullptr;
    WordPopIf* pop = nullptr;
  };
  struct History {
    std::uint64_t pushed = 0;
    Cycle last_ready = 0;
  };

  /// Slots out of which a word went and which cannot be filled yet.
  unsigned freed(LinkId id, Cycle now) const {
    const Link& link = links_[id];
    if constexpr (kSlotFree == 1) return link.freed_in == now ? link.freed : 0;
    unsigned slots = 0;
    const std::vector<Cycle>& pops = popped_[id];
    for (auto at = pops.rbegin(); at != pops.rend() && *at + kSlotFree > now; ++at) ++slots;
    return slots;
  }

  static void add_push(Digest& digest, Cycle now, Cycle ready, const Wavelet& word) {
    const std::uint64_t bits =
        std::uint64_t{word.payload} | std::uint64_t{static_cast<std::uint8_t>(word.color)} << 32U |
        std::uint64_t{word.switches} << 40U | std::uint64_t{word.control ? 1U : 0U} << 56U |
        std::uint64_t{word.zero ? 1U : 0U} << 57U;
    digest.pushed = mix(mix(mix(digest.pushed ^ mix(now)) ^ ready) ^ bits);
  }

  Cycle delayed(LinkId id, Cycle ready) {
    History& history = history_[id];
    const std::uint64_t draw =
        mix(seed_ ^ mix((std::uint64_t{first_ + id} << 32U) + history.pushed++));
    history.last_ready = std::max(history.last_ready, ready + draw % (jitter_ + 1));
    return history.last_ready;
  }

  Agendas& agendas_;
  std::vector<Link> links_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> held_;         // by set
  std::vector<Ends> ends_;                  // of modules
  std::vector<History> history_;            // only with jitter
  std::vector<Digest> digests_;             // only if they are kept
  std::vector<std::vector<Cycle>> popped_;  // cycles, only if kSlotFree is not 1
  std::uint64_t words_ = 0;
  Cycle jitter_ = 0;
  std::uint64_t seed_ = 0;
  LinkId first_ = 0;
};

}  // namespace lacuna::wse
