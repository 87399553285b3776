// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/plan.hpp"

#include <algorithm>

#include "models/ipu/floor_plan.hpp"

namespace lacuna::ipu {

void TransferList::add(Place source, std::uint32_t words, const Place* begin, const Place* end) {
  if (words == 0 || begin == end) return;
  transfers.push_back({source, words, static_cast<std::uint32_t>(destinations.size()),
                       static_cast<std::uint32_t>(end - begin)});
  destinations.insert(destinations.end(), begin, end);
}

std::uint32_t TransferList::longest() const {
  std::uint32_t words = 0;
  for (const Transfer& transfer : transfers) words = std::max(words, transfer.words);
  return words;
}

unsigned exchange_latency(const ChipParams& params, TileId sender, TileId receiver) {
  if (params.exchange.latency == LatencyModel::constant) return params.exchange.constant_latency;
  return floor_plan_latency(physical_id(sender, params.ipu.rows),
                            physical_id(receiver, params.ipu.rows));
}

}  // namespace lacuna::ipu
