// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/decode_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/inference/model_figures.hpp"
#include "sim/driver/result/quantity_screen.hpp"
#include "sim/driver/result/result_model.hpp"
#include "sim/driver/result/result_why_text.hpp"
#include "sim/driver/why/why_models.hpp"
#include "sim/report/figures/figure_why.hpp"
#include "sim/report/why_csv.hpp"

namespace lacuna {

namespace {

void check_machines(const Options& options) {
  if (options.machines.empty()) {
    throw RequestError(
        "--machine: give a wafer, an IPU or a system of IPUs, such as wse3 or pod16");
  }
  if (options.verb == "compare" || options.machines.size() == 1) return;
  throw refused("--model: found {} machines, allowed is one; lacuna compare takes several",
                options.machines.size());
}

/// A request with other settings; or with all weights.
Options changed(const Options& options, const WhyAsk& ask) {
  Options other = options;
  other.settings = settings_with(options.settings, ask.settings);
  if (!ask.dense) return other;
  other.weights.clear();
  other.activations.clear();
  other.patterns.clear();
  other.density = other.block = other.seed = std::nullopt;
  return other;
}

/// Why a step or a prompt is not faster: it is run again with costs taken away, and dense.
Why why_of(const Options& options, const MachineTable& kinds, ModelReport& report,
           const Streams& streams) {
  const std::string& name = options.machines.front();
  const std::vector<DeclaredCause> causes = causes_of_models(kinds, name, false);
  constexpr double kMicros = 1e6;
  WhyQuestion question{{kMicros * report.of("step_time")}, causes, "us"};
  question.has_dense =
      !options.weights.empty() || !options.activations.empty() || !options.patterns.empty();
  std::ostream nowhere(nullptr);
  const Streams silent{streams.out, nowhere};
  return find_why(question, [&](const std::vector<WhyAsk>& asks) {
    ModelSweep sweep;
    sweep.axes = {"machine"};
    for (const WhyAsk& ask : asks) sweep.points.push_back({changed(options, ask), name, {name}});
    ModelRuns runs(sweep, options, kinds, silent);
    if (!runs.run()) throw SimulationError(kInterruptedWhy);
    std::vector<std::optional<WhyTime>> times;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      const auto& made = runs.outcomes().at(i).report;
      times.emplace_back();
      if (!made) continue;
      times.back() = WhyTime{kMicros * made->of("step_time")};
      if (asks[i].dense && asks[i].settings.empty()) report.compare_energy(*made);
    }
    return times;
  });
}

/// The first screen of a run of a model.
std::string screen_of(const ModelReport& report) {
  QuantityScreen screen;
  screen.title = report.title;
  screen.quantities = report.numbers;
  const bool prompt = report.what == "prefill";
  const std::string said = quantity_sentence(screen.quantities, prompt ? "The prompt" : "A step",
                                             "step_time", "tokens_per_s", "joules_per_token");
  if (!said.empty()) screen.sentences.push_back(said);
  for (const ModelTable& table : report.tables) {
    if (!screen.shares.empty() || (table.name != "time_stack" && table.name != "phases")) continue;
    const bool of_chips = table.name == "time_stack" && !table.rows.empty();
    screen.where = of_chips ? "where the time of the chips went, %" : "phases of a layer, % of it";
    if (!of_chips && report.kind == "ipu") continue;
    double all = 0;
    for (const auto& row : table.rows) all += row.second.at(0);
    for (const auto& [name, values] : table.rows) {
      screen.shares.emplace_back(name, all > 0 ? 100 * values.at(0) / all : 0);
    }
  }
  screen.more =
      "More: --wide (all numbers, phases, memory), --why, --json, --out DIR (page, files)\n";
  return quantity_screen(screen);
}

/// What is true of the first screen's numbers, a note a line, of several runs once; --wide has it
/// below its title.
void say_remarks(const std::vector<ModelReport>& reports, const Options& options,
                 std::ostream& err) {
  if (options.quiet) return;
  std::set<std::string> said;
  for (const ModelReport& report : reports) {
    std::istringstream lines(report.remark);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && said.insert(line).second) err << "lacuna: note: " << line << '\n';
    }
  }
}

/// What is asked why: a token or a prompt, on one machine.
void check_why(const Options& options) {
  if (!options.why) return;
  if (options.verb == "run" && (options.decode || options.prefill) && !options.view) return;
  throw RequestError(
      "--why of a model goes with lacuna run and --decode or --prefill, and not with --view");
}

}  // namespace

int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams) {
  read_model_request(options, kinds);  // what is wrong for all machines is said before any runs
  check_machines(options);
  check_why(options);
  const std::filesystem::path model = *options.model;
  // the name of a shipped model may have a dot
  const std::string title =
      std::filesystem::is_regular_file(model) ? model.stem().string() : *options.model;
  std::vector<std::string> inputs = {*options.model, options.requests.value_or("")};
  append(inputs, options.machines);
  ModelSweep sweep;
  sweep.axes = {"machine"};
  for (const std::string& name : options.machines) sweep.points.push_back({options, name, {name}});
  ModelRuns runs(sweep, title, inputs, options, kinds, streams, true);
  if (!runs.begin()) return kDone;
  if (!runs.run()) return kNotCompleted;
  if (runs.ends_as_share()) return kDone;
  std::vector<ModelReport> reports = runs.reports();
  std::optional<Why> why;
  if (options.why) {
    why = why_of(options, kinds, reports[0], streams);
    reports[0].facts.emplace_back("why", why_json_text(*why));
  }
  if (runs.output() != nullptr) {
    TableResult written = runs.result();
    written.view_title = title;
    written.figures = model_figures(reports);
    if (why) {
      written.files.emplace_back("why.csv", why_csv(reports[0].machine, "", *why));
      add_why_figure("why", reports[0].machine + ", " + title, *why, written.figures);
    }
    runs.write(written);
  }
  const bool compares = options.verb == "compare";
  if (options.json) {
    streams.out << (compares ? models_json(reports) : model_json(reports[0])) << '\n';
  } else if (options.wide) {
    streams.out << (compares ? model_comparison(reports) : model_text(reports[0]));
  } else {
    say_remarks(reports, options, streams.err);
    streams.out << (compares ? model_comparison_screen(reports) : screen_of(reports[0]));
  }
  if (why && !options.json) streams.out << "\nWhy it is not faster\n\n" << why_text(*why);
  return kDone;
}

}  // namespace lacuna
