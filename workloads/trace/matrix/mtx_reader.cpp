// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/split.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/mask_at.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/matrix/token_reader.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kSmallSide = std::uint64_t{1} << 20U;

struct Entry {
  std::uint32_t row;
  std::uint32_t col;
  std::uint32_t line;  // in which it is written, for messages
};

class MtxReader {
 public:
  MtxReader(std::string_view text, const std::string& path)
      : tokens_(text, path), path_(path), size_(text.size()) {}

  PatternFile read() {
    read_banner();
    read_sizes();
    // An entry takes two bytes of text at least.
    entries_.reserve(std::min<std::uint64_t>(count_, size_ / 2 + 1) *
                     (symmetry_ == Symmetry::general ? 1 : 2));
    if (array_) {
      read_array();
    } else {
      for (std::uint64_t i = 0; i < count_; ++i) read_entry(i);
    }
    if (!tokens_.at_end()) {
      while (tokens_.next_line() && tokens_.next_word().empty()) {
      }
      fail_count("more lines", count_);
    }
    build();
    return std::move(file_);
  }

 private:
  enum class Symmetry { general, symmetric, skew };

  // One of the words of the banner, as its place in `words`.
  std::size_t banner_word(const std::vector<std::string>& words) {
    const std::string word = lower_case(tokens_.next_word());
    if (const auto at = place_in(words, word)) return *at;
    tokens_.fail("E307", word, listed(words));
  }

  void read_banner() {
    tokens_.next_line();
    banner_word({"%%matrixmarket"});
    banner_word({"matrix"});
    array_ = banner_word({"coordinate", "array"}) == 1;
    values_ = banner_word({"pattern", "real", "integer"}) != 0;
    symmetry_ = static_cast<Symmetry>(banner_word({"general", "symmetric", "skew-symmetric"}));
    tokens_.end_line("E307", "five words");
    if (array_ && !values_) tokens_.fail("E307", "array pattern", "array real or array integer");
  }

  // The next line that is neither blank nor, before the sizes, a comment.
  bool next_content_line(bool comments) {
    while (tokens_.next_line()) {
      const std::string_view line = trimmed(tokens_.line());
      if (!line.empty() && !(comments && line.front() == '%')) return true;
    }
    return false;
  }

  void read_sizes() {
    const std::string allowed = array_ ? "'rows cols', each in [1, 2^31 - 1]"
                                       : "'rows cols entries', sides in [1, 2^31 - 1]";
    if (!next_content_line(true)) tokens_.fail("E301", "the end of the file", allowed);
    const TokenReader::Sizes sizes = tokens_.sizes(!array_, allowed);
    file_.mask.rows = sizes.rows;
    file_.mask.cols = sizes.cols;
    count_ = array_ ? array_count() : sizes.entries;
    check_believable();
  }

  std::uint64_t array_count() const {
    const std::uint64_t rows = file_.mask.rows;
    const std::uint64_t cols = file_.mask.cols;
    if (symmetry_ == Symmetry::general) return rows * cols;
    return symmetry_ == Symmetry::symmetric ? rows * (rows + 1) / 2 : rows * (rows - 1) / 2;
  }

  // Offsets of rows are held even if they are empty; a short file must not ask for gigabytes.
  void check_believable() {
    const Mask& mask = file_.mask;
    if (symmetry_ != Symmetry::general && mask.rows != mask.cols) {
      tokens_.fail("E301", fmt::format("{} x {}", mask.rows, mask.cols),
                   "a square matrix, as it is symmetric");
    }
    const std::uint64_t most = std::max<std::uint64_t>(kSmallSide, size_);
    if (mask.rows > most) {
      tokens_.fail("E301", std::to_string(mask.rows),
                   fmt::format("at most {} rows in a file of {} bytes", most, size_));
    }
    if (count_ > size_) fail_count(fmt::format("{} bytes", size_), count_);
  }

