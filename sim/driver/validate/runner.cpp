// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/runner.hpp"

#include <fmt/format.h>

#include <numeric>
#include <tuple>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/files/yaml_preset.hpp"
#include "sim/report/layout_note.hpp"

namespace lacuna {

namespace {

/// What the mask of a run depends on: not n and not the type, so that a curve over n and its
/// types see one matrix. Its rule is named if it is not the default one.
std::string mask_name(const LayerOp& op) {
  std::string name =
      fmt::format("{}x{} {} block {} {}", op.m, op.k, op.pattern.name, op.pattern.block_rows,
                  op.pattern.density ? op.pattern.density->text() : "");
  for (const auto& [key, value] : op.pattern.args) {
    if (key == "mask_rule" || key == "rule_seed") name += fmt::format(" {} {}", key, value);
  }
  return name;
}

/// The number of cycles that a run is for: by default the statistic `kernel_cycles`, which the
/// PopSparse measurements use, or all cycles of a machine that does not have it.
Cycle cycles_of(const ValidationRun& run, const OpResult& result) {
  const std::string name = run.statistic.empty() ? "kernel_cycles" : run.statistic;
  const auto* const found =
      find_where(result.statistics, [&](const StatEntry& entry) { return entry.name == name; });
  if (found != nullptr) return found->value;
  if (run.statistic.empty()) return result.cycles;
  throw InternalError(fmt::format("there is no statistic '{}'", run.statistic));
}

std::unique_ptr<Machine> machine_of(const MachineTable& table, const ValidationRun& run,
                                    const std::vector<std::string>& settings) {
  std::vector<std::unique_ptr<Machine>> made = make_machines(table, {run.machine}, settings);
  if (!run.clock.empty()) made[0]->set("clock", run.clock, "the system of the point");
  for (const std::string& text : run.settings) {
    const Setting setting = parse_setting(text);
    made[0]->set(setting.path, setting.value, "the point");
  }
  made[0]->check();
  return std::move(made[0]);
}

}  // namespace

ValidationRuns::ValidationRuns(const MachineTable& table, const std::vector<ValidationRun>& runs,
                               const ValidationRunSettings& settings)
    : runs_(runs) {
  add(table, settings, settings.layout);
  using Source = LayoutRequest::Source;
  const Source source = settings.layout.source;
  if (source == Source::best || source == Source::file) add(table, settings, {});
}

void ValidationRuns::add(const MachineTable& table, const ValidationRunSettings& settings,
                         const LayoutRequest& layout) {
  std::map<std::string, const Machine*> known;
  for (const ValidationRun& run : runs_) {
    const Machine*& machine =
        known[fmt::format("{}@{} {}", run.machine, run.clock, fmt::join(run.settings, " "))];
    if (machine == nullptr) {
      machines_.push_back(with_layouts(machine_of(table, run, settings.settings), layout));
      machine = machines_.back().get();
    }
    Point point{points_.size(), machine, run.op.id, {}};
    point.workload.ops = {run.op};
    point.workload.ops[0].repeat = 1;  // who asks takes the cycles of one times its repeats
    point.workload.ops[0].seed = run.op.pattern.name == "dense"
                                     ? settings.seed
                                     : stream_seed(settings.seed, mask_name(run.op));
    points_.push_back(std::move(point));
  }
}

std::vector<std::size_t> ValidationRuns::order() const {
  std::vector<std::size_t> order(points_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::size_t i) {
    const LayerOp& op = points_[i].workload.ops[0];
    return std::make_tuple(~(std::uint64_t{op.m} * op.k), mask_name(op), ~op.n);
  };
  sort_all(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

std::vector<ValidationRunResult> ValidationRuns::results(const Records& records) const {
  std::vector<ValidationRunResult> results;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const OpResult& result = records[i]->ops[0].result;
    ValidationRunResult& made = results.emplace_back();
    made.status = result.status;
    made.reason = result.reason;
    if (result.status != Status::ok) continue;
    made.cycles = cycles_of(runs_[i], result);
    made.clock_ghz = result.clock_ghz;
    made.all_cycles = result.cycles;
    made.layout = note_of(result, kLayoutNote);
    made.layout_from = note_of(result, kLayoutSourceNote);
    if (made.layout.empty()) continue;
    const OpResult& planned = records.at(i + runs_.size())->ops[0].result;
    if (planned.status != Status::ok) continue;
    made.planned = cycles_of(runs_[i], planned);
    made.all_planned = planned.cycles;
  }
  return results;
}

}  // namespace lacuna
