// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

// The references of the site (scripts/site.sh) are these pages.
class Manual : public ::testing::TestWithParam<const char*> {};

using Entry = std::map<std::string, std::string>;

/// The text behind `"key": "` in a line of JSON, without escapes; and the key.
bool read_line(const std::string& line, std::string& key, std::string& value) {
  const std::size_t begin = line.find('"');
  const std::size_t middle = line.find("\": \"");
  const std::size_t end = line.rfind('"');
  if (begin == std::string::npos || middle == std::string::npos || end < middle + 4) return false;
  key = line.substr(begin + 1, middle - begin - 1);
  value.clear();
  for (std::size_t i = middle + 4; i < end; ++i) {
    if (line[i] == '\\' && i + 1 < end) ++i;
    value += line[i];
  }
  return true;
}

/// The entries of `describe SUBJECT --json`, each of which ends with its meaning.
std::vector<Entry> entries_of(const std::string& json) {
  std::vector<Entry> entries;
  std::istringstream lines(json);
  Entry entry;
  std::string key;
  std::string value;
  for (std::string line; std::getline(lines, line);) {
    if (!read_line(line, key, value)) continue;
    entry[key] = value;
    if (key != "meaning") continue;
    entries.push_back(entry);
    entry.clear();
  }
  return entries;
}

/// The rows of all tables of a page, without their heads.
std::vector<std::string> rows_of(const std::string& page) {
  std::vector<std::string> rows;
  std::istringstream lines(page);
  bool head = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0) {
      head = true;
    } else if (line.rfind("| :--", 0) == 0) {
      head = false;
    } else if (!head) {
      rows.push_back(line);
    }
  }
  return rows;
}

std::string cell(const std::string& text) {
  std::string cell;
  for (const char letter : text) cell += letter == '|' ? "\\|" : std::string(1, letter);
  return cell + " |";
}

/// Whether a row is that of an entry. Tables of trainings and of inference leave their group out.
bool is_row_of(const std::string& row, const Entry& entry) {
  const std::string& path = entry.at("path");
  const std::string meaning = cell(entry.at("meaning"));
  const std::string name = entry.count("name") == 0 ? "" : " " + cell(entry.at("name"));
  const bool named = row.rfind("| " + cell(path) + name, 0) == 0 ||
                     row.rfind("| " + cell(path.substr(path.find('.') + 1)) + name, 0) == 0;
  return named && row.size() > meaning.size() &&
         row.compare(row.size() - meaning.size(), meaning.size(), meaning) == 0;
}

TEST_P(Manual, PageHasOneRowForEachNameAndItsMeaning) {
  const std::string subject = GetParam();
  const Ran page = run_real("describe " + subject + " --markdown");
  const Ran json = run_real("describe " + subject + " --json");
  ASSERT_EQ(page.status, 0) << page.err;
  ASSERT_EQ(json.status, 0) << json.err;
  const std::vector<std::string> rows = rows_of(page.out);
  const std::vector<Entry> entries = entries_of(json.out);
  EXPECT_GE(entries.size(), 100U);
  EXPECT_EQ(rows.size(), entries.size());
  for (const Entry& entry : entries) {
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const std::string& row) {
      return is_row_of(row, entry);
    })) << entry.at("path");
  }
}

std::string name_of(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Of, Manual, ::testing::Values("parameters", "statistics"), name_of);

}  // namespace
}  // namespace lacuna::test
