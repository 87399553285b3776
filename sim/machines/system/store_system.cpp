// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/system/store_system.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/mapping/system/row_program.hpp"

namespace lacuna {

StoreSystem::StoreSystem(std::string name, MakeChip make)
    : name_(std::move(name)), make_(std::move(make)) {
  make_chip();
}

void StoreSystem::make_chip() {
  inner_ = make_(own_.chip, name_);
  takes_ = dynamic_cast<TakesStreams*>(inner_.get());
  if (takes_ == nullptr) {
    throw RequestError(fmt::format(
        "{}: found chip = '{}', which takes no weights from a store while it works; a wafer does",
        name_, own_.chip.value()));
  }
  takes_->feed_from_store();
  for (const ChipSetting& each : settings_) inner_->set(each.path, each.text, each.origin);
}

void StoreSystem::set(const std::string& path, const std::string& text, const std::string& origin) {
  if (starts_with(path, kChipPrefix)) {
    settings_.push_back({path.substr(std::strlen(kChipPrefix)), text, origin});
    inner_->set(settings_.back().path, text, origin);
    return;
  }
  if (own_.find(path) == nullptr && inner_->parameters().find(path) != nullptr) {
    throw ParameterError(fmt::format("{}: '{}' is a parameter of its chips, and set as {}{}{}",
                                     name_, path, kChipPrefix, path,
                                     origin.empty() ? "" : " (" + origin + ")"));
  }
  own_.set(path, text, origin);
  if (path == "chip") make_chip();
}

system::WaferEdge StoreSystem::edge() const {
  return {static_cast<std::uint64_t>(std::llround(own_.io_latency_us.value() * 1000)),
          !takes_->takes_while_it_gives()};
}

OpResult StoreSystem::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                          const Execution& execution) const {
  if (!system::is_between_chips(op) && !is_of_store(op)) {
    return inner_->run(op, mask, seed, execution);
  }
  if (op.op == "p2p") {
    throw UnsupportedError(fmt::format(
        "p2p '{}' between chips: the row does not say from which chip to which, and what goes from "
        "one to another over a tree goes to all; a broadcast of so many bytes takes as long",
        op.id));
  }
  OpResult result;
  if (execution.values) result.values.emplace();  // none is made here
  result.clock_ghz = std::stod(inner_->parameters().find("clock")->value_text());
  const bool of_store = is_of_store(op);
  if (!of_store) system::check_ranks(op, own_.chips(), "machines");
  result.remarks.emplace_back(
      of_store ? "the store does it, when the gradients are there"
               : "its time is that of two passes of the system, up and down; none if it sums "
                 "gradients, which the store does");
  return result;
}

const StoreSystem* as_store_system(const Machine& machine) {
  return dynamic_cast<const StoreSystem*>(&machine);
}

}  // namespace lacuna
