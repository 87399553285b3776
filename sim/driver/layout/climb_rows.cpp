// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/climb_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/driver/run/experiment.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// A layout of a row that was simulated.
struct Placed {
  Layout layout;
  std::string lies;   // what other rows see of it,
  std::string lives;  // where its weights are
  double cycles = 0;  // without moves of operands
  LayerOp op;         // as it is laid out
  std::shared_ptr<const Machine> machine;
  LayoutTrial trial;
};

struct Row {
  const LayerOp* op = nullptr;
  std::uint64_t seed = 0;
  const LayoutSpace* space = nullptr;              // null: nothing of its own to choose
  std::vector<std::optional<std::size_t>> makers;  // by source, rows that may lie differently
  std::vector<std::size_t> takers;                 // rows with a source of this one
  std::string content;                             // its mask included
  std::string alone;                               // likewise, but for where its operands are
  std::string alike;                               // that with its mask left out
  std::vector<Layout> starts;
  std::optional<Placed> begun;  // as all began
  std::optional<Placed> at;     // the fastest so far; nothing: it cannot be
  LayoutFound found;
};

class RowsClimb {
 public:
  RowsClimb(const RelatedOn& way, const MaskOf& mask_of, std::uint64_t seed,
            const ClimbEffort& effort)
      : machine_(*way.machine),
        plans_(dynamic_cast<const PlansLayouts&>(machine_)),
        mask_of_(mask_of),
        effort_(effort) {
    for (const LayerOp& op : way.workload.ops) add_row(op, seed, way.words);
    for (std::size_t i = 0; i < rows_.size(); ++i) relate(i, way);
  }

