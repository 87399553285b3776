// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

std::size_t power_of_two_above(std::size_t n) {
  std::size_t power = 1;
  while (power <= n) power *= 2;
  return power;
}

/// Checks that the instructions of one port follow one another.
template <class Instruction>
void check_port(const std::vector<Instruction>& all, std::uint32_t first, std::uint32_t end,
                TileId tile, const char* port) {
  std::uint64_t free = 0;
  for (std::uint32_t i = first; i < end; ++i) {
    if (all[i].start < free) {
      throw InternalError(fmt::format("the {} port of tile {} has two words in cycle {}", port,
                                      tile, all[i].start));
    }
    free = std::uint64_t{all[i].start} + all[i].cycles();
  }
}

}  // namespace

ExchangeFabric::ExchangeFabric(std::size_t tiles, std::size_t reach)
    : reach_(power_of_two_above(reach)),
      mask_(reach_ - 1),
      stamps_(tiles * reach_),
      pairs_(tiles * reach_) {}

void ExchangeFabric::silent(TileId source, Cycle sent_in) {
  throw InternalError(
      fmt::format("a tile listens to tile {}, which sent nothing in cycle {}", source, sent_in));
}

void carry(const ExchangePlan& plan, std::vector<TileMemory>& memories) {
  for (TileId tile = 0; tile + 1 < plan.receive_first.size(); ++tile) {
    for (std::uint32_t i = plan.receive_first[tile]; i < plan.receive_first[tile + 1]; ++i) {
      const Receive& receive = plan.receives[i];
      const TileMemory& from = memories.at(receive.source);
      for (std::uint32_t w = 0; w < receive.words; ++w) {
        memories.at(tile).set_word(receive.address + w, from.word(receive.source_address + w));
      }
    }
  }
}

void check_plan(const ExchangePlan& plan, std::size_t tiles) {
  if (plan.send_first.size() != tiles + 1 || plan.receive_first.size() != tiles + 1 ||
      plan.traffic.size() != tiles) {
    throw InternalError("an exchange plan for another number of tiles");
  }
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (TileId tile = 0; tile < tiles; ++tile) {
    check_port(plan.sends, plan.send_first[tile], plan.send_first[tile + 1], tile, "send");
    check_port(plan.receives, plan.receive_first[tile], plan.receive_first[tile + 1], tile,
               "receive");
    if (plan.traffic[tile].end > plan.length) {
      throw InternalError(fmt::format("tile {} has words to move after the exchange ended", tile));
    }
  }
  for (const Send& send : plan.sends) sent += std::uint64_t{send.words} * send.receivers;
  for (const Receive& receive : plan.receives) received += receive.words;
  if (sent != received) {
    throw InternalError(
        fmt::format("exch_received: {} words, but {} were sent to receivers", received, sent));
  }
}

}  // namespace lacuna::ipu