  std::uint32_t read_index(std::uint32_t side, const char* what) {
    const std::string_view word = tokens_.next_word();
    if (const auto index = parse_integer(word, 1, side)) {
      return static_cast<std::uint32_t>(*index - 1);
    }
    const bool whole = is_integer(word);
    tokens_.fail(whole ? "E304" : "E308", std::string(word),
                 fmt::format("a {} index in [1, {}]", what, side));
  }

  // True if the value is not zero.
  bool read_value() {
    if (!values_) return true;
    const std::string_view word = tokens_.next_word();
    double value = 0;
    // from_chars takes no '+', which other programs write.
    const std::string_view digits = !word.empty() && word[0] == '+' ? word.substr(1) : word;
    const char* end = digits.data() + digits.size();
    const std::from_chars_result read = std::from_chars(digits.data(), end, value);
    if (digits.empty() || read.ptr != end || read.ec != std::errc() || !std::isfinite(value)) {
      // Too small for a double is still a number.
      if (read.ptr != end || read.ec != std::errc::result_out_of_range) {
        tokens_.fail("E308", std::string(word), "a number");
      }
      value = 1;
    }
    return value != 0;
  }

  void end_entry() { tokens_.end_line("E308", values_ ? "one value" : "no value"); }

  void read_entry(std::uint64_t number) {
    if (!next_content_line(false)) fail_count(std::to_string(number), count_);
    const std::uint32_t row = read_index(file_.mask.rows, "row");
    const std::uint32_t col = read_index(file_.mask.cols, "column");
    if (!read_value()) ++file_.explicit_zeros;
    end_entry();
    add(row, col);
  }

  void read_array() {
    // Column by column; of a symmetric one from the diagonal down, of a skew one below it.
    std::uint64_t number = 0;
    for (std::uint32_t col = 0; col < file_.mask.cols; ++col) {
      const std::uint32_t first = symmetry_ == Symmetry::general     ? 0
                                  : symmetry_ == Symmetry::symmetric ? col
                                                                     : col + 1;
      for (std::uint32_t row = first; row < file_.mask.rows; ++row, ++number) {
        if (!next_content_line(false)) fail_count(std::to_string(number), count_);
        const bool kept = read_value();
        end_entry();
        if (kept) add(row, col);
      }
    }
  }

  void add(std::uint32_t row, std::uint32_t col) {
    const auto line = static_cast<std::uint32_t>(tokens_.line_number());
    if (row == col && symmetry_ == Symmetry::skew) {
      tokens_.fail("E308", fmt::format("entry ({}, {})", row + 1, col + 1),
                   "no entry on the diagonal of a skew-symmetric matrix");
    }
    entries_.push_back({row, col, line});
    if (row != col && symmetry_ != Symmetry::general) entries_.push_back({col, row, line});
  }

  [[noreturn]] void fail_count(const std::string& found, std::uint64_t allowed) const {
    tokens_.fail("E309", found, fmt::format("{} entries", allowed));
  }

  void build() {
    const auto again = sort_places(entries_);
    if (again != entries_.end()) {
      throw_diagnostic(
          place(path_, again->line), "E306",
          fmt::format("entry ({}, {}) again", again->row + 1, again->col + 1),
          fmt::format("one entry for a position; the first is in line {}", (again - 1)->line));
    }
    file_.mask = mask_at(file_.mask.rows, file_.mask.cols, entries_);
  }

  TokenReader tokens_;
  std::string path_;
  std::size_t size_;
  bool array_ = false;
  bool values_ = true;
  Symmetry symmetry_ = Symmetry::general;
  std::uint64_t count_ = 0;  // entries the file must have
  std::vector<Entry> entries_;
  PatternFile file_;
};

}  // namespace

PatternFile parse_mtx(std::string_view text, const std::string& path) {
  return MtxReader(text, path).read();
}

}  // namespace lacuna
