// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace lacuna::test {

/// The values of a file of quantities, by name.
std::map<std::string, double> quantities(const std::string& file);

/// What begins with energy_ and is a part, added up.
double parts_of(const std::map<std::string, double>& values);

/// The nanoseconds of each use of a time_stack.csv, of all chips.
std::map<std::string, double> uses(const std::string& file);

/// Joules of all operations of a summary.csv but those of this kind.
double joules_without(const std::string& file, const std::string& op);

}  // namespace lacuna::test
