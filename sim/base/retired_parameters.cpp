// SPDX-License-Identifier: Apache-2.0
#include "sim/base/retired_parameters.hpp"

#include <array>
#include <string_view>

namespace lacuna {
namespace {

struct Retired {
  std::string_view path;
  const char* instead;
};

constexpr std::array<Retired, 14> kRetired = {{
    {"planner.home_sums",
     "was removed: each class of equally deep sums is now summed at home or spread over the tiles "
     "by the vendor's rule; planner.sums = home or spread chooses for all of them"},
    {"planner.copy_results",
     "was removed: sums arrive in place, and only those that are on the right tile already are "
     "copied; planner.copy_sums = false leaves these copies out"},
    {"planner.copy_gathered",
     "was removed: the exchange writes gathered rows where the codelet reads them"},
    {"planner.order_output",
     "was removed: static results are not put into another order on the device, dynamic ones of "
     "blocks always are"},
    {"planner.wide_sums",
     "was removed: reductions of static products read 64 bits of a row at a time"},
    {"timer.read", "was removed: nothing that is compared holds the reads of the counter"},
    {"queue.weights", "is now number 2 of queue.in, its third depth: queue.in=6,6,W,4"},
    {"queue.ring_in", "is now number 3 of queue.in, its fourth depth: queue.in=6,6,4,R"},
    {"queue.ring_out", "is now number 2 of queue.out, its third depth: queue.out=2,2,S"},
    {"wafers", "is now machines (one wafer in each), as of all systems"},
    {"system_w", "is now machine_w, as of all systems"},
    {"swarmx.pj_bit", "is now link_pj_bit, as of all systems"},
    {"memoryx.pj_bit", "is now memory_pj_bit, as of all systems"},
    {"ddr_pj_bit", "is now memory_pj_bit, as of all systems"},
}};

/// What became of a parameter by itself; empty if it was never retired.
std::string instead_of(std::string_view path) {
  for (const Retired& retired : kRetired) {
    if (path.size() < retired.path.size()) continue;
    const std::size_t before = path.size() - retired.path.size();
    if (path.substr(before) != retired.path) continue;
    if (before == 0 || path[before - 1] == '.') return retired.instead;
  }
  return {};
}

/// What became of the parameters that wafers had of a system around them; empty of all others.
std::string moved_to_systems(const std::string& path) {
  const std::string group = "sys.";
  if (path.rfind(group, 0) != 0) return {};
  const std::string name = path.substr(group.size());
  if (name == "memoryx.on") {
    return "was removed: wafers with a store of weights are a system, such as cs2x1, or a file "
           "with "
           "`base: cs2x1`";
  }
  const std::string renamed = instead_of(name);
  return (renamed.empty() ? "is now " + name + " of a system" : renamed) +
         " with a store of weights, such as cs2x1, or a file with `base: cs2x1`";
}

}  // namespace

std::string retired_parameter(const std::string& path) {
  if (std::string moved = moved_to_systems(path); !moved.empty()) return moved;
  return instead_of(path);
}

}  // namespace lacuna
