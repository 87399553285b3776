// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/texts.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/token_reader.hpp"
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
  return kHardware.count(key) != 0 || starts_with(key, "T_");
}

/// One command line: its kind, and what its flags say.
struct Command {
  std::string where;
  std::string kind;
  std::map<std::string, std::string> values;

  [[noreturn]] void fail(const std::string& code, const std::string& key, const std::string& found,
                         const std::string& allowed) const {
    throw_diagnostic({where, code, key, found, allowed});
  }

  std::uint64_t size(const std::string& key, std::uint64_t otherwise = 0) const {
    const std::string* const text = value_in(values, key);
    if (text == nullptr && otherwise != 0) return otherwise;
    return read_integer(where, "-" + key, text == nullptr ? "" : *text);
  }

  // 1 - percent / 100.
  Decimal density(const std::string& key) const {
    const std::string* const given = value_in(values, key);
    const std::string text = given == nullptr ? "0" : *given;
    constexpr std::uint64_t kWhole = 100;
    const auto percent = parse_integer(text, 0, kWhole);
    if (!percent) fail("E203", "-" + key, text, "a percentage, a whole number in [0, 100]");
    if (*percent == 0) return {1, 0};
    return {kWhole - *percent, 2};
  }
};

Command read_command(TokenReader& tokens, const std::string& path) {
  Command command;
  command.where = place(path, tokens.line_number());
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
  if (starts_with(command.kind, "Sparse")) {
    allowed.emplace_back("MK_sparsity");
    allowed.emplace_back("KN_sparsity");
  }
  for (const auto& [key, value] : command.values) {
    if (!contains(allowed, key)) {
      command.fail("E207", "", "-" + key, fmt::format("-{}", fmt::join(allowed, ", -")));
    }
  }
}

Convolution convolution_of(const Command& command) {
  Convolution made;
  made.groups = command.size("G", 1);
  made.images = command.size("N", 1);
  const std::uint64_t channels = command.size("C");
  const std::uint64_t filters = command.size("K");
  const std::uint64_t stride = command.size("strides", 1);
  if (channels % made.groups != 0 || filters % made.groups != 0) {
    command.fail("E214", "-G", std::to_string(made.groups), "a divisor of -C and of -K");
  }
  made.channels = channels / made.groups;
  made.filters = filters / made.groups;
  made.kernel = {command.size("R"), command.size("S")};
  made.inputs = {command.size("X"), command.size("Y")};
  for (std::size_t i = 0; i < made.kernel.size(); ++i) {
    const std::uint64_t filter = made.kernel[i];
    const std::uint64_t side = made.inputs[i];
    if (filter > side) {
      command.fail("E214", i == 0 ? "-R" : "-S", std::to_string(filter),
                   fmt::format("at most {}", side));
    }
    made.outputs.push_back((side - filter + stride) / stride);
  }
  return made;
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
    const std::string* const name = value_in(command.values, "layer_name");
    LayerOp& row = context.add(name == nullptr ? command.kind : *name, "gemm");
    if (command.kind == "CONV") {
      set_convolution(convolution_of(command), command.where, row);
      continue;
    }
    row.m = static_cast<std::uint32_t>(command.size("M"));
    row.k = static_cast<std::uint32_t>(command.size("K"));
    row.n = static_cast<std::uint32_t>(command.size("N"));
    set_densities(row, command.density("MK_sparsity"), command.density("KN_sparsity"));
  }
}

void apply_densities(const std::string& path, ImportContext& context) {
  std::map<std::string, std::pair<Decimal, Decimal>> known;  // of weights and inputs
  CsvLines lines(read_text_file(path));
  CsvLine line;
  constexpr std::size_t kCells = 4;
  while (lines.next_cells(line)) {
    auto& [weights, inputs] = known[line.cells[0].text];
    const bool right = line.cells.size() == kCells &&
                       parse_fraction(line.cells[1].text, weights) == DecimalError::none &&
                       parse_fraction(line.cells[2].text, inputs) == DecimalError::none;
    if (!right) {
      throw_diagnostic(place(path, line.number), "E204", line.cells[0].text,
                       "NAME, weights, inputs, outputs: decimals in [0, 1]");
    }
  }
  std::size_t found = 0;
  for (LayerOp& op : context.result.trace.ops) {
    const auto* const densities = value_in(known, op.id);
    if (densities == nullptr) continue;
    ++found;
    set_densities(op, densities->first, densities->second);
  }
  context.note("{} rows have densities of {}", found, path);
  if (found == 0) context.warn("{}: has the name of no row", path);
}

}  // namespace lacuna
