// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/system/params.hpp"
#include "models/system/program.hpp"

namespace lacuna::system {

enum class ResourceKind : std::uint8_t {
  pair,
  cross,
  up,
  down,
  gateway,
  pcie_in,
  pcie_out,
  ddr,
  host
};

/// A thing that carries one chunk at a time: a group of links, a memory, a bus.
struct Resource {
  std::string name;
  ResourceKind kind = ResourceKind::pair;
  std::uint64_t bytes_per_us = 1;
  std::uint64_t latency_ns = 1;  // of a chunk, after its last byte

  /// Time to carry `bytes`, at least 1 ns.
  std::uint64_t ns(std::uint64_t bytes) const;
};

using ResourceId = std::uint32_t;

/// The resources of a system, and the way of each transfer over them.
///
/// Chips 2i and 2i + 1 are a pair; even chips are on one rail, odd chips on the other. A word goes
/// to the other chip of a pair over the pair links. Else it first changes to its target's rail over
/// the cross links and then goes up or down, two chips at a time (PopLibs 7eac0f26,
/// addGlobalExchangeConstraints). On a torus it takes the shorter way around. Between domains it
/// goes to the gateway of its machine, to that of the other, and to the chip.
class Fabric {
 public:
  explicit Fabric(const SystemParams& params);

  const std::vector<Resource>& resources() const { return resources_; }
  unsigned chips() const { return chips_; }

  /// The resources a transfer passes, in order. InternalError if its chips do not exist.
  std::vector<ResourceId> route(const Transfer& transfer) const;

 private:
  void add(const std::string& name, ResourceKind kind, double gbps, unsigned latency_ns);
  void add_chip(unsigned chip, const SystemParams& params);
  void add_machine(unsigned machine, const SystemParams& params);
  void between_chips(unsigned from, unsigned to, std::vector<ResourceId>& way) const;
  static ResourceId of_chip(unsigned chip, ResourceKind kind);
  ResourceId of_machine(unsigned chip, ResourceKind kind) const;

  unsigned chips_;
  unsigned machine_chips_;
  unsigned domain_;
  bool torus_;
  std::vector<Resource> resources_;
};

}  // namespace lacuna::system
