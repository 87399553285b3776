// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/trace_file.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/report/answer/screen.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/generate/global_pruning.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/flop_convention.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_show.hpp"

namespace lacuna {
namespace {

/// With `--global DIR`: masks by one threshold, in files there.
void prune_globally(WorkloadTrace& trace, const Options& options) {
  const std::string* folder = find_value(options.generator, "global");
  if (folder == nullptr) return;
  std::error_code error;
  std::filesystem::create_directories(*folder, error);
  for (const RowMask& pruned : prune_together(trace, run_settings(options).seed)) {
    LayerOp& op = trace.ops[pruned.row];
    PatternSpec pattern;
    pattern.name = "file";
    pattern.file = (std::filesystem::path(*folder) / (op.id + ".smtx")).string();
    const bool blocks = pruned.mask.block_rows != 1 || pruned.mask.block_cols != 1;
    pattern.block_rows = pruned.mask.block_rows;
    pattern.block_cols = pruned.mask.block_cols;
    pattern.args = {{"unit", blocks ? "block" : "element"}};
    Mask grid = pruned.mask;
    grid.rows = pruned.mask.grid_rows();
    grid.cols = pruned.mask.grid_cols();
    grid.block_rows = grid.block_cols = 1;
    write_whole_file(pattern.file, format_smtx(grid));
    op.pattern = std::move(pattern);
  }
}

void deliver(WorkloadTrace trace, const std::vector<std::string>& comments, const Options& options,
             const Streams& streams) {
  prune_globally(trace, options);
  if (!options.out) {
    streams.out << trace_text(trace, "", comments);
    return;
  }
  write_trace_file(*options.out, trace, comments);
  if (!options.quiet) {
    streams.err << fmt::format("lacuna: wrote {}, {} rows\n", *options.out, trace.ops.size());
  }
}

int import_files(const Options& options, const Streams& streams) {
  const Imported imported = import_workload(options.subjects, options.generator);
  std::vector<std::string> comments = {command_of_trace(options)};
  append(comments, imported.notes);
  for (const std::string& warning : imported.warnings) {
    streams.err << "lacuna: warning: " << warning << '\n';
  }
  deliver(imported.trace, comments, options, streams);
  return kDone;
}

std::string show_flop(const WorkloadTrace& trace, const std::string& convention) {
  if (convention != "electra") {
    throw refused("--flop: found '{}'; allowed: electra", convention);
  }
  const ElectraFlop flop = electra_flop(trace);
  return fmt::format(
      "{}: FLOP of a sequence, counted as by the script of ELECTRA\n"
      "inference  {:.4e}\ntraining   {:.4e}\n",
      trace.name, flop.inference, flop.training);
}

/// Of a model: its config.json, or its folder.
bool is_file(const std::string& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(name, error) ||
         std::filesystem::is_regular_file(std::filesystem::path(name) / "config.json", error);
}

int make(const Options& options, const Streams& streams) {
  const std::string& name = options.subjects.front();
  if (options.subjects.size() > 1) {
    throw refused(
        "found '{}' and '{}'; allowed: one NAME; options such as --embedding stand without a value",
        name, options.subjects[1]);
  }
  if (is_file(name)) return import_files(options, streams);
  const WorkloadTrace trace = generate_workload(name, options.generator);
  deliver(trace, {command_of_trace(options)}, options, streams);
  return kDone;
}

}  // namespace

int trace_verb(const Options& options, const Streams& streams) {
  if (options.subverb == "make") return make(options, streams);
  if (options.subverb == "import") return import_files(options, streams);
  const std::string& path = options.subjects.front();
  std::string text;
  if (options.subverb == "check") {
    text = check_trace(path);
  } else {
    const std::uint64_t seed = run_settings(options).seed;
    const WorkloadTrace trace = read_trace(path);
    if (options.flop_convention) {
      text = show_flop(trace, *options.flop_convention);
    } else {
      text = options.picture ? draw_mask(trace, *options.picture, seed)
                             : show_trace(trace, seed, options.wide ? 0 : streams.columns);
    }
  }
  if (text.empty() || text.back() != '\n') text += '\n';
  streams.out << first_lines(text, options.wide || options.picture || !streams.out_is_terminal);
  return kDone;
}

}  // namespace lacuna
