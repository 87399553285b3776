// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Lacuna as a library: a machine, its parameters, a workload, a run, a result. All else, and all
/// words, are those of the command line.
namespace lacuna::api {

/// The version of Lacuna, such as "1.0.0".
const char* version();

/// What the program would have said, and the status it would have exited with.
class Error : public std::runtime_error {
 public:
  Error(const std::string& text, int status) : std::runtime_error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// The request was wrong (2): the text says where, what was found and what is allowed.
struct RequestError : Error {
  explicit RequestError(const std::string& text) : Error(text, 2) {}
};

/// The simulation could not be completed (1).
struct SimulationError : Error {
  explicit SimulationError(const std::string& text) : Error(text, 1) {}
};

/// It was ended by Ctrl-C (1).
struct Interrupted : SimulationError {
  using SimulationError::SimulationError;
};

/// A product is not what it should be (3): of runs with values.
struct CheckError : Error {
  explicit CheckError(const std::string& text) : Error(text, 3) {}
};

/// A defect of Lacuna (4).
struct InternalError : Error {
  explicit InternalError(const std::string& text) : Error(text, 4) {}
};

/// A parameter of a machine. `number` is false of words and text; `limits` is "[1, 64]" of numbers
/// and "true|false" or the words of others.
struct Parameter {
  std::string path;
  std::string value;
  std::string initial;  // before the preset
  std::string unit;
  std::string limits;
  std::string meaning;
  bool number = false;
};

/// A preset or a machine file, with settings of its own. A value: a copy is another machine.
class Machine {
 public:
  /// Results call it `label`; empty: what the preset is called. RequestError if there is no such
  /// preset or file, or the file sets what there is not.
  explicit Machine(const std::string& name_or_file, const std::string& label = "");
  ~Machine();
  Machine(const Machine& other);
  Machine(Machine&& other) noexcept;
  Machine& operator=(Machine other) noexcept;

  const std::string& name() const;  // or its label
  std::string kind() const;         // "ipu" or "wse"
  std::string extent() const;       // what is simulated, such as "1472 tiles"

  /// In the order of their declaration, those of groups included.
  std::vector<Parameter> parameters() const;

  /// RequestError if there is no such path; it names the nearest one.
  Parameter parameter(const std::string& path) const;

  /// Sets one; RequestError if it cannot be. What holds between parameters is checked by a run.
  Machine& set(const std::string& path, const std::string& value);
  Machine& set(const std::string& path, const char* value) { return set(path, std::string(value)); }
  Machine& set(const std::string& path, bool value) { return set(path, value ? "true" : "false"); }
  Machine& set(const std::string& path, double value);
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Machine& set(const std::string& path, Integer value) {
    return set(path, std::to_string(value));
  }

  struct Hidden;
  const Hidden& hidden() const { return *hidden_; }

 private:
  std::unique_ptr<Hidden> hidden_;
};

/// What is to be run. Files are read by the run, which throws RequestError if they are wrong.
class Workload {
 public:
  /// One product Y[m x n] = W[m x k] X[k x n], of which W may be sparse.
  static Workload gemm(std::uint32_t m, std::uint32_t k, std::uint32_t n);

  /// The operations of a trace, a CSV file or its text; files that a text names are looked for in
  /// the working directory.
  static Workload trace(const std::string& file);
  static Workload trace_text(const std::string& text, const std::string& name = "trace");

  /// The product of the matrix of a .smtx or .mtx file with n columns.
  static Workload matrix(const std::string& file, std::uint32_t n);

  /// A program of one's own for the cores of a wafer: FILE, or FILE:NAME=VALUE with constants.
  static Workload program(const std::string& file);

  struct Hidden;
  const Hidden& hidden() const { return *hidden_; }

