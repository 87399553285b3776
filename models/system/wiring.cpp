// SPDX-License-Identifier: Apache-2.0
#include "models/system/wiring.hpp"

#include <algorithm>
#include <map>

namespace lacuna::system {

namespace {

bool inwards(Way way) { return way == Way::load || way == Way::from_host; }
bool outwards(Way way) { return way == Way::store || way == Way::to_host; }

}  // namespace

Wiring::Wiring(const Fabric& fabric, const SystemParams& params, const Segment& segment) {
  const std::uint64_t chunk_bytes = std::uint64_t{params.links.chunk_kib} * 1024;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // to a wire
  std::vector<std::uint32_t> used(fabric.chips() + fabric.resources().size());
  std::vector<std::uint32_t> output_of;  // of a wire, at the node it comes from
  for (const Transfer& transfer : segment.transfers) {
    const std::uint64_t pieces = (transfer.bytes + chunk_bytes - 1) / chunk_bytes;
    counts_.push_back(std::clamp<std::uint64_t>(pieces, 1, params.links.chunks));
    bytes_.push_back(transfer.bytes);
    // what comes from elsewhere is asked for by the chip it goes to, and what leaves is confirmed
    // to the chip it comes from
    const std::uint32_t starter = inwards(transfer.way) ? transfer.to : transfer.from;
    const std::uint32_t receiver = outwards(transfer.way) ? transfer.from : transfer.to;
    std::vector<std::uint32_t> nodes = {starter};
    for (const ResourceId id : fabric.route(transfer)) nodes.push_back(fabric.chips() + id);
    nodes.push_back(receiver);
    std::vector<std::uint32_t> outputs;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const auto next = static_cast<std::uint32_t>(wires_.size());
      const auto [found, fresh] = known.emplace(std::make_pair(nodes[i], nodes[i + 1]), next);
      if (fresh) {
        wires_.push_back({nodes[i], nodes[i + 1], 0});
        output_of.push_back(used[nodes[i]]++);
      }
      wires_[found->second].chunks += counts_.back();
      outputs.push_back(output_of[found->second]);
    }
    outputs_.push_back(std::move(outputs));
  }
}

std::vector<Chunk> Wiring::chunks(std::uint32_t transfer) const {
  const std::uint64_t count = counts_[transfer];
  std::vector<Chunk> all(count);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t end = bytes_[transfer] * (i + 1) / count;
    all[i] = {transfer, 0, end - before};
    before = end;
  }
  return all;
}

}  // namespace lacuna::system
