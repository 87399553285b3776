// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/system/event_kinds.hpp"
#include "models/system/execution.hpp"
#include "models/system/memoryx.hpp"
#include "models/system/params.hpp"
#include "sim/base/cycle.hpp"
#include "sim/base/event_log.hpp"
#include "sim/base/parameter.hpp"

namespace lacuna::system {

struct SwarmXParams : ParameterSet {
  Param<unsigned> fanout =
      param(this, "fanout", 8U, range(2U, 1024U), "links", "Children of a node. Assumed.");
  Param<unsigned> level_latency_ns = param(this, "level_latency_ns", 500U, range(1U, 1000000U),
                                           "ns", "Latency of a level of the tree. Assumed.");
  Param<double> link_gbps = param(this, "link_gbps", 150.0, range(0.001, 1e5), "GB/s",
                                  "The link of a wafer's system, 10^9 bytes: 12 x 100 Gb/s.");
  Param<double> tree_gbps =
      param(this, "tree_gbps", 150.0, range(0.001, 1e5), "GB/s",
            "The store's link to the tree, and links between its nodes. Assumed, as a system's.");
  Param<double> node_w = param(this, "node_w", 0.0, range(0.0, 1e6), "W",
                               "Standing power of a node of the tree. Not published; 0: not "
                               "counted, and results say so.");
};

/// Wafers that share one store of weights, one in each machine. They work data parallel: each sees
/// every weight.
struct WaferSystemParams : CommonSystemParams {
  WaferSystemParams() : CommonSystemParams("wse2", 0.0) {}

  Param<unsigned> index_bytes =
      param(this, "index_bytes", 2U, range(0U, 16U), "B",
            "Place of a kept weight, or of a block of them, beside its value. Assumed.");
  Param<unsigned> prefetch_bytes =
      param(this, "prefetch_bytes", 1U << 20U, range(4096U, 1U << 30U), "B",
            "At the edge of each wafer, for weights that come before they are used. Assumed.");
  Param<unsigned> chunk_bytes = param(this, "chunk_bytes", 4096U, range(64U, 1U << 20U), "B",
                                      "What a hop has whole before the next one begins.");
  Param<unsigned> chunks = param(this, "chunks", 1U << 16U, range(16U, 1U << 24U), "chunks",
                                 "Most of a pass; longer ones have larger chunks.");
  Param<double> io_latency_us = param(this, "io_latency_us", 5.0, range(0.0, 1e6), "us",
                                      "Between a link and the edge of a wafer, each way.");
  Param<unsigned> steps =
      param(this, "steps", 1U, range(1U, 1000U), "steps", "How often the workload is run.");
  Group<MemoryXParams> memoryx = group(this, "memoryx", "The store of weights.");
  Group<SwarmXParams> swarmx = group(this, "swarmx", "The tree between store and wafers.");

  unsigned chips() const { return machines; }

  /// ceil(log_fanout(chips())); one wafer is joined to the store directly.
  unsigned levels() const;

  /// Nodes of the tree on all levels: of those with 1, 2, ... levels below, as many as it takes.
  unsigned nodes() const;

  double machines_watts() const override {
    return memoryx.standing_w + nodes() * swarmx.node_w + machines * machine_w;
  }
};

/// What a system of wafers is joined by, beside its own parameters: those of each wafer's I/O.
struct WaferEdge {
  std::uint64_t latency_ns = 5000;
  bool half_duplex = true;
};

/// A pass whose chunks are as large as `chunks` says.
WaferPass make_wafer_pass(const WaferSystemParams& params, std::string name,
                          std::uint64_t down_bytes, std::uint64_t up_bytes,
                          const std::vector<std::uint64_t>& ns);

/// When a pass was, over all wafers, in ns; `updated`: when the store had updated its weights,
/// kNever if it updates none.
struct WaferPassTimes {
  Cycle begin = kNever;  // of the wafer that began first
  Cycle end = 0;         // of the wafer that ended last
  Cycle updated = kNever;
};

/// What a run of passes came to; times are in ns.
struct WaferSystemResult : RunResult {
  std::vector<WaferPassTimes> passes;                // in the order given
  std::vector<std::pair<Cycle, Cycle>> first_wafer;  // begin and end of each on the first wafer
  std::vector<std::uint64_t> down_bytes;    // of each link, the store's first, level by level
  std::vector<std::uint64_t> up_bytes;      //
  std::vector<std::uint64_t> link_busy_ns;  //
  std::uint64_t update_ns = 0;              // of the store
  std::uint64_t wait_ns = 0;                // the store waited for an update to read on
  std::uint64_t added_bytes = 0;            // gradients that the tree added up
  std::uint64_t store_bytes = 0;            // read and written in the store, updates included
  std::vector<Event> events;                // of wafers (event_kinds.hpp), sorted; if asked for
  std::uint64_t steps = 0;                  // of blocks, the work done
};

/// Runs the passes, each block a SystemC module. Throws ParameterError if a pass names times of
/// another number of wafers.
WaferSystemResult run_wafer_system(const WaferSystemParams& params, const WaferEdge& edge,
                                   const std::vector<WaferPass>& passes,
                                   const SystemExecution& execution);

/// The least a pass alone can take: its bytes over the slowest link or the longest work, and the
/// latencies of the way down.
std::uint64_t least_ns(const WaferSystemParams& params, const WaferEdge& edge,
                       const WaferPass& pass);

}  // namespace lacuna::system
