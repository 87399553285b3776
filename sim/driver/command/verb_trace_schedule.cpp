// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/driver/command/output.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/study.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/schedule/schedule_blocks.hpp"
#include "sim/driver/schedule/schedule_results.hpp"
#include "sim/driver/schedule/workload_schedule.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kPhaseColumns = {"update",          "first_step",    "steps",
                                                "moved",           "explored",      "density",
                                                "imbalance_16x16", "flop_per_step", "trace"};

std::string phase_rows(const std::vector<SchedulePoint>& points) {
  std::string csv;
  for (const SchedulePoint& point : points) {
    csv += csv_row(point.phase.index, point.phase.first_step, point.phase.steps, point.phase.moved,
                   point.phase.explored, point.phase.density, point.imbalance, point.flop,
                   fs::path(point.path).filename().string());
  }
  return csv;
}

/// Explored share and moved share against the update, as the publications draw them.
Figure evolution_figure(const std::vector<SchedulePoint>& points) {
  Chart chart;
  chart.page.name = "schedule";
  chart.page.title = {"Patterns over the schedule"};
  chart.columns = kPhaseColumns;
  chart.x.label = "update";
  chart.y = {"share", false, 0, 1.02};
  chart.layers = {{Mark::line, {}, "update", "explored", {"#0072B2", 7, 1}, "positions ever kept"},
                  {Mark::line, {}, "update", "moved", {"#D55E00", 7, 2}, "kept blocks moved"},
                  {Mark::line, {}, "update", "density", {"#009E73", 7, 4}, "density"}};
  return draw(chart, phase_rows(points));
}

using Machines = std::vector<std::unique_ptr<Machine>>;

/// Adds the points of one machine after the other: the samples, and the dense step.
void add_points(const Machines& machines, const ScheduleRequest& request,
                const std::vector<SchedulePoint>& phases, std::vector<Point>& points) {
  const bool changes = request.options.kind != ScheduleKind::spdf &&
                       request.options.kind != ScheduleKind::gradual &&
                       request.options.kind != ScheduleKind::iterative;
  for (const auto& machine : machines) {
    for (const SchedulePoint& phase : phases) {
      if (phase.path.empty()) continue;
      WorkloadTrace trace = read_trace(phase.path);
      for (LayerOp& op : trace.ops) {
        // A program that is built once runs with changing patterns in mode dynamic alone.
        const bool rebuilt = !changes || machine->default_mode() != Mode::static_;
        if (!rebuilt && op.pattern.name != "dense") op.mode = Mode::dynamic;
      }
      points.push_back({points.size(), machine.get(), "", std::move(trace)});
    }
    points.push_back({points.size(), machine.get(), "", dense_step(request)});
  }
}

/// Adds up the samples of each machine, each as often as it stands for steps.
std::vector<MachineTotals> add_up(const std::vector<SampleRow>& rows,
                                  const std::vector<SummaryRow>& dense) {
  std::vector<MachineTotals> totals;
  for (const SampleRow& row : rows) {
    if (totals.empty() || totals.back().machine != row.machine) {
      totals.push_back({row.machine, 0, 0, 0, 0, true});
    }
    MachineTotals& total = totals.back();
    const SummaryRow& base = dense[totals.size() - 1];
    const auto steps = static_cast<double>(row.point->steps);
    total.whole = total.whole && row.total.status == Status::ok && base.status == Status::ok;
    total.seconds += steps * row.step_time().value_or(0);
    total.joules += steps * joules_of(row.total).value_or(0);
    total.dense_seconds += steps * base.time_s.value_or(0);
    total.dense_joules += steps * joules_of(base).value_or(0);
  }
  return totals;
}

