// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <set>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/event_outputs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/off_chip.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/machines/wse/program/yaml_program.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/explain.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/figures/figure_why.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/scalesim_reports.hpp"
#include "sim/report/view_page.hpp"
#include "sim/report/why_csv.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/given_masks.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kLongestInput = std::size_t{1} << 30U;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

/// Of this process, or of the largest of its children, in KiB.
std::string peak_memory(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return fmt::format("{}", usage.ru_maxrss);  // NOLINT(*-union-access): as the C library has it
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

Output::Output(const std::string& folder, const Options& options)
    : folder_(folder), options_(options) {
  if (options.energy_table) add_input(*options.energy_table);
}

std::set<std::string> input_files(const std::vector<WorkloadTrace>& workloads) {
  std::set<std::string> paths;
  for (const WorkloadTrace& workload : workloads) {
    if (!workload.path.empty()) paths.insert(workload.path);
    for (const LayerOp& op : workload.ops) {
      for (const std::string& path : {op.pattern.file, weights_file(op.pattern), op.x_file}) {
        if (!path.empty()) paths.insert(split_array_name(path).file);
      }
      if (op.op != "program") continue;
      const std::vector<std::string> files = files_of_program(*find_value(op.args, "file"));
      paths.insert(files.begin(), files.end());
    }
  }
  return paths;
}

std::string hash_of_input(const std::string& path) {
  return find_given_mask(path) ? sha256(path) : sha256_of_file(path);
}

void add_file(ResultHeader& header, const std::string& path) {
  constexpr std::size_t kTables = 3;  // those of prices, at the end
  const std::size_t tables = std::min(kTables, header.files.size());
  const auto end = header.files.end() - static_cast<std::ptrdiff_t>(tables);
  const auto place =
      std::find_if(header.files.begin(), end, [&](const auto& file) { return file.first >= path; });
  const std::string hash = sha256_of_file(path);
  if (place != end && place->first == path) {
    place->second = hash;
  } else {
    header.files.insert(place, {path, hash});
  }
}

ResultHeader Output::header(const std::string& name,
                            const std::vector<WorkloadTrace>& workloads) const {
  ResultHeader header;
  header.version = build_version();
  header.command = reproducing_arguments(options_);
  header.workload = name;
  if (workloads.size() == 1) header.workload_path = workloads[0].path;
  std::set<std::string> paths = input_files(workloads);
  paths.insert(inputs_.begin(), inputs_.end());
  for (const std::string& path : paths) {
    header.files.emplace_back(path, hash_of_input(path));
  }
  // named without their folder, which differs between an installed and a built Lacuna
  for (const char* const table : {"energy_table.csv", "energy_set.csv", "energy_actions.csv"}) {
    header.files.emplace_back(table, sha256(read_text(config_folder() / table, kLongestInput)));
  }
  return header;
}

std::string Output::host() const {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  return host_text({{"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
                    {"host", host_name()},
                    {"processor", processor()},
                    {"compiler", __VERSION__},
                    {"arguments", shell_line(options_.arguments)},
                    {"wall_s", fmt::format("{:.3f}", wall.count())},
                    {"peak_memory_kib", peak_memory(RUSAGE_SELF)},
                    {"peak_memory_of_a_child_kib", peak_memory(RUSAGE_CHILDREN)}});
}

std::string Output::report_page(const ResultHeader& header, const Runs& records) const {
  HtmlReport page;
  page.version = header.version;
  page.command = "lacuna " + shell_line(header.command);
  page.figures = read_figures(figure_folder());
  for (const auto& file : std::filesystem::directory_iterator(folder_.temporary())) {
    if (file.is_regular_file()) page.beside.push_back(file.path().filename().string());
  }
  sort_all(page.beside);
  return html_report(page, records);
}

void Output::write_scalesim(const Runs& records) {
  for (const RunRecord& run : records) {
    std::filesystem::path place = "scalesim";
    if (records.size() > 1) place /= fmt::format("run{}", run.run);
    std::filesystem::create_directories(folder_.temporary() / place);
    for (const auto& [file, text] : scalesim_reports(run)) {
      folder_.write((place / file).string(), text);
    }
  }
}

void Output::write(const ResultHeader& header, const Runs& records, const Streams& streams) {
  folder_.begin();
  folder_.write("summary.csv", summary_csv(records));
  folder_.write("statistics.csv", statistics_csv(records));
  folder_.write("cycle_stack.csv", cycle_stack_csv(records));
  if (options_.event_log) folder_.write("events.csv", events_csv(records));
  folder_.write("result.json", result_text(header, records));
  const Answer answer = answer_of(records);
  const std::string why = why_csv(answer);
  if (!why.empty()) folder_.write("why.csv", why);
  if (answer.has_seeds()) folder_.write("seeds.csv", seeds_csv(answer));
  for (const auto& [file, text] : files_) folder_.write(file, text);
  const bool of_system =
      any_of(files_, [](const auto& file) { return file.first == "timeline.json"; });
  write_event_files(options_, records, folder_, of_system ? "chip_timeline.json" : "timeline.json");
  if (options_.scalesim) write_scalesim(records);
  Figures figures = make_figures(records, {{}, reference_memories(read_off_chip())});
  append(figures, explain_figures(records));
  append(figures, why_figures(answer));
  const std::size_t anew = figures.size();  // which `plot` makes anew
  append(figures, event_figures(options_, records));
  append(figures, own_figures_);
  if (is_interrupted(records)) mark_interrupted(figures);
  end(
      figures, figures.size() > anew, [&] { return report_page(header, records); }, streams);
}

void Output::write(const ResultHeader& header, const TableResult& result, const Streams& streams) {
  folder_.begin();
  Pairs tables;
  for (const auto& [name, text] : result.files) {
    folder_.write(name, text);
    const bool longest = starts_with(name, "requests") || starts_with(name, "errors");
    const bool shown = ends_with(name, ".csv") && !longest;
    if (shown) tables.emplace_back(name.substr(0, name.rfind('.')), text);
  }
  folder_.write("result.json", result.models.empty()
                                   ? result_text(header, {})
                                   : models_text(header, result.models, !result.composed));
  if (!result.pages.empty()) {
    std::vector<const std::string*> packed;
    for (const std::string& page : result.pages) packed.push_back(&page);
    folder_.write("view.html", view_page_of_first("Lacuna: " + result.view_title, packed));
  }
  const auto page = [&] {
    HtmlReport report;
    report.version = header.version;
    report.command = "lacuna " + shell_line(header.command);
    report.figures = read_figures(figure_folder());
    report.composed = result.composed;
    return html_tables(report, tables, result.parameters);
  };
  end(result.figures, true, page, streams);
}

void draw_or_say(const Figures& figures, const std::string& folder, const std::string& older,
                 std::ostream& said) {
  try {
    for (const std::string& kept : draw_figures(figures, folder, older)) {
      said << fmt::format("lacuna: figures/{} was changed by hand: drawn as it is\n", kept);
    }
  } catch (const SimulationError& error) {
    said << "lacuna: note: " << error.what() << '\n';
  }
}

/// Draws figures, writes the page and puts the folder in its place.
void Output::end(const Figures& figures, bool redraw, const std::function<std::string()>& page,
                 const Streams& streams) {
  folder_.write("host.json", host());
  draw_or_say(figures, figure_folder(), (folder_.target() / "figures").string(), streams.err);
  if (redraw) write_redraw(figure_folder());
  folder_.write("report.html", page());
  folder_.commit();
  if (!options_.quiet) streams.err << "lacuna: result in " << folder_.target().string() << '\n';
}

}  // namespace lacuna
