// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/planned.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/rows.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/mapping/wse/gradient_rule.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr double kStep = 1.5;            // from one density to the next,
constexpr double kSparsest = 0.005;      // but below this
constexpr double kWorthIt = 0.9;         // of the estimate of a denser workload's rectangle
constexpr std::size_t kLookedInto = 16;  // rectangles
constexpr std::uint64_t kMuch = 64;      // elements a core, of functions
constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// What may be laid out together: nothing that has a program of its own, and no gradient that
/// leaves zeros of X out.
bool shares(const WseParams& params, const LayerOp& op) {
  return (op.x_pattern == "dense" || !is_gradient(op)) && !runs_as_tasks(params, op);
}

/// What rows have in common that take the same in every layout.
std::string kind_of_row(const LayerOp& op, const wse::WeightCounts& counts) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}", op.op, op.fn, word(op.phase), op.m, op.k,
                  op.n, op.batch, word(op.dtype), counts.density, op.x_pattern, counts.x_density);
  for (const OperandSource& source : op.sources) {
    text += fmt::format(" {} {} {} {}", static_cast<int>(source.kind), source.features,
                        source.tokens, source.of_product);
  }
  return text;
}

/// What a row takes in a layout, with its zeros kept where that is faster.
wse::RowCost cost(const LayerOp& op, const wse::WeightCounts& counts, wse::GivenLayout given,
                  const wse::StreamingSetup& setup) {
  const wse::StreamingJob job = streaming_job(op, nullptr, false);
  if (!is_sampled_gradient(op)) return wse::product_cost(job, counts, given, setup);
  wse::RowCost in_part = wse::gradient_cost(gradient_job(op, nullptr), counts, setup);
  if (!given.may_keep_zeros) return in_part;
  return [in_part, whole = wse::product_cost(job, {}, given, setup)](const wse::StreamLayout& at) {
    return std::min(in_part(at), whole(at));
  };
}

/// A product in the places that its weights may have.
wse::SharedRow places_of(const LayerOp& op, const wse::WeightCounts& counts,
                         const wse::GivenLayout& given, const wse::StreamingSetup& setup) {
  const bool in_part = is_sampled_gradient(op);
  wse::SharedRow row{cost(op, counts, given, setup), in_part ? op.n : op.k, in_part ? op.k : op.n};
  if (!may_stay(op)) return row;
  const wse::StreamingJob job = streaming_job(op, nullptr, true);
  row.staying = wse::product_cost(job, counts, given, setup);
  row.bytes = wse::staying_bytes(job, counts, setup);
  row.held = op.m;
  if (!op.share.may_stay) row.cost = [](const wse::StreamLayout&) { return kImpossible; };
  return row;
}

/// Layouts that were looked into, and what rows take there beside their products.
class LookedInto {
 public:
  void add(const wse::StreamLayout& at, double beside) { all_.emplace_back(at, beside); }

  /// What to expect beside the products, from the nearest layout that was looked into: all cores
  /// share the work, and half of it crosses them. Fewer rows of about as many columns are expected
  /// to take no more, so that they are looked into.
  double beside(const wse::StreamLayout& at) const {
    const auto is_nearer = [&](const auto& a, const auto& b) { return away(a, at) < away(b, at); };
    const auto& [near, found] = *std::min_element(all_.begin(), all_.end(), is_nearer);
    if (found == kImpossible) return 0;
    const double shared = found * side(near) / side(at);
    return are_as_wide(near, at) ? std::min(found, shared) : shared;
  }

 private:
  using Found = std::pair<wse::StreamLayout, double>;

  static double side(const wse::StreamLayout& at) {
    return std::sqrt(static_cast<double>(at.cores()));
  }
  /// Whether both have as many columns, but for those that are left over where groups share them.
  static bool are_as_wide(const wse::StreamLayout& a, const wse::StreamLayout& b) {
    return std::max(a.columns, b.columns) - std::min(a.columns, b.columns) <
           std::max(a.groups, b.groups);
  }
  static std::tuple<bool, std::uint32_t, bool> away(const Found& found,
                                                    const wse::StreamLayout& at) {
    const wse::StreamLayout& to = found.first;
    const auto rows = std::max(to.rows, at.rows) - std::min(to.rows, at.rows);
    const bool other = to.groups != at.groups || to.resident != at.resident;
    return std::tuple(!are_as_wide(to, at), rows, other);
  }

  std::vector<Found> all_;
};

