// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "models/sparsity/pattern_builder.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

const std::string* PatternRequest::find(const std::string& key) const {
  for (const auto& [name, value] : spec.args) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::uint64_t PatternRequest::integer(const std::string& key,
                                      std::optional<std::uint64_t> otherwise, std::uint64_t least,
                                      std::uint64_t most) {
  const std::string* text = find(key);
  if (text == nullptr) {
    if (!otherwise) fail("E201", "pattern_args", "", fmt::format("a value for '{}'", key));
    return otherwise.value_or(least);
  }
  std::uint64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  const std::string range = fmt::format("{}, an integer in [{}, {}]", key, least, most);
  if (text->empty() || stop != end || (*text)[0] == '+') {
    fail("E202", "pattern_args", *text, range);
    return least;
  }
  if (error != std::errc() || value < least || value > most) {
    fail("E203", "pattern_args", *text, range);
    return least;
  }
  return value;
}

double PatternRequest::real(const std::string& key, double otherwise, double least, double most) {
  const std::string* text = find(key);
  if (text == nullptr) return otherwise;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value, std::chars_format::fixed);
  const std::string range = fmt::format("{}, a decimal in [{}, {}]", key, least, most);
  if (text->empty() || stop != end || error != std::errc() || value != value) {
    fail("E204", "pattern_args", *text, range);
    return otherwise;
  }
  if (value < least || value > most) {
    fail("E203", "pattern_args", *text, range);
    return otherwise;
  }
  return value;
}

std::size_t PatternRequest::choice(const std::string& key, const std::vector<std::string>& words) {
  const std::string* text = find(key);
  if (text == nullptr) return 0;
  const auto word = std::find(words.begin(), words.end(), *text);
  if (word != words.end()) return static_cast<std::size_t>(word - words.begin());
  fail("E206", "pattern_args", *text, fmt::format("{}, one of {}", key, joined(words)),
       nearest(*text, words));
  return 0;
}

Rounding PatternRequest::rounding() {
  return static_cast<Rounding>(choice("round", {"floor", "ceil", "nearest"}));
}

std::uint64_t PatternRequest::kept(std::uint64_t positions) {
  const Rounding how = rounding();
  return spec.density ? count_of(*spec.density, positions, how) : 0;
}

void PatternRequest::check_size(std::uint64_t positions, std::uint64_t written) {
  if (written <= kMostKept && positions <= kMostPositions) return;
  fail("E214", "pattern", fmt::format("{} x {}", rows, cols),
       fmt::format("masks of at most {} positions, {} of them kept", kMostPositions, kMostKept));
}

void PatternRequest::check_blocks(std::uint64_t block_rows, std::uint64_t block_cols, bool padded) {
  if (padded) return;
  if (rows % block_rows != 0) {
    fail("E212", "rows", fmt::format("{}", rows), fmt::format("a multiple of {}", block_rows));
  }
  if (cols % block_cols != 0) {
    fail("E212", "cols", fmt::format("{}", cols), fmt::format("a multiple of {}", block_cols));
  }
}

void PatternRequest::fail(std::string code, std::string cell, std::string found,
                          std::string allowed, std::string hint) {
  diagnostics.push_back(
      {std::move(code), std::move(cell), std::move(found), std::move(allowed), std::move(hint)});
}

Mask PatternRequest::empty_mask(std::uint32_t block_rows, std::uint32_t block_cols) const {
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.block_rows = block_rows;
  mask.block_cols = block_cols;
  mask.offsets.reserve(mask.grid_rows() + std::size_t{1});
  mask.offsets.push_back(0);
  return mask;
}

}  // namespace lacuna
