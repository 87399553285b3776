// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/parameter.hpp"

namespace lacuna::system {

/// How the links of the chips of a domain are joined.
enum class Topology {
  ladder,  // pairs of chips, one above the other; the two rails have ends
  torus,   // the same with the ends of each rail joined
};

/// Links between chips. Each chip has four groups of links, which its traffic shares.
struct LinkParams : ParameterSet {
  Param<double> link_gbps = param(this, "link_gbps", 16.0, range(0.001, 1e5), "GB/s",
                                  "One link in one direction, 10^9 bytes, before efficiency.");
  Param<double> efficiency = param(this, "efficiency", 0.85, range(0.01, 1.0), "",
                                   "Part of a link's rate that carries data.");
  Param<unsigned> pair_links = param(this, "pair_links", 4U, range(1U, 64U), "links",
                                     "From a chip to the other of its pair, for that chip.");
  Param<unsigned> cross_links = param(this, "cross_links", 2U, range(1U, 64U), "links",
                                      "From a chip to the other of its pair, to go on from there.");
  Param<unsigned> rail_links = param(this, "rail_links", 2U, range(1U, 64U), "links",
                                     "From a chip to the one above, and as many to that below.");
  Param<unsigned> hop_ns =
      param(this, "hop_ns", 15U, range(1U, 100000U), "ns", "Latency of a hop between chips.");
  Param<Topology> topology =
      param(this, "topology", Topology::ladder,
            Choices<Topology>{{"ladder", Topology::ladder}, {"torus", Topology::torus}},
            "How the pairs of a domain are joined.");
  Param<unsigned> domain = param(this, "domain", 64U, range(2U, 65536U), "chips",
                                 "Chips joined by links; domains are joined by gateways.");
  Param<unsigned> chunk_kib =
      param(this, "chunk_kib", 64U, range(1U, 1U << 20U), "KiB",
            "A transfer is cut into chunks of this size, which take turns at a link.");
  Param<unsigned> chunks = param(this, "chunks", 16U, range(1U, 4096U), "chunks",
                                 "Most chunks of a transfer; longer ones have larger chunks.");
};

/// The gateway of a machine: streaming memory, links to other domains, the network to the host.
struct GatewayParams : ParameterSet {
  Param<double> link_gbps = param(this, "link_gbps", 25.0, range(0.001, 1e5), "GB/s",
                                  "All gateway links of a machine together, in one direction.");
  Param<unsigned> hop_ns = param(this, "hop_ns", 1000U, range(1U, 1000000U), "ns",
                                 "Latency between the gateways of two machines.");
  Param<double> ddr_gbps = param(this, "ddr_gbps", 38.4, range(0.001, 1e5), "GB/s",
                                 "Streaming memory of a machine, reads and writes together.");
  Param<double> ddr_efficiency = param(this, "ddr_efficiency", 0.85, range(0.01, 1.0), "",
                                       "Part of the memory's rate that carries data.");
  Param<unsigned> ddr_ns = param(this, "ddr_ns", 1000U, range(1U, 1000000U), "ns",
                                 "Latency of an access to streaming memory.");
  Param<double> ddr_gb = param(this, "ddr_gb", 256.0, range(0.001, 1e6), "GB",
                               "Streaming memory of a machine, 10^9 bytes.");
  Param<double> pcie_gbps = param(this, "pcie_gbps", 15.75, range(0.001, 1e5), "GB/s",
                                  "Between the gateway and one chip, in one direction.");
  Param<unsigned> pcie_ns =
      param(this, "pcie_ns", 500U, range(1U, 1000000U), "ns", "Latency of that way.");
  Param<double> host_gbps = param(this, "host_gbps", 12.5, range(0.001, 1e5), "GB/s",
                                  "Between the host and a machine, in one direction.");
  Param<double> update_ms =
      param(this, "update_ms", 110.0, range(0.0, 1e6), "ms",
            "Between two weight updates of a pipeline, on the host and in its program: results, "
            "learning rate, start of the next. Fitted to rows of CARAML and MLPerf, no mechanism; "
            "see doc/validation/training.md.");
  Param<unsigned> host_ns = param(this, "host_ns", 2000U, range(1U, 10000000U), "ns",
                                  "Latency between the host and a machine.");
};

/// Barriers of chips.
struct SystemSyncParams : ParameterSet {
  Param<unsigned> hop_ns =
      param(this, "hop_ns", 15U, range(1U, 100000U), "ns", "A hop of the sync signal.");
  Param<unsigned> chip_ns = param(this, "chip_ns", 113U, range(1U, 100000U), "ns",
                                  "The barrier of the tiles of a chip, which comes first.");
  Param<unsigned> gateway_ns = param(this, "gateway_ns", 2000U, range(0U, 1000000U), "ns",
                                     "Added where a barrier spans domains.");
  Param<unsigned> exchange_ns = param(this, "exchange_ns", 50U, range(0U, 100000U), "ns",
                                      "From a barrier to the first word on a link.");
};

/// Collectives over rings.
struct CollectiveParams : ParameterSet {
  Param<unsigned> rings = param(this, "rings", 2U, range(1U, 2U), "rings",
                                "One ring, or two in opposite directions with half the data each.");
};

/// What every system has, whatever joins its chips.
struct CommonSystemParams : ParameterSet {
  virtual ~CommonSystemParams() = default;

