// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_system.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/driver/system/store_record.hpp"
#include "sim/driver/system/training.hpp"
#include "sim/driver/system/tree_training.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

using system::TrainingParams;

namespace {

/// Chips joined by links, with the gateways and memories of their machines.
class LinkedSystem final : public ChipSystem {
 public:
  explicit LinkedSystem(SystemMachine machine) : machine_(std::move(machine)) {}

  const std::string& name() const override { return machine_.name; }
  unsigned chips() const override { return machine_.params.chips(); }
  std::vector<ParameterValue> parameters() const override { return values_of(machine_.params); }
  TrainingParams spread(const TrainingParams& training) const override {
    return spread_over(training, chips());
  }
  void refuse_layout(const TrainingParams& /*training*/) const override {}
  SystemRecord run(const SystemJob& job, const SystemWishes& wishes) const override {
    TrainingJob linked(job, machine_);
    linked.execution.event_log = wishes.drawn || wishes.viewed;
    return record_of(machine_, job.training, run_training(linked), wishes);
  }
  std::string fit(const SystemJob& job, bool markdown) const override {
    return fit_text(TrainingJob(job, machine_), markdown);
  }

 private:
  SystemMachine machine_;
};

/// Chips that share a store of weights over a tree.
class TreeSystem final : public ChipSystem {
 public:
  explicit TreeSystem(std::unique_ptr<Machine> machine) : machine_(std::move(machine)) {}

  const std::string& name() const override { return machine_->name(); }
  unsigned chips() const override { return as_store_system(*machine_)->own().chips(); }
  std::vector<ParameterValue> parameters() const override { return parameter_values(*machine_); }
  TrainingParams spread(const TrainingParams& training) const override {
    return spread_over_tree(training, chips());
  }
  void refuse_layout(const TrainingParams& training) const override {
    refuse_layout_on_tree(training, name());
  }
  SystemRecord run(const SystemJob& job, const SystemWishes& wishes) const override {
    TreeJob tree(job, *machine_);
    tree.execution.event_log = wishes.viewed;  // files and figures are of passes
    return record_of(*machine_, job.training.model, train_on_tree(tree), wishes, &job.training);
  }
  std::string fit(const SystemJob& /*job*/, bool /*markdown*/) const override {
    throw RequestError(fmt::format(
        "describe fit lays a model out over chips joined by links; each chip of {} does the whole "
        "model, and lacuna run says what that needs",
        name()));
  }

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace

std::optional<SystemRecord> record_of_rows(const Point& point, const RunRecord& record,
                                           const SystemWishes& wishes, Engine engine,
                                           const Pricing& pricing) {
  const Machine& machine = *point.machine;
  if (!has_weight_store(machine) || record.total.status != Status::ok) return std::nullopt;
  system::SystemExecution execution;
  execution.engine = engine;
  execution.event_log = wishes.viewed;
  const WaferSystemRun run =
      run_wafer_system(machine, point.workload, work_of(record), execution, pricing);
  return record_of(machine, point.workload.name, run, wishes);
}

bool is_tree_system(const std::string& name) { return is_system(name) && !is_linked_system(name); }

std::unique_ptr<ChipSystem> make_chip_system(const MachineTable& kinds, const std::string& name,
                                             const std::vector<std::string>& settings) {
  if (!is_tree_system(name)) {
    return std::make_unique<LinkedSystem>(make_system(name, settings));
  }
  std::vector<std::string> own;
  for (const std::string& text : settings) {
    if (text.rfind("training.", 0) != 0) own.push_back(text);
  }
  return std::make_unique<TreeSystem>(std::move(make_machines(kinds, {name}, own)[0]));
}

}  // namespace lacuna
