// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/tables/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The files that workloads were read from, theirs and those of their masks.
std::set<std::string> input_files(const std::vector<WorkloadTrace>& workloads);

/// The SHA-256 of an input: of its bytes, or of a mask that a program gave, as its name has it.
std::string hash_of_input(const std::string& path);

/// Adds a file with its hash to those that a result was made of, in the order in which they stand:
/// by name, the tables of prices last.
void add_file(ResultHeader& header, const std::string& path);

/// Draws figures into `folder`, scripts of `older` that were changed by hand as they are. What
/// cannot be drawn is said: numbers are whole without figures, and `lacuna plot` draws them later.
void draw_or_say(const Figures& figures, const std::string& folder, const std::string& older,
                 std::ostream& said);

/// A result of tables, of language models or systems, that has no rows of operations.
struct TableResult {
  std::string models;     // reports of models as JSON, if it is of these
  bool composed = false;  // one of them is not exact
  Pairs files;            // name, text
  Figures figures;
  std::vector<std::string> pages;  // of view.html, as pack() made them
  std::string view_title;
  std::vector<ParameterValue> parameters;
};

/// The result folder of a request. It is checked before anything is simulated and written, whole,
/// when all is known.
class Output {
 public:
  Output(const std::string& folder, const Options& options);

  /// Names a file that was read beside the workload, for the result to keep its hash.
  void add_input(const std::string& path) { inputs_.insert(path); }

  /// Adds a file of this result to those that every result has.
  void add_file(std::string name, std::string text) {
    files_.emplace_back(std::move(name), std::move(text));
  }

  /// Adds a figure likewise.
  void add_figure(Figure figure) { own_figures_.push_back(std::move(figure)); }

  const std::filesystem::path& target() const { return folder_.target(); }

  /// What the result of these workloads will say of itself.
  ResultHeader header(const std::string& name, const std::vector<WorkloadTrace>& workloads) const;

  void write(const WorkloadTrace& workload, const Runs& records, const Streams& streams) {
    write(workload.name, {workload}, records, streams);
  }

  /// The same of an experiment over several workloads.
  void write(const std::string& name, const std::vector<WorkloadTrace>& workloads,
             const Runs& records, const Streams& streams) {
    write(header(name, workloads), records, streams);
  }

  /// The same of a result that says itself where it comes from.
  void write(const ResultHeader& header, const Runs& records, const Streams& streams);

  /// The same of tables.
  void write(const ResultHeader& header, const TableResult& result, const Streams& streams);

 private:
  std::string host() const;
  std::string figure_folder() const { return (folder_.temporary() / "figures").string(); }
  void end(const Figures& figures, bool redraw, const std::function<std::string()>& page,
           const Streams& streams);
  void write_scalesim(const Runs& records);
  std::string report_page(const ResultHeader& header, const Runs& records) const;

  ResultFolder folder_;
  const Options& options_;
  std::set<std::string> inputs_;
  Pairs files_;
  Figures own_figures_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace lacuna
