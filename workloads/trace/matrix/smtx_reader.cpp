// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/texts.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/given_masks.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/matrix/token_reader.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

class SmtxReader {
 public:
  SmtxReader(std::string_view text, const std::string& path)
      : tokens_(text, path), size_(text.size()) {}

  PatternFile read() {
    read_sizes();
    read_offsets();
    read_indices();
    if (!tokens_.at_end()) {
      tokens_.next_line();
      tokens_.fail("E302", "more than three lines", "three lines");
    }
    return std::move(file_);
  }

 private:
  void read_sizes() {
    tokens_.next_line();
    const TokenReader::Sizes sizes =
        tokens_.sizes(true, "three integers 'rows, cols, non-zeros', sides up to 2^31 - 1", true);
    file_.mask.rows = sizes.rows;
    file_.mask.cols = sizes.cols;
    nnz_ = sizes.entries;
  }

  // A number takes two bytes at least, so what the first line claims cannot cost more memory
  // than the file is long.
  std::uint64_t believable(std::uint64_t count) const {
    return std::min<std::uint64_t>(count, size_ / 2 + 1);
  }

  void read_offsets() {
    const std::uint64_t count = file_.mask.rows + std::uint64_t{1};
    next_line("offsets", count);
    std::vector<std::uint64_t>& offsets = file_.mask.offsets;
    offsets.reserve(believable(count));
    for (std::string_view word = tokens_.next_word(); !word.empty(); word = tokens_.next_word()) {
      if (offsets.size() == count) fail_count("offsets", offsets.size() + 1, count);
      const std::uint64_t least = offsets.empty() ? 0 : offsets.back();
      const std::uint64_t most = offsets.empty() ? 0 : nnz_;  // the first one is 0
      const auto offset = parse_integer(word, least, most);
      if (!offset) {
        tokens_.fail("E303", std::string(word),
                     fmt::format("an offset in [{}, {}], not below the one before", least, most));
      }
      offsets.push_back(*offset);
    }
    if (offsets.size() != count) fail_count("offsets", offsets.size(), count);
    if (offsets.back() != nnz_) {
      tokens_.fail("E303", std::to_string(offsets.back()),
                   fmt::format("{} as last offset, the number of non-zeros", nnz_));
    }
  }

  void read_indices() {
    Mask& mask = file_.mask;
    if (!tokens_.next_line() && nnz_ != 0) fail_count("column indices", 0, nnz_);
    mask.columns.reserve(believable(nnz_));
    std::size_t row = 0;
    for (std::string_view word = tokens_.next_word(); !word.empty(); word = tokens_.next_word()) {
      const std::uint64_t i = mask.columns.size();
      if (i == nnz_) fail_count("column indices", nnz_ + 1, nnz_);
      while (mask.offsets[row + 1] <= i) ++row;
      const auto column = parse_integer(word, 0, mask.cols - 1);
      if (!column) {
        tokens_.fail("E304", std::string(word),
                     fmt::format("a column index in [0, {}]", mask.cols - 1));
      }
      if (i > mask.offsets[row] && *column <= mask.columns.back()) {
        tokens_.fail("E305", std::string(word),
                     fmt::format("a column index above {}, the one before it in row {}",
                                 mask.columns.back(), row));
      }
      mask.columns.push_back(static_cast<std::uint32_t>(*column));
    }
    if (mask.columns.size() != nnz_) fail_count("column indices", mask.columns.size(), nnz_);
  }

  void next_line(const std::string& what, std::uint64_t count) {
    if (!tokens_.next_line()) fail_count(what, 0, count);
  }

  [[noreturn]] void fail_count(const std::string& what, std::uint64_t found,
                               std::uint64_t allowed) const {
    const std::string more = found > allowed ? "more than " : "";
    tokens_.fail("E302", fmt::format("{}{} {}", more, std::min(found, allowed), what),
                 fmt::format("{} {}", allowed, what));
  }

  TokenReader tokens_;
  std::size_t size_;
  PatternFile file_;
  std::uint64_t nnz_ = 0;
};

}  // namespace

PatternFile parse_smtx(std::string_view text, const std::string& path) {
  return SmtxReader(text, path).read();
}

PatternFile read_pattern_file(const std::string& path) {
  if (const auto given = find_given_mask(path)) return {*given, 0};
  const ArrayName name = split_array_name(path);
  if (const auto arrays = ArrayFile::open(name.file)) return {arrays->mask(name.member), 0};
  const std::string text = read_text_file(path);
  // Known by content: only Matrix Market begins with a banner.
  if (starts_with(text, "%")) return parse_mtx(text, path);
  return parse_smtx(text, path);
}

std::pair<std::uint64_t, std::uint64_t> sides_of_pattern_file(const std::string& path) {
  const ArrayName name = split_array_name(path);
  if (const auto arrays = ArrayFile::open(name.file)) {
    const ArrayEntry entry = arrays->sides(name.member);
    return {entry.rows, entry.cols};
  }
  const Mask mask = read_pattern_file(path).mask;
  return {mask.rows, mask.cols};
}

std::string format_smtx(const Mask& mask) {
  const Mask elements = mask.elements();
  fmt::memory_buffer text;
  fmt::format_to(fmt::appender(text), "{}, {}, {}\n", elements.rows, elements.cols,
                 elements.columns.size());
  fmt::format_to(fmt::appender(text), "{}\n", fmt::join(elements.offsets, " "));
  fmt::format_to(fmt::appender(text), "{}\n", fmt::join(elements.columns, " "));
  return fmt::to_string(text);
}

}  // namespace lacuna
