// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/joint_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/layout/joint_choice.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/machines/moves_operands.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();
constexpr std::size_t kTriedByAlike = 1;  // layouts that lie differently, the fastest first

/// The fastest layout that was simulated of those that lie alike.
struct Candidate {
  Layout layout;
  std::string lies;   // what other rows see of it,
  std::string lives;  // where its weights are
  double cycles = 0;  // without moves of operands
  LayerOp op;         // as it is laid out
  std::shared_ptr<const Machine> machine;
  LayoutTrial trial;  // in which it was simulated
};

struct Row {
  const LayerOp* op = nullptr;
  std::uint64_t seed = 0;
  const LayoutSpace* space = nullptr;              // null: one layout
  std::vector<std::optional<std::size_t>> makers;  // by source, rows that may lie differently
  std::vector<std::size_t> takers;                 // rows with a source of this one
  std::string content;                             // its mask included
  std::string alone;                               // likewise, but for where its operands are
  std::string alike;                               // that with its mask left out
  std::vector<Candidate> candidates;               // planned first, if it can be
  std::size_t chosen = 0;
  std::map<SpacePlace, std::string> lived;  // where weights were that may choose, by layout
  double planned = 0;                       // cycles as planned, among rows as planned
  LayoutFound found;
};

class JointSearch {
 public:
  JointSearch(const Machine& machine, const RelatedRows& related, const MaskOf& mask_of,
              std::uint64_t seed, const SearchEffort& effort)
      : machine_(machine),
        moves_(dynamic_cast<const MovesOperands*>(&machine)),
        mask_of_(mask_of),
        effort_(effort) {
    for (const LayerOp& op : related.workload.ops) add_row(op, seed);
    for (std::size_t i = 0; i < rows_.size() && moves_ != nullptr; ++i) {
      relate(i, related);
    }
  }

  std::vector<std::optional<LayoutFound>> find() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].space != nullptr) search(i);
    }
    choose();
    std::vector<std::optional<LayoutFound>> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) found.push_back(found_of(i));
    return found;
  }

 private:
  void add_row(const LayerOp& op, std::uint64_t seed) {
    Row row;
    row.op = &op;
    row.seed = row_seed(op, seed);
    const Mask* const mask = mask_of_(op);
    row.space = layout_space(machine_, machine_.layout_kind(op, mask));
    row.content = operation_content(op, mask, row.seed, {});
    LayerOp plain = op;
    plain.sources.clear();
    row.alone = operation_content(plain, mask, row.seed, {});
    row.alike = pattern_label(op.pattern) + operation_content(plain, nullptr, 0, {});
    rows_.push_back(std::move(row));
  }

  void relate(std::size_t i, const RelatedRows& related) {
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

  using Chosen = std::function<const Candidate*(std::size_t)>;
  const Candidate* chosen(std::size_t row) const {
    const Row& of = rows_[row];
    return of.candidates.empty() ? nullptr : &of.candidates[of.chosen];
  }

  /// What lies as planned was simulated first.
  const Candidate* as_planned(std::size_t row) const {
    const Row& of = rows_[row];
    return of.candidates.empty() ? nullptr : &of.candidates.front();
  }

  std::string key_of_moves(std::size_t i, const Chosen& chosen) const;
  bool is_moved(std::size_t i, const Chosen& chosen) const;
  double moves(std::size_t i, const Chosen& chosen);
  double known_moves(std::size_t i, const Chosen& chosen) const;
  double bound_of_moves(std::size_t i, const Layout& layout) const;
  double least_moves(std::size_t i, const Layout& layout);
  double moved(const Row& row, const Candidate* own, const Chosen& chosen);
  double without_moves(const Row& row);
  void search(std::size_t i);
  LayoutTrial simulate(std::size_t i, const SpacePlace& place, const LayoutPoints& points,
                       const LayoutTrials& trials, double best);
  using Try = std::function<void(const SpacePlace&)>;
  bool may_gain(std::size_t i, const SpacePlace& place, const LayoutPoints& points,
                const LayoutTrials& trials, double best, LocalSearch& search);
  bool try_alike(std::size_t i, const Try& attempt, const LayoutPoints& points);
  std::optional<std::size_t> keep(Row& row, const LayoutPoints& points, const SpacePlace& place,
                                  const LayoutTrial& trial) const;
  double total(std::size_t i, const Candidate& own);
  Cycle limit(std::size_t i, const Layout& layout, double best);
  void choose();
  std::optional<LayoutFound> found_of(std::size_t i);

  const Machine& machine_;
  const MovesOperands* moves_;  // null: the machine charges none
  const MaskOf& mask_of_;
  SearchEffort effort_;
  std::vector<Row> rows_;
  std::map<std::string, double> known_moves_;
  std::map<std::string, double> without_moves_;  // of rows with one layout, by content
  std::map<std::string, std::size_t> searched_;  // the first row of each kind that is alike
  std::map<std::string, LayoutTrial> results_;   // of products by themselves, as laid out
};

