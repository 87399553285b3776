// SPDX-License-Identifier: Apache-2.0
#include "sim/base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lacuna {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> last;  // the row before, and that before it
  std::vector<std::size_t> before;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({exchanged, row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
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

namespace {

constexpr std::size_t kMostWords = 3;
constexpr std::size_t kMostWrong = 4;  // letters

/// How far `word` is from a dotted name: from all of it, or from one of its parts, which counts as
/// a little further.
std::size_t distance_to_name(std::string_view word, std::string_view name) {
  std::size_t least = 2 * edit_distance(word, name);
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("._", begin), name.size());
    least = std::min(least, 2 * edit_distance(word, name.substr(begin, end - begin)) + 1);
    begin = end + 1;
  }
  return least;
}

}  // namespace

std::vector<std::string> near_words(std::string_view word,
                                    const std::vector<std::string>& candidates) {
  const std::string small = in_small_letters(word);
  const std::size_t wrong = std::clamp<std::size_t>((small.size() + 1) / 3, 1, kMostWrong);
  const std::size_t most = 2 * wrong + 1;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = distance_to_name(small, in_small_letters(candidate));
    if (distance <= most) near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (const auto& [distance, candidate] : near) {
    // what is much further than the nearest is a chance likeness
    if (words.size() == kMostWords || distance > near.front().first + 1) break;
    if (std::find(words.begin(), words.end(), candidate) == words.end()) words.push_back(candidate);
  }
  return words;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> words = near_words(word, candidates);
  return words.empty() ? "" : words.front();
}

std::string hint_of(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> words = near_words(word, candidates);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + ("'" + words[i] + "'");
  }
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace lacuna
