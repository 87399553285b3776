// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/import_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/base/error.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {

ImportContext::ImportContext(const Pairs& pairs) : settings(pairs), pairs_(pairs) {
  settings.types(dtype_, mode_);
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

namespace {

/// The product of `sizes`, each at least 1; nothing if it is more than `most`.
std::optional<std::uint64_t> product(const std::vector<std::uint64_t>& sizes, std::uint64_t most) {
  std::uint64_t all = 1;
  for (const std::uint64_t size : sizes) {
    if (size == 0 || all > most / size) return std::nullopt;
    all *= size;
  }
  return all;
}

}  // namespace

std::uint32_t ImportContext::side(const std::vector<std::uint64_t>& sizes, const std::string& where,
                                  const char* what) {
  if (const auto all = product(sizes, kMostSide)) return static_cast<std::uint32_t>(*all);
  throw_diagnostic(
      {where, "E203", what, fmt::format("{}", fmt::join(sizes, " x ")), integer_in(1, kMostSide)});
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

void set_convolution(const Convolution& convolution, const std::string& where, LayerOp& row) {
  const auto with = [](std::vector<std::uint64_t> sides, std::uint64_t more) {
    sides.push_back(more);
    return sides;
  };
  row.m = ImportContext::side({convolution.filters}, where, "m");
  row.k = ImportContext::side(with(convolution.kernel, convolution.channels), where, "k");
  row.n = ImportContext::side(with(convolution.outputs, convolution.images), where, "n");
  row.batch = ImportContext::side({convolution.groups}, where, "groups");
  const std::uint64_t places = std::uint64_t{row.k} * row.n;
  const auto unique =
      product(with(with(convolution.inputs, convolution.channels), convolution.images), places);
  if (unique && *unique < places) row.args = {{"x_unique", std::to_string(*unique)}};
}

PatternSpec first_of_group(std::string_view text, const std::string& where, const char* column) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  constexpr std::uint64_t kMostGroup = 65536;
  const auto keep = parse_integer(trimmed(text.substr(0, colon)), 1, kMostGroup);
  const auto of =
      parse_integer(trimmed(text.substr(std::min(colon + 1, text.size()))), 1, kMostGroup);
  if (!keep || !of || *keep > *of) {
    throw_diagnostic({where, "E214", column, std::string(text), "N:M, the first N of M kept"});
  }
  PatternSpec spec;
  if (keep == of) return spec;
  spec.name = "nm";
  spec.args = {
      {"keep", std::to_string(*keep)}, {"of", std::to_string(*of)}, {"pos", "first"}, {"pad", "1"}};
  return spec;
}

}  // namespace lacuna
