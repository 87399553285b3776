// SPDX-License-Identifier: Apache-2.0
#include "tests/support/system/random_segment.hpp"

#include "models/system/collectives.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::test {

using system::Segment;
using system::Use;
using system::Way;

system::SystemParams small_system(unsigned chips, unsigned domain, system::Topology topology) {
  system::SystemParams params;
  params.machines = chips / 4;
  params.links.domain = domain;
  params.links.topology = topology;
  params.gateway.hop_ns = 60;
  params.gateway.ddr_ns = 40;
  params.gateway.pcie_ns = 30;
  params.gateway.host_ns = 70;
  params.sync.gateway_ns = 100;
  params.links.chunk_kib = 1;
  params.links.chunks = 5;
  return params;
}

Segment empty_segment(const system::SystemParams& params) {
  Segment segment;
  segment.name = "test";
  segment.chips.resize(params.chips());
  return segment;
}

namespace {

class Maker {
 public:
  Maker(const system::SystemParams& params, std::uint64_t seed)
      : params_(params), seed_(mix(seed)), segment_(empty_segment(params)) {}

  Segment make() {
    const std::uint64_t things = 5 + draw(20);
    for (std::uint64_t i = 0; i < things; ++i) one();
    return segment_;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return mix(seed_ + ++drawn_) % below; }
  std::uint32_t chip() { return static_cast<std::uint32_t>(draw(params_.chips())); }

  // Sends come before their receives in every chip, so nobody waits for himself.
  void one() {
    const auto use = static_cast<Use>(draw(8));
    const std::uint32_t a = chip();
    const std::uint32_t b =
        (a + 1 + static_cast<std::uint32_t>(draw(params_.chips() - 1))) % params_.chips();
    const std::uint64_t bytes = draw(9000);
    switch (draw(6)) {
      case 0: {
        const std::uint64_t cycles = draw(500);
        return segment_.work(a, use, cycles, draw(2));
      }
      case 1: {
        const std::uint32_t number = segment_.send({a, b, bytes, Way::links});
        return segment_.receive(b, number, use);
      }
      case 2:
        return segment_.transfer_and_wait({a, a, bytes, Way::load}, use, draw(2));
      case 3:
        return segment_.transfer_and_wait({a, a, bytes, Way::store}, use, draw(2));
      case 4:
        segment_.await_background(a, Use::streaming);
        return segment_.transfer_and_wait({a, a, bytes, Way::from_host}, Use::host);
      default:
        return collective();
    }
  }

  void collective() {
    system::CollectiveCall call;
    call.kind = static_cast<system::Collective>(draw(4));
    const std::uint32_t size = 2U << draw(2);
    const std::uint32_t groups = params_.chips() / size;
    const std::uint32_t stride = draw(2) == 0 ? 1 : groups;
    call.groups = system::replica_groups(params_.chips(), size, stride);
    call.bytes = draw(20000);
    call.add_ns = draw(300);
    system::add_collective(params_, call, segment_);
  }

  const system::SystemParams& params_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  Segment segment_;
};

}  // namespace

Segment random_segment(const system::SystemParams& params, std::uint64_t seed) {
  return Maker(params, seed).make();
}

}  // namespace lacuna::test