std::string totals_text(const std::vector<SchedulePoint>& phases, double dense_flop,
                        const std::vector<MachineTotals>& totals) {
  double flop = 0;
  double dense = 0;
  for (const SchedulePoint& point : phases) {
    flop += static_cast<double>(point.phase.steps) * point.flop;
    dense += static_cast<double>(point.phase.steps) * dense_flop;
  }
  const bool fine_tuned = phases.back().phase.dense;
  std::string text = fmt::format(
      "\nOver the schedule: {:.4e} FLOP of training, dense {:.4e}: {:.3f} times fewer\n", flop,
      dense, dense / flop);
  if (fine_tuned) {
    text += fmt::format("A step of pre-training: {:.3f} times fewer FLOP than a dense one\n",
                        dense_flop / phases.front().flop);
  }
  for (const MachineTotals& total : totals) {
    if (!total.whole) {
      text += fmt::format("{}: not all of it ran, see the status above\n", total.machine);
      continue;
    }
    const double less = total.dense_seconds / total.seconds;
    text += fmt::format(
        "{}: these products and updates take {} s, dense {} s: {:.3f} times {}; {} J, dense {} "
        "J\n",
        total.machine, four_digits(total.seconds), four_digits(total.dense_seconds),
        std::max(less, 1 / less), less < 1 ? "more" : "less", four_digits(total.joules),
        four_digits(total.dense_joules));
  }
  return text;
}

/// What became of the samples and the dense step on every machine.
struct Simulated {
  std::vector<SampleRow> rows;
  std::vector<SummaryRow> dense;  // a step of it on each machine
  std::vector<MachineTotals> totals;
};

/// What the records of add_points() come to; the first is that of `next`, which goes behind them.
Simulated simulated(const ScheduleRequest& request, const std::vector<SchedulePoint>& phases,
                    std::size_t machines, Records::const_iterator& next) {
  Simulated simulated;
  for (std::size_t i = 0; i < machines; ++i) {
    const std::size_t first = simulated.rows.size();
    std::vector<const RunRecord*> samples;
    for (const SchedulePoint& phase : phases) {
      if (phase.path.empty()) continue;
      samples.push_back(&**next++);
      simulated.rows.push_back(sample_row(phase, *samples.back()));
    }
    const RunRecord& dense = **next++;
    if (request.options.kind == ScheduleKind::rigl) {
      add_dense_gradients(simulated.rows, first, samples, dense);
    }
    simulated.dense.push_back(dense.total);
  }
  simulated.totals = add_up(simulated.rows, simulated.dense);
  return simulated;
}

Figures figures_of(const ScheduleRequest& request, const std::vector<SchedulePoint>& phases,
                   const Simulated& simulated) {
  const double flop = dense_step_flop(request);
  const ScheduleKind kind = request.options.kind;
  if (kind == ScheduleKind::spdf)
    return phases_figure(phases, flop, simulated.rows, simulated.dense);
  Figures figures = {time_figure(simulated.rows)};
  if (kind == ScheduleKind::gradual || kind == ScheduleKind::iterative) {
    figures.push_back(rounds_figure(phases, flop, simulated.rows, simulated.dense));
  }
  return figures;
}

/// The sizes of --block, which may be several.
std::vector<std::string> blocks_of(const Pairs& settings) {
  for (const auto& [key, value] : settings) {
    if (key == "block") return split(value, ',');
  }
  return {"1"};
}

Pairs with_block(Pairs settings, const std::string& block) {
  for (auto& [key, value] : settings) {
    if (key == "block") value = block;
  }
  return settings;
}

/// A request for each size of block, so that what is wrong with one is said before any work.
std::vector<ScheduleRequest> requests_of(const Options& options) {
  std::vector<ScheduleRequest> requests;
  for (const std::string& block : blocks_of(options.generator)) {
    requests.push_back(read_schedule(options.subjects.front(), with_block(options.generator, block),
                                     run_settings(options).seed));
    const std::uint32_t side = requests.back().options.block;
    const bool twice =
        std::any_of(requests.begin(), requests.end() - 1,
                    [&](const ScheduleRequest& earlier) { return earlier.options.block == side; });
    if (twice) throw refused("--block: '{}' is given twice", block);
  }
  return requests;
}

/// Where the files of a size of block stand in the folder: at its top unless there are several.
struct Place {
  ResultFolder& folder;
  std::string part;

  std::string path() const { return (folder.temporary() / part).string(); }

  void draw(const Figures& figures, std::ostream& said) const {
    const std::string place = (folder.temporary() / part / "figures").string();
    draw_or_say(figures, place, place, said);
    write_redraw(place);
  }
};

/// One size of block.
struct Block {
  ScheduleRequest request;
  Place place;
  std::vector<SchedulePoint> phases;
};

