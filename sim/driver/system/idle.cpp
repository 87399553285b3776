// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/idle.hpp"

#include <fmt/format.h>

#include <array>
#include <set>

#include "models/system/fabric.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "workloads/mapping/system/model_parts.hpp"

namespace lacuna {

using system::ResourceKind;

namespace {

/// Parameters of a kind of resource, by what their paths begin with.
struct PartParameters {
  const char* begin;
  ResourceKind kind;
  const char* part;
};

constexpr std::array<PartParameters, 11> kPodParts = {
    {{"gateway.ddr_", ResourceKind::ddr, "streaming memory"},
     {"memory_pj_bit", ResourceKind::ddr, "streaming memory"},
     {"gateway.pcie_", ResourceKind::pcie_in, "the ways between gateways and chips"},
     {"gateway.pcie_", ResourceKind::pcie_out, "the ways between gateways and chips"},
     {"gateway.host_", ResourceKind::host, "the ways between hosts and machines"},
     {"gateway.link_", ResourceKind::gateway, "the links between gateways"},
     {"gateway.hop_", ResourceKind::gateway, "the links between gateways"},
     {"links.pair_links", ResourceKind::pair, "the links between the chips of a pair"},
     {"links.cross_links", ResourceKind::cross, "the links to the other rail"},
     {"links.rail_links", ResourceKind::up, "the links of the rails"},
     {"links.rail_links", ResourceKind::down, "the links of the rails"}}};

std::string path_of_setting(const std::string& text) { return text.substr(0, text.find('=')); }

}  // namespace

std::string idle_parts(const system::SystemParams& params, const std::vector<std::uint64_t>& bytes,
                       const std::vector<std::string>& settings) {
  const system::Fabric fabric(params);
  std::set<ResourceKind> used;
  for (std::size_t i = 0; i < fabric.resources().size(); ++i) {
    if (i < bytes.size() && bytes[i] != 0) used.insert(fabric.resources()[i].kind);
  }
  std::string text;
  for (const std::string& setting : settings) {
    const std::string path = path_of_setting(setting);
    const char* idle = nullptr;
    bool acts = false;
    for (const PartParameters& each : kPodParts) {
      if (!starts_with(path, each.begin)) continue;
      acts = acts || used.count(each.kind) != 0;
      idle = each.part;
    }
    if (idle != nullptr && !acts) {
      text += fmt::format("lacuna: {} acts on nothing here: nothing went over {}\n", path, idle);
    }
    if (path == "sync.gateway_ns" && params.chips() <= params.links.domain) {
      text += fmt::format("lacuna: {} acts on nothing here: {} chips are one domain of {}\n", path,
                          params.chips(), params.links.domain.value());
    }
  }
  return text;
}

std::string idle_parts_of_model(const std::vector<std::string>& settings) {
  const bool streams = contains(settings, "inference.weights=streaming") ||
                       contains(settings, "inference.cache=streaming");
  std::string text;
  for (const std::string& setting : settings) {
    const std::string path = path_of_setting(setting);
    if (path == "gateway.update_ms") {
      text += fmt::format("lacuna: {} acts on nothing of --model\n", path);
      continue;
    }
    constexpr std::array<ResourceKind, 3> kStreams = {ResourceKind::ddr, ResourceKind::host,
                                                      ResourceKind::pcie_in};
    const bool of_streams = any_of(kPodParts, [&](const PartParameters& each) {
      return contains(kStreams, each.kind) && starts_with(path, each.begin);
    });
    if (streams || !of_streams) continue;
    text += fmt::format(
        "lacuna: {} acts with inference.weights or inference.cache = streaming alone\n", path);
  }
  return text;
}

std::string idle_words_on_tree(const system::TrainingParams& training, unsigned state_bytes) {
  std::string text;
  if (system::optimizer_bytes(training.optimizer) != state_bytes) {
    text += fmt::format(
        "lacuna: training.optimizer = {} keeps {} B for a weight, and the store is said to keep "
        "memoryx.state_bytes = {}, which is what counts, as memoryx.update_ns_per_1k does\n",
        training.optimizer.value(), system::optimizer_bytes(training.optimizer), state_bytes);
  }
  if (training.state == system::Place::streaming) {
    text += "lacuna: training.state = streaming changes nothing: the store has it in any case\n";
  }
  const system::TrainingParams plain;
  for (const char* const word : {"code_kib", "buffer_kib"}) {
    if (training.find(word)->value_text() == plain.find(word)->value_text()) continue;
    text +=
        fmt::format("lacuna: training.{} is of the tiles of IPUs, and there are none here\n", word);
  }
  return text;
}

}  // namespace lacuna
