// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/detect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/import/chakra_graph.hpp"
#include "workloads/import/json_request_lines.hpp"
#include "workloads/import/request_file.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells = split(std::string(line), separator_of(line));
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  while (cells.size() > 1 && cells.back().empty()) cells.pop_back();
  return cells;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what,
                         const std::string& instead) {
  refuse_request("{}: {}; {}", path, what, instead);
}

// Files of the tools whose formats are read that hold no workload.
void refuse_known(std::string_view text, const std::string& first, const std::string& path) {
  struct Known {
    const char* part;
    const char* what;
    const char* instead;
  };
  static constexpr std::array<Known, 10> kKnown = {{
      {"# lacuna-trace", "is a trace already", "run it with --trace"},
      {"[MSNetwork]", "is a hardware configuration of STONNE and describes another machine",
       "give its command lines"},
      {"[architecture_presets]", "is a configuration of SCALE-Sim, not a workload",
       "give a topology, and this with --scalesim-config"},
      {"\nERT_summary:", "is an energy reference table, not a workload", "give a layer file"},
      {"problem_base_ignore", "is the base that Timeloop layers include and has no layer",
       "give a layer file"},
      {"Buffer and Arithmetic Levels", "holds the statistics of a Timeloop run, not a workload",
       "give a layer file"},
      {"DN_WIRE AREA", "is an energy table of STONNE, not a workload", "give its command lines"},
      {"modifiers:", "is a pruning recipe, not a workload",
       "give it with --sparse beside the model; what prunes step by step is lacuna trace "
       "schedule's"},
      {"trainer:", "is a YAML model file, which is not an import format",
       "use lacuna trace make with the model's name, or a config.json"},
      {"hidden_size:", "is a YAML model file, which is not an import format",
       "use lacuna trace make with the model's name, or a config.json"},
  }};
  if (starts_with(first, "layerid")) {
    refuse(path, "is a report of SCALE-Sim, a result and not a workload", "give a topology");
  }
  constexpr std::size_t kLooked = std::size_t{1} << 16U;
  const std::string start = fmt::format("\n{}", text.substr(0, kLooked));
  for (const Known& known : kKnown) {
    if (has_part(start, known.part)) refuse(path, known.what, known.instead);
  }
}

std::string detect_table(const std::vector<std::string>& cells) {
  const std::string first = lower_case(cells.front());
  constexpr std::size_t kGemmCells = 5;
  if (has_part(first, "layer") && cells.size() > 1) {
    return cells.size() <= kGemmCells ? "scalesim-gemm" : "scalesim-conv";
  }
  return "";
}

std::string detect_text(std::string_view text, const std::string& path) {
  const std::string_view line = first_line(text);
  const std::string first = lower_case(line);
  if (starts_with(first, "%%matrixmarket")) return "mtx";
  if (is_request_header(line)) return "requests";
  if (!first.empty() && (first[0] == '{' || first[0] == '[') && !starts_with(first, "{{") &&
      !starts_with(first, "[msn") && !starts_with(first, "[gen")) {
    if (has_part(text, "\"sparse_args\"")) {
      refuse(path, "holds results of pruned models, not a workload",
             "make the model, with the density of each layer by --sparse");
    }
    // an object in each line says no configuration
    const std::string_view more = text.substr(static_cast<std::size_t>(line.end() - text.begin()));
    const bool lines = !keys_of_json_line(line).empty() && first_line(more).substr(0, 1) == "{";
    if (lines) return "requests";
    const bool chakra =
        first[0] == '[' || has_part(text, "\"workload_graph\"") || has_part(text, "\"nodes\"");
    return chakra ? "chakra-json" : "config";
  }
  refuse_known(text, first, path);
  const std::vector<std::string> cells = cells_of(line);
  if (std::string table = detect_table(cells); !table.empty()) return table;
  if (has_part(text, "problem:") && has_part(text, "instance:")) return "timeloop";
  for (const char* flag : {"-CONV", "-FC", "-DenseGEMM", "-SparseGEMM", "-SparseDense"}) {
    if (has_part(text, flag)) return "stonne";
  }
  if (cells.size() == 4 && is_decimal(cells[1]) && is_decimal(cells[2]) && is_decimal(cells[3])) {
    refuse(path, "holds densities for the rows of other files", "give it with --densities");
  }
  if (cells.size() == 2 && !is_decimal(cells[0]) && is_decimal(cells[1])) {
    refuse(path, "holds the columns of X for masks by name", "give it with --batch-sizes");
  }
  const std::string digits = "0123456789 ,\t";
  if (!first.empty() && first.find_first_not_of(digits) == std::string::npos) return "smtx";
  return "";
}

bool is_binary(std::string_view text) {
  constexpr std::size_t kLooked = 4096;
  const bool control = std::any_of(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(kLooked, text.size())),
      [](char c) { return c >= '\0' && c < '\t'; });
  return control || find_bad_byte(text).has_value();
}

}  // namespace

std::string detect_format(std::string_view text, const std::string& path) {
  if (starts_with(text, "GGUF")) refuse(path, "is a GGUF file", "give safetensors");
  std::string format;
  if (!is_binary(text)) format = detect_text(text, path);
  // Protobuf has no mark; ONNX begins with its version, field 1 as a number.
  if (format.empty() && is_binary(text)) {
    const bool onnx = text.size() > 2 && text[0] == '\x08';
    const bool chakra = is_chakra(text);
    if (onnx && chakra) {
      refuse_request("{}: fits both onnx and chakra; say which with --format", path);
    }
    if (onnx) format = "onnx";
    if (chakra) format = "chakra";
  }
  if (!format.empty()) return format;
  refuse_request(
      "{}: found a file of no known format; allowed: those that lacuna trace import --help lists, "
      "named with --format where the content alone does not tell",
      path);
}

}  // namespace lacuna