/// Whether what a row takes may move.
bool JointSearch::is_moved(std::size_t i, const Chosen& chosen) const {
  const Row& row = rows_[i];
  const bool depends = row.space != nullptr || std::any_of(row.makers.begin(), row.makers.end(),
                                                           [](const auto& m) { return !!m; });
  if (moves_ == nullptr || row.op->sources.empty() || !depends) return false;
  return row.space == nullptr || chosen(i) != nullptr;
}

/// What decides about the moves of a row: how it and its makers lie.
std::string JointSearch::key_of_moves(std::size_t i, const Chosen& chosen) const {
  const Row& row = rows_[i];
  std::string key = row.content;
  if (row.space != nullptr) key += "\n" + chosen(i)->lies + chosen(i)->lives;
  for (const auto& maker : row.makers) {
    const Candidate* const from = maker ? chosen(*maker) : nullptr;
    key += "\n" + (from == nullptr ? "" : from->lies);
    if (maker && moves_->lies_by_content()) key += rows_[*maker].content;
  }
  return key;
}

/// Cycles of moves that were simulated before; 0 of others.
double JointSearch::known_moves(std::size_t i, const Chosen& chosen) const {
  if (!is_moved(i, chosen)) return 0;
  const auto known = known_moves_.find(key_of_moves(i, chosen));
  return known == known_moves_.end() ? 0 : std::max(0.0, known->second);
}

/// What the moves around a row cannot be below if it is laid out so, others as they are so far.
/// Where its weights live may follow from its simulation.
double JointSearch::bound_of_moves(std::size_t i, const Layout& layout) const {
  const Row& row = rows_[i];
  LayerOp op = *row.op;
  try {
    laid_out(machine_, layout, op, "layout");  // which tells the operation its part
  } catch (const RequestError&) {
    return 0;  // it cannot be, which its simulation finds
  }
  double least = kImpossible;
  for (const Residency each : {Residency::streamed, Residency::resident}) {
    if (op.residency != Residency::automatic && op.residency != each) continue;
    Candidate at;
    at.lies = lies_as(machine_, *row.space, layout);
    at.lives = word(each);
    const auto with = [&](std::size_t other) { return other == i ? &at : chosen(other); };
    double total = known_moves(i, with);
    for (const std::size_t taker : row.takers) total += known_moves(taker, with);
    least = std::min(least, total);
  }
  return least;
}

/// Cycles by which a row takes longer as its operands move; more than there are if they cannot.
double JointSearch::moves(std::size_t i, const Chosen& chosen) {
  const Row& row = rows_[i];
  if (!is_moved(i, chosen)) return 0;
  const Candidate* const own = row.space == nullptr ? nullptr : chosen(i);
  const auto [at, is_new] = known_moves_.try_emplace(key_of_moves(i, chosen), kImpossible);
  if (!is_new) return at->second;
  try {
    at->second = moved(row, own, chosen);
  } catch (const SimulationError&) {  // no room for what moves, or no program that moves it
  }
  return at->second;
}

