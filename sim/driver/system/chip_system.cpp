// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_system.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_describe.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/system/fit.hpp"
#include "sim/driver/system/report.hpp"
#include "sim/driver/system/store_record.hpp"
#include "sim/driver/system/tree_training.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"

namespace lacuna {

using system::TrainingParams;

ChipSystem::ChipSystem(const MachineTable& kinds, const std::string& name,
                       const std::vector<std::string>& settings) {
  if (!is_tree_system(name)) {
    linked_ = make_system(name, settings);
    return;
  }
  std::vector<std::string> own;
  for (const std::string& text : settings) {
    if (!starts_with(text, "training.")) own.push_back(text);
  }
  tree_ = with_layouts(std::move(make_machines(kinds, {name}, own)[0]), layout_request({}, true));
}

unsigned ChipSystem::chips() const {
  return tree_ ? as_store_system(*tree_)->own().chips() : linked_.params.chips();
}

std::vector<ParameterValue> ChipSystem::parameters() const {
  return tree_ ? parameter_values(*tree_) : values_of(linked_.params);
}

TrainingParams ChipSystem::spread(const TrainingParams& training) const {
  return tree_ ? spread_over_tree(training, chips()) : spread_over(training, chips());
}

void ChipSystem::refuse_layout(const TrainingParams& training) const {
  if (tree_) refuse_layout_on_tree(training, name());
}

SystemRecord ChipSystem::run(SystemJob job, const SystemWishes& wishes) const {
  job.execution.event_log = wishes.viewed || (wishes.drawn && !tree_);  // a tree draws its passes
  if (!tree_) return record_of(linked_, job.training, run_training({job, linked_}), wishes);
  return record_of(*tree_, job.training.model, train_on_tree(job, *tree_), wishes, &job.training);
}

TextPage ChipSystem::fit(const SystemJob& job) const {
  if (!tree_) return fit_page(TrainingJob(job, linked_));
  throw refused(
      "describe fit lays a model out over chips joined by links; each chip of {} does the whole "
      "model, and lacuna run says what that needs",
      name());
}

bool is_tree_system(const std::string& name) { return is_system(name) && !is_linked_system(name); }

}  // namespace lacuna
