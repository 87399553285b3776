// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/fonts.hpp"
#include "sim/driver/command/output.hpp"
#include "sim/driver/command/plot_options.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/result/off_chip.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/driver/validate/points.hpp"
#include "sim/report/explain.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_check.hpp"
#include "sim/report/figures/figure_why.hpp"
#include "sim/report/json_figure.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

/// The runs of all folders, counted through.
Runs read_all(const std::vector<std::string>& folders) {
  Runs all;
  for (const std::string& folder : folders) {
    for (RunRecord& record : read_result(folder)) {
      record.run = all.size();
      record.total.run = record.run;
      for (OpRecord& op : record.ops) op.row.run = record.run;
      all.push_back(std::move(record));
    }
  }
  return all;
}

/// Moves each file of `from` over its namesake in `to`: a figure is the old or the new one, whole.
void move_files(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    fs::rename(entry.path(), to / entry.path().filename());
  }
}

/// Useful throughput of other makers' hardware by density, of a file of validation points.
std::vector<MeasuredPoint> measured_points(const std::string& file, const Runs& records) {
  std::vector<MeasuredPoint> points;
  std::set<std::string> dtypes;
  for (const RunRecord& run : records) dtypes.insert(run.total.dtype);
  for (const ValidationPoint& point : read_validation_points(file)) {
    const bool throughput = point.unit == "TFLOP/s" && point.density && point.value;
    const bool ours = starts_with(point.system, "Bow") || starts_with(point.system, "GC") ||
                      starts_with(point.system, "CS-") || starts_with(point.system, "WSE");
    const std::string dtype = lower_case(point.dtype);
    if (!throughput || ours || dtypes.count(dtype) == 0) continue;
    std::string label = fmt::format("{} {}", point.system, point.mode);
    if (point.block > 1) label += fmt::format(" {}", point.block);
    points.push_back({label, point.density->value(), *point.value});
  }
  if (points.empty()) {
    throw refused(
        "--overlay: '{}' has no throughput, in TFLOP/s with a density, of other "
        "hardware and the type of this result",
        file);
  }
  return points;
}

/// The command that makes a result, with prices of --energy-table in place of those it had.
std::vector<std::string> repriced_command(const std::vector<std::string>& command,
                                          const std::string& table) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == "--energy-table") {
      ++i;  // its value
    } else {
      result.push_back(command[i]);
    }
  }
  // the engine stands last in every result
  result.insert(result.size() < 2 ? result.end() : result.end() - 2, {"--energy-table", table});
  return result;
}

/// Writes a result again with other prices; nothing is simulated.
int reprice_verb(const Options& options, const Streams& streams) {
  if (options.subjects.size() != 1) {
    throw RequestError("--energy-table: one result folder at a time is priced anew");
  }
  if (!options.out) throw RequestError("--energy-table: needs --out, the folder for the result");
  const Pricing pricing = make_pricing(options, streams);
  ResultHeader header = read_header(options.subjects.front());
  Runs records = read_result(options.subjects.front());
  for (RunRecord& record : records) pricing.reprice(record);
  compare_with_dense(records, {});
  header.command = repriced_command(header.command, *options.energy_table);
  add_file(header, *options.energy_table);
  Output output(*options.out, options);
  output.write(header, records, streams);
  return kDone;
}

/// Puts the pages of --view of several results into one, whose runs stand beside each other.
int join_views(const Options& options, const Streams& streams) {
  for (const OptionDeclaration& each : option_table()) {
    const std::string name = each.dashed();
    if (name == "--out" || name == "--view" || !each.is_given(options)) continue;
    throw refused("{} is for figures, not for --view", name);
  }
  constexpr std::size_t kLongestPage = std::size_t{1} << 30U;
  std::vector<ViewData> all;
  for (const std::string& folder : options.subjects) {
    const fs::path path = fs::path(folder) / "view.html";
    if (!fs::exists(path)) {
      throw refused("--view: '{}' has no view.html; run and compare write one with --view", folder);
    }
    for (const ViewData& data : read_views(path.string(), read_text(path, kLongestPage))) {
      all.push_back(of_origin(data, folder));
    }
  }
  const fs::path out = fs::path(*options.out) / "view.html";
  fs::create_directories(*options.out);
  std::ofstream file(out, std::ios::binary);
  file << view_page("Lacuna: runs beside each other", all);
  file.close();
  if (!file) throw SimulationError(fmt::format("{} cannot be written", out.string()));
  notes(options, streams) << "lacuna: page in " << out.string() << '\n';
  return kDone;
}

