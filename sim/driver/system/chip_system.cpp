// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_system.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/chip_view.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/idle.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/driver/system/training.hpp"
#include "sim/driver/system/tree_training.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

using system::TrainingParams;

namespace {

class LinkedOutcome final : public SystemOutcome {
 public:
  LinkedOutcome(const SystemMachine& machine, const TrainingParams& training, TrainingResult result)
      : machine_(machine), training_(training), result_(std::move(result)) {}

  std::vector<SystemMetric> metrics() const override {
    return system_metrics(machine_, training_, result_);
  }
  std::vector<NamedTable> tables() const override {
    return system_tables(machine_, training_, result_);
  }
  std::string text(const std::string& name) const override {
    return system_text(machine_, name, training_, result_);
  }
  std::vector<std::pair<std::string, std::string>> files() const override {
    return system_files(machine_, training_, result_);
  }
  std::vector<Figure> figures() const override {
    return system_figures(machine_, training_, result_);
  }
  std::string page(const std::string& title) const override {
    return system_page(title, training_.chips(), result_.run.ns,
                       training_series(training_, result_));
  }
  ScalingRow scaling_row() const override {
    ScalingRow row;
    row.system = machine_.name;
    row.chips = training_.chips();
    row.seconds = result_.seconds();
    row.each = training_.global_batch();
    row.joules = result_.energy.total().nominal;
    row.trust = errors_of(machine_, training_);
    row.replicas = training_.replicas.value_text();
    row.accumulation = training_.accumulation.value_text();
    return row;
  }
  std::string idle(const std::vector<std::string>& settings) const override {
    return idle_parts(machine_.params, result_.run.bytes, settings);
  }

 private:
  const SystemMachine& machine_;
  const TrainingParams training_;
  const TrainingResult result_;
};

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
  std::unique_ptr<SystemOutcome> run(const SystemJob& job,
                                     const SystemWishes& wishes) const override {
    TrainingJob linked(job, machine_);
    linked.execution.event_log = wishes.drawn || wishes.viewed;
    return std::make_unique<LinkedOutcome>(machine_, job.training, run_training(linked));
  }
  std::string fit(const SystemJob& job, bool markdown) const override {
    return fit_text(TrainingJob(job, machine_), markdown);
  }

 private:
  SystemMachine machine_;
};

/// Rows of a trace that each chip of a tree ran.
class RowsOutcome : public SystemOutcome {
 public:
  RowsOutcome(const Machine& machine, std::string workload, WaferSystemRun run)
      : machine_(machine), workload_(std::move(workload)), run_(std::move(run)) {}

  std::vector<SystemMetric> metrics() const override { return wafer_system_metrics(run_); }
  std::vector<NamedTable> tables() const override { return wafer_system_tables(run_, metrics()); }
  std::string text(const std::string& /*name*/) const override { return wafer_system_text(run_); }
  std::vector<std::pair<std::string, std::string>> files() const override {
    return wafer_system_files(run_, metrics());
  }
  std::vector<Figure> figures() const override {
    return wafer_system_figures(run_, fmt::format("{}, {}", machine_.name(), workload_));
  }
  std::string page(const std::string& title) const override {
    return wafer_system_page(title, run_);
  }
  ScalingRow scaling_row() const override { return lacuna::scaling_row(machine_.name(), run_); }
  std::string idle(const std::vector<std::string>& /*settings*/) const override { return ""; }

 protected:
  const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
  const std::string workload_;
  const WaferSystemRun run_;
};

class TreeOutcome final : public RowsOutcome {
 public:
  TreeOutcome(const Machine& machine, const TrainingParams& training, TreeTraining trained)
      : RowsOutcome(machine, training.model, trained.run),
        training_(training),
        trained_(std::move(trained)) {}

  std::vector<SystemMetric> metrics() const override { return tree_metrics(training_, trained_); }
  std::string text(const std::string& name) const override {
    return tree_text(machine(), name, training_, trained_);
  }
  ScalingRow scaling_row() const override {
    return tree_scaling_row(machine(), training_, trained_);
  }
  std::string idle(const std::vector<std::string>& /*settings*/) const override {
    return idle_words_on_tree(training_, trained_.run.params.memoryx.state_bytes);
  }

 private:
  const TrainingParams training_;
  const TreeTraining trained_;
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
  std::unique_ptr<SystemOutcome> run(const SystemJob& job,
                                     const SystemWishes& wishes) const override {
    TreeJob tree(job, *machine_);
    tree.execution.event_log = wishes.viewed;  // files and figures are of passes
    return std::make_unique<TreeOutcome>(*machine_, job.training, train_on_tree(tree));
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

std::unique_ptr<SystemOutcome> outcome_of_rows(const Point& point, const RunRecord& record,
                                               const system::SystemExecution& execution,
                                               const Pricing& pricing) {
  const Machine& machine = *point.machine;
  if (!has_weight_store(machine) || record.total.status != Status::ok) return nullptr;
  return std::make_unique<RowsOutcome>(
      machine, point.workload.name,
      run_wafer_system(machine, point.workload, work_of(record), execution, pricing));
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
