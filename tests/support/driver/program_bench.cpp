// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/program_bench.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "sim/driver/command/program.hpp"
#include "tests/support/driver/fake_machine.hpp"
#include "tests/support/paths.hpp"

namespace lacuna::test {

namespace fs = std::filesystem;

ProgramBench::ProgramBench() {
  std::string name = (fs::temp_directory_path() / "lacuna_test.XXXXXX").string();
  folder_ = mkdtemp(name.data());
  const fs::path config = folder_ / "config";
  fs::create_directory(config);
  for (const char* const table : {"energy_table.csv", "energy_set.csv", "energy_actions.csv",
                                  "energy_units.csv", "area_table.csv", "area_chips.csv"}) {
    fs::copy_file(source_path(std::string("sim/config/") + table), config / table);
  }
  // Nobody has measured these machines: tables without rows.
  for (const char* const table : {"blind_errors.csv", "trust_cycles.csv"}) {
    std::ifstream shipped(source_path(std::string("sim/config/") + table));
    std::string line;
    while (std::getline(shipped, line) && line.rfind('#', 0) == 0) {
    }
    file(std::string("config/") + table, line + "\n");
  }
  file("config/fake.yaml", "machine: ipu\nclock: 2.0\n");
  file("config/slow.yaml", "base: fake\nclock: 1.0\n");
  setenv("LACUNA_CONFIG", config.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

ProgramBench::~ProgramBench() {
  unsetenv("LACUNA_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Ran ProgramBench::operator()(const std::vector<std::string>& arguments) const {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_lacuna(arguments, fake_machines(), {out, err, false});
  return {status, out.str(), err.str()};
}

Ran ProgramBench::operator()(const std::string& line) const {
  std::istringstream words(line);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  return (*this)(arguments);
}

std::string ProgramBench::file(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

std::string ProgramBench::read(const std::string& name) const {
  std::ifstream file(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> ProgramBench::listing() const {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename() != "config") names.insert(entry.path().filename().string());
  }
  return {names.begin(), names.end()};
}

}  // namespace lacuna::test