  /// Watts that do not depend on what is done: of machines, with what joins them, and of hosts.
  virtual double machines_watts() const { return machines * machine_w; }
  virtual double hosts_watts() const { return 0; }

  Param<std::string> chip;
  Param<unsigned> machines =
      param(this, "machines", 1U, range(1U, 16384U), "machines",
            "Machines: each with a gateway, or one wafer's at the end of a tree.");
  Param<double> machine_w;
  Param<double> link_pj_bit =
      param(this, "link_pj_bit", 8.0, range(0.0, 1e4), "pJ/bit",
            "Energy of a bit over one hop between chips or machines, or on a link of a tree.");
  Param<double> memory_pj_bit = param(this, "memory_pj_bit", 20.0, range(0.0, 1e4), "pJ/bit",
                                      "Energy of a bit from or to streaming memory or a store of "
                                      "weights. Assumed.");

 protected:
  /// The chips and the watts that a kind of systems has if nothing is said.
  CommonSystemParams(const char* usual_chip, double usual_w)
      : chip(text(this, "chip", usual_chip, "Preset or machine file of its chips.")),
        machine_w(param(
            this, "machine_w", usual_w, range(0.0, 1e5), "W",
            "Standing power of a machine beside its chips: gateway, memory, network, fans, "
            "pumps, supplies. Assumed: about 1 kW of an IPU-M2000 and 23 kW of a CS-2 at its peak "
            "are published, chips with all else. 0: not counted, and results say so.")) {}
};

/// A system of chips joined by links, in machines with a gateway each.
struct SystemParams : CommonSystemParams {
  SystemParams() : CommonSystemParams("gc200", 200.0) {}

  Param<unsigned> machine_chips =
      param(this, "machine_chips", 4U, range(2U, 64U), "chips", "Chips of a machine.");
  Param<double> hosts_w = param(this, "hosts_w", 0.0, range(0.0, 1e7), "W",
                                "Standing power of the system's hosts together. Not published; 0: "
                                "not counted, and results say so.");
  Group<LinkParams> links = group(this, "links", "Links between the chips of a domain.");
  Group<GatewayParams> gateway = group(this, "gateway", "The gateway of each machine.");
  Group<SystemSyncParams> sync = group(this, "sync", "Barriers of chips.");
  Group<CollectiveParams> collective = group(this, "collective", "Collectives.");

  unsigned chips() const { return machines * machine_chips; }
  double hosts_watts() const override { return hosts_w; }

  /// Relations between parameters; ParameterError names the first that does not hold.
  void check() const;

  /// Of a barrier of `count` chips, there and back, with that of the tiles of a chip.
  std::uint64_t sync_ns(unsigned count) const;
};

}  // namespace lacuna::system
