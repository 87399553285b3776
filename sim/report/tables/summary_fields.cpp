// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/summary_fields.hpp"

#include <fmt/format.h>

#include "sim/base/ranges.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

struct Names {
  std::vector<std::string>& names;

  template <class T>
  void operator()(const char* key, const T& /*member*/) const {
    names.emplace_back(key);
  }
  template <class T>
  void operator()(const std::string& name, const char* unit, const T& /*range*/) const {
    for (const char* const corner : {"", "_low", "_high"}) names.push_back(name + corner + unit);
  }
};

struct Cells {
  std::vector<std::string>& cells;

  template <class T>
  void operator()(const char* /*key*/, const T& member) const {
    cells.push_back(cell_text(member));
  }
  void operator()(const char* /*key*/, Status status) const {
    cells.emplace_back(status_name(status));
  }
  void operator()(const char* /*name*/, const char* /*unit*/,
                  const std::optional<JouleRange>& range) const {
    for (const auto corner : {&JouleRange::nominal, &JouleRange::low, &JouleRange::high}) {
      cells.push_back(range ? fmt::format("{}", (*range).*corner) : "");
    }
  }
};

}  // namespace

const std::vector<std::string>& summary_columns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> names;
    const SummaryRow row;
    for_each_cell(row, Names{names});
    return names;
  }();
  return columns;
}

std::vector<std::string> summary_cells(const SummaryRow& row) {
  std::vector<std::string> cells;
  for_each_cell(row, Cells{cells});
  append(cells, row.varying);
  return cells;
}

}  // namespace lacuna