double JointSearch::moved(const Row& row, const Candidate* own, const Chosen& chosen) {
  std::vector<const Machine*> makers;
  for (const auto& maker : row.makers) {
    const Candidate* const from = maker ? chosen(*maker) : nullptr;
    makers.push_back(from == nullptr ? nullptr : from->machine.get());
  }
  const Mask* const mask = mask_of_(*row.op);
  if (own != nullptr) {
    const auto& laid = dynamic_cast<const MovesOperands&>(*own->machine);
    const std::unique_ptr<Machine> taking = laid.taking_from(makers);
    LayerOp op = own->op;
    op.sources = row.op->sources;
    const auto& moving = dynamic_cast<MovesOperands&>(*taking);
    return static_cast<double>(moving.operand_moves(op, mask, row.seed));
  }
  const Cycle with = moves_->taking_from(makers)->run(*row.op, mask, row.seed, {}).cycles;
  return static_cast<double>(with) - without_moves(row);
}

/// Cycles of a row with one layout as its operands lie where it takes them.
double JointSearch::without_moves(const Row& row) {
  const auto [at, is_new] = without_moves_.try_emplace(row.content, 0);
  if (is_new) {
    LayerOp alone = *row.op;
    alone.sources.clear();
    const OpResult result = machine_.run(alone, mask_of_(*row.op), row.seed, {});
    at->second = static_cast<double>(result.cycles);
  }
  return at->second;
}

/// Keeps what was simulated unless what lies alike is as fast; its place among the candidates.
std::optional<std::size_t> JointSearch::keep(Row& row, const LayoutPoints& points,
                                             const SpacePlace& place,
                                             const LayoutTrial& trial) const {
  const OpResult& result = *trial.result;
  Candidate made;
  made.trial = trial;
  made.layout = points.layout(place);
  made.op = *row.op;
  made.machine = laid_out_row(machine_, made.layout, made.op, mask_of_(*row.op), "layout");
  if (made.op.residency == Residency::automatic) {  // where it was decided that they live
    for (const Residency each : {Residency::streamed, Residency::resident}) {
      if (result.residency == word(each)) made.op.residency = each;
    }
  }
  made.lies = lies_as(machine_, *row.space, made.layout);
  made.lives = word(made.op.residency);
  made.cycles = static_cast<double>(result.cycles);
  const auto same = std::find_if(
      row.candidates.begin(), row.candidates.end(),
      [&](const Candidate& each) { return each.lies == made.lies && each.lives == made.lives; });
  const auto at = static_cast<std::size_t>(same - row.candidates.begin());
  if (same == row.candidates.end()) {
    row.candidates.push_back(std::move(made));
  } else if (made.cycles < same->cycles) {
    *same = std::move(made);
  }
  return at;
}

/// Cycles of the moves around a row if it is laid out so, others as they are so far, wherever its
/// weights live: known before the row is simulated, which takes longer. Infinite if something
/// cannot be moved.
double JointSearch::least_moves(std::size_t i, const Layout& layout) {
  const Row& row = rows_[i];
  Candidate at;
  at.layout = layout;
  at.op = *row.op;
  try {
    at.machine = laid_out_row(machine_, layout, at.op, mask_of_(*row.op), "layout");
  } catch (const RequestError&) {
    return kImpossible;
  }
  const Residency asked = at.op.residency;
  double least = kImpossible;
  for (const Residency each : {Residency::streamed, Residency::resident}) {
    if (asked != Residency::automatic && asked != each) continue;
    at.op.residency = each;
    at.lies = lies_as(machine_, *row.space, layout);
    at.lives = word(each);
    const auto with = [&](std::size_t other) { return other == i ? &at : chosen(other); };
    double total = moves(i, with);
    for (const std::size_t taker : row.takers) total += moves(taker, with);
    least = std::min(least, total);
  }
  return least;
}

