// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/system_results.hpp"

#include <cstdlib>
#include <sstream>

#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {

std::map<std::string, double> quantities(const std::string& file) {
  std::map<std::string, double> values;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comma = line.find(',');
    values[line.substr(0, comma)] = std::strtod(line.c_str() + comma + 1, nullptr);
  }
  return values;
}

double parts_of(const std::map<std::string, double>& values) {
  double sum = 0;
  for (const auto& [name, value] : values) {
    const bool part = name.rfind("energy_", 0) == 0 && name != "energy_low" &&
                      name != "energy_high" && name != "energy_per_sequence";
    if (part) sum += value;
  }
  return sum;
}

std::map<std::string, double> uses(const std::string& file) {
  std::map<std::string, double> sums;
  std::istringstream lines(file_text(file));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.rfind(',');
    const std::string use = line.substr(first + 1, second - first - 1);
    sums[use] += std::strtod(line.c_str() + second + 1, nullptr);
  }
  return sums;
}

double joules_without(const std::string& file, const std::string& op) {
  double sum = 0;
  for (const CsvRow& row : CsvTable(file_text(file)).rows()) {
    if (row.at("op") != op && row.at("op_id") != "TOTAL") sum += std::stod(row.at("energy_j"));
  }
  return sum;
}

}  // namespace lacuna::test
