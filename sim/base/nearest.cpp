// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace lacuna {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

namespace {

std::string in_small_letters(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates,
                    std::size_t most) {
  std::string best;
  std::size_t shortest = most;
  bool found = false;
  const std::string small = in_small_letters(word);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(small, in_small_letters(candidate));
    if (distance < shortest || (distance == shortest && !found)) {
      shortest = distance;
      best = candidate;
      found = true;
    }
  }
  return best;
}

}  // namespace lacuna
