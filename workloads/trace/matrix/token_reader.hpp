// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lacuna {

/// Walks a text line by line and each line word by word, and knows where it is.
class TokenReader {
 public:
  TokenReader(std::string_view text, std::string path) : rest_(text), path_(std::move(path)) {}

  /// Goes to the next line (LF or CRLF, the last one may lack it); false if there is none.
  bool next_line();

  /// The next word of this line, separated by blanks and tabs, and commas too if `commas`; empty
  /// at the end of the line.
  std::string_view next_word(bool commas = false);

  /// The integer in [least, most] that the next word is; else fails with `code`.
  std::uint64_t next_integer(std::uint64_t least, std::uint64_t most, const std::string& code,
                             const std::string& allowed, bool commas = false);

  /// Refuses another word in this line.
  void end_line(const std::string& code, const std::string& allowed, bool commas = false);

  /// The sides of a matrix, and with `entries` how many it has, which are all of this line.
  struct Sizes {
    std::uint32_t rows;
    std::uint32_t cols;
    std::uint64_t entries;
  };
  Sizes sizes(bool entries, const std::string& allowed, bool commas = false);

  std::string_view line() const { return line_; }
  std::size_t line_number() const { return line_number_; }

  /// Nothing but blanks is left in the file after this line.
  bool at_end() const;

  /// Throws TraceError at the word last read.
  [[noreturn]] void fail(const std::string& code, const std::string& found,
                         const std::string& allowed) const;

 private:
  std::string_view rest_;  // of the file, after the line
  std::string_view line_;
  std::size_t at_ = 0;    // behind the word last read
  std::size_t word_ = 0;  // its first byte
  std::size_t line_number_ = 0;
  std::string path_;
};

}  // namespace lacuna
