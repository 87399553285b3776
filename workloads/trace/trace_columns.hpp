// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {

/// The columns of a trace, in the order in which they are written.
enum class Column {
  id,
  op,
  model,
  layer,
  phase,
  m,
  k,
  n,
  batch,
  repeat,
  dtype,
  partials,
  mode,
  residency,
  pattern,
  density,
  block,
  pattern_file,
  seed,
  pattern_args,
  x_pattern,
  x_density,
  x_pattern_file,
  fn,
  args,
  stage,
  depends_on,
  note
};
constexpr std::size_t kColumns = 28;

const std::array<const char*, kColumns>& column_names();
const char* name_of(Column column);

/// Where each column stands in a file.
class TraceHeader {
 public:
  /// Reads the line of names; notes unknown, doubled and missing ones.
  TraceHeader(const CsvLine& line, Diagnostics& diagnostics);

  bool has(Column column) const { return places_.at(static_cast<std::size_t>(column)) >= 0; }
  std::size_t width() const { return width_; }

  /// The cell of `column`, or null where the file has no such column.
  const CsvCell* find(const CsvLine& line, Column column) const;

  /// True the first time it is asked about a column.
  bool report_missing(Column column);

 private:
  std::array<int, kColumns> places_{};
  std::array<bool, kColumns> reported_{};
  std::size_t width_ = 0;
};

}  // namespace lacuna
