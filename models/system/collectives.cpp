// SPDX-License-Identifier: Apache-2.0
#include "models/system/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna::system {

namespace {

/// Part `i` of `bytes` cut into `parts` as equal as can be; they sum to `bytes`.
std::uint64_t part(std::uint64_t bytes, std::uint64_t parts, std::uint64_t i) {
  return bytes * (i + 1) / parts - bytes * i / parts;
}

/// A ring at work: which chips, and which part of the whole vector each of them holds.
struct Ring {
  Chips chips;
  std::uint64_t bytes = 0;
  bool backwards = false;
};

/// Whether it adds up parts on its way, and whether all chips get all of them.
bool adds_up(Collective kind) {
  return kind == Collective::reduce_scatter || kind == Collective::all_reduce ||
         kind == Collective::reduce;
}

bool gives_all(Collective kind) {
  return kind == Collective::all_gather || kind == Collective::all_reduce ||
         kind == Collective::broadcast;
}

class CollectiveBuilder {
 public:
  CollectiveBuilder(const SystemParams& params, const CollectiveCall& call, Segment& segment)
      : params_(params), call_(call), segment_(segment) {}

  void build() {
    if (call_.kind == Collective::all_to_all) return all_to_all();
    if (call_.kind == Collective::broadcast) exchange_parts(true);
    over_rings();
    if (call_.kind == Collective::reduce) exchange_parts(false);
  }

 private:
  /// The chips of each domain in the order of a ring.
  std::vector<Chips> by_domain(const Chips& group) const {
    std::map<std::uint32_t, Chips> domains;
    for (const std::uint32_t chip : group) domains[chip / params_.links.domain].push_back(chip);
    std::vector<Chips> all;
    for (const auto& [domain, chips] : domains) all.push_back(ring_order(chips));
    return all;
  }

  /// The first chip of each group gives every other one its part, or gets it, in one exchange.
  void exchange_parts(bool gives) {
    Receives receives;
    for (const Chips& group : call_.groups) {
      begin(group);
      for (std::size_t i = 1; i < group.size(); ++i) {
        const std::uint32_t from = gives ? group[0] : group[i];
        const std::uint32_t to = gives ? group[i] : group[0];
        const std::uint64_t bytes = part(call_.bytes, group.size(), i);
        receives.emplace_back(to, segment_.send({from, to, bytes, Way::links}));
      }
    }
    segment_.receive(receives, call_.use);
  }

  /// Each group, in the order of a ring, as one or as two with half of the bytes.
  std::vector<Ring> rings_of(const std::vector<Chips>& groups, std::uint64_t bytes) const {
    std::vector<Ring> rings;
    for (const Chips& group : groups) {
      if (group.size() < 2) continue;
      const bool two = params_.collective.rings == 2 && group.size() > 2;
      rings.push_back({group, two ? bytes - bytes / 2 : bytes, false});
      if (two) rings.push_back({group, bytes / 2, true});
    }
    return rings;
  }

  /// The barrier and the start of an exchange between chips.
  void begin(const Chips& chips) {
    segment_.barrier(chips, params_.sync_ns(static_cast<unsigned>(chips.size())), call_.use);
    for (const std::uint32_t chip : chips) {
      segment_.work(chip, call_.use, params_.sync.exchange_ns);
    }
  }

  /// All steps of all rings, step by step: in step s chip i sends part i - s and gets i - s - 1.
  void passes(const std::vector<Ring>& rings, bool reduce) {
    std::size_t longest = 0;
    for (const Ring& ring : rings) longest = std::max(longest, ring.chips.size());
    for (std::size_t s = 0; s + 1 < longest; ++s) {
      Receives receives;
      std::map<std::uint32_t, std::uint64_t> adds;
      for (const Ring& ring : rings) start_step(ring, s, reduce, receives, adds);
      segment_.receive(receives, call_.use);
      if (!reduce || call_.bytes == 0) continue;
      for (const auto& [chip, bytes] : adds) {
        segment_.work(chip, call_.use, (call_.add_ns * bytes + call_.bytes - 1) / call_.bytes);
      }
    }
  }

