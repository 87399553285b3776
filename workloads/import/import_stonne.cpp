// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/matrix/token_reader.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

const std::set<std::string>& kinds() {
  static const std::set<std::string> kKinds = {"CONV", "FC", "DenseGEMM", "SparseGEMM",
                                               "SparseDense"};
  return kKinds;
}

bool is_of_hardware(const std::string& key) {
  static const std::set<std::string> kHardware = {
      "num_ms",       "ms_rows",     "ms_cols",  "dn_bw",     "rn_bw",
      "rn_type",      "mn_type",     "mem_ctrl", "dataflow",  "accumulation_buffer",
      "hardware_cfg", "print_stats", "tile",     "generator", "generate_tile",
      "path_to_tile"};
  return kHardware.count(key) != 0 || key.rfind("T_", 0) == 0;
}

/// One command line: its kind, and what its flags say.
struct Command {
  std::string where;
  std::string kind;
  std::map<std::string, std::string> values;

  [[noreturn]] void fail(const std::string& code, const std::string& key, const std::string& found,
                         const std::string& allowed) const {
    throw_problem({where, code, key, found, allowed, ""});
  }

  std::uint64_t size(const std::string& key, std::uint64_t otherwise = 0) const {
    const auto found = values.find(key);
    constexpr std::uint64_t kMost = 0x7fffffff;
    std::uint64_t value = otherwise;
    if (found == values.end() && otherwise != 0) return otherwise;
    const std::string text = found == values.end() ? "" : found->second;
    if (parse_integer(text, 1, kMost, value) == IntegerError::none) return value;
    fail("E202", "-" + key, text, fmt::format("an integer in [1, {}]", kMost));
  }

  // 1 - percent / 100.
  Decimal density(const std::string& key) const {
    const auto found = values.find(key);
    const std::string text = found == values.end() ? "0" : found->second;
    constexpr std::uint64_t kWhole = 100;
    std::uint64_t percent = 0;
    if (parse_integer(text, 0, kWhole, percent) != IntegerError::none) {
      fail("E203", "-" + key, text, "a percentage, a whole number in [0, 100]");
    }
    if (percent == 0) return {1, 0};
    return {kWhole - percent, 2};
  }
};

Command read_command(TokenReader& tokens, const std::string& path) {
  Command command;
  command.where = place(path, tokens.line_number(), 1);
  for (std::string word(tokens.next_word()); !word.empty(); word = tokens.next_word()) {
    if (word[0] != '-') continue;  // the name of the program
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(1, equals == std::string::npos ? equals : equals - 1);
    if (kinds().count(key) != 0) {
      if (!command.kind.empty()) command.fail("E207", "", word, "one kind of layer in a line");
      command.kind = key;
    } else if (!is_of_hardware(key)) {
      const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (!command.values.emplace(key, value).second) command.fail("E207", "", word, "once");
    }
  }
  return command;
}

void check_flags(const Command& command) {
  static const std::vector<std::string> kGemm = {"M", "N", "K", "layer_name"};
  static const std::vector<std::string> kConv = {"R", "S", "C", "K",       "G",
                                                 "N", "X", "Y", "strides", "layer_name"};
  std::vector<std::string> allowed = command.kind == "CONV" ? kConv : kGemm;
  if (command.kind.rfind("Sparse", 0) == 0) {
    allowed.emplace_back("MK_sparsity");
    allowed.emplace_back("KN_sparsity");
  }
  for (const auto& [key, value] : command.values) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      command.fail("E207", "", "-" + key, fmt::format("-{}", fmt::join(allowed, ", -")));
    }
  }
}

void set_convolution(const Command& command, LayerOp& row) {
  const std::uint64_t groups = command.size("G", 1);
  const std::uint64_t channels = command.size("C");
  const std::uint64_t filters = command.size("K");
  const std::uint64_t stride = command.size("strides", 1);
  if (channels % groups != 0 || filters % groups != 0) {
    command.fail("E214", "-G", fmt::format("{}", groups), "a divisor of -C and of -K");
  }
  const auto out = [&](const char* input, const char* filter) {
    const std::uint64_t x = command.size(input);
    const std::uint64_t r = command.size(filter);
    if (r > x) command.fail("E214", filter, fmt::format("{}", r), fmt::format("at most {}", x));
    return (x - r + stride) / stride;
  };
  const std::uint64_t kernel =
      ImportContext::side(command.size("R") * command.size("S"), command.where, "k");
  const std::uint64_t pixels =
      ImportContext::side(out("X", "R") * out("Y", "S"), command.where, "n");
  row.m = static_cast<std::uint32_t>(filters / groups);
  row.k = ImportContext::side(kernel * (channels / groups), command.where, "k");
  row.n = ImportContext::side(pixels * command.size("N", 1), command.where, "n");
  row.batch = static_cast<std::uint32_t>(groups);
  const std::uint64_t image =
      ImportContext::side(command.size("X") * command.size("Y"), command.where, "-X x -Y");
  const std::uint64_t inputs = image * (channels / groups);
  const std::uint64_t pictures = command.size("N", 1);
  if (inputs <= kMostProduct / pictures) set_unique_inputs(row, inputs * pictures);
}

}  // namespace

void import_stonne(const ImportFile& file, ImportContext& context) {
  TokenReader tokens(file.text, file.path);
  while (tokens.next_line()) {
    const Command command = read_command(tokens, file.path);
    if (command.kind.empty() && command.values.empty()) continue;
    if (command.kind.empty()) {
      command.fail("E101", "", "no kind of layer",
                   "one of -CONV, -FC, -DenseGEMM, -SparseGEMM, -SparseDense");
    }
    check_flags(command);
    const auto name = command.values.find("layer_name");
    LayerOp& row = context.add(name == command.values.end() ? command.kind : name->second, "gemm");
    if (command.kind == "CONV") {
      set_convolution(command, row);
      continue;
    }
    row.m = static_cast<std::uint32_t>(command.size("M"));
    row.k = static_cast<std::uint32_t>(command.size("K"));
    row.n = static_cast<std::uint32_t>(command.size("N"));
    set_densities(row, command.density("MK_sparsity"), command.density("KN_sparsity"));
  }
}

void apply_densities(const std::string& path, ImportContext& context) {
  struct Densities {
    Decimal weights;
    Decimal inputs;
  };
  std::map<std::string, Densities> known;
  CsvLines lines(read_text_file(path));
  CsvLine line;
  constexpr std::size_t kCells = 4;
  while (lines.next(line)) {
    if (line.kind != CsvLine::Kind::cells) continue;
    Densities densities;
    const bool right =
        line.cells.size() == kCells &&
        parse_fraction(line.cells[1].text, densities.weights) == DecimalError::none &&
        parse_fraction(line.cells[2].text, densities.inputs) == DecimalError::none;
    if (!right) {
      throw_problem({place(path, line.number, 1), "E204", "", line.cells[0].text,
                     "NAME, weights, inputs, outputs: decimals in [0, 1]", ""});
    }
    known[line.cells[0].text] = densities;
  }
  std::size_t found = 0;
  for (LayerOp& op : context.result.trace.ops) {
    const auto entry = known.find(op.id);
    if (entry == known.end()) continue;
    ++found;
    set_densities(op, entry->second.weights, entry->second.inputs);
  }
  context.result.notes.push_back(fmt::format("{} rows have densities of {}", found, path));
  if (found == 0) context.result.warnings.push_back(path + ": has the name of no row");
}

}  // namespace lacuna