  /// Simulates the rows as they begin, each as is fastest behind those before it.
  void begin() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Row& row = rows_[i];
      if (row.space == nullptr) continue;
      double least = kImpossible;
      for (const Layout& start : row.starts) {
        const LayoutTrial trial = simulate(i, start, kNever);
        if (!trial.result) continue;
        const Placed made = placed(i, start, trial);
        const double cycles = made.cycles + moves(i, [&](std::size_t other) {
                                return other == i ? &made : at(other);
                              });
        if (row.at && cycles >= least) continue;
        least = cycles;
        row.at = made;
      }
      row.begun = row.at;
    }
  }

  /// Cycles of the workload as its rows are laid out so far.
  double total() {
    double sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const double own = row.at ? row.at->cycles : without_moves(i);
      sum += row.op->repeat * (own + moves(i, [this](std::size_t other) { return at(other); }));
    }
    return sum;
  }

  std::vector<std::optional<LayoutFound>> find() {
    std::vector<std::optional<LayoutFound>> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].space != nullptr) climb_row(i);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) found.push_back(found_of(i));
    return found;
  }

 private:
  using Chosen = std::function<const Placed*(std::size_t)>;

  void add_row(const LayerOp& op, std::uint64_t seed, const Layout& words) {
    Row row;
    row.op = &op;
    row.seed = row_seed(op, seed);
    const Mask* const mask = mask_of_(op);
    row.space = plans_.layout_space(op, mask);
    if (row.space != nullptr) row.starts = plans_.planned(op, mask, words);
    if (row.space != nullptr && !has_own_choice(*row.space)) row.space = nullptr;
    row.content = operation_content(op, mask, row.seed, {});
    LayerOp plain = op;
    plain.sources.clear();
    row.alone = operation_content(plain, mask, row.seed, {});
    row.alike = pattern_label(op.pattern) + operation_content(plain, nullptr, 0, {});
    rows_.push_back(std::move(row));
  }

  void relate(std::size_t i, const RelatedOn& related) {
    Row& row = rows_[i];
    for (std::size_t s = 0; s < row.op->sources.size(); ++s) {
      std::optional<std::size_t> maker = related.row(related.makers[i][s]);
      const bool lies = maker && row.op->sources[s].of_product && rows_[*maker].space != nullptr;
      if (!lies) maker.reset();
      row.makers.push_back(maker);
      if (!maker) continue;
      std::vector<std::size_t>& takers = rows_[*maker].takers;
      if (std::count(takers.begin(), takers.end(), i) == 0) takers.push_back(i);
    }
  }

  const Placed* at(std::size_t row) const { return rows_[row].at ? &*rows_[row].at : nullptr; }

  /// Before it is simulated.
  Placed laid(std::size_t i, const Layout& layout) const {
    const Row& row = rows_[i];
    Placed made;
    made.layout = layout;
    made.lies = lies_as(machine_, *row.space, layout);
    made.op = *row.op;
    made.machine = laid_out_row(machine_, layout, made.op, mask_of_(*row.op), "layout");
    return made;
  }

  /// With its weights where it was decided that they live.
  Placed placed(std::size_t i, const Layout& layout, const LayoutTrial& trial) const {
    Placed made = laid(i, layout);
    made.trial = trial;
    made.cycles = static_cast<double>(trial.result->cycles);
    for (const Residency each : places_of(made.op)) {
      if (trial.result->residency == word(each)) made.op.residency = each;
    }
    made.lives = word(made.op.residency);
    return made;
  }

  static std::vector<Residency> places_of(const LayerOp& op) {
    if (op.residency != Residency::automatic) return {op.residency};
    return {Residency::streamed, Residency::resident};
  }

  /// What decides about the moves of a row: how it and its makers lie.
  std::string key_of_moves(std::size_t i, const Chosen& chosen) const {
    const Row& row = rows_[i];
    std::string key = row.content;
    if (row.space != nullptr) key += "\n" + chosen(i)->lies + chosen(i)->lives;
    for (const auto& maker : row.makers) {
      const Placed* const from = maker ? chosen(*maker) : nullptr;
      key += "\n" + (from == nullptr ? "" : from->lies);
      if (maker && plans_.lies_by_content()) key += rows_[*maker].content;
    }
    return key;
  }

  /// Whether what a row takes may move.
  bool is_moved(std::size_t i, const Chosen& chosen) const {
    const Row& row = rows_[i];
    const bool depends =
        row.space != nullptr || any_of(row.makers, [](const auto& m) { return !!m; });
    return !row.op->sources.empty() && depends && (row.space == nullptr || chosen(i) != nullptr);
  }

  /// Cycles by which a row takes longer as its operands move; more than there are if they cannot.
  double moves(std::size_t i, const Chosen& chosen) {
    if (!is_moved(i, chosen)) return 0;
    const auto [at, is_new] = known_moves_.try_emplace(key_of_moves(i, chosen), kImpossible);
    if (!is_new) return at->second;
    try {
      at->second = moved(i, chosen);
    } catch (const SimulationError&) {  // no room for what moves, or no program that moves it
    }
    return at->second;
  }

  double moved(std::size_t i, const Chosen& chosen) {
    const Row& row = rows_[i];
    std::vector<const Machine*> makers;
    for (const auto& maker : row.makers) {
      const Placed* const from = maker ? chosen(*maker) : nullptr;
      makers.push_back(from == nullptr ? nullptr : from->machine.get());
    }
    const Mask* const mask = mask_of_(*row.op);
    if (row.space != nullptr) {
      const auto& own = dynamic_cast<const PlansLayouts&>(*chosen(i)->machine);
      const std::unique_ptr<Machine> taking = own.taking_from(makers);
      LayerOp op = chosen(i)->op;
      op.sources = row.op->sources;
      const auto& moving = dynamic_cast<PlansLayouts&>(*taking);
      return static_cast<double>(moving.operand_moves(op, mask, row.seed));
    }
    const Cycle with = plans_.taking_from(makers)->run(*row.op, mask, row.seed, {}).cycles;
    return static_cast<double>(with) - without_moves(i);
  }

  /// Cycles of the moves to a row that is laid out so and from it, others as they are so far.
  double moves_around(std::size_t i, const Placed& own) {
    const auto with = [&](std::size_t other) { return other == i ? &own : at(other); };
    double sum = moves(i, with);
    for (const std::size_t taker : rows_[i].takers) sum += moves(taker, with);
    return sum;
  }

  /// The same, wherever its weights live: known before the row is simulated, which takes longer.
  /// Infinite if something cannot be moved.
  double least_moves(std::size_t i, const Layout& layout) {
    double least = kImpossible;
    try {
      Placed made = laid(i, layout);
      for (const Residency each : places_of(made.op)) {
        made.op.residency = each;
        made.lives = word(each);
        least = std::min(least, moves_around(i, made));
      }
    } catch (const RequestError&) {  // parameters that do not go together
    }
    return least;
  }

  /// Cycles of a row without a choice as its operands lie where it takes them.
  double without_moves(std::size_t i) {
    const LayoutTrial trial = simulate(i, {}, kNever);
    if (!trial.result) throw SimulationError("a row that cannot be");
    return static_cast<double>(trial.result->cycles);
  }

  /// What has the content of a row before it, as dense rows of one shape do, is not simulated again
  /// in a layout in which that was.
  LayoutTrial simulate(std::size_t i, const Layout& layout, Cycle most) {
    const Row& row = rows_[i];
    const std::string key = row.alone + "\n" + layout_text(layout);
    const auto known = results_.find(key);
    if (known != results_.end()) return known->second;
    LayerOp alone = *row.op;
    alone.sources.clear();
    LayoutTrial trial = try_layout(machine_, layout, alone, mask_of_(*row.op), row.seed, most);
    if (trial.result) results_.emplace(key, trial);
    return trial;
  }

  /// From where a row began, or from what a row like it has found.
  void climb_row(std::size_t i) {
    Row& row = rows_[i];
    const auto attempt = [&](const Layout& layout, double best) {
      const double around = least_moves(i, layout);
      if (around == kImpossible) return Tried{Tried::Fate::impossible};
      const Cycle most = best == kImpossible ? kNever : limit_below(best - around);
      const LayoutTrial trial = simulate(i, layout, most);
      Tried tried{trial.fate};
      if (!trial.result) return tried;
      Placed made = placed(i, layout, trial);
      tried.cycles = made.cycles + moves_around(i, made);
      if (tried.cycles < best) row.at = std::move(made);
      return tried;
    };
    const auto [first, is_new] = climbed_.try_emplace(row.alike, i);
    std::vector<Layout> starts = row.starts;
    const Placed* const like = is_new ? nullptr : at(first->second);
    if (like != nullptr) starts.push_back(like->layout);
    const auto around = [&](const Layout& layout) {
      return like != nullptr ? std::vector<Layout>{}
                             : plans_.around(*row.op, mask_of_(*row.op), layout);
    };
    row.found = climb(starts, around, attempt, effort_);
  }

  std::optional<LayoutFound> found_of(std::size_t i) {
    const Row& row = rows_[i];
    LayoutFound found = row.found;
    if (row.space == nullptr && !row.starts.empty()) {
      found.layout = row.starts[0];  // with all the others
      return found;
    }
    if (!row.at) return std::nullopt;
    found.layout = row.at->layout;
    found.runs = row.at->trial.runs;
    const double moved = moves(i, [this](std::size_t other) { return at(other); });
    found.cycles = static_cast<Cycle>(row.at->cycles + moved);
    const auto begun = [this](std::size_t other) {
      return rows_[other].begun ? &*rows_[other].begun : nullptr;
    };
    found.planned = row.begun ? static_cast<Cycle>(row.begun->cycles + moves(i, begun)) : 0;
    return found;
  }

  const Machine& machine_;
  const PlansLayouts& plans_;  // the same
  const MaskOf& mask_of_;
  ClimbEffort effort_;
  std::vector<Row> rows_;
  std::map<std::string, double> known_moves_;
  std::map<std::string, std::size_t> climbed_;  // the first row of each kind that is alike
  std::map<std::string, LayoutTrial> results_;  // of rows by themselves, as laid out
};

}  // namespace

std::optional<std::size_t> RelatedOn::row(const std::string& id) const {
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    if (!id.empty() && workload.ops[i].id == id) return i;
  }
  return std::nullopt;
}

RowsFound climb_rows(const std::vector<RelatedOn>& ways, const MaskOf& mask_of, std::uint64_t seed,
                     const ClimbEffort& effort) {
  std::unique_ptr<RowsClimb> best;
  const RelatedOn* way = &ways.front();
  double least = kImpossible;
  for (const RelatedOn& each : ways) {
    auto rows = std::make_unique<RowsClimb>(each, mask_of, seed, effort);
    double total = kImpossible;
    try {
      rows->begin();
      total = ways.size() == 1 ? 0 : rows->total();
    } catch (const SimulationError&) {  // a row that cannot be, which its run says
    }
    if (best != nullptr && total >= least) continue;
    least = total;
    best = std::move(rows);
    way = &each;
  }
  return {shared_words(dynamic_cast<const PlansLayouts&>(*way->machine), way->words), best->find()};
}

}  // namespace lacuna
