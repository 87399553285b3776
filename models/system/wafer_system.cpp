// SPDX-License-Identifier: Apache-2.0
#include "models/system/wafer_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <systemc>

#include "models/system/plant.hpp"
#include "models/system/rate.hpp"
#include "models/system/swarmx.hpp"
#include "models/system/wafer_node.hpp"
#include "sim/base/error.hpp"

namespace lacuna::system {
namespace {

using Wire = Channel<SwarmChunk>;

/// The modules of a system, bound to each other: the store, a tree of links and nodes, wafers.
class TreePlant : private Plant<SwarmChunk> {
 public:
  TreePlant(const WaferSystemParams& params, const WaferEdge& edge,
            const std::vector<WaferPass>& passes, const SystemExecution& execution)
      : Plant(execution),
        params_(params),
        edge_(edge),
        passes_(passes),
        countdown_{params.chips() + 1},
        store_("memoryx", clock_, params.memoryx, passes, countdown_) {
    for (const WaferPass& pass : passes) {
      smallest_ = std::min<std::uint64_t>(smallest_, pass.chunk_bytes);
      largest_ = std::max<std::uint64_t>(largest_, pass.chunk_bytes);
    }
    clock_.add(store_, "memoryx");
    SwarmLink& first = link(params.levels());
    join(store_, first, {2, 1}, {2, 1});
    add_below(first, params.levels(), 0, params.chips());
  }

  WaferSystemResult run() {
    WaferSystemResult result;
    result.ns = clock_.run_until_done();
    result.passes.resize(passes_.size());
    for (std::size_t p = 0; p < passes_.size(); ++p) {
      result.first_wafer.emplace_back(wafers_.front()->begins()[p], wafers_.front()->ends()[p]);
    }
    for (const auto& wafer : wafers_) {
      wafer->end(result.ns);
      result.chips.push_back(checked_time(*wafer, result.ns));
      for (std::size_t p = 0; p < passes_.size(); ++p) {
        result.passes[p].begin = std::min(result.passes[p].begin, wafer->begins()[p]);
        result.passes[p].end = std::max(result.passes[p].end, wafer->ends()[p]);
      }
    }
    for (std::size_t p = 0; p < passes_.size(); ++p) result.passes[p].updated = store_.updated()[p];
    for (const auto& link : links_) {
      result.down_bytes.push_back(link->down_bytes());
      result.up_bytes.push_back(link->up_bytes());
      result.link_busy_ns.push_back(link->busy_ns());
    }
    for (const auto& node : nodes_) result.added_bytes += node->added_bytes();
    result.update_ns = store_.totals().update_ns;
    result.wait_ns = store_.totals().wait_ns;
    result.store_bytes = store_.totals().bytes;
    for (const WaferPass& pass : passes_) result.store_bytes += pass.update_bytes;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      result.carried.links += static_cast<double>(result.down_bytes[i] + result.up_bytes[i]);
    }
    result.carried.memory = static_cast<double>(result.store_bytes);
    result.events = log_.sorted();
    result.steps = clock_.steps();
    return result;
  }

 private:
  /// Chunks that are on a wire of such a latency while the link sends without a gap.
  std::size_t under_way(std::uint64_t latency) const {
    const double fastest =
        std::max(params_.swarmx.link_gbps.value(), params_.swarmx.tree_gbps.value());
    const std::uint64_t chunk_ns = smallest_ * 1000 / bytes_per_us(fastest);
    return latency / std::max<std::uint64_t>(chunk_ns, 1) + 4;
  }

  /// A link with so many levels of nodes below it; without one it is that of a wafer's system.
  SwarmLink& link(unsigned level) {
    const double gbps = level == 0 ? params_.swarmx.link_gbps : params_.swarmx.tree_gbps;
    const std::uint64_t rate = bytes_per_us(gbps);
    return add(links_, fmt::format("link{}", links_.size()), clock_, rate, edge_.half_duplex);
  }

  /// What a wire has room for, and how long it is, in chunks and ns.
  struct WireSize {
    std::size_t chunks;
    Cycle ns;
  };

  /// A wire down and one up.
  template <typename Above, typename Below>
  void join(Above& above, Below& below, WireSize down, WireSize up) {
    Wire& weights = wire(down.chunks, down.ns);
    Wire& gradients = wire(up.chunks, up.ns);
    above.down_out.bind(weights);
    below.down_in.bind(weights);
    below.up_out.bind(gradients);
    above.up_in.bind(gradients);
  }