/// Whether the simulation of a layout may gain anything; if not, `search` is told why.
bool JointSearch::may_gain(std::size_t i, const SpacePlace& place, const LayoutPoints& points,
                           const LayoutTrials& trials, double best, LocalSearch& search) {
  if (trials.guess(place) == kImpossible) return true;  // refused at once, before its moves
  const auto open = rows_[i].lived.find(points.left_open(place));
  if (open != rows_[i].lived.end() && open->second == points.residency(place)) {
    search.leave(place);  // it is the same again
    return false;
  }
  const double around = least_moves(i, points.layout(place));
  if (around == kImpossible) {
    search.take(place, std::nullopt);
    return false;
  }
  if (trials.bound(place) + around < best * (1 - effort_.gain)) return true;
  search.leave(place);
  return false;
}

/// Cycles of a row that is laid out so and of the moves around it, others as they are so far.
double JointSearch::total(std::size_t i, const Candidate& own) {
  const auto with = [&](std::size_t other) { return other == i ? &own : chosen(other); };
  double sum = own.cycles + moves(i, with);
  for (const std::size_t taker : rows_[i].takers) sum += moves(taker, with);
  return sum;
}

/// Of a row laid out so: with more cycles than that it is not as fast as the best, moves included.
Cycle JointSearch::limit(std::size_t i, const Layout& layout, double best) {
  return best == kImpossible ? kNever : limit_below(best - least_moves(i, layout));
}

/// What has the content of a row before it, as dense rows of one shape do, is not simulated again
/// in a layout in which that was.
LayoutTrial JointSearch::simulate(std::size_t i, const SpacePlace& place,
                                  const LayoutPoints& points, const LayoutTrials& trials,
                                  double best) {
  const Layout layout = points.layout(place);
  const std::string key = rows_[i].alone + "\n" + layout_text(layout);
  const auto known = results_.find(key);
  if (known != results_.end()) return known->second;
  LayoutTrial trial = trials.simulate(place, limit(i, layout, best), moves_ != nullptr);
  if (trial.result) results_.emplace(key, trial);
  return trial;
}

/// The layout of a row at which it and the moves around it take least, others as they are so far.
void JointSearch::search(std::size_t i) {
  Row& row = rows_[i];
  const Mask* const asked = mask_of_(*row.op);
  const std::optional<Mask> own_mask = asked == nullptr ? std::nullopt : std::optional(*asked);
  const Mask* const mask = own_mask ? &*own_mask : nullptr;
  LayerOp alone = *row.op;
  alone.sources.clear();
  const LayoutPoints points(machine_, alone, mask, *row.space);
  const TakeOperands as_they_lie;
  const LayoutTrials trials(machine_, alone, mask, row.seed, {}, points, as_they_lie);
  const SpacePlace planned(points.values().size(), 0);
  double best = kImpossible;
  LocalSearch search({points.values(), [&](const SpacePlace& at) { return points.settle(at); },
                      [&](const SpacePlace& at) {
                        return trials.bound(at) + bound_of_moves(i, points.layout(at));
                      },
                      [&](const SpacePlace& at) {
                        return trials.guess(at) + bound_of_moves(i, points.layout(at));
                      },
                      [&](const SpacePlace& at) { return points.tried_last(at); }},
                     planned, effort_);
  const auto attempt = [&](const SpacePlace& place) {
    if (place != planned && !may_gain(i, place, points, trials, best, search)) return;
    const LayoutTrial trial = simulate(i, place, points, trials, best);
    if (gave_up(trial, place, search)) return;
    if (!trial.result) return search.take(place, std::nullopt);
    row.lived[place] = trial.result->residency;
    const std::size_t at = *keep(row, points, place, trial);
    Candidate as_simulated = row.candidates[at];
    as_simulated.cycles = static_cast<double>(trial.result->cycles);
    const double takes = total(i, as_simulated);
    if (place == planned)
      row.planned = as_simulated.cycles + moves(i, [&](std::size_t other) {
                      return other == i ? &as_simulated : as_planned(other);
                    });
    if (takes < best) row.chosen = at;
    best = std::min(best, takes);
    search.take(place, takes < kImpossible ? std::optional(takes) : std::nullopt);
  };
  if (!try_alike(i, attempt, points)) {
    for (auto batch = search.next(); !batch.empty(); batch = search.next()) {
      for (const SpacePlace& place : batch) attempt(place);
    }
  }
  row.found.simulated = search.simulated();
  row.found.pruned = search.pruned();
  row.found.impossible = search.impossible();
  row.found.cut_off = search.cut_off();
  row.found.at_most = at_most(search);
}

