// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/real_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/driver/command/program.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {

Ran run_real(const std::vector<std::string>& arguments) {
  setenv("LACUNA_CONFIG", source_path("sim/config").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_lacuna(arguments, standard_machines(), {out, err, false});
  return {status, out.str(), err.str()};
}

Ran run_real(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return run_real(arguments);
}

double number(const Ran& ran, const std::string& name) {
  const std::string key = "\"" + name + "\": ";
  const std::size_t at = ran.out.find(key);
  return at == std::string::npos ? -1 : std::stod(ran.out.substr(at + key.size()));
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::uint64_t> cycles_by_row(const std::string& folder) {
  std::map<std::string, std::uint64_t> found;
  for (const CsvRow& row : CsvTable(file_text(folder + "/summary.csv")).rows()) {
    found[row.at("op_id")] = std::stoull(row.at("cycles"));
  }
  return found;
}

bool renew(const std::string& path, const std::string& text) {
  if (std::getenv("LACUNA_RENEW") == nullptr) return false;  // NOLINT(concurrency-mt-unsafe)
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return true;
}

}  // namespace lacuna::test
