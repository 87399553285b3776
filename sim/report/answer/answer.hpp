// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/energy_range.hpp"
#include "sim/base/statistics.hpp"
#include "sim/report/answer/mean.hpp"
#include "sim/report/layers.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// What is measured of a run and averaged over its seeds.
enum class Quantity {
  cycles,
  time,
  useful,
  of_peak,
  speedup,
  energy,
  energy_vs_dense,
  energy_per_flop,
  per_area,
  per_watt
};
constexpr std::size_t kQuantities = 10;

/// How a quantity is called and shown. Values are in the units of summary.csv; shown, they are
/// `scale` times as much.
struct QuantityWords {
  Quantity quantity;
  const char* column;  // of seeds.csv and result.json
  const char* title;   // of a table
  const char* unit;    // likewise
  double scale;
  int decimals;  // of a table; -1: four digits
  std::optional<double> (*value)(const SummaryRow& row);
};

/// In the order of Quantity.
const std::array<QuantityWords, kQuantities>& quantity_words();

inline const QuantityWords& words_of(Quantity which) {
  return quantity_words().at(static_cast<std::size_t>(which));
}

/// A mean as tables show it, "8333 +- 3257" of several seeds; nothing if there is none.
std::string quantity_text(Quantity which, const std::optional<Mean>& mean);

/// Joules of a useful FLOP, in pJ.
std::optional<EnergyRange> energy_per_flop(const SummaryRow& row);

/// A part of a cycle stack, and its share of all cycles of all units.
struct StackShare {
  Layer layer = Layer::compute;
  std::string kind;
  double share = 0;
};

/// Where the units were: the sum over the runs of a point.
struct Waits {
  std::array<double, kLayers.size()> layers{};  // shares, by kLayers; they add up to 1
  std::vector<StackShare> parts;                // largest first; none: there is no stack

  double share(Layer layer) const { return layers.at(static_cast<std::size_t>(layer)); }

  /// The largest part, whichever layer it is of; null without a stack.
  const StackShare* largest() const { return parts.empty() ? nullptr : &parts.front(); }

  /// The largest part that is not of Layer::compute; null if there is none.
  const StackShare* largest_wait() const;
};

/// The runs that differ in their seed alone, and what they come to.
struct AnswerPoint {
  SeedGroup runs;       // never empty; of the records that the answer is of
  std::string pattern;  // that was asked for, or that all operations have
  std::string name;     // "bow, block16:0.1", and what else varies
  std::array<std::optional<Mean>, kQuantities> means;  // empty unless every run has the quantity
  std::optional<EnergyRange> energy;                   // J; mean nominal, ends of all ranges
  std::optional<EnergyRange> energy_per_flop;          // pJ, likewise
  std::optional<EnergyRange> energy_vs_dense;          // likewise, same prices in both runs
  std::optional<EnergyRange> silicon_mm2;              // of the units that were simulated
  Waits waits;

  const RunRecord& run() const { return *runs.front(); }
  bool is_ok() const;
  const std::optional<Mean>& mean(Quantity which) const {
    return means.at(static_cast<std::size_t>(which));
  }
};

/// Machines by the energy of a useful FLOP for one pattern, least first. One is ahead of the next
/// only if all its prices high are below all prices low of the next.
struct EnergyRank {
  std::string pattern;
  std::vector<std::size_t> points;
  std::vector<bool> apart;  // between a point and the next

  bool is_ranked() const;
};

/// Remarks of one kind, counted.
struct NoteCount {
  std::string kind;   // up to the first number, bracket or colon of a remark
  std::string first;  // the whole of the first remark
  std::size_t operations = 0;
  std::size_t runs = 0;
};

/// Why a run is not faster, where that was asked.
struct AnswerCause {
  std::size_t point = 0;
  const RunRecord* run = nullptr;

  const Why& why() const { return *run->why; }
};

/// What runs say together. Computed once; whoever shows it decides nothing.
struct Answer {
  std::vector<AnswerPoint> points;              // in the order of their first runs
  std::vector<AnswerCause> causes;              // likewise
  std::optional<std::size_t> fastest;           // of one workload; else of most useful FLOP/s
  std::vector<std::size_t> not_told_apart;      // from the fastest, by the intervals over seeds
  std::optional<std::size_t> fastest_for_area;  // most useful FLOP/s for each mm2
  std::optional<std::size_t> most_from_zeros;   // largest speed-up over its own dense run
  bool one_workload = true;
  std::vector<EnergyRank> energy_ranks;  // of patterns that several machines ran
  std::vector<NoteCount> notes;

  bool has_seeds() const;

  /// Of the first run of a point that was asked; null if none was.
  const Why* why_of(std::size_t point) const;
};

/// The answer of `records`, which must outlive it.
Answer answer_of(const Runs& records);

/// At most three sentences: what was fastest, what zeros gave, and where the cycles of that run
/// went. Plain text, no line breaks inside.
std::vector<std::string> sentences(const Answer& answer);

/// Whose energy of a useful FLOP is surely less, by pattern; empty for one machine.
std::string energy_rank_text(const Answer& answer);

/// Sentences, ladder and single causes of each run that was asked why, as text for a terminal.
std::string causes_text(const Answer& answer);

/// "compute (fma), 54 %; then exchange (reduce), 17 %": the largest part of a stack, and the
/// largest wait if it is another; empty without a stack.
std::string largest_text(const Waits& waits);

/// A row for each point: means over its seeds and half of their 95 % intervals.
std::string seeds_csv(const Answer& answer);

}  // namespace lacuna
