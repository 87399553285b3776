// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/run/children.hpp"
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

/// The number of cycles that a run is for.
Cycle cycles_of(const ValidationRun& run, const OpResult& result) {
  if (run.statistic.empty()) return kernel_cycles(result);
  for (const StatEntry& entry : result.statistics) {
    if (entry.name == run.statistic) return entry.value;
  }
  throw InternalError(fmt::format("there is no statistic '{}'", run.statistic));
}

/// Makes what runs need, each once: machines for good, and the latest mask, because runs come
/// ordered by mask and a large one takes 100 MB.
class Workshop {
 public:
  Workshop(const MachineTable& table, const ValidationRunSettings& settings)
      : table_(table), settings_(settings) {}

  ValidationRunResult simulate(const ValidationRun& run) {
    const Machine& on = machine(run);
    try {
      const OpResult result = on.run(run.op, mask(run.op), settings_.seed, settings_.execution);
      ValidationRunResult made = {result.status, result.reason, cycles_of(run, result),
                                  result.clock_ghz, result.cycles};
      made.layout = note_of(result, kLayoutNote);
      made.layout_from = note_of(result, kLayoutSourceNote);
      if (!made.layout.empty()) add_planned(run, made);
      return made;
    } catch (const OutOfMemoryError& error) {
      return {Status::out_of_memory, error.what(), 0, 0, 0};
    } catch (const UnsupportedError& error) {
      return {Status::unsupported, error.what(), 0, 0, 0};
    } catch (const SimulationError& error) {
      return {Status::failed, error.what(), 0, 0, 0};
    } catch (const InternalError& error) {
      throw InternalError(fmt::format("{}: {}", run.op.id, error.what()));
    }
  }

  const Machine& machine(const ValidationRun& run) {
    std::string key = run.machine + "@" + run.clock;
    for (const std::string& setting : run.settings) key += " " + setting;
    std::unique_ptr<Machine>& kept = machines_[key];
    if (kept == nullptr) kept = with_layouts(planned_machine(run), settings_.layout);
    return *kept;
  }

 private:
  const Mask* mask(const LayerOp& op) {
    if (op.pattern.name == "dense") return nullptr;
    std::string name = mask_name(op);
    if (name != mask_name_) {
      mask_.reset();
      mask_ = generate_mask(op.pattern, op.m, op.k, stream_seed(settings_.seed, name));
      mask_name_ = std::move(name);
    }
    return &*mask_;
  }

  std::unique_ptr<Machine> planned_machine(const ValidationRun& run) const {
    std::vector<std::unique_ptr<Machine>> made =
        make_machines(table_, {run.machine}, settings_.settings);
    if (!run.clock.empty()) made[0]->set("clock", run.clock, "the system of the point");
    for (const std::string& setting : run.settings) {
      const std::size_t equals = setting.find('=');
      made[0]->set(setting.substr(0, equals), setting.substr(equals + 1), "the point");
    }
    made[0]->check();
    return std::move(made[0]);
  }

  /// The same as the machine plans it, which may be what it cannot do.
  void add_planned(const ValidationRun& run, ValidationRunResult& result) {
    try {
      const OpResult planned =
          planned_machine(run)->run(run.op, mask(run.op), settings_.seed, settings_.execution);
      result.planned = cycles_of(run, planned);
      result.all_planned = planned.cycles;
    } catch (const SimulationError&) {
    }
  }

  const MachineTable& table_;
  const ValidationRunSettings& settings_;
  std::map<std::string, std::unique_ptr<Machine>> machines_;
  std::string mask_name_;
  std::optional<Mask> mask_;
};

/// The order in which runs are made: by mask, the largest first, so that each mask is made once
/// and no large run is left for the end.
std::vector<std::size_t> work_order(const std::vector<ValidationRun>& runs) {
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const LayerOp& op = runs[i].op;
    const std::uint64_t size = std::uint64_t{op.m} * op.k;
    return std::make_tuple(~size, mask_name(op), ~op.n, i);
  };
  sort_all(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// Runs that are left and share a mask follow each other in one process.
std::vector<std::vector<std::size_t>> grouped(const std::vector<ValidationRun>& runs,
                                              const std::vector<bool>& finished) {
  std::vector<std::vector<std::size_t>> groups;
  std::string last;
  for (const std::size_t i : work_order(runs)) {
    if (finished[i]) continue;
    const LayerOp& op = runs[i].op;
    const std::string name = mask_name(op);
    // dense runs need no mask: each is a group of its own
    if (groups.empty() || name != last || op.pattern.name == "dense") groups.emplace_back();
    groups.back().push_back(i);
    last = name;
  }
  return groups;
}

}  // namespace

