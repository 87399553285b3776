// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/machines/wse/gradient_op.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/planned.hpp"
#include "sim/machines/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kFewCores = 1024;  // of programs that are simulated core by core

/// The same layout with another word.
Pairs with(Pairs words, const std::string& key, const std::string& value) {
  for (auto& [each, text] : words) {
    if (each != key) continue;
    text = value;
    return words;
  }
  words.emplace_back(key, value);
  return words;
}

/// The rectangle and groups of `to` with all other words of `at`.
Pairs on_rectangle(Pairs at, const Pairs& to) {
  for (const char* const key : {kColumnsWord, kRowsWord, kGroupsWord, "ws.share", kIoShareWord}) {
    if (const std::string* const value = find_value(to, key)) at = with(at, key, *value);
  }
  const std::string* const enters = find_value(to, kInjectWord);
  return enters != nullptr && *enters == "column_top" ? with(at, kInjectWord, *enters) : at;
}

/// What a layout of these words is, as far as the rule knows them.
wse::StreamLayout parsed(const LaidRow& row) {
  const WseParams& params = row.params;
  wse::StreamLayout at;
  at.resident = row.op.residency == Residency::resident;
  at.columns = params.wafer.columns;
  at.rows = params.wafer.rows;
  at.groups = params.ws.groups;
  at.lookahead = params.ws.lookahead;
  at.share = params.ws.share;
  at.keeps_zeros = !params.ws.zero_filter || params.resident.storage == wse::ResidentStorage::all;
  return at;
}

}  // namespace

/// The words of a row in a layout of all rows, in each way that is tried. No other row sees the
/// groups and the order of rows of a sampled gradient.
std::vector<Pairs> LayoutRule::of_row(const LayerOp& op, const Mask* mask,
                                      const Pairs& together) const {
  Pairs shared;
  LayerOp whole = op;
  whole.x_pattern = "dense";
  const LayoutSpace* const space = wafer_layout_space(params_, whole);
  if (space == nullptr) return {together};
  for (const LayoutChoice& choice : space->choices) {
    const std::string* const value = find_value(together, choice.key);
    if (value != nullptr) shared.emplace_back(choice.key, *value);
  }
  std::vector<Pairs> ways = {shared};
  if (is_sampled_gradient(op) && !together.empty()) {
    if (!given_.named(kOrderWord)) ways = {with(shared, kOrderWord, "ring")};
    if (!given_.named(kLieWord)) ways.push_back(with(ways[0], kLieWord, "side_by_side"));
  }
  if (may_keep_zeros(op, mask, parsed(laid_out(op, together, {})))) {
    ways.push_back(with(shared, "ws.zero_filter", "false"));
    if (has_weights(op)) ways.back().emplace_back("resident.storage", "all");
  }
  return ways;
}

/// Whether another value makes a difference, and is simulated in a time that is worth it.
bool LayoutRule::may_change(const std::string& key, const Mask* mask, const LaidRow& at) const {
  const auto& [params, op] = at;
  const bool grouped = params.ws.groups != 1U;
  const std::uint64_t cores = params.cores();
  if (given_.named(key)) return false;
  if (key == "ws.share" || key == kLieWord || key == "ws.buses") return grouped;
  if (key == kGroupsWord) return !takes(op);  // the rectangle goes with them
  if (key == "kernel.gemm") return mask == nullptr && cores <= kFewCores;
  if (key == "ws.gradient") return cores <= kFewCores;  // whose rows are all simulated
  if (key != kResidencyWord) return true;
  const bool scattered =
      mask != nullptr && params_.resident.storage == wse::ResidentStorage::nonzeros;
  const std::uint64_t work = tokens_of(op) * cores;
  return op.residency == Residency::automatic && op.mode == Mode::automatic && op.share.may_stay &&
         !takes(op) && !(scattered && work > kMostScattered);
}

void LayoutRule::add_words(const LayerOp& op, const Mask* mask, const Pairs& at,
                           std::vector<Pairs>& steps) const {
  const LaidRow row = laid_out(op, {}, at);
  for (const LayoutChoice& choice : wafer_layout_space(params_, op)->choices) {
    const std::string& key = choice.key;
    if (choice.values.empty() || !may_change(key, mask, row)) continue;
    const std::string now =
        key == kResidencyWord ? word(row.op.residency) : row.params.find(key)->value_text();
    if (key == kReduceWord && !given_.named(kOrderWord)) {  // the order goes with the sums
      const bool ring = now == "ring";
      steps.push_back(with(with(at, kReduceWord, ring ? "chain" : "ring"), kOrderWord,
                           ring ? "natural" : "ring"));
    }
    for (const std::string& value : choice.values) {
      const bool even = key != kGroupsWord || row.params.wafer.columns % std::stoul(value) == 0;
      if (value != now && even) steps.push_back(with(at, key, value));
    }
  }
}

std::vector<Pairs> LayoutRule::around(const LayerOp& op, const Mask* mask, const Pairs& at) const {
  std::vector<Pairs> steps;
  if (takes(op)) add_rectangles(op, mask, at, steps);
  add_words(op, mask, at, steps);
  return steps;
}

/// The next of the rule by their estimates that differ in one thing, and the best with the weights
/// elsewhere.
void LayoutRule::add_rectangles(const LayerOp& op, const Mask* mask, const Pairs& at,
                                std::vector<Pairs>& steps) const {
  constexpr std::size_t kNext = 8;
  const wse::StreamLayout here = parsed(laid_out(op, {}, at));
  const auto width = [](const wse::StreamLayout& each) { return each.columns / each.groups; };
  bool elsewhere = false;
  for (const wse::StreamLayout& each : all(op, counts_of(op, mask), given())) {
    const bool other_place = each.resident != here.resident || each.keeps_zeros != here.keeps_zeros;
    // NOLINTBEGIN(readability-implicit-bool-conversion): how many differ
    const int differ = (width(each) != width(here)) + (each.rows != here.rows) +
                       (each.groups != here.groups) +
                       (each.share != here.share && each.groups != 1);
    // NOLINTEND(readability-implicit-bool-conversion)
    if (other_place ? elsewhere : differ != 1 || steps.size() > kNext) continue;
    elsewhere = elsewhere || other_place;
    const Pairs words = words_of(op, each);
    steps.push_back(other_place ? words : on_rectangle(at, words));
  }
}

}  // namespace lacuna
