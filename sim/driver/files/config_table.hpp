// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lacuna {

/// A CSV file of the configuration folder: its rows by the columns that it must have.
class ConfigTable {
 public:
  /// RequestError names file, line and column of what is wrong.
  ConfigTable(const std::filesystem::path& path, std::vector<std::string> columns);

  std::size_t size() const { return rows_.size(); }
  const std::vector<std::string>& cells(std::size_t row) const { return rows_.at(row).cells; }
  const std::string& text(std::size_t row, const char* column) const;
  double number(std::size_t row, const char* column) const;
  std::uint64_t count(std::size_t row, const char* column) const;

 private:
  struct Row {
    std::size_t line;
    std::vector<std::string> cells;
  };

  std::string path_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace lacuna
