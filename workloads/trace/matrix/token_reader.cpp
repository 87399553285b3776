// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/token_reader.hpp"

#include <algorithm>

#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

bool TokenReader::next_line() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  at_ = word_ = 0;
  ++line_number_;
  return true;
}

std::string_view TokenReader::next_word(bool commas) {
  const auto separates = [commas](char c) { return c == ' ' || c == '\t' || (commas && c == ','); };
  while (at_ < line_.size() && separates(line_[at_])) ++at_;
  word_ = at_;
  while (at_ < line_.size() && !separates(line_[at_])) ++at_;
  return line_.substr(word_, at_ - word_);
}

std::uint64_t TokenReader::next_integer(std::uint64_t least, std::uint64_t most,
                                        const std::string& code, const std::string& allowed,
                                        bool commas) {
  const std::string_view word = next_word(commas);
  if (const auto value = parse_integer(word, least, most)) return *value;
  fail(code, std::string(word), allowed);
}

void TokenReader::end_line(const std::string& code, const std::string& allowed, bool commas) {
  const std::string_view extra = next_word(commas);
  if (!extra.empty()) fail(code, std::string(extra), allowed);
}

TokenReader::Sizes TokenReader::sizes(bool entries, const std::string& allowed, bool commas) {
  const auto side = [&] {
    return static_cast<std::uint32_t>(next_integer(1, kMostSide, "E301", allowed, commas));
  };
  Sizes sizes{};
  sizes.rows = side();
  sizes.cols = side();
  if (entries) sizes.entries = next_integer(0, kMostSide * kMostSide, "E301", allowed, commas);
  end_line("E301", allowed, commas);
  return sizes;
}

bool TokenReader::at_end() const {
  return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void TokenReader::fail(const std::string& code, const std::string& found,
                       const std::string& allowed) const {
  const std::size_t line = std::max<std::size_t>(line_number_, 1);
  throw_diagnostic(place(path_, line, word_ + 1), code, found, allowed);
}

}  // namespace lacuna
