// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {

namespace {

constexpr const char* kOwn = "own";

void check_number_of_workloads(const Options& options) {
  const int given = (options.trace ? 1 : 0) + (options.gemm ? 1 : 0) + (options.matrix ? 1 : 0) +
                    (options.program ? 1 : 0);
  if (given != 1) {
    throw refused("{} workload is given; give one of --trace, --gemm, --matrix and --program",
                  given == 0 ? "no" : "more than one");
  }
  if (options.matrix && !options.n) {
    throw RequestError("--matrix: needs --n, the number of columns that it is multiplied with");
  }
  if (options.matrix && options.patterns.empty()) {
    for (const auto& [name, is_given] : {std::pair("--density", options.density.has_value()),
                                         std::pair("--block", options.block.has_value()),
                                         std::pair("--nm", options.nm.has_value())}) {
      if (!is_given) continue;
      throw refused(
          "{}: the matrix has a pattern of its own, which this would put another one in place of; "
          "if that is meant, say it with --pattern",
          name);
    }
  }
  if (options.n && !options.matrix) {
    throw RequestError("--n: goes with --matrix alone; --gemm and --trace have their own");
  }
}

/// The zeros of activations that --x-pattern NAME[:DENSITY] or file:PATH asks for; of an experiment
/// the density may stand in x_density.
void set_x_pattern(const Options& options, LayerOp& op) {
  const std::string text = options.x_pattern.value_or("bernoulli");
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  op.x_pattern = check_word("--x-pattern", name, {"dense", "bernoulli", "channel", "file"});
  op.x_density.reset();
  op.x_file.clear();
  const bool both = options.x_density && (!rest.empty() || name == "dense");
  if (both && *options.x_density != "1") {
    throw refused("--x-pattern {} and --x-density {}: only one of them may say it", text,
                  *options.x_density);
  }
  if (name == "dense") return;
  if (name == "file") {
    if (rest.empty()) throw RequestError("--x-pattern: file needs a PATH, as in file:X.npy");
    op.x_file = rest;
    return;
  }
  const std::string density = rest.empty() ? options.x_density.value_or("") : rest;
  if (density.empty()) {
    throw refused("--x-pattern: {} needs a density, as in {}:0.1", name, name);
  }
  op.x_density = parse_density(density, "--x-pattern");
}

/// A workload is read more than once, and its result says with which bytes it was made.
void refuse_pipe(const char* option, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) || std::filesystem::is_regular_file(path, error) ||
      std::filesystem::is_directory(path, error)) {
    return;
  }
  throw refused("{}: found '{}', a pipe or device; allowed: a file, as it is read more than once",
                option, path);
}

/// The one row of --program FILE[:NAME=VALUE].
WorkloadTrace program_workload(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  LayerOp op;
  op.op = "program";
  op.id = std::filesystem::path(parts[0]).stem().string();
  op.dtype = DType::fp32;
  op.args = {{"file", parts[0]}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      throw refused("--program: found '{}'; allowed: FILE, FILE:NAME=VALUE, ...", text);
    }
    op.args.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
  }
  return {op.id, parts[0], {op}};
}

/// What a file is, if it is none that --trace reads but one that something else does.
std::string meant_instead(const std::string& path) {
  if (ArrayFile::open(path)) return "holds matrices: give it with --matrix, and --n";
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.find_first_not_of(" \t\r") == std::string::npos) {
  }
  const std::string first = lower_case(line);
  if (first.rfind("%%matrixmarket", 0) == 0) {
    return "is a Matrix Market file: give it with --matrix, and --n";
  }
  const bool digits =
      !first.empty() && first.find_first_not_of("0123456789, \r") == std::string::npos;
  if (digits) return "looks like a .smtx pattern: give it with --matrix, and --n";
  const bool topology = first.rfind("layer", 0) == 0 && first.find(',') != std::string::npos &&
                        first.find("id,") == std::string::npos;
  if (topology || first.rfind('{', 0) == 0) {
    return "is a file of another tool: lacuna trace import makes a trace of it";
  }
  return "";
}

bool has_sparse_row(const WorkloadTrace& workload) {
  return any_of(workload.ops, [](const LayerOp& op) { return op.pattern.name != "dense"; });
}

}  // namespace

void check_is_file(const Options& options) {
  if (options.trace) refuse_pipe("--trace", *options.trace);
  if (options.matrix) refuse_pipe("--matrix", *options.matrix);
  if (options.program) refuse_pipe("--program", *options.program);
}

std::string stored_zeros(const Options& options) {
  if (!options.matrix || !options.patterns.empty()) return "";
  const std::uint64_t zeros = read_pattern_file(*options.matrix).explicit_zeros;
  if (zeros == 0) return "";
  return fmt::format("lacuna: {}: {} stored zero{} kept, as the pattern has {}\n", *options.matrix,
                     zeros, zeros == 1 ? " is" : "s are", zeros == 1 ? "it" : "them");
}

WorkloadTrace load_workload(const Options& options) {
  check_number_of_workloads(options);
  check_is_file(options);
  if (options.trace) {
    if (const std::string meant = meant_instead(*options.trace); !meant.empty()) {
      throw refused("--trace: '{}' {}", *options.trace, meant);
    }
    return read_trace(*options.trace);
  }
  if (options.program) return program_workload(*options.program);
  if (options.gemm) return gemm_workload(parse_gemm(*options.gemm));
  return matrix_workload(*options.matrix, parse_side(*options.n, "--n"));
}

