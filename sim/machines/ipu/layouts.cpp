// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/layouts.hpp"

#include <utility>

#include "models/sparsity/mask.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::ipu {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kSums = "planner.sums";
constexpr const char* kFewWorkers = "planner.few_workers";
constexpr const char* kBands = "planner.static_bands";

/// Parts of a dimension: all small ones, then steps of about a third; 0 leaves it to the planner.
Values parts(unsigned most) {
  Values values;
  for (const unsigned each : {0U,  1U,  2U,   3U,   4U,   5U,   6U,   7U,   8U,   10U,   12U,  14U,
                              16U, 20U, 23U,  24U,  28U,  32U,  40U,  46U,  48U,  56U,   64U,  80U,
                              92U, 96U, 112U, 128U, 184U, 256U, 368U, 512U, 736U, 1024U, 1472U}) {
    if (each <= most) values.push_back(std::to_string(each));
  }
  return values;
}

/// A choice by which operands and results lie, as other rows see it: each value otherwise.
LayoutChoice seen(std::string key, const Values& values, std::string memory) {
  return {std::move(key), values, std::move(memory), LayoutChoice::Seen::moves};
}

}  // namespace

const std::vector<LayoutSpace>& layout_spaces() {
  constexpr unsigned kAll = 1472;
  static const std::vector<LayoutSpace> spaces = {
      {"dense product",
       {seen("planner.dense_columns", parts(kAll),
             "a tile holds 1/parts of the columns of X and Y"),
        seen("planner.dense_rows", parts(kAll), "a tile holds 1/parts of the rows of W and Y"),
        seen("planner.dense_contraction", parts(kAll),
             "a tile holds 1/parts of the contraction, and partial sums of all of its part of Y"),
        seen("planner.dense_row_steps", {"0", "1", "2", "3", "4", "6", "8"},
             "operands of one step beside the homes of all"),
        seen("planner.dense_column_steps", {"0", "1", "2", "3", "4", "6", "8"},
             "operands of one step beside the homes of all")}},
      {"static sparse product",
       {{"planner.static_parts", parts(32), "a tile gathers rows of n / parts columns"},
        {"planner.static_bands", parts(128),
         "a tile gathers rows of one band; more bands, more partial sums"},
        {kSums, {"rule", "home", "spread"}, "partial sums are where they are added up"},
        {kFewWorkers, {"true", "false"}, "none"}}},
      {"dynamic sparse product",
       {seen("planner.dynamic_rows", parts(kAll), "a tile holds 1/parts of the rows of Y"),
        seen("planner.dynamic_contraction", parts(kAll),
             "a tile holds 1/parts of the rows of X, and partial sums of its part of Y"),
        seen("planner.dynamic_columns", parts(kAll), "buckets of all parts pass every tile"),
        seen("planner.bucket_oversize", {"0.05", "0.1", "0.2", "0.3", "0.5", "1"},
             "a bucket has so much more room than the mean of the non-zeros")}}};
  return spaces;
}

namespace {

std::string value_of(const ParameterSet& own, const Pairs& layout, const std::string& key) {
  const std::string* const chosen = find_value(layout, key);
  return chosen != nullptr ? *chosen : own.find(key)->value_text();
}

/// A layout with another value; it does not name what the machine has.
Pairs with(const ParameterSet& own, Pairs layout, const std::string& key,
           const std::string& value) {
  erase_where(layout, [&](const auto& word) { return word.first == key; });
  if (value != own.find(key)->value_text()) layout.emplace_back(key, value);
  return layout;
}

}  // namespace

std::vector<std::vector<Pairs>> layouts_around(const LayoutSpace& space, const ParameterSet& own,
                                               const Pairs& layout) {
  std::vector<std::vector<Pairs>> all;
  const auto add = [&](const Pairs& from, const LayoutChoice& choice) {
    std::vector<Pairs>& steps = all.emplace_back();
    for (const std::string& value : choice.values) {
      if (value == value_of(own, from, choice.key)) continue;
      steps.push_back(with(own, from, choice.key, value));
      // fewer workers are of use where sums are made in another place, and the other way about
      if (choice.key != kSums) continue;
      const char* const other = value_of(own, from, kFewWorkers) == "true" ? "false" : "true";
      steps.push_back(with(own, steps.back(), kFewWorkers, other));
    }
  };
  for (const LayoutChoice& choice : space.choices) {
    add(layout, choice);
    // what is spread may be of one band, which has most sums to add up in a place
    if (choice.key == kSums) add(with(own, layout, kBands, "1"), choice);
  }
  return all;
}

const LayoutSpace* layout_space(const LayerOp& op, const Mask* mask) {
  const bool product = op.op == "gemm" || op.op == "spmm";
  if (!product || op.batch != 1 || op.x_pattern != "dense") return nullptr;
  const LayoutSpace* const spaces = layout_spaces().data();  // dense, static, dynamic
  if (mask == nullptr || op.mode == Mode::dense) return spaces;
  return spaces + (op.mode == Mode::dynamic ? 2 : 1);
}

}  // namespace lacuna::ipu
