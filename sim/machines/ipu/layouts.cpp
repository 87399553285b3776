// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/layouts.hpp"

#include <utility>

#include "models/sparsity/mask.hpp"

namespace lacuna::ipu {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kDense = "dense product";
constexpr const char* kStatic = "static sparse product";
constexpr const char* kDynamic = "dynamic sparse product";

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
  return {std::move(key), values, "", std::move(memory), values};
}

}  // namespace

const std::vector<LayoutSpace>& layout_spaces() {
  constexpr unsigned kAll = 1472;
  static const std::vector<LayoutSpace> spaces = {
      {kDense,
       {seen("planner.dense_columns", parts(kAll),
             "a tile holds 1/parts of the columns of X and Y"),
        seen("planner.dense_rows", parts(kAll), "a tile holds 1/parts of the rows of W and Y"),
        seen("planner.dense_contraction", parts(kAll),
             "a tile holds 1/parts of the contraction, and partial sums of all of its part of Y"),
        seen("planner.dense_row_steps", {"0", "1", "2", "3", "4", "6", "8"},
             "operands of one step beside the homes of all"),
        seen("planner.dense_column_steps", {"0", "1", "2", "3", "4", "6", "8"},
             "operands of one step beside the homes of all")},
       {}},
      {kStatic,
       {{"planner.static_parts", parts(32), "", "a tile gathers rows of n / parts columns"},
        {"planner.static_bands", parts(128), "",
         "a tile gathers rows of one band; more bands, more partial sums"},
        {"planner.sums",
         {"rule", "home", "spread"},
         "",
         "partial sums are where they are added up"}},
       {}},
      {kDynamic,
       {seen("planner.dynamic_rows", parts(kAll), "a tile holds 1/parts of the rows of Y"),
        seen("planner.dynamic_contraction", parts(kAll),
             "a tile holds 1/parts of the rows of X, and partial sums of its part of Y"),
        seen("planner.dynamic_columns", parts(kAll), "buckets of all parts pass every tile"),
        seen("planner.bucket_oversize", {"0.05", "0.1", "0.2", "0.3", "0.5", "1"},
             "a bucket has so much more room than the mean of the non-zeros")},
       {}}};
  return spaces;
}

std::string layout_kind(const LayerOp& op, const Mask* mask) {
  const bool product = op.op == "gemm" || op.op == "spmm";
  if (!product || op.batch != 1 || op.x_pattern != "dense") return "";
  if (mask == nullptr || op.mode == Mode::dense) return kDense;
  return op.mode == Mode::dynamic ? kDynamic : kStatic;
}

}  // namespace lacuna::ipu
