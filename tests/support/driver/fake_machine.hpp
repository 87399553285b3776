// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "models/energy/energy_params.hpp"
#include "sim/base/parameter.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna::test {

/// What the fake machine does wrong.
enum class Fault {
  none,
  utilisation,
  sram,
  fabric,
  io,
  stack,
  words,
  unsent,
  classes,
  products,
  useful,
  busy,
  deadlock,
  memory,
  unsupported,
  crash,
  interrupt,
  interrupt_after,
  end_after,
  values,
  not_compared
};

struct FakeUnitParams : ParameterSet {
  Param<unsigned> count = param(this, "count", 4, range(1, 64), "units", "How many units.");
  Param<unsigned> macs = param(this, "macs", 8, range(1, 64), "MAC/cycle", "Of each unit.");
};

struct FakeParams : ParameterSet {
  Param<double> clock = param(this, "clock", 1.0, range(0.01, 10.0), "GHz", "The clock.");
  Param<Fault> fault = param(this, "fault", Fault::none,
                             Choices<Fault>{{"none", Fault::none},
                                            {"utilisation", Fault::utilisation},
                                            {"sram", Fault::sram},
                                            {"fabric", Fault::fabric},
                                            {"io", Fault::io},
                                            {"stack", Fault::stack},
                                            {"words", Fault::words},
                                            {"unsent", Fault::unsent},
                                            {"classes", Fault::classes},
                                            {"products", Fault::products},
                                            {"useful", Fault::useful},
                                            {"busy", Fault::busy},
                                            {"deadlock", Fault::deadlock},
                                            {"memory", Fault::memory},
                                            {"unsupported", Fault::unsupported},
                                            {"crash", Fault::crash},
                                            {"interrupt", Fault::interrupt},
                                            {"interrupt_after", Fault::interrupt_after},
                                            {"end_after", Fault::end_after},
                                            {"values", Fault::values},
                                            {"not_compared", Fault::not_compared}},
                             "What goes wrong.");
  Group<FakeUnitParams> unit = group(this, "unit", "One unit.");
  Group<EnergyParams> energy = group(this, "energy", "Prices.");
};

/// A machine without hardware: ceil(nnz * n / (units * macs)) cycles and 10 more, with counters
/// that fit, unless `fault` says otherwise. It stands in for an IPU.
class FakeMachine final : public Machine {
 public:
  explicit FakeMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "ipu"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  std::vector<DeclaredStatistic> statistics() const override;
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  void check() const override {}
  Mode default_mode() const override { return Mode::static_; }
  std::string extent() const override;
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  std::string name_;
  FakeParams params_;
};

/// A table whose kind "ipu" is the fake machine.
const MachineTable& fake_machines();

}  // namespace lacuna::test
