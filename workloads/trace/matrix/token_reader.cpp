// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/matrix/token_reader.hpp"

#include <algorithm>

#include "workloads/trace/problem.hpp"

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

bool TokenReader::at_end() const {
  return rest_.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void TokenReader::fail(const std::string& code, const std::string& found,
                       const std::string& allowed) const {
  const std::size_t line = std::max<std::size_t>(line_number_, 1);
  throw_problem({place(path_, line, word_ + 1), code, "", found, allowed, "", line, word_ + 1});
}

}  // namespace lacuna