/// Whether a row like this one was searched: then what that has found is tried.
bool JointSearch::try_alike(std::size_t i, const Try& attempt, const LayoutPoints& points) {
  const auto [first, is_new] = searched_.try_emplace(rows_[i].alike, i);
  if (is_new || rows_[first->second].candidates.empty()) return false;
  const Row& like = rows_[first->second];
  std::vector<const Candidate*> order;
  for (const Candidate& each : like.candidates) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate* a, const Candidate* b) { return a->cycles < b->cycles; });
  if (order.size() > kTriedByAlike) order.resize(kTriedByAlike);
  const Candidate* const best = &like.candidates[like.chosen];
  if (std::count(order.begin(), order.end(), best) == 0) order.push_back(best);
  attempt(SpacePlace(points.values().size(), 0));
  for (const Candidate* const each : order) {
    if (!each->layout.empty()) attempt(points.place(each->layout));
  }
  return true;
}

void JointSearch::choose() {
  JointChoice choice;
  for (const Row& row : rows_) {
    std::vector<double> costs;
    for (const Candidate& each : row.candidates) costs.push_back(each.cycles * row.op->repeat);
    choice.add(costs.empty() ? std::vector<double>{0} : costs);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<std::size_t> things;
    if (!rows_[i].candidates.empty()) things.push_back(i);
    for (const auto& maker : rows_[i].makers) {
      if (maker && !rows_[*maker].candidates.empty()) things.push_back(*maker);
    }
    std::sort(things.begin(), things.end());
    things.erase(std::unique(things.begin(), things.end()), things.end());
    if (things.empty() || rows_[i].op->sources.empty()) continue;
    choice.add(things, [this, i, things](const JointChoice::Choices& choices) {
      const auto chosen = [&](std::size_t row) -> const Candidate* {
        const auto at = std::find(things.begin(), things.end(), row);
        if (at == things.end()) return nullptr;
        return &rows_[row].candidates[choices[static_cast<std::size_t>(at - things.begin())]];
      };
      return moves(i, chosen) * rows_[i].op->repeat;
    });
  }
  const JointChoice::Choices choices = choice.solve();
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].chosen = choices[i];
}

std::optional<LayoutFound> JointSearch::found_of(std::size_t i) {
  const Row& row = rows_[i];
  if (row.candidates.empty()) return std::nullopt;
  const Candidate& best = row.candidates[row.chosen];
  LayoutFound found = row.found;
  found.layout = best.layout;
  found.runs = best.trial.runs;
  if (moves_ == nullptr) found.result = best.trial.result;
  const double moved = moves(i, [this](std::size_t other) { return chosen(other); });
  found.cycles = static_cast<Cycle>(best.cycles + moved);
  found.planned = static_cast<Cycle>(row.planned);
  return found;
}

}  // namespace

std::optional<std::size_t> RelatedRows::row(const std::string& id) const {
  for (std::size_t i = 0; i < workload.ops.size(); ++i) {
    if (!id.empty() && workload.ops[i].id == id) return i;
  }
  return std::nullopt;
}

std::vector<std::optional<LayoutFound>> find_joint_layouts(const Machine& machine,
                                                           const RelatedRows& rows,
                                                           const MaskOf& mask_of,
                                                           std::uint64_t seed,
                                                           const SearchEffort& effort) {
  return JointSearch(machine, rows, mask_of, seed, effort).find();
}

}  // namespace lacuna
