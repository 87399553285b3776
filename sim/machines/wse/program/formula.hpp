// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/parameter.hpp"

namespace lacuna {

/// Numbers of one or two dimensions that a formula names with their indices.
struct NamedArray {
  std::vector<std::uint32_t> shape;
  std::vector<double> values;  // row-major
};

/// A formula that has been read; a call computes it from what its names stand for by then.
using Formula = std::function<double()>;

/// What the names in the formulas of a program stand for. Its formulas are read once.
struct FormulaNames {
  FormulaNames() = default;
  FormulaNames(const FormulaNames&) = delete;  // formulas know it by its place
  FormulaNames& operator=(const FormulaNames&) = delete;

  // constants, counters, `column` and `row` of a core; empty while a name stands for nothing
  std::map<std::string, std::optional<double>> numbers;
  std::map<std::string, NamedArray> arrays;
  const ParameterSet* parameters = nullptr;  // by their paths, such as scalar.loop
  std::map<std::string, double> others;      // types by their names, parameters asked for
  bool asked_place = false;                  // `column` or `row` was asked for

  /// A formula such as `i + 16 * column`: numbers, names, A[i, j], + - * / %, comparisons (1 or
  /// 0), min, max, abs, floor, fp16 (the bits of a half), if(condition, a, b), of which one is
  /// looked at, and sum(k, count, term), the sum of the term for k from 0 on. RequestError says
  /// what is wrong, here or when it is computed.
  const Formula& formula(const std::string& text);

  /// Names stand for nothing again; formulas stay.
  void forget();

  /// The names that stand for a number.
  std::vector<std::string> known() const;

  double other(const std::string& name);
  double element(const std::string& array, const std::vector<double>& indices) const;

 private:
  std::unordered_map<std::string, Formula> read_;
};

}  // namespace lacuna
