// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What a result file says beside its runs. Nothing in it differs between two runs of a command.
struct ResultHeader {
  std::string version;
  std::vector<std::string> command;  // that makes the result again
  std::string workload;
  std::string workload_path;  // empty if it came from options
  Pairs files;                // read, with their SHA-256
  bool interrupted = false;   // as read; what is written says it if a run of it is
};

/// What result.json begins with; a folder whose result.json does not is not ours.
inline constexpr const char* kResultFormat = "lacuna-result 1";

/// The text of result.json.
std::string result_text(const ResultHeader& header, const Runs& records);

/// The same of runs of language models, whose reports are a JSON array; whether all are exact.
std::string models_text(const ResultHeader& header, const std::string& models_json, bool exact);

/// The runs of a result.json; RequestError, naming `path`, if it is not one.
Runs parse_result(const std::string& text, const std::string& path);

/// What a result.json says beside its runs, likewise.
ResultHeader parse_header(const std::string& text, const std::string& path);

/// A table beside the runs; cells that are numbers are numbers in JSON.
struct NamedTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  /// Appends a row of such cells, and gives it.
  template <typename... Cells>
  std::vector<std::string>& row(const Cells&... cells) {
    return rows.emplace_back(std::vector<std::string>{fmt::format("{}", cells)...});
  }
};

/// Its rows as a JSON array, an object each.
std::string rows_json(const NamedTable& table);

/// The rows of summary.csv as a JSON array, an object each. With `explain` operations have their
/// explanation as a further member; TOTAL says why, if that was asked for. `tables` are members of
/// the last row, by name.
std::string summary_json(const Runs& records, bool explain = false,
                         const std::vector<NamedTable>& tables = {});

/// A record, events included, as bytes for another process, and back without loss.
std::string encode_record(const RunRecord& record);
RunRecord decode_record(const std::string& bytes);

/// What host.json says, in order; numbers are given as text.
std::string host_text(const Pairs& facts);

}  // namespace lacuna