  /// What hangs below a link: `wafers` of them from number `first` on, through `level` nodes each.
  void add_below(SwarmLink& above, unsigned level, unsigned first, unsigned wafers) {
    if (level == 0) {
      add_wafer(above, first);
      return;
    }
    SwarmNode& node = add(nodes_, fmt::format("swarmx{}", nodes_.size()));
    const std::uint64_t latency = params_.swarmx.level_latency_ns;
    const WireSize far{under_way(latency), latency};
    join(above, node, {4, 1}, far);
    unsigned each = 1;  // wafers below a child, if it is full
    for (unsigned i = 1; i < level; ++i) each *= params_.swarmx.fanout;
    for (unsigned at = 0; at < wafers; at += each) {
      SwarmLink& below = link(level - 1);
      join(node, below, far, {4, 1});
      add_below(below, level - 1, first + at, std::min(each, wafers - at));
    }
  }

  void add_wafer(SwarmLink& above, unsigned index) {
    WaferNode& wafer =
        add(wafers_, fmt::format("wafer{}", index), clock_, index, passes_, countdown_, log_);
    const std::uint64_t latency = std::max<std::uint64_t>(edge_.latency_ns, 1);
    const std::size_t buffer = std::max<std::size_t>(params_.prefetch_bytes / largest_, 1);
    join(above, wafer, {buffer + under_way(latency), latency}, {under_way(latency), latency});
  }

  const WaferSystemParams& params_;
  const WaferEdge& edge_;
  const std::vector<WaferPass>& passes_;
  WaferCountdown countdown_;
  MemoryX store_;
  std::uint64_t smallest_ = ~std::uint64_t{0};  // chunk of any pass
  std::uint64_t largest_ = 1;
  std::vector<std::unique_ptr<SwarmLink>> links_;
  std::vector<std::unique_ptr<SwarmNode>> nodes_;
  std::vector<std::unique_ptr<WaferNode>> wafers_;
};

}  // namespace

unsigned WaferSystemParams::levels() const {
  unsigned levels = 0;
  for (std::uint64_t reach = 1; reach < chips(); reach *= swarmx.fanout) ++levels;
  return levels;
}

unsigned WaferSystemParams::nodes() const {
  std::uint64_t count = 0;
  for (std::uint64_t reach = 1; reach < chips();) {
    reach *= swarmx.fanout;
    count += (chips() + reach - 1) / reach;
  }
  return static_cast<unsigned>(count);
}

WaferPass make_wafer_pass(const WaferSystemParams& params, std::string name,
                          std::uint64_t down_bytes, std::uint64_t up_bytes,
                          const std::vector<std::uint64_t>& ns) {
  WaferPass pass;
  pass.name = std::move(name);
  pass.down_bytes = std::max<std::uint64_t>(down_bytes, 1);
  pass.up_bytes = up_bytes;
  pass.ns = ns;
  pass.chunk_bytes = params.chunk_bytes;
  const std::uint64_t most = std::max(pass.down_bytes, pass.up_bytes);
  while (most > std::uint64_t{pass.chunk_bytes} * params.chunks) pass.chunk_bytes *= 2;
  return pass;
}

WaferSystemResult run_wafer_system(const WaferSystemParams& params, const WaferEdge& edge,
                                   const std::vector<WaferPass>& passes,
                                   const SystemExecution& execution) {
  for (const WaferPass& pass : passes) {
    if (pass.ns.size() == 1 || pass.ns.size() == params.chips()) continue;
    throw ParameterError(
        fmt::format("pass '{}' has times of {} wafers, and there are {} (machines)", pass.name,
                    pass.ns.size(), params.chips()));
  }
  return run_plant<TreePlant>(params, edge, passes, execution);
}

std::uint64_t least_ns(const WaferSystemParams& params, const WaferEdge& edge,
                       const WaferPass& pass) {
  double rate = std::min(params.memoryx.read_gbps.value(), params.swarmx.link_gbps.value());
  if (params.levels() > 0) rate = std::min(rate, params.swarmx.tree_gbps.value());
  const std::uint64_t link = pass.down_bytes * 1000 / bytes_per_us(rate);
  const std::uint64_t work = *std::max_element(pass.ns.begin(), pass.ns.end());
  return std::max(link, work) + std::uint64_t{params.levels()} * params.swarmx.level_latency_ns +
         edge.latency_ns;
}

}  // namespace lacuna::system
