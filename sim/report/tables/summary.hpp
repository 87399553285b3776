// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/energy_range.hpp"
#include "sim/report/result.hpp"
#include "sim/report/why.hpp"

namespace lacuna {

/// Joules at the three corners of the energy table.
using JouleRange = EnergyRange;

/// One row of summary.csv: an operation of a run, or its TOTAL. What does not apply is empty.
/// Counts and energy are those of all `repeat` executions together.
struct SummaryRow {
  using Count = std::optional<std::uint64_t>;
  using Number = std::optional<double>;

  std::uint64_t run = 0;
  std::string machine;
  std::string engine;
  bool exact = true;
  std::string workload;
  std::string op_id;
  std::string op;
  Count m;
  Count k;
  Count n;
  std::string dtype;
  std::string pattern;
  Number density;         // of the mask that was used, never the one asked for
  std::string block;      // "16" or "4x8"
  Number x_density;       // of the mask of X that was used; empty: X is dense
  std::string mode;       // the kernel that multiplied
  std::string residency;  // where the weights lived: streamed, resident
  Count seed;
  Count cycles;
  Number time_s;
  Count useful_flop;
  Number useful_tflops;
  Number dense_tflops;
  Number speedup_vs_dense;
  Number utilisation;  // useful FLOP over peak FLOP, in [0, 1]
  Count sram_read_bytes;
  Count sram_write_bytes;
  Count fabric_bytes;
  Count io_bytes;
  Number sram_gbps;  // 10^9 bytes per second
  Number fabric_gbps;
  Number io_gbps;
  std::optional<JouleRange> energy_j;
  Number power_w;
  Number pj_per_useful_flop;
  Number silicon_mm2;     // of the units that were simulated, as modelled
  Number gflops_per_mm2;  // useful GFLOP/s for each of them
  Number time_low_s;      // between these, by the errors of points that the model
  Number time_high_s;     // has not seen, nine in ten times of such a kernel lie
  Number speedup_low;     // likewise speedup_vs_dense
  Number speedup_high;
  std::optional<JouleRange> energy_vs_dense;  // energy_j over the dense run's, prices alike in both
  std::string trust;                          // whose errors these are, or why there are none
  Status status = Status::ok;
  std::string reason;

  /// One cell for each of RunRecord::varying, in that order.
  std::vector<std::string> varying;
};

/// Those of `rows` whose left operand is stored weights, or all if none is: what a whole run says
/// of its pattern and density is about them.
std::vector<const SummaryRow*> rows_of_weights(std::vector<const SummaryRow*> rows);

/// The op_id of the row after the operations of a run.
inline constexpr const char* kTotal = "TOTAL";

/// The columns of summary.csv before those of varying parameters.
const std::vector<std::string>& summary_columns();

/// The cells of `row` under summary_columns(), then its varying ones; empty where empty. Numbers
/// are the shortest that read back as the same.
std::vector<std::string> summary_cells(const SummaryRow& row);

/// "768x3072x512", or as many sides as an operation has.
std::string shape_text(const SummaryRow& row);

/// "static, resident": the kernel that multiplied and where its weights lived, as far as they are
/// the same for the whole row.
std::string kernel_text(const SummaryRow& row);

/// A parameter as a result keeps it.
struct ParameterValue {
  std::string path;
  std::string value;
  std::string unit;
  bool plain = true;  // a number or a flag: without quotes in JSON
};

/// A part of the energy of an operation, such as "sram"; they add up to the total.
struct EnergyPart {
  std::string component;
  JouleRange joules;
};

/// What an interval of an operation cost, and which share it had of what its memories, fabric and
/// edge could have moved; a share of nothing is empty.
struct PowerInterval {
  Cycle from = 0;
  Cycle to = 0;
  JouleRange watts;
  double sram_gbps = 0;
  double fabric_gbps = 0;
  double io_gbps = 0;
  std::optional<double> sram_share;
  std::optional<double> fabric_share;
  std::optional<double> io_share;
};

/// The errors of simulated points that were not used in building the model, of one family of
/// kernels in one regime; of `quantity` "rate", "time", "cycles" or "ratio of rates". A fraction of
/// the published value: simulated / published - 1.
struct TrustErrors {
  std::string machine;
  std::string family;
  std::string regime;
  std::string quantity;
  std::uint64_t points = 0;
  double p5 = 0;
  double median = 0;
  double p95 = 0;
  std::string commit;  // that was measured
  bool moved = false;  // the family's cycles have changed since
};

/// One operation of a run: its row and what stands behind it, for all its executions together.
struct OpRecord {
  SummaryRow row;
  OpResult result;
  std::uint64_t repeat = 1;
  std::vector<std::pair<std::string, std::string>> request;  // what the row does not say of it
  std::vector<EnergyPart> energy;
  std::optional<double> energy_factor;  // usual spread of the total, as a factor
  std::vector<PowerInterval> power;     // of OpResult::intervals
  std::optional<TrustErrors> trust;     // of its family, on the machine as it was measured
  std::string view;                     // what its units did over time, as pack(ViewData) has it
  std::string content;  // all that its result depends on beside the machine; in no file
};

/// The silicon of one simulated tile or core, with its share of what the chip has once.
struct UnitSilicon {
  double sram_mb = 0;  // 10^6 bytes
  EnergyRange mm2;     // least, nominal, most
};

/// One run: a machine, a workload, and what came of it. Everything the figures and files need.
struct RunRecord {
  std::uint64_t run = 0;
  std::string machine;
  std::string kind;    // "ipu" or "wse"
  std::string extent;  // what was simulated, such as "1472 tiles"
  std::string engine;
  std::uint64_t seed = 1;
  std::string workload;
  std::string pattern;  // asked for over the whole workload, such as "block16:0.1"; may be empty
  std::vector<std::string> varying;  // names of the columns after summary_columns()
  std::vector<ParameterValue> parameters;
  std::optional<UnitSilicon> silicon;
  std::vector<std::pair<std::string, std::string>> notes;
  std::vector<OpRecord> ops;
  SummaryRow total;
  std::optional<Why> why;  // why it is not faster, if that was asked for

  /// The cycle stack of the whole run: unit-cycles, in the order of the layers.
  std::vector<StackPart> stack() const;

  /// Tiles or cores simulated, of the first operation that is ok; 0 if none is.
  std::uint64_t units() const;
};
using Runs = std::vector<RunRecord>;

/// True if a run among these was ended before it had finished.
bool is_interrupted(const Runs& records);

}  // namespace lacuna
