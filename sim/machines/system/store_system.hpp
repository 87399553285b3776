// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/system/wafer_system.hpp"
#include "sim/machines/machine_over.hpp"
#include "sim/machines/system/takes_streams.hpp"

namespace lacuna {

/// Begins the path of a parameter of a system's chips.
inline constexpr const char* kChipPrefix = "chip.";

/// Makes a machine from a preset or file, to be called `label` in results.
using MakeChip =
    std::function<std::unique_ptr<Machine>(const std::string& name, const std::string& label)>;

/// Chips that share a store of weights, as a machine: rows are those of one chip, which all its
/// chips run alike, and the chip runs them. Parameters have two names: those of the system are its
/// own, those of the chip begin with chip. (see parameters_of.hpp); parameters() are the chip's.
class StoreSystem final : public MachineOver {
 public:
  /// RequestError if its chip takes no weights from a store.
  StoreSystem(std::string name, MakeChip make);

  const system::WaferSystemParams& own() const { return own_; }
  const Machine& chip() const { return *inner_; }
  Machine& chip() { return *inner_; }

  /// What joins its chips, as their edges have it.
  system::WaferEdge edge() const;

  /// Bytes that a chip has for operands and results.
  std::uint64_t chip_bytes() const { return takes_->memory_bytes(); }

  /// Puts another machine in place of the chip, made of it.
  void replace_chip(
      const std::function<std::unique_ptr<Machine>(std::unique_ptr<Machine>)>& replace) {
    inner_ = replace(std::move(inner_));
  }

  const std::string& name() const override { return name_; }
  void set(const std::string& path, const std::string& text, const std::string& origin) override;
  std::string no_room(const LayerOp& op) const override {
    return is_of_store(op) ? "" : inner_->no_room(op);
  }
  std::optional<Cycle> least_cycles(const LayerOp& op, const Mask* mask) const override {
    return inner_->least_cycles(op, mask);
  }
  /// A collective between the chips takes no cycles of a chip, nor does what an optimizer does;
  /// their time is the system's.
  /// UnsupportedError of words from one chip to another.
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;
  std::string layouts_of(const LayerOp& op) const override { return inner_->layouts_of(op); }

 private:
  struct ChipSetting {
    std::string path;
    std::string text;
    std::string origin;
  };

  void make_chip();

  /// Weights are updated where they are.
  static bool is_of_store(const LayerOp& op) { return op.op == "optim"; }

  std::string name_;
  MakeChip make_;
  system::WaferSystemParams own_;
  TakesStreams* takes_ = nullptr;  // the chip, which stays what it is within one that lays it out
  std::vector<ChipSetting> settings_;  // of the chip, in their order
};

/// The same as `machine` if it is a system of chips that share a store, else null.
const StoreSystem* as_store_system(const Machine& machine);

}  // namespace lacuna
