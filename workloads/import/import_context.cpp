// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/import_context.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sim/base/error.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

ImportContext::ImportContext(const Pairs& settings) : pairs_(settings), settings_(settings) {
  settings_.types(dtype_, mode_);
}

Pairs ImportContext::model_settings(const std::set<std::string>& without) const {
  static const std::set<std::string> kOwn = {"format", "model", "skip", "prune"};
  Pairs kept;
  for (const auto& pair : pairs_) {
    if (kOwn.count(pair.first) + without.count(pair.first) == 0) kept.push_back(pair);
  }
  return kept;
}

unsigned ImportContext::element() const { return bytes_of(dtype_); }

std::string ImportContext::new_id(std::string_view name) {
  constexpr std::size_t kLongest = 120;
  const std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/+-";
  std::string id(name.substr(0, kLongest));
  for (char& c : id) {
    if (allowed.find(c) == std::string_view::npos) c = '_';
  }
  if (id.empty()) id = "_";
  std::string unique = id;
  for (unsigned i = 2; !ids_.insert(unique).second; ++i) unique = fmt::format("{}.{}", id, i);
  return unique;
}

LayerOp& ImportContext::add(std::string_view name, const std::string& op) {
  LayerOp row;
  row.id = new_id(name);
  row.op = op;
  row.fn = find_op_kind(op)->default_function;
  row.dtype = dtype_;
  if (has_weights(row)) row.mode = mode_;
  if (!result.trace.ops.empty()) row.depends_on = {result.trace.ops.back().id};
  result.trace.ops.push_back(std::move(row));
  return result.trace.ops.back();
}

std::uint32_t ImportContext::side(std::uint64_t value, const std::string& where, const char* what) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  if (value >= 1 && value <= kMost) return static_cast<std::uint32_t>(value);
  throw_problem({where, "E203", what, fmt::format("{}", value),
                 fmt::format("an integer in [1, {}]", kMost), ""});
}

std::string ImportFile::stem() const {
  const std::filesystem::path whole(path);
  std::error_code error;
  if (!std::filesystem::is_directory(whole, error)) return whole.stem().string();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

void set_densities(LayerOp& row, const Decimal& weights, const Decimal& inputs) {
  row.pattern = PatternSpec{};
  row.x_pattern = "dense";
  row.x_density.reset();
  if (!(weights == Decimal{1, 0})) {
    row.pattern.name = "unstructured";
    row.pattern.density = weights;
  }
  if (inputs == Decimal{1, 0}) return;
  row.x_pattern = "bernoulli";
  row.x_density = inputs;
}

void set_unique_inputs(LayerOp& row, std::uint64_t inputs) {
  if (inputs >= std::uint64_t{row.k} * row.n) return;
  row.args = {{"x_unique", fmt::format("{}", inputs)}};
}

PatternSpec first_of_group(std::string_view text, const std::string& where, const char* column) {
  const std::size_t colon = text.find(':');
  std::uint64_t keep = 0;
  std::uint64_t of = 0;
  constexpr std::uint64_t kMostGroup = 65536;
  const bool read =
      colon != std::string_view::npos &&
      parse_integer(trimmed(text.substr(0, colon)), 1, kMostGroup, keep) == IntegerError::none &&
      parse_integer(trimmed(text.substr(colon + 1)), 1, kMostGroup, of) == IntegerError::none;
  if (!read || keep > of) {
    throw_problem({where, "E214", column, std::string(text), "N:M, the first N of M kept", ""});
  }
  PatternSpec spec;
  if (keep == of) return spec;
  spec.name = "nm";
  spec.args = {{"keep", fmt::format("{}", keep)},
               {"of", fmt::format("{}", of)},
               {"pos", "first"},
               {"pad", "1"}};
  return spec;
}

}  // namespace lacuna