  void start_step(const Ring& ring, std::size_t s, bool reduce, Receives& receives,
                  std::map<std::uint32_t, std::uint64_t>& adds) {
    const std::size_t size = ring.chips.size();
    if (s + 1 >= size) return;
    if (!ring.backwards) begin(ring.chips);
    for (std::size_t i = 0; i < size; ++i) {
      // in a reduce-scatter chip i ends with part i + 1, with which it begins the all-gather
      const std::size_t which = (i + 2 * size - s + (reduce ? 0 : 1)) % size;
      const std::size_t at = ring.backwards ? size - 1 - i : i;
      const std::size_t next = ring.backwards ? (at + size - 1) % size : (at + 1) % size;
      const std::uint32_t from = ring.chips[at];
      const std::uint32_t to = ring.chips[next];
      const std::uint64_t bytes = part(ring.bytes, size, which);
      receives.emplace_back(to, segment_.send({from, to, bytes, Way::links}));
      adds[to] += bytes;
    }
  }

  /// Reduce-scatter within each domain, all-reduce across of the parts, all-gather within. In one
  /// domain nothing goes across.
  void over_rings() {
    std::vector<Chips> within;
    std::vector<Chips> across;
    for (const Chips& group : call_.groups) {
      const std::vector<Chips> domains = by_domain(group);
      const std::size_t size = domains.front().size();
      for (const Chips& domain : domains) {
        within.push_back(domain);
        if (domain.size() == size) continue;
        throw RequestError("a collective over domains needs as many chips in each of them");
      }
      for (std::size_t i = 0; i < size; ++i) {
        Chips& members = across.emplace_back();
        for (const Chips& domain : domains) members.push_back(domain[i]);
      }
    }
    const std::uint64_t size = within.front().size();
    const std::uint64_t share = (call_.bytes + size - 1) / size;
    const std::vector<Ring> inner = rings_of(within, call_.bytes);
    std::vector<Ring> outer;
    outer.reserve(across.size());
    for (const Chips& members : across) outer.push_back({members, share, false});
    if (adds_up(call_.kind)) {
      passes(inner, true);
      passes(outer, true);
    }
    if (gives_all(call_.kind)) {
      passes(outer, false);
      passes(inner, false);
    }
  }

  void all_to_all() {
    Receives receives;
    for (const Chips& group : call_.groups) {
      const std::size_t size = group.size();
      begin(group);
      // the d-th next first, so that not all send to one
      for (std::size_t d = 1; d < size; ++d) {
        for (std::size_t i = 0; i < size; ++i) {
          const std::uint32_t from = group[i];
          const std::size_t j = (i + d) % size;
          const std::uint64_t bytes = part(call_.bytes, size, j);
          receives.emplace_back(group[j], segment_.send({from, group[j], bytes, Way::links}));
        }
      }
    }
    segment_.receive(receives, call_.use);
  }

  const SystemParams& params_;
  const CollectiveCall& call_;
  Segment& segment_;
};

}  // namespace

std::vector<Chips> replica_groups(std::uint32_t count, std::uint32_t size, std::uint32_t stride) {
  if (size == 0 || stride == 0 || count % (size * stride) != 0) {
    throw RequestError(
        fmt::format("{} replicas do not make groups of {} with stride {}", count, size, stride));
  }
  std::vector<Chips> groups(count / size);
  for (std::uint32_t i = 0; i < count; ++i) {
    groups[i % stride + stride * (i / (stride * size))].push_back(i);
  }
  return groups;
}

Chips ring_order(Chips chips) {
  sort_all(chips);
  const auto odd = std::stable_partition(chips.begin(), chips.end(),
                                         [](std::uint32_t chip) { return chip % 2 == 0; });
  std::reverse(odd, chips.end());
  return chips;
}

void add_collective(const SystemParams& params, const CollectiveCall& call, Segment& segment) {
  CollectiveBuilder(params, call, segment).build();
}

}  // namespace lacuna::system
