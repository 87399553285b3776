// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/machine.hpp"

namespace lacuna {

/// A machine that is another one but for what it overrides: what it runs, first of all. Bounds and
/// copies are not the other's.
class MachineOver : public Machine {
 public:
  explicit MachineOver(std::unique_ptr<Machine> inner = nullptr) : inner_(std::move(inner)) {}

  const char* kind() const override { return inner_->kind(); }
  const std::string& name() const override { return inner_->name(); }
  const ParameterSet& parameters() const override { return inner_->parameters(); }
  const EnergyParams& energy() const override { return inner_->energy(); }
  std::vector<DeclaredStatistic> statistics() const override { return inner_->statistics(); }
  Silicon silicon() const override { return inner_->silicon(); }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    inner_->set(path, text, origin);
  }
  void check() const override { inner_->check(); }
  Mode default_mode() const override { return inner_->default_mode(); }
  std::string extent() const override { return inner_->extent(); }
  std::vector<std::string> slow_settings() const override { return inner_->slow_settings(); }
  std::string describe_unit(const std::string& name) const override {
    return inner_->describe_unit(name);
  }
  std::string no_room(const LayerOp& op) const override { return inner_->no_room(op); }
  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override {
    inner_->relate(workload, mask_of, seed);
  }
  void place_operands(WorkloadTrace& workload) const override { inner_->place_operands(workload); }

 protected:
  std::unique_ptr<Machine> inner_;
};

}  // namespace lacuna
