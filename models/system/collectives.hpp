// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"

namespace lacuna::system {

using Chips = std::vector<std::uint32_t>;

/// The groups of `count` replicas: replica i is in group (i mod stride) + stride floor(i / (stride
/// size)), as Graphcore's replica groupings have it. RequestError if they do not come out even.
std::vector<Chips> replica_groups(std::uint32_t count, std::uint32_t size, std::uint32_t stride);

/// The order of a ring over chips of one domain: up the even rail, down the odd one, so that
/// neighbours in the ring are near each other.
Chips ring_order(Chips chips);

/// The operations of MPI and NCCL by these names.
enum class Collective { reduce_scatter, all_gather, all_reduce, all_to_all, broadcast, reduce };

/// One collective of a segment: every chip of every group of `groups` takes part. `bytes` are of
/// the whole vector; for all-to-all of what one chip sends in all, its own share with it. What one
/// chip has or gets (broadcast, reduce) the first of a group has or gets.
struct CollectiveCall {
  Collective kind = Collective::all_reduce;
  std::vector<Chips> groups;
  std::uint64_t bytes = 0;
  Use use = Use::all_reduce;
  std::uint64_t add_ns =
      0;  // to add `bytes` to as many on a chip; charged as far as they are added
};

/// Appends the steps of a collective to `segment`. Rings: size - 1 steps of bytes / size for
/// reduce-scatter and all-gather, and both after each other for all-reduce; over two rings in
/// opposite directions, half of the bytes each. A step begins with a barrier of the group. A group
/// over several domains reduces within each, then across them over the gateways, then gathers. A
/// broadcast gives each chip its part, all in one exchange, and gathers; a reduction to one chip is
/// a reduce-scatter, after which all send it their parts in one exchange.
void add_collective(const SystemParams& params, const CollectiveCall& call, Segment& segment);

}  // namespace lacuna::system
