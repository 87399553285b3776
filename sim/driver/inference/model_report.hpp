// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "sim/base/energy_range.hpp"
#include "sim/driver/result/quantity_screen.hpp"

namespace lacuna {

/// A part of a run in numbers, such as the phases of a layer: a name and its numbers in each row.
struct ModelTable {
  std::string name;   // of its file, and in JSON
  std::string title;  // of the first column
  Pairs columns;      // name, unit
  std::vector<std::pair<std::string, std::vector<double>>> rows;

  /// Appends columns of a unit.
  void add_columns(const std::vector<const char*>& names, const char* unit) {
    for (const char* const each : names) columns.emplace_back(each, unit);
  }
};

/// What a language model does on a machine, as far as it was asked for.
struct ModelReport {
  std::string machine;  // preset or file
  std::string kind;     // "wse", "ipu"
  std::string model;
  std::string what;    // "decode", "prefill", "requests", "kv_in", "kv_out"
  std::string title;   // what lies where
  std::string remark;  // which of the three words are true of it, and of what
  Pairs facts;         // name, JSON
  std::vector<NamedQuantity> numbers;
  std::vector<ModelTable> tables;

  ModelReport() = default;
  ModelReport(std::string on, std::string its_kind, std::string of, std::string asked)
      : machine(std::move(on)),
        kind(std::move(its_kind)),
        model(std::move(of)),
        what(std::move(asked)) {}

  void number(std::string name, double value, std::string unit = "") {
    numbers.push_back({std::move(name), value, std::move(unit)});
  }
  /// Which of the three words of doc/guide/results.md are true of the whole of it: exact only if
  /// nothing is composed.
  void words(bool folded, bool composed);
  bool is_composed() const;
  /// NAME, NAME_low and NAME_high.
  void joules(const std::string& name, const EnergyRange& range, double over);

  /// How many of its joules it takes of those of its dense run.
  void compare_energy(const ModelReport& dense);

  /// 0 if there is none of this name.
  double of(const std::string& name) const;
};

/// As text: title, remark, numbers, tables.
std::string model_text(const ModelReport& report);

/// Numbers that any of them has.
std::vector<NamedQuantity> numbers_of(const std::vector<ModelReport>& reports);

/// What a run makes in a second: tokens, or itself if it makes none.
double speed_of(const ModelReport& report);

/// Runs beside each other: numbers that any of them has, a column for each run.
std::string model_comparison(const std::vector<ModelReport>& reports);

/// The first screen of several: the fastest, the fewest joules of a token among machines of a kind
/// where the ranges of prices are apart, and numbers, first those that all of them have.
std::string model_comparison_screen(const std::vector<ModelReport>& reports);

/// Files of a result folder: summary.csv has the numbers of all runs, TABLE.csv the rows of each
/// table.
Pairs model_files(const std::vector<ModelReport>& reports);

}  // namespace lacuna