/// Figures of a result that are not drawn from its runs, by their descriptions in its folder: of
/// language models, systems and validations, of searches and of time. Not those that were changed
/// by hand.
Figures figures_beside(const fs::path& folder, const Figures& drawn) {
  constexpr std::size_t kLongestFigure = std::size_t{1} << 28U;
  std::set<std::string> names;
  for (const Figure& figure : drawn) names.insert(figure.name);
  Figures figures;
  for (const fs::path& path : files_in(folder, ".gp")) {
    if (names.count(path.stem().string()) != 0) continue;
    const fs::path data = fs::path(path).replace_extension(".csv");
    const fs::path about = fs::path(path).replace_extension(".json");
    const std::string script = read_text(path, kLongestFigure);
    if (is_edited(script) || !fs::exists(data) || !fs::exists(about)) continue;
    const std::string description = read_text(about, kLongestFigure);
    if (!is_description(description)) continue;
    figures.push_back({path.stem().string(), read_text(data, kLongestFigure), script, description});
  }
  return figures;
}

/// Refuses what chooses among runs, if a result has none.
void refuse_words_of_runs(const PlotOptions& plot, bool overlay) {
  if (plot.runs.empty() && !overlay) return;
  throw refused("{}: the result has no runs of operations, and its figures stay what they show",
                overlay ? "--overlay" : "--run");
}

/// All figures of the runs. If there is one result, also those of the other files in its folder.
Figures all_figures(const Options& options) {
  const Runs all = read_all(options.subjects);
  if (all.empty()) refuse_words_of_runs(options, options.overlay.has_value());
  const Runs records = chosen_runs(all, options);
  FigureExtras extras{{}, reference_memories(read_off_chip())};
  if (options.overlay) extras.measured = measured_points(*options.overlay, records);
  Figures figures = make_figures(records, extras);
  append(figures, explain_figures(records));
  append(figures, why_figures(answer_of(records)));
  if (is_interrupted(records)) mark_interrupted(figures);
  const bool whole = options.subjects.size() == 1 && options.runs.empty();
  if (!whole) return figures;
  const fs::path folder = fs::path(options.subjects.front()) / "figures";
  append(figures, figures_beside(folder, figures));
  return figures;
}

std::string font_remark(const std::string& font) {
  const std::string other = font.empty() ? "" : font_in_place_of(font);
  if (other.empty()) return "";
  return fmt::format(
      "lacuna: the font '{}' is not on this machine: PDF, PNG and EPS are drawn with '{}', and an "
      "SVG asks its viewer for it\n",
      font, other);
}

}  // namespace

int plot_verb(const Options& options, const Streams& streams) {
  if (options.view) return join_views(options, streams);
  if (options.energy_table) return reprice_verb(options, streams);
  // what is wrong with the look is said before anything is read
  streams.err << font_remark(figure_look(options).value("font", ""));
  if (options.subjects.size() > 1 && !options.out) {
    throw RequestError("--out: needed for the figures of more than one result");
  }
  Figures made = all_figures(options);
  const fs::path out =
      options.out ? fs::path(*options.out) : fs::path(options.subjects.front()) / "figures";
  std::error_code error;
  if (out.empty() || (fs::exists(out, error) && !fs::is_directory(out, error))) {
    throw refused("--out: '{}' is not a folder", out.string());
  }
  fs::path whole = fs::weakly_canonical(fs::absolute(out));
  if (whole.filename().empty()) whole = whole.parent_path();
  const fs::path temporary = whole.parent_path() / ("." + whole.filename().string() + ".new");
  const HeldSignals held;  // so that none leaves the neighbour behind
  fs::create_directories(whole.parent_path());
  fs::remove_all(temporary);
  try {
    const Figures figures = chosen_figures(std::move(made), options);
    for (const std::string& kept : draw_figures(figures, temporary.string(), whole.string())) {
      streams.err << fmt::format("lacuna: {} was changed by hand: drawn as it is\n", kept);
    }
    if (options.matplotlib) write_redraw(temporary.string());
  } catch (const std::exception&) {
    fs::remove_all(temporary, error);
    throw;
  }
  if (!fs::exists(temporary)) throw SimulationError("the result has nothing to draw");
  move_files(temporary, whole);
  fs::remove_all(temporary, error);
  notes(options, streams) << "lacuna: figures in " << whole.string() << '\n';
  return kDone;
}

}  // namespace lacuna