/// The rows of a workload, those that are alike once.
class Rows {
 public:
  Rows(const LayoutRule& rule, const WseParams& params, const WorkloadTrace& workload,
       const MaskOf& mask_of)
      : rule_(rule), mask_of_(mask_of), setup_(streaming_setup(params)) {
    for (const LayerOp& op : workload.ops) {
      if (has_all_cores(op)) continue;
      wse::WeightCounts counts = counts_of(op, mask_of(op));
      counts.blocks = nullptr;  // of a mask that is gone when the next is asked for
      if (op.x_pattern != "dense" && op.x_density) counts.x_density = op.x_density->value();
      const auto [at, is_new] = known_.try_emplace(kind_of_row(op, counts), rows_.size());
      if (is_new) rows_.push_back({&op, counts, 0});
      rows_[at->second].times += op.repeat;
      if (is_product(op)) least_ = std::min({least_, counts.density, counts.x_density});
    }
  }

  double least_density() const { return std::max(least_, kSparsest); }

  /// Their layouts by estimates of the products alone, which from now on have so many non-zeros at
  /// least.
  std::vector<wse::StreamLayout> layouts(double density, const wse::GivenLayout& given) {
    products_.clear();
    ops_.clear();
    for (const Row& row : rows_) {
      if (!is_product(*row.op)) continue;
      wse::WeightCounts counts = row.counts;
      counts.density = std::max(counts.density, density);
      counts.x_density = std::max(counts.x_density, density);
      products_.push_back(places_of(*row.op, counts, given, setup_));
      products_.back().times = row.times;
      ops_.push_back(row.op);
    }
    return products_.empty() ? rectangles(given) : wse::shared_layouts(products_, given, setup_);
  }

  /// The one with the least sum of what all rows take; infinite cycles if there is none. It looks
  /// next into the layout of which the fewest cycles are expected.
  wse::StreamLayout least(std::vector<wse::StreamLayout> layouts) {
    if (products_.empty()) return least_rectangle(layouts);
    wse::StreamLayout best;
    best.cycles = kImpossible;
    LookedInto looked;
    const auto look_into = [&](wse::StreamLayout at) {
      const double products = at.cycles;
      at.cycles = cycles(at);
      looked.add(at, at.cycles - products);
      if (at.cycles < best.cycles) best = at;
    };
    std::set<std::pair<std::uint32_t, bool>> kinds;
    for (const wse::StreamLayout& at : layouts) {  // in the order of the products
      if (at.cycles >= best.cycles) break;
      if (kinds.insert({at.groups, at.resident}).second) look_into(at);
    }
    const auto is_sooner = [&](const auto& a, const auto& b) {
      return a.cycles + looked.beside(a) < b.cycles + looked.beside(b);
    };
    for (std::size_t i = 0; i < kLookedInto && !layouts.empty(); ++i) {
      const auto next = std::min_element(layouts.begin(), layouts.end(), is_sooner);
      if (next->cycles < best.cycles) look_into(*next);
      layouts.erase(next);
    }
    return best;
  }

  /// Of all rows and moves.
  double cycles(const wse::StreamLayout& at) {
    Beside& beside = this->beside(at);
    double sum = beside.cycles;
    const bool stay = at.resident && wse::weights_fit(products_, at, beside.working, setup_);
    for (std::size_t i = 0; i < products_.size(); ++i) {
      const wse::SharedRow& row = products_[i];
      double least = row.cost(at) + beside.moves[i];
      const double staying = stay && row.staying ? row.staying(at) : kImpossible;
      if (staying < least) least = std::min(least, staying + staying_moves(at, i));
      sum += row.times * least;
    }
    return sum;
  }

 private:
  /// What rows take on a rectangle beside the products.
  struct Beside {
    double cycles = 0;                            // of what is no product
    std::uint64_t working = 0;                    // bytes of the fullest core, likewise
    std::vector<double> moves;                    // by product, with streamed weights,
    std::map<std::size_t, double> staying_moves;  // and with resident ones, where asked
  };

  struct Row {
    const LayerOp* op = nullptr;
    wse::WeightCounts counts;
    double times = 0;
  };

  static bool is_product(const LayerOp& op) { return has_weights(op) || is_gradient(op); }

  /// Of rectangles: its width among the tallest, then its height.
  wse::StreamLayout least_rectangle(const std::vector<wse::StreamLayout>& layouts) {
    wse::StreamLayout best;
    best.cycles = kImpossible;
    for (const wse::StreamLayout& at : layouts) best.rows = std::max(best.rows, at.rows);
    const auto look_into = [&](bool wide) {
      const wse::StreamLayout from = best;
      for (wse::StreamLayout at : layouts) {
        if (wide ? at.rows != from.rows : at.columns != from.columns) continue;
        at.cycles = cycles(at);
        const bool fewer = at.cycles == best.cycles && at.cores() < best.cores();
        if (at.cycles < best.cycles || fewer) best = at;
      }
    };
    look_into(true);
    look_into(false);
    return best;
  }

