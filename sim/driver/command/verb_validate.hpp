// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/runner.hpp"

namespace lacuna {

/// What `lacuna validate` was asked for.
struct ValidateOptions {
  std::vector<std::string> points;    // files; none: those shipped
  std::vector<std::string> families;  // words; none: all
  std::vector<std::string> by;        // columns that part the families: m, k, n, block, density ...
  std::optional<std::string> mask_rule;  // of all points, whatever they say
  std::optional<std::string> out;
  std::optional<std::string> fail_above;    // percent
  std::optional<std::string> energy_table;  // prices in place of those shipped
  bool quiet = false;
  bool resume = false;               // go on with what is kept beside `out`
  std::vector<std::string> command;  // the arguments that make this result again
  ValidationRunSettings run;
};

/// Simulates published points, prints the error of each family, and with `out` writes the folder:
/// errors.csv, families.csv, by.csv, power.csv, result.json and figures. The exit status: 0; 1 if a
/// point failed; 3 if the median error of a family is above `fail_above` percent. RequestError for
/// a wrong request.
int run_validate(const ValidateOptions& options, const MachineTable& table, std::ostream& out,
                 std::ostream& progress);

}  // namespace lacuna