Cycle kernel_cycles(const OpResult& result) {
  for (const StatEntry& entry : result.statistics) {
    if (entry.name == "kernel_cycles") return entry.value;
  }
  return result.cycles;
}

std::string text_of(const ValidationRunResult& result) {
  return fmt::format("{} {} {} {} {} {}\n{}\n{}\n{}", static_cast<int>(result.status),
                     result.cycles, result.clock_ghz, result.all_cycles, result.planned,
                     result.all_planned, result.layout, result.layout_from, result.reason);
}

ValidationRunResult validation_result(const std::string& text) {
  ValidationRunResult result;
  std::istringstream lines(text);
  int status = 0;
  lines >> status >> result.cycles >> result.clock_ghz >> result.all_cycles >> result.planned >>
      result.all_planned;
  result.status = static_cast<Status>(status);
  lines.ignore();  // the end of the numbers
  std::getline(lines, result.layout);
  std::getline(lines, result.layout_from);
  result.reason.assign(std::istreambuf_iterator<char>(lines), {});
  return result;
}

std::string text_of_runs(const MachineTable& table, const std::vector<ValidationRun>& runs,
                         const ValidationRunSettings& settings) {
  Workshop workshop(table, settings);
  std::string text = fmt::format("seed {} engine {}\n", settings.seed,
                                 static_cast<int>(settings.execution.engine));
  std::set<const Machine*> told;
  for (const ValidationRun& run : runs) {
    const Machine& machine = workshop.machine(run);
    text += fmt::format("{} of {}\n", run.op.id, fmt::join(run.settings, " "));
    if (!told.insert(&machine).second) continue;
    machine.parameters().for_each([&](const std::string& path, const ParamBase& each) {
      text += path + '=' + each.value_text() + '\n';
    });
  }
  return text;
}

std::vector<ValidationRunResult> simulate_runs(const MachineTable& table,
                                               const std::vector<ValidationRun>& runs,
                                               const ValidationRunSettings& settings,
                                               Progress& progress, Journal* journal) {
  Workshop workshop(table, settings);
  // a wrong setting is found before anything runs
  for (const ValidationRun& run : runs) workshop.machine(run);
  std::vector<ValidationRunResult> results(runs.size());
  std::vector<bool> finished(runs.size(), false);
  const auto take = [&](std::size_t run, const std::string& text) {
    results.at(run) = validation_result(text);
    finished[run] = true;
  };
  if (journal != nullptr) {
    for (const auto& [run, text] : journal->finished()) take(run, text);
  }
  const std::vector<std::vector<std::size_t>> groups = grouped(runs, finished);
  Jobs jobs;
  jobs.order.resize(groups.size());
  std::iota(jobs.order.begin(), jobs.order.end(), 0);
  jobs.name = [&](std::size_t group) { return runs[groups[group].front()].op.id; };
  jobs.work = [&](std::size_t group, const Say& say) {
    for (const std::size_t run : groups[group]) {
      say(fmt::format("{}\n{}", run, text_of(workshop.simulate(runs[run]))));
    }
  };
  jobs.heard = [&](std::size_t /*group*/, const std::string& text) {
    const std::size_t line = text.find('\n');
    const std::size_t run = std::stoul(text.substr(0, line));
    take(run, text.substr(line + 1));
    if (journal == nullptr) return;
    journal->add(run, text.substr(line + 1));
    InterruptLine::say(InterruptLine::Kept::kept);
  };
  jobs.ended = [&](std::size_t group, const JobEnd& end) {
    if (end.kind != JobEnd::Kind::failed) return end.require_done();
    for (const std::size_t run : groups[group]) {
      if (!finished[run]) results[run] = {Status::failed, end.text, 0, 0, 0};
    }
  };
  if (!do_jobs(jobs, settings.jobs, progress)) {
    progress.clear();
    throw SimulationError(journal != nullptr
                              ? "interrupted; what is finished is kept: --resume goes on"
                              : "interrupted; nothing is kept without --out");
  }
  progress.clear();
  return results;
}

}  // namespace lacuna
