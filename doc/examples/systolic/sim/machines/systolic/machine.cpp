// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/systolic/machine.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "models/systolic/array.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"
#include "sim/machines/result_builder.hpp"
#include "workloads/mapping/systolic/plan.hpp"

namespace lacuna {
namespace {

struct SystolicParams : ParameterSet {
  Param<double> clock = param(this, "clock", 1.0, range(0.001, 100.0), "GHz", "Clock.");
  Group<systolic::ArrayParams> array = group(this, "array", "The cells.");
  Group<systolic::BufferParams> buffer = group(this, "buffer", "The memory beside them.");
  Group<EnergyParams> energy = group(this, "energy", "What pricing needs to know of the chip.");
};

class SystolicMachine final : public Machine {
 public:
  explicit SystolicMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "systolic"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  std::vector<DeclaredStatistic> statistics() const override {
    const systolic::ArrayStats array("array");
    return declared({&array});
  }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  void check() const override {}  // no parameter depends on another
  Mode default_mode() const override { return Mode::static_; }
  std::string extent() const override {
    return fmt::format("{} x {} cells in one array", params_.array.rows.value(),
                       params_.array.columns.value());
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t /*seed*/,
               const Execution& execution) const override {
    refuse(execution);
    const systolic::Plan plan = plan_product(op, mask, params_.array, params_.buffer);
    const SimContext context;
    ClockDomain clock("clock", sc_core::sc_time(1000.0 / params_.clock, sc_core::SC_PS),
                      execution.engine);
    systolic::SystolicArray array("array", params_.array, params_.buffer, plan.passes, clock);
    clock.add(array);
    ResultBuilder into(execution, params_.clock, 1);
    OpResult& result = into.result;
    if (!plan.passes.empty()) result.cycles = clock.run_until_done();
    result.mode = mask == nullptr ? "dense" : "static";
    result.residency = word(Residency::resident);
    into.products(std::uint64_t{op.m} * op.k * op.n * op.batch, plan.useful);
    const systolic::ArrayStats& stats = array.stats();
    into.counted(counts_of({&stats}), stats.reads.value() * 8, stats.writes.value() * 8);
    result.peaks.flop_per_cycle = 2.0 * params_.array.rows * params_.array.columns;
    // beside it each column reads a sum and writes it
    result.peaks.sram_bytes_per_cycle = params_.buffer.read_bytes + 8.0 * params_.array.columns;
    into.note("passes", fmt::format("{}", plan.passes.size()));
    into.note("inputs left out", fmt::format("{}", plan.skipped));
    return into.take();
  }

 private:
  /// What this machine has no answer to is said, and not passed over.
  static void refuse(const Execution& execution) {
    const char* asked = nullptr;
    if (execution.values) asked = "--values: a systolic array carries no numbers";
    if (execution.event_log) asked = "events: a systolic array logs none";
    if (execution.interval != 0) asked = "--interval: a systolic array is not looked at in between";
    if (asked != nullptr) throw UnsupportedError(asked);
  }

  std::string name_;
  SystolicParams params_;
};

}  // namespace

MachineKind systolic_kind() {
  MachineKind kind{"systolic", "an array of cells whose weights stay", [](std::string name) {
                     return std::unique_ptr<Machine>(new SystolicMachine(std::move(name)));
                   }};
  kind.what_ifs = [] {
    return std::vector<WhatIf>{{"weights loaded meanwhile", {"exchange"}},
                               {"no drain", {"idle"}},
                               {"compute alone", {"exchange", "stall", "idle"}}};
  };
  return kind;
}

}  // namespace lacuna