  /// Rectangles that rows without products share evenly, of which estimates know nothing. None
  /// where all cores have much to do, or tables to look into, which takes long to plan.
  std::vector<wse::StreamLayout> rectangles(wse::GivenLayout given) const {
    std::vector<wse::SharedRow> rows;
    const wse::RowCost nothing = [](const wse::StreamLayout&) { return 0.0; };
    for (const Row& row : rows_) {
      const std::uint64_t elements = std::uint64_t{row.op->m} * row.op->n * row.op->batch;
      const std::uint64_t cores = std::uint64_t{setup_.wafer.columns} * setup_.wafer.rows;
      if (row.op->op == "embed" || elements > kMuch * cores) return {};
      rows.push_back({nothing, row.op->m, row.op->n});
      rows.push_back({nothing, row.op->n, row.op->m});  // of scores
    }
    given.groups = 1;
    return wse::shared_layouts(rows, given, setup_);
  }

  Beside& beside(const wse::StreamLayout& at) {
    const auto [known, is_new] = beside_.try_emplace({at.columns, at.rows, at.groups});
    Beside& found = known->second;
    if (!is_new) return found;
    const WseParams made = rule_.laid_out(at);
    for (const Row& row : rows_) {
      const LayerOp& op = *row.op;
      const bool product = is_product(op);
      const RoughCost own = estimated_beside(made, op, product ? nullptr : mask_of_(op));
      if (product) {
        found.moves.push_back(own.cycles);
      } else {
        found.cycles += row.times * own.cycles;
        found.working = std::max(found.working, own.bytes);
      }
    }
    return found;
  }

  double staying_moves(const wse::StreamLayout& at, std::size_t product) {
    const auto [moves, is_new] = beside(at).staying_moves.try_emplace(product, 0);
    if (is_new) {
      const LayerOp& op = *ops_[product];
      moves->second = estimated_beside(rule_.laid_out(at), op, nullptr, true).cycles;
    }
    return moves->second;
  }

  const LayoutRule& rule_;
  const MaskOf& mask_of_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> known_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Beside> beside_;
  const wse::StreamingSetup setup_;
  std::vector<wse::SharedRow> products_;  // in the order of those among rows_,
  std::vector<const LayerOp*> ops_;       // and their rows
  double least_ = 1;
};

}  // namespace

/// From dense weights on, the rectangle of denser ones stays until another is clearly better, so
/// that fewer weights are not slower.
std::vector<wse::StreamLayout> LayoutRule::shared(const WorkloadTrace& workload,
                                                  const MaskOf& mask_of) const {
  const auto may = [&](const LayerOp& op) { return shares(params_, op); };
  if (!estimates(false) || !all_of(workload.ops, may)) return {};
  Rows rows(*this, params_, workload, mask_of);
  std::vector<wse::StreamLayout> found;
  for (double density = 1;; density /= kStep) {
    const std::vector<wse::StreamLayout> layouts = rows.layouts(density, given());
    const wse::StreamLayout best = rows.least(layouts);
    if (best.cycles == kImpossible) return {};
    double taken = kImpossible;
    if (!found.empty()) {
      const auto now = std::find(layouts.begin(), layouts.end(), found[0]);
      if (now != layouts.end()) taken = rows.cycles(*now);
      found[0].cycles = taken;
    }
    const auto same = std::find(found.begin(), found.end(), best);
    if (same == found.end()) found.push_back(best);
    if (best.cycles < kWorthIt * taken) {
      std::rotate(found.begin(), std::find(found.begin(), found.end(), best), found.end());
    }
    if (density <= rows.least_density()) return found;
  }
}

/// Whether zeros of the weights of a row may be kept, as that may be faster.
bool LayoutRule::may_keep_zeros(const LayerOp& op, const Mask* mask,
                                const wse::StreamLayout& at) const {
  wse::GivenLayout given = this->given();
  const bool product = has_weights(op) || op.op == "bmm";
  const bool filters = op.x_pattern != "dense" && !is_gradient(op);
  const bool may = (product && mask != nullptr) || is_sampled_gradient(op) || filters;
  if (!may || !given.may_keep_zeros) return false;
  if (filters || !has_weights(op)) return true;  // only its run tells
  given.may_keep_zeros = false;
  const wse::StreamingSetup setup = streaming_setup(params_);
  wse::StreamLayout here = at;
  here.resident = true;
  return places_of(op, {}, given, setup).cycles(here) <
         kRival * places_of(op, counts_of(op, mask), given, setup).cycles(here);
}

}  // namespace lacuna
