// SPDX-License-Identifier: Apache-2.0
#include "models/system/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/system/rate.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

constexpr std::array<ResourceKind, 6> kOfChip = {ResourceKind::pair,    ResourceKind::cross,
                                                 ResourceKind::up,      ResourceKind::down,
                                                 ResourceKind::pcie_in, ResourceKind::pcie_out};
constexpr std::array<ResourceKind, 3> kOfMachine = {ResourceKind::gateway, ResourceKind::ddr,
                                                    ResourceKind::host};

}  // namespace

std::uint64_t Resource::ns(std::uint64_t bytes) const {
  return std::max<std::uint64_t>(1, (bytes * 1000 + bytes_per_us - 1) / bytes_per_us);
}

Fabric::Fabric(const SystemParams& params)
    : chips_(params.chips()),
      machine_chips_(params.machine_chips),
      domain_(std::min(params.links.domain.value(), chips_)),
      torus_(params.links.topology == Topology::torus) {
  for (unsigned chip = 0; chip < chips_; ++chip) add_chip(chip, params);
  for (unsigned machine = 0; machine < params.machines; ++machine) add_machine(machine, params);
}

void Fabric::add(const std::string& name, ResourceKind kind, double gbps, unsigned latency_ns) {
  resources_.push_back({name, kind, system::bytes_per_us(gbps), latency_ns});
}

void Fabric::add_chip(unsigned chip, const SystemParams& params) {
  const LinkParams& links = params.links;
  const double link = links.link_gbps * links.efficiency;
  const std::string name = fmt::format("chip{}.", chip);
  add(name + "pair", ResourceKind::pair, link * links.pair_links, links.hop_ns);
  add(name + "cross", ResourceKind::cross, link * links.cross_links, links.hop_ns);
  add(name + "up", ResourceKind::up, link * links.rail_links, links.hop_ns);
  add(name + "down", ResourceKind::down, link * links.rail_links, links.hop_ns);
  const GatewayParams& gateway = params.gateway;
  add(name + "pcie_in", ResourceKind::pcie_in, gateway.pcie_gbps, gateway.pcie_ns);
  add(name + "pcie_out", ResourceKind::pcie_out, gateway.pcie_gbps, gateway.pcie_ns);
}

void Fabric::add_machine(unsigned machine, const SystemParams& params) {
  const GatewayParams& gateway = params.gateway;
  const std::string name = fmt::format("machine{}.", machine);
  add(name + "gateway", ResourceKind::gateway, gateway.link_gbps, gateway.hop_ns);
  add(name + "ddr", ResourceKind::ddr, gateway.ddr_gbps * gateway.ddr_efficiency, gateway.ddr_ns);
  add(name + "host", ResourceKind::host, gateway.host_gbps, gateway.host_ns);
}

ResourceId Fabric::of_chip(unsigned chip, ResourceKind kind) {
  return static_cast<ResourceId>(chip * kOfChip.size() + *place_in(kOfChip, kind));
}

ResourceId Fabric::of_machine(unsigned chip, ResourceKind kind) const {
  return static_cast<ResourceId>(chips_ * kOfChip.size() +
                                 chip / machine_chips_ * kOfMachine.size() +
                                 *place_in(kOfMachine, kind));
}

void Fabric::between_chips(unsigned from, unsigned to, std::vector<ResourceId>& way) const {
  if (from / domain_ != to / domain_) {
    way.push_back(of_chip(from, ResourceKind::pcie_out));
    way.push_back(of_machine(from, ResourceKind::gateway));
    way.push_back(of_chip(to, ResourceKind::pcie_in));
    return;
  }
  if (from / 2 == to / 2) {
    way.push_back(of_chip(from, ResourceKind::pair));
    return;
  }
  unsigned at = from;
  if (from % 2 != to % 2) {
    way.push_back(of_chip(at, ResourceKind::cross));
    at ^= 1U;
  }
  const unsigned first = at / domain_ * domain_;
  const unsigned up = (to + domain_ - at) % domain_;  // how far it is going up, around the end
  const bool go_up = torus_ ? up <= domain_ - up : to > at;
  while (at != to) {
    way.push_back(of_chip(at, go_up ? ResourceKind::up : ResourceKind::down));
    at = first + (at - first + (go_up ? 2 : domain_ - 2)) % domain_;
  }
}

std::vector<ResourceId> Fabric::route(const Transfer& transfer) const {
  const unsigned from = transfer.from;
  const unsigned to = transfer.to;
  if (from >= chips_ || to >= chips_ || (transfer.way == Way::links && from == to)) {
    throw InternalError(fmt::format("there is no way from chip {} to {}", from, to));
  }
  std::vector<ResourceId> way;
  switch (transfer.way) {
    case Way::links:
      between_chips(from, to, way);
      break;
    case Way::load:
      way = {of_machine(to, ResourceKind::ddr), of_chip(to, ResourceKind::pcie_in)};
      break;
    case Way::store:
      way = {of_chip(from, ResourceKind::pcie_out), of_machine(from, ResourceKind::ddr)};
      break;
    case Way::from_host:
      way = {of_machine(to, ResourceKind::host), of_chip(to, ResourceKind::pcie_in)};
      break;
    case Way::to_host:
      way = {of_chip(from, ResourceKind::pcie_out), of_machine(from, ResourceKind::host)};
      break;
  }
  return way;
}

}  // namespace lacuna::system
