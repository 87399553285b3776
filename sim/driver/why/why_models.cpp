// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/why/why_models.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/system/chip_system.hpp"
#include "sim/machines/machine_kind.hpp"

namespace lacuna {
namespace {

/// What each chip of a system can be imagined without, and what joins them.
std::vector<DeclaredCause> causes_of_pod(const std::vector<DeclaredCause>& chip, bool trains) {
  std::vector<DeclaredCause> causes = chip;
  for (DeclaredCause& cause : causes) {
    for (std::string& setting : cause.settings) setting = "chip." + setting;
    cause.name += ", on chips";
  }
  const auto add = [&](const char* name, std::vector<std::string> settings) {
    causes.push_back({name, DeclaredCause::Kind::cost, std::move(settings)});
    causes.back().law = DeclaredCause::Law::adds;
  };
  add("links and barriers between chips",
      {"links.link_gbps=100000", "links.efficiency=1", "links.hop_ns=1", "sync.hop_ns=1",
       "sync.chip_ns=1", "sync.gateway_ns=0", "sync.exchange_ns=0"});
  if (!trains) return causes;
  add("the host between updates", {"gateway.update_ms=0"});
  add("gateways and their memory",
      {"gateway.link_gbps=100000", "gateway.hop_ns=1", "gateway.ddr_gbps=100000",
       "gateway.ddr_efficiency=1", "gateway.ddr_ns=1", "gateway.pcie_gbps=100000",
       "gateway.pcie_ns=1"});
  return causes;
}

}  // namespace

std::vector<DeclaredCause> causes_of_models(const MachineTable& kinds, const std::string& machine,
                                            bool trains) {
  const bool pod = is_linked_system(machine);
  if (is_system(machine) && !pod) {
    throw refused("--why: {} shares a store of weights; it goes with chips, wafers and pods",
                  machine);
  }
  const std::string chip = pod ? make_system(machine, {}).params.chip.value() : machine;
  const MachineKind* const kind = known_kind(make_machine(kinds, chip)->kind());
  if (kind == nullptr || kind->causes == nullptr) {
    throw refused("--why: nothing can be taken away from {}", machine);
  }
  std::vector<DeclaredCause> causes;
  for (DeclaredCause& each : kind->model_causes ? kind->model_causes() : kind->causes()) {
    if (each.kind != DeclaredCause::Kind::cost) continue;
    each.law = DeclaredCause::Law::adds;
    each.shows_as.clear();  // no stack is of a whole step: each is run
    causes.push_back(std::move(each));
  }
  return pod ? causes_of_pod(causes, trains) : causes;
}

WhyRunner one_by_one(std::function<double(const WhyAsk&)> seconds) {
  return [seconds = std::move(seconds)](const std::vector<WhyAsk>& asks) {
    std::vector<std::optional<WhyTime>> times;
    for (const WhyAsk& ask : asks) {
      std::optional<WhyTime>& time = times.emplace_back();
      constexpr double kMicros = 1e6;
      try {
        time = WhyTime{kMicros * seconds(ask)};
      } catch (const RequestError&) {
      } catch (const SimulationError&) {
      }
    }
    return times;
  };
}

}  // namespace lacuna
