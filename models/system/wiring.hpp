// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/system/fabric.hpp"
#include "models/system/program.hpp"

namespace lacuna::system {

/// A part of a transfer, which a resource carries as a whole.
struct Chunk {
  std::uint32_t transfer = 0;
  std::uint32_t hop = 0;  // how many resources have carried it
  std::uint64_t bytes = 0;
};

/// A connection over which chunks go: from a chip or a resource to a resource or a chip. Nodes are
/// numbered chips first, then resources.
struct Wire {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::size_t chunks = 0;  // that pass it in all
};

/// How the transfers of a segment go over the resources of a fabric: which connections they need,
/// and which of its outputs each node takes. It holds no time.
class Wiring {
 public:
  Wiring(const Fabric& fabric, const SystemParams& params, const Segment& segment);

  const std::vector<Wire>& wires() const { return wires_; }

  /// The chunks of a transfer, in order.
  std::vector<Chunk> chunks(std::uint32_t transfer) const;
  std::uint64_t chunk_count(std::uint32_t transfer) const { return counts_[transfer]; }

  /// The output of the chip that starts it that a transfer takes; then of each resource.
  std::uint32_t first_output(std::uint32_t transfer) const { return outputs_[transfer][0]; }
  std::uint32_t output(const Chunk& chunk) const { return outputs_[chunk.transfer][chunk.hop + 1]; }

 private:
  std::vector<Wire> wires_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> bytes_;
  std::vector<std::vector<std::uint32_t>> outputs_;
};

}  // namespace lacuna::system
