// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/parameter.hpp"

namespace lacuna {

/// Numbers of one or two dimensions that a formula names with their indices.
struct NamedArray {
  std::vector<std::uint32_t> shape;
  std::vector<double> values;  // row-major
};

/// What the names in the formulas of a program stand for.
struct FormulaNames {
  std::map<std::string, double> numbers;  // constants, counters, `column` and `row` of a core
  std::map<std::string, NamedArray> arrays;
  const ParameterSet* parameters = nullptr;  // by their paths, such as scalar.loop
  std::map<std::string, double> others;      // types by their names, parameters asked for
  bool asked_place = false;                  // `column` or `row` was asked for

  double number(const std::string& name);
  double element(const std::string& array, const std::vector<double>& indices) const;
};

/// The value of a formula such as `i + 16 * column`: numbers, names, A[i, j], +
/// - * / %, comparisons (1 or 0), min, max, abs, floor, fp16 (the bits of a
/// half), if(condition, a, b), of which one is looked at, and sum(k, count,
/// term), the sum of the term for k from 0 on. RequestError says what is wrong.
double value_of(const std::string& formula, FormulaNames& names);

}  // namespace lacuna
