// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/planned.hpp"
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

/// What may be laid out together: nothing that has a program, a filter or a layout of its own, and
/// no weights that are asked to stay, of which as many cores as there are hold the most.
bool shares(const WseParams& params, const LayerOp& op) {
  if (op.x_pattern != "dense" || runs_as_tasks(params, op)) return false;
  return !has_weights(op) || wse::residency_of(op) != Residency::resident;
}

/// What rows have in common that take the same in every layout.
std::string kind_of_row(const LayerOp& op, double density) {
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}", op.op, op.fn, word(op.phase),
                                 op.m, op.k, op.n, op.batch, word(op.dtype), density, op.x_pattern);
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

/// The rows of a workload, those that are alike once.
class Rows {
 public:
  Rows(const LayoutRule& rule, const WseParams& params, const WorkloadTrace& workload,
       const MaskOf& mask_of)
      : rule_(rule), params_(params), mask_of_(mask_of) {
    for (const LayerOp& op : workload.ops) {
      if (has_all_cores(op)) continue;
      const wse::WeightCounts counts = counts_without_blocks(op, mask_of(op));
      const auto [at, is_new] = known_.try_emplace(kind_of_row(op, counts.density), rows_.size());
      if (is_new) rows_.push_back({&op, counts, 0});
      rows_[at->second].times += op.repeat;
      if (is_product(op)) least_ = std::min(least_, counts.density);
    }
  }

  double least_density() const { return std::max(least_, kSparsest); }

  /// Their layouts by estimates of the products alone, if these have so many non-zeros at least.
  std::vector<wse::StreamLayout> layouts(double density, const wse::GivenLayout& given) const {
    std::vector<wse::SharedRow> products;
    const wse::StreamingSetup setup = streaming_setup(params_);
    for (Row row : rows_) {
      const LayerOp& op = *row.op;
      if (!is_product(op)) continue;
      row.counts.density = std::max(row.counts.density, density);
      const bool in_part = is_sampled_gradient(op);
      products.push_back({cost(op, row.counts, given, setup), in_part ? op.n : op.k,
                          in_part ? op.k : op.n, row.times});
    }
    if (products.empty()) return {};
    return wse::shared_layouts(products, given, setup);
  }

  /// The one with the least sum of what all rows take; infinite cycles if there is none.
  wse::StreamLayout least(std::vector<wse::StreamLayout> layouts) {
    wse::StreamLayout best;
    best.cycles = kImpossible;
    if (layouts.empty()) return best;
    // what is beside products is shared by all cores, and half of it crosses them
    const auto side = [](const wse::StreamLayout& at) {
      return std::sqrt(static_cast<double>(at.cores()));
    };
    const double work = beside(layouts[0]) * side(layouts[0]);
    const auto expected = [&](const wse::StreamLayout& at) {
      return at.cycles + (work < kImpossible ? work / side(at) : 0);
    };
    sort_all(layouts, [&](const auto& a, const auto& b) { return expected(a) < expected(b); });
    layouts.resize(std::min(layouts.size(), kLookedInto));
    for (wse::StreamLayout& at : layouts) {
      if (at.cycles >= best.cycles) continue;
      at.cycles += beside(at);
      if (at.cycles < best.cycles) best = at;
    }
    return best;
  }

  /// Cycles of what is no product, and of moves.
  double beside(const wse::StreamLayout& at) {
    const auto [known, is_new] = beside_.try_emplace({at.columns, at.rows, at.groups}, kImpossible);
    if (!is_new) return known->second;
    const WseParams made = rule_.laid_out(at);
    double sum = 0;
    try {
      for (const Row& row : rows_) sum += row.times * beside(made, *row.op);
      known->second = sum;
    } catch (const OutOfMemoryError&) {
    }
    return known->second;
  }

 private:
  static constexpr double kImpossible = std::numeric_limits<double>::infinity();

  struct Row {
    const LayerOp* op = nullptr;
    wse::WeightCounts counts;
    double times = 0;
  };

  static bool is_product(const LayerOp& op) { return has_weights(op) || is_gradient(op); }

  /// Of a mask that is gone when the next is asked for.
  static wse::WeightCounts counts_without_blocks(const LayerOp& op, const Mask* mask) {
    wse::WeightCounts counts = counts_of(op, mask);
    counts.blocks = nullptr;
    return counts;
  }

  double beside(const WseParams& made, const LayerOp& op) const {
    try {
      return static_cast<double>(
          estimated_beside(made, op, is_product(op) ? nullptr : mask_of_(op)));
    } catch (const UnsupportedError&) {  // its run says why
      return 0;
    }
  }

  const LayoutRule& rule_;
  const WseParams& params_;
  const MaskOf& mask_of_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> known_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> beside_;
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
    if (best.cycles == std::numeric_limits<double>::infinity()) return {};
    double taken = std::numeric_limits<double>::infinity();
    if (!found.empty()) {
      const auto now = std::find(layouts.begin(), layouts.end(), found[0]);
      if (now != layouts.end()) taken = now->cycles + rows.beside(*now);
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
  const bool may = (product && mask != nullptr) || is_sampled_gradient(op);
  if (!may || !given.may_keep_zeros) return false;
  if (!has_weights(op) && !is_gradient(op)) return true;  // only its run tells
  given.may_keep_zeros = false;
  const wse::StreamingSetup setup = streaming_setup(params_);
  return wse::product_cost(streaming_job(op, nullptr, false), {}, given, setup)(at) <
         kRival * cost(op, counts_of(op, mask), given, setup)(at);
}

OpResult run_together(const WaferRequest& request, const LayoutRule& rule,
                      const wse::StreamLayout* layout) {
  const auto& [machine, whole, op, mask, seed, execution] = request;
  if (has_all_cores(op)) return run_wafer_row(request);
  const WseParams params = layout == nullptr ? whole : rule.laid_out(*layout);
  const Pairs together = layout == nullptr ? Pairs() : rule.words(*layout);
  std::vector<RowWay> ways;
  for (const Pairs& words : rule.of_row(op, mask, together)) {
    ways.push_back({params, op});
    WseParams& own = ways.back().params;
    for (const auto& [path, text] : words) own.set(path, text, "layout");
    if (own.ws.lie != params.ws.lie) {  // its operands move from where they lie
      own.makers.assign(op.sources.size(), std::make_shared<const WseParams>(params));
    }
  }
  const std::size_t at = fastest_of(request, ways, ways.size());
  if (layout == nullptr && at == 0) return run_wafer_row(request);
  const WseParams& fastest = ways[at].params;
  OpResult result = run_wafer_row({machine, fastest, op, mask, seed, execution});
  add_idle_cores(whole, result);
  note_words(whole, fastest, result);
  return result;
}

}  // namespace lacuna