/// Writes what is left of its files and prints, with what its points have come to, if any.
BlockOutcome write_block(const Block& block, const std::optional<Simulated>& simulated,
                         const Options& options, const Streams& streams) {
  const auto& [request, place, phases] = block;
  place.folder.write(place.part + "schedule.csv", csv_line(kPhaseColumns) + phase_rows(phases));
  Figures figures = {evolution_figure(phases)};
  BlockOutcome outcome;
  outcome.block = request.options.block;
  double flop = 0;
  for (const SchedulePoint& point : phases) {
    const auto steps = static_cast<double>(point.phase.steps);
    flop += steps * point.flop;
    outcome.steps += steps;
  }
  // of all layers and one sequence
  const double scale =
      static_cast<double>(request.model->layers) / request.layers / request.sequences;
  outcome.flop = flop / outcome.steps * scale;
  outcome.dense_flop = dense_step_flop(request) * scale;
  if (simulated) {
    place.folder.write(place.part + "results.csv", results_csv(simulated->rows));
    append(figures, figures_of(request, phases, *simulated));
    streams.out << results_table(simulated->rows);
    outcome.machines = simulated->totals;
  } else {
    streams.out << fmt::format("{} phases in {}\n", phases.size(),
                               (fs::path(*options.out) / place.part / "schedule.csv").string());
  }
  place.draw(figures, streams.err);
  streams.out << totals_text(phases, dense_step_flop(request), outcome.machines);
  return outcome;
}

void check_words(const Options& options) {
  if (!options.out) throw RequestError("--out: a folder is needed for the traces and masks");
  if (options.jobs && options.machines.empty()) throw RequestError("--jobs: goes with --machine");
  if (options.resume && options.machines.empty()) {
    throw RequestError("--resume: goes with --machine, as only simulations are kept");
  }
  if (options.layout && options.machines.empty()) {
    throw RequestError("--layout: goes with --machine");
  }
  job_count(options);
}

}  // namespace

int schedule_verb(const Options& options, const MachineTable& kinds, const Streams& streams) {
  check_words(options);  // before any work
  const std::vector<ScheduleRequest> requests = requests_of(options);
  Machines machines = make_machines(kinds, options.machines, options.settings);
  lay_out(machines, layout_request(options.layout, options.no_cache));
  ResultFolder folder(*options.out, ResultFolder::Kind::schedule);
  const bool several = requests.size() > 1;
  folder.begin();
  std::vector<Block> blocks;
  std::vector<Point> points;
  for (const ScheduleRequest& request : requests) {
    const std::string part = several ? fmt::format("block{}/", request.options.block) : "";
    blocks.push_back({request, {folder, part}, {}});
    blocks.back().phases =
        write_schedule(request, blocks.back().place.path(), command_of_trace(options));
    add_points(machines, request, blocks.back().phases, points);
  }
  // masks follow from the arguments: their files, which are made anew, need no hash
  PointStudy study({"", facts_of_arguments(options), {}, {}, false, false}, points,
                   run_settings(options), options, streams);
  if (!machines.empty() && !study.begin()) return kDone;
  if (!machines.empty() && !study.run()) return kNotCompleted;
  auto next = study.records().cbegin();
  std::vector<BlockOutcome> outcomes;
  for (const Block& block : blocks) {
    if (several) streams.out << fmt::format("\nBlock {}\n\n", block.request.options.block);
    std::optional<Simulated> come_to;
    if (!machines.empty()) {
      come_to = simulated(block.request, block.phases, machines.size(), next);
    }
    outcomes.push_back(write_block(block, come_to, options, streams));
  }
  bool all_ran = true;
  for (const BlockOutcome& outcome : outcomes) {
    for (const MachineTotals& machine : outcome.machines) all_ran = all_ran && machine.whole;
  }
  if (several && !options.machines.empty()) {
    const ScheduleRequest& request = requests.front();
    add_published_losses(request.model->name, request.options.density.value(), outcomes);
    streams.out << blocks_table(outcomes);
    Place{folder, ""}.draw(blocks_figures(outcomes), streams.err);
  }
  folder.commit();
  study.end();
  return all_ran ? kDone : kNotCompleted;
}

}  // namespace lacuna