 private:
  explicit Workload(std::shared_ptr<const Hidden> hidden) : hidden_(std::move(hidden)) {}
  std::shared_ptr<const Hidden> hidden_;
};

/// Options of the command line without their dashes, and their values: {"pattern", "block16:0.1"},
/// {"seed", "2"}, {"with-dense", ""}. `out` writes the result folder.
using Words = std::vector<std::pair<std::string, std::string>>;

/// A row of summary.csv, or of a run's TOTAL; what does not apply is empty. Shares lie between 0
/// and 1. Useful FLOP are operations on non-zeros alone.
struct Row {
  std::uint64_t run = 0;
  std::string machine;
  std::string op_id;
  std::string pattern;
  std::string mode;
  std::string status;  // "ok", or as `reason` explains
  std::string reason;
  std::optional<double> density;           // share of the weights that is kept
  std::optional<std::uint64_t> cycles;     // of the machine's clock
  std::optional<double> time_s;            // seconds
  std::optional<double> useful_tflops;     // 10^12 useful FLOP/s
  std::optional<double> speedup_vs_dense;  // the dense run's time over this one's
  std::optional<double> utilisation;       // share of the peak of what is simulated
  std::optional<double> energy_j;          // joules, nominal; JSON has low and high
};

/// A part of a cycle stack: unit-cycles, which sum to units x cycles.
struct StackPart {
  std::string layer;
  std::string kind;
  std::uint64_t unit_cycles = 0;
};

/// A statistic of an operation; `value` is exact, `real` is set instead of a mean or a quotient.
struct Statistic {
  std::string op_id;
  std::string path;
  std::string name;
  std::string unit;
  std::uint64_t value = 0;
  std::optional<double> real;
};

/// What came of one or several runs, which are numbered from 0. Copies share it. A number that no
/// run has is a RequestError.
class Result {
 public:
  std::size_t runs() const;

  /// The operations of a run, and its total.
  std::vector<Row> rows(std::size_t run = 0) const;
  Row total(std::size_t run = 0) const;

  /// Of all its operations together.
  std::vector<StackPart> stack(std::size_t run = 0) const;
  std::vector<Statistic> statistics(std::size_t run = 0) const;

  /// The rows of summary.csv as JSON, as --json prints them; and all of result.json.
  std::string summary_json() const;
  std::string json() const;

  struct Hidden;
  explicit Result(std::shared_ptr<const Hidden> hidden) : hidden_(std::move(hidden)) {}
  const Hidden& hidden() const { return *hidden_; }
  const std::shared_ptr<const Hidden>& shared() const { return hidden_; }

 private:
  std::shared_ptr<const Hidden> hidden_;
};

/// One workload on one machine. The simulation is a process of its own, so that Ctrl-C ends it and
/// nothing else. An operation that does not fit or is not supported is a row that says so, not an
/// error. Progress and remarks go to `said`, if there is one. Throws RequestError before it
/// simulates, SimulationError or Interrupted if it does not end, CheckError if a value is wrong.
Result run(const Machine& machine, const Workload& workload, const Words& words = {},
           std::ostream* said = nullptr);

/// Several machines, and several patterns: {"pattern", ...} more than once. Run numbers count
/// machines in their order, and for each its patterns. Throws as run() does.
Result compare(const std::vector<Machine>& machines, const Workload& workload,
               const Words& words = {}, std::ostream* said = nullptr);

/// An experiment file (lacuna sweep).
Result sweep(const std::string& file, const Words& words = {}, std::ostream* said = nullptr);

/// A search of an experiment file with a space (lacuna search). It has the runs of the points that
/// were simulated, in their order, and search.csv. There each point has its values, its bounds, its
/// fate, its run, and whether it is one of the best.
struct Found {
  Result result;
  std::string points;
};
Found search(const std::string& file, const Words& words = {}, std::ostream* said = nullptr);

/// The runs of a result folder. RequestError if it is none, or of another version's form.
Result read(const std::string& folder);

/// The program itself, in a process of its own: its exit status, and what it has printed.
struct Printed {
  int status = 0;
  std::string out;
  std::string err;
};
Printed command(const std::vector<std::string>& arguments);

}  // namespace lacuna::api
