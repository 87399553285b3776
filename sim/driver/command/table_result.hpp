// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/journal.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A result of tables, of language models or systems, that has no rows of operations.
struct TableResult {
  std::string models;  // reports of models as JSON, if it is of these
  std::vector<std::pair<std::string, std::string>> files;  // name, text
  std::vector<Figure> figures;
  std::vector<std::string> pages;  // of view.html, as pack() made them
  std::string view_title;
  std::vector<ParameterValue> parameters;
};

/// The result folder of such a request, if --out asks for one.
class TableOutput {
 public:
  /// RequestError if it cannot be one. `inputs`: what was read, of which files are named in the
  /// result. `options` must live as long.
  TableOutput(const Options& options, std::string workload, std::vector<std::string> inputs);

  explicit operator bool() const { return folder_.has_value(); }

  /// True, and said, if a resumed request has nothing left to do.
  bool is_finished(const Streams& streams) const;

  /// Of `all` points those that are finished, kept beside the folder until the result is written;
  /// null without a folder.
  Journal* journal(std::size_t all, const Streams& streams);

  /// Writes the files of a result, result.json, figures, and a page of its tables.
  void write(const TableResult& result);

 private:
  ResultHeader header() const;

  const Options& options_;
  std::optional<ResultFolder> folder_;
  std::string workload_;
  std::vector<std::string> inputs_;
  std::unique_ptr<Journal> journal_;
};

}  // namespace lacuna
