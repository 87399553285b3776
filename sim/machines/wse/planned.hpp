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

/// Layouts of an operation, the most promising first. The fastest of the first `simulated` that are
/// not refused is taken; of the others the first, if all of these are. None if the rule says
/// nothing of the operation.
struct PlannedLayouts {
  std::vector<wse::StreamLayout> layouts;
  std::size_t simulated = 0;
  bool as_set = false;  // the wafer as it is set is simulated too: estimates know too little
};

/// Lays products with weights out by wse::stream_layouts(), within what is set by name: `columns`
/// and `rows` of `wafer` are the most that a product may take, words of `ws` stay as they are.
class LayoutRule {
 public:
  LayoutRule(const WseParams& params, TargetSetter given)
      : params_(params), given_(std::move(given)) {}

  /// Whether it lays an operation out.
  bool takes(const LayerOp& op) const;

  /// None for operations of other kinds. Where runs are short those that denser weights would have
  /// are simulated too.
  PlannedLayouts layouts(const LayerOp& op, const Mask* mask) const;

  /// The best layout that keeps the weights in the cores, with nothing beside them; empty likewise,
  /// and where estimates do not know what is given.
  std::vector<wse::StreamLayout> resident(const LayerOp& op, const Mask* mask) const;

  /// The layouts that rows of a workload which follow each other may share: the rule's, then
  /// others that may be faster. None if one of the rows cannot be laid out so.
  std::vector<wse::StreamLayout> shared(const WorkloadTrace& workload, const MaskOf& mask_of) const;

  /// The words of a row in a layout of all rows, in each way that the rule tries.
  std::vector<Pairs> of_row(const LayerOp& op, const Mask* mask, const Pairs& together) const;

  /// The parameters that a layout sets.
  Pairs words(const wse::StreamLayout& layout) const;

  /// Layouts that differ from one of these words in one thing, the most promising first, or in two
  /// that are of use together. What is given stays.
  std::vector<Pairs> around(const LayerOp& op, const Mask* mask, const Pairs& at) const;

  /// What of a layout is given.
  wse::GivenLayout given() const;

  /// A wafer with these words.
  WseParams laid_out(const wse::StreamLayout& layout) const;

 private:
  std::vector<wse::StreamLayout> all(const LayerOp& op, const wse::WeightCounts& counts,
                                     const wse::GivenLayout& given, bool resident) const;
  std::vector<wse::StreamLayout> all(const LayerOp& op, const wse::WeightCounts& counts,
                                     const wse::GivenLayout& given) const;
  void add_rectangles(const LayerOp& op, const Mask* mask, const Pairs& at,
                      std::vector<Pairs>& steps) const;
  void add_words(const LayerOp& op, const Mask* mask, const Pairs& at,
                 std::vector<Pairs>& steps) const;
  bool may_change(const std::string& key, const LayerOp& op, const Mask* mask,
                  const Pairs& at) const;
  std::string value_of(const Pairs& words, const std::string& key, const LayerOp& op) const;
  bool may_keep_zeros(const LayerOp& op, const Mask* mask, const wse::StreamLayout& at) const;
  PlannedLayouts chosen(const LayerOp& op, const wse::WeightCounts& counts) const;
  std::vector<wse::StreamLayout> rivals(const LayerOp& op, const wse::WeightCounts& counts,
                                        const std::vector<wse::StreamLayout>& found) const;
  wse::StreamLayout parsed(const Pairs& words, const LayerOp& op) const;
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

/// A row whose weights live where a layout has them.
LayerOp placed(LayerOp op, const wse::StreamLayout& layout);

/// A layout as a file has it: where weights live, too.
Pairs words_of(const LayoutRule& rule, const LayerOp& op, const wse::StreamLayout& layout);

/// Counts the cores of `whole` that stand beside those of a result, and what they could have done.
void add_idle_cores(const WseParams& whole, OpResult& result);

/// Notes which parameters a row was laid out by: those of `laid_out` that `whole` has otherwise.
void note_words(const WseParams& whole, const WseParams& laid_out, OpResult& result);

/// A way to run a row.
struct RowWay {
  WseParams params;
  LayerOp op;
  const wse::StreamLayout* layout = nullptr;  // null: as the wafer is set
};

/// The fastest of the first `most` ways that are not refused, or the last way; the first, without a
/// simulation, if one is asked for. What falls behind is given up; what was simulated is kept.
std::size_t fastest_of(const WaferRequest& request, std::vector<RowWay>& ways, std::size_t most);

/// Runs a row as `rule` lays it out, or as its wafer is where the rule says nothing. Says how, and
/// how many cores of the wafer stand beside it.
OpResult run_planned(const WaferRequest& request, const LayoutRule& rule);

/// Runs one of several rows as all of them are laid out, or as the wafer is set. Its zeros are kept
/// where that is faster.
OpResult run_together(const WaferRequest& request, const LayoutRule& rule,
                      const wse::StreamLayout* layout);

}  // namespace lacuna