namespace {

/// True if a pattern takes a density and does not say one itself.
bool wants_density(const std::string& text) {
  if (text == kOwn) return false;
  const PatternSpec spec = parse_pattern(text);
  const PatternKind* const kind = find_pattern_kind(spec.name);
  return kind != nullptr && kind->density == PatternKind::Density::required && !spec.density;
}

/// Several densities of `compare`: each pattern that takes one, with each of them.
Options with_each_density(Options options) {
  const std::vector<std::string> densities = split(*options.density, ',');
  if (options.verb != "compare") {
    throw refused(
        "--density: found '{}'; allowed: one number from 0 to 1; several are for lacuna compare",
        *options.density);
  }
  std::vector<std::string> patterns;
  if (options.patterns.empty()) {
    options.patterns.emplace_back(options.block ? "block" + *options.block : "unstructured");
    options.block.reset();
  }
  for (const std::string& text : options.patterns) {
    if (!wants_density(text)) {
      patterns.push_back(text);
      continue;
    }
    for (const std::string& density : densities) {
      parse_density(density);
      // 1 keeps all: the dense product, once
      const bool all = parse_density(density) == Decimal{1, 0};
      const std::string with = all ? "dense" : fmt::format("{}:{}", text, density);
      const bool known = contains(patterns, with);
      if (!(all && known)) patterns.push_back(with);
    }
  }
  if (patterns == options.patterns) {
    throw refused("--density: found '{}', and none of the patterns takes one: {}", *options.density,
                  fmt::join(patterns, ", "));
  }
  options.patterns = patterns;
  options.density.reset();
  return options;
}

}  // namespace

std::vector<PatternChoice> pattern_choices(const Options& options) {
  if (options.density && options.density->find(',') != std::string::npos) {
    return pattern_choices(with_each_density(options));
  }
  PatternOptions single{std::nullopt, options.density, options.block, options.nm};
  std::vector<PatternChoice> choices;
  for (const std::string& text : options.patterns) {
    if (text == kOwn) {
      choices.push_back({kOwn, std::nullopt});
      continue;
    }
    single.pattern = text;
    const std::optional<PatternSpec> spec = make_pattern(single);
    choices.push_back({pattern_label(*spec), spec});
  }
  if (choices.empty()) {
    const std::optional<PatternSpec> spec = make_pattern(single);
    choices.push_back({spec ? pattern_label(*spec) : "", spec});
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (choices[i].label != choices[j].label) continue;
      throw refused("--pattern: '{}' is given twice", choices[i].label);
    }
  }
  return choices;
}

namespace {

/// Refuses an option that no row of the workload takes.
void check_rows_take(const WorkloadTrace& workload, const Options& options) {
  const auto any = [&](auto&& is) { return any_of(workload.ops, is); };
  const auto refuse = [](const char* option, const std::optional<std::string>& found,
                         const char* allowed) {
    if (!found || *found == "auto" || *found == "dense") return;
    throw refused("{}: error E208: found '{}'; allowed: {}", option, *found, allowed);
  };
  const bool weights = any([](const LayerOp& op) { return has_weights(op); });
  if (!weights) {
    const char* const allowed = "a workload with a product with weights";
    refuse("--x-pattern", options.x_pattern, allowed);
    refuse("--x-density", options.x_density, allowed);
    refuse("--residency", options.residency, allowed);
    if (!has_sparse_row(workload)) refuse("--mode", options.mode, allowed);
  }
  const bool products = any([](const LayerOp& op) {
    return op.op == "gemm" || op.op == "spmm" || op.op == "bmm" || op.op == "sddmm";
  });
  if (!products) refuse("--partials", options.partials, "a workload with a product");
}

}  // namespace

WorkloadTrace with_all_weights(WorkloadTrace workload) {
  std::set<std::string> weights;
  for (const LayerOp& op : workload.ops) {
    if (has_weights(op)) weights.insert(op.id);
  }
  for (LayerOp& op : workload.ops) {
    const std::string* const of = find_value(op.pattern.args, "of");
    const bool follows = op.pattern.name == "ref" && of != nullptr && weights.count(*of) != 0;
    if (!has_weights(op) && !follows) continue;
    op.pattern = PatternSpec{};
    if (op.op == "sddmm") op.op = "bmm";
  }
  return workload;
}

WorkloadTrace settle(const WorkloadTrace& workload, const PatternChoice& choice,
                     const Options& options) {
  check_rows_take(workload, options);
  WorkloadTrace settled = choice.pattern ? with_pattern(workload, *choice.pattern) : workload;
  if (choice.pattern && choice.pattern->name == "dense") {
    settled = with_all_weights(std::move(settled));
  }
  for (LayerOp& op : settled.ops) {
    op = only_touched(std::move(op), settled);
    if (options.dtype) op.dtype = parse_dtype(*options.dtype);
    if (options.partials) op.partials = parse_partials(*options.partials);
    if (options.mode && op.pattern.name != "dense") op.mode = parse_mode(*options.mode);
    if ((options.x_pattern || options.x_density) && has_weights(op)) set_x_pattern(options, op);
    if (options.residency && has_weights(op)) op.residency = parse_residency(*options.residency);
  }
  return settled;
}

void settle_mode(std::vector<WorkloadTrace>& workloads, const Options& options) {
  if (!options.mode) return;
  const Mode mode = parse_mode(*options.mode);
  if (any_of(workloads, has_sparse_row)) return;
  for (WorkloadTrace& workload : workloads) {
    for (LayerOp& op : workload.ops) {
      if (has_weights(op)) op.mode = mode;
    }
  }
}

}  // namespace lacuna
