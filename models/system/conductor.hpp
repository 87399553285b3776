// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/system/chip_node.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clocked.hpp"

namespace lacuna::system {

/// Holds the barriers of a segment. Where the last chip comes in cycle a, the chips go on in cycle
/// a + ns. The barrier at the end is of all chips: they are released in cycle a + ns - 1, the last
/// of the segment.
class Conductor : public sc_core::sc_module, public Clocked {
 public:
  /// `end_ns` is at least 3.
  Conductor(const sc_core::sc_module_name& name, ClockDomain& clock,
            const std::vector<Barrier>& barriers, std::uint32_t chips, std::uint64_t end_ns);

  sc_core::sc_port<PopIf<Arrival>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> arrive{"arrive"};
  sc_core::sc_port<PushIf<Release>, 0, sc_core::SC_ZERO_OR_MORE_BOUND> release{"release"};

  Cycle step(Cycle now) override;
  void skip(Cycle /*from*/, Cycle /*to*/) override {}
  std::string blocked() const override;

 private:
  void arrived(const Arrival& arrival, Cycle now);

  ClockDomain& clock_;
  const std::vector<Barrier>& barriers_;
  Barrier end_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // chips, by barrier; the end is the last
  std::multimap<Cycle, std::pair<std::size_t, Cycle>> due_;  // when to release, and last arrivals
};

}  // namespace lacuna::system
