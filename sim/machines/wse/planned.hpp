// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/machine.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/target.hpp"
#include "workloads/mapping/wse/stream_rule.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct WaferRequest;

/// A way to run a row: the words of a layout; none as the wafer is set.
struct RowWay {
  Pairs words;
  std::optional<wse::StreamLayout> layout = {};  // if estimates chose it
};

/// Ways to run a row, the most promising first. The fastest of the first `simulated` that are not
/// refused is taken; if all of these are, the first of the others.
struct RowWays {
  std::vector<RowWay> all;
  std::size_t simulated = 0;
};

/// A row in one of these.
struct LaidRow {
  WseParams params;
  LayerOp op;  // whose weights live where the layout has them
};

/// Lays products with weights out by wse::stream_layouts(), within what is set by name: `columns`
/// and `rows` of `wafer` are the most that a product may take, words of `ws` stay as they are.
class LayoutRule {
 public:
  LayoutRule(const WseParams& params, TargetSetter given)
      : params_(params), given_(std::move(given)) {}

  /// The ways of a row by itself, or in a layout of all rows. Where runs are short those that
  /// denser weights would have are tried too.
  RowWays ways(const LayerOp& op, const Mask* mask, const Pairs& together) const;

  /// A row in such a layout, with words of its own.
  LaidRow laid_out(const LayerOp& op, const Pairs& together, const Pairs& words) const;

  /// The best layout that keeps the weights in the cores, with nothing beside them; empty likewise,
  /// and where estimates do not know what is given.
  std::vector<wse::StreamLayout> resident(const LayerOp& op, const Mask* mask) const;

  /// The layouts that rows of a workload which follow each other may share: the rule's, then
  /// others that may be faster. None if one of the rows cannot be laid out so.
  std::vector<wse::StreamLayout> shared(const WorkloadTrace& workload, const MaskOf& mask_of) const;

  /// The parameters that a layout sets.
  Pairs words(const wse::StreamLayout& layout) const;

  /// Layouts that differ from one of these words in one thing, the most promising first, or in two
  /// that are of use together. What is given stays.
  std::vector<Pairs> around(const LayerOp& op, const Mask* mask, const Pairs& at) const;

  /// A wafer with these words.
  WseParams laid_out(const wse::StreamLayout& layout) const;

 private:
  struct Candidates;

  /// Whether it lays an operation out by itself.
  bool takes(const LayerOp& op) const;

  /// What of a layout is given.
  wse::GivenLayout given() const;

  Candidates candidates(const LayerOp& op, const Mask* mask) const;
  std::vector<Pairs> of_row(const LayerOp& op, const Mask* mask, const Pairs& together) const;
  Pairs words_of(const LayerOp& op, const wse::StreamLayout& layout) const;
  std::vector<wse::StreamLayout> all(const LayerOp& op, const wse::WeightCounts& counts,
                                     const wse::GivenLayout& given, bool resident) const;
  std::vector<wse::StreamLayout> all(const LayerOp& op, const wse::WeightCounts& counts,
                                     const wse::GivenLayout& given) const;
  void add_rectangles(const LayerOp& op, const Mask* mask, const Pairs& at,
                      std::vector<Pairs>& steps) const;
  void add_words(const LayerOp& op, const Mask* mask, const Pairs& at,
                 std::vector<Pairs>& steps) const;
  bool may_change(const std::string& key, const Mask* mask, const LaidRow& at) const;
  bool may_keep_zeros(const LayerOp& op, const Mask* mask, const wse::StreamLayout& at) const;
  Candidates chosen(const LayerOp& op, const wse::WeightCounts& counts) const;
  std::vector<wse::StreamLayout> rivals(const LayerOp& op, const wse::WeightCounts& counts,
                                        const std::vector<wse::StreamLayout>& found) const;
  Pairs fixed_words(bool gradient) const;
  std::vector<std::string> given_words(const LayerOp& op) const;
  bool estimates(bool gradient) const;

  const WseParams& params_;
  const TargetSetter given_;
};

/// Times the least estimate: what is expected to take no more may be faster all the same.
inline constexpr double kRival = 1.3;

/// What the rule has to know of the weights of a row.
wse::WeightCounts counts_of(const LayerOp& op, const Mask* mask);

/// Counts the cores of `whole` that stand beside those of a result, and what they could have done.
void add_idle_cores(const WseParams& whole, OpResult& result);

/// Runs a row in the fastest of its ways. Says how, and how many cores of the wafer stand beside
/// it.
OpResult run_planned(const WaferRequest& request, const LayoutRule& rule, const Pairs& together);

}  // namespace lacuna
