// SPDX-License-Identifier: Apache-2.0
#include "models/system/params.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"

namespace lacuna::system {

void SystemParams::check() const {
  if (machine_chips % 2 != 0) {
    throw ParameterError(
        fmt::format("machine_chips = {} is odd; chips come in pairs", machine_chips.value()));
  }
  if (links.domain % machine_chips != 0) {
    throw ParameterError(fmt::format("links.domain = {} is no multiple of machine_chips = {}",
                                     links.domain.value(), machine_chips.value()));
  }
  if (chips() > links.domain && chips() % links.domain != 0) {
    throw ParameterError(fmt::format("{} chips are no multiple of links.domain = {}", chips(),
                                     links.domain.value()));
  }
}

// PopLibs (7eac0f26), setGlobalSyncLatency: one hop within a card and one per pair of cards, there
// and back.
std::uint64_t SystemParams::sync_ns(unsigned count) const {
  std::uint64_t ns = sync.chip_ns;
  if (count < 2) return ns;
  const unsigned within = count < links.domain ? count : links.domain.value();
  const std::uint64_t hops = 1 + within / 4;
  ns += 2 * hops * sync.hop_ns;
  if (count > links.domain) ns += sync.gateway_ns;
  return ns;
}

}  // namespace lacuna::system
