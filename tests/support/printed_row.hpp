// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna::test {

inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The words behind `begin` in the first line of a printed table that begins with these words,
/// however wide its columns are. A text without such a line ends the test.
inline std::vector<std::string> printed_row(const std::string& text, const std::string& begin) {
  const std::vector<std::string> first = words_of(begin);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = words_of(line);
    if (words.size() < first.size() || !std::equal(first.begin(), first.end(), words.begin())) {
      continue;
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first.size()));
    return words;
  }
  throw std::runtime_error("no line begins with '" + begin + "' in:\n" + text);
}

}  // namespace lacuna::test
