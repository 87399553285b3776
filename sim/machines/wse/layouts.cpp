// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/layouts.hpp"

#include <utility>

#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr const char* kDenseGradient = "gradient of dense weights";

using Seen = LayoutChoice::Seen;

/// The rectangle, of which a rule says which are of use, and the blocks of a decoder's layers.
std::vector<LayoutChoice> rectangle() {
  return {{"wafer.columns", {}, "fewer columns hold more each", Seen::same},
          {"wafer.rows", {}, "fewer rows hold more each", Seen::same},
          {"io.share", {}, "none", Seen::same},
          {"blocks.columns", {}, "fewer columns hold more each", Seen::same},
          {"blocks.rows", {}, "fewer rows hold more each", Seen::same},
          {"blocks.across", {}, "fewer blocks hold more layers each", Seen::same},
          {"blocks.down", {}, "fewer blocks hold more layers each", Seen::same}};
}

/// With what groups of columns are to a streamed product, how its sums are formed and where its
/// stream enters.
LayoutSpace stream_space(std::string kind, std::vector<LayoutChoice> more) {
  std::vector<LayoutChoice> choices = rectangle();
  const std::vector<LayoutChoice> words = {
      {"ws.k_partition",
       {"balanced", "block", "cyclic"},
       "the fullest column's features and results",
       Seen::moves},
      {"ws.inject", {"middle_row", "column_top"}, "none", Seen::moves},
      {"ws.groups",
       {"1", "2", "3", "4", "5", "6"},
       "what groups do not share is held by each: groups times as much a core",
       Seen::moves},
      {"ws.lookahead",
       {"8", "16", "32", "64", "128"},
       "a vector of partial sums of all tokens of a core for each"},
      {"ws.share", {"rows", "tokens"}, "rows: all activations in each group", Seen::moves},
      {"ws.lie", {"interleaved", "side_by_side"}, "none", Seen::moves},
      {"ws.reduce", {"chain", "ring", "tree", "two_phase"}, "none; colors and queues"},
      {"ws.row_order", {"natural", "ring", "rotate"}, "none"},
      {"ws.buses", {"1", "2", "3"}, "none; two colors for each pair of groups"}};
  choices.insert(choices.end(), words.begin(), words.end());
  choices.insert(choices.end(), more.begin(), more.end());
  return {std::move(kind), std::move(choices)};
}

/// One sampled product by itself.
LayoutSpace gradient_space() {
  LayoutSpace space{kGradient, rectangle()};
  const std::vector<LayoutChoice> words = {
      {"ws.groups",
       {"1", "2", "3", "4", "5", "6", "8"},
       "X is held by each: groups times as much a core",
       Seen::moves},
      {"ws.lookahead",
       {"16", "32", "64", "128"},
       "a vector of dY of all tokens of a core for each"},
      {"ws.lie", {"side_by_side", "interleaved"}, "none", Seen::moves},
      {"ws.k_partition",
       {"block", "cyclic"},
       "the fullest column's features of X and dY",
       Seen::moves},
      {"ws.row_order", {"ring", "rotate", "natural"}, "none"},
      {"ws.gradient", {"kept", "chained"}, "kept: a word for each dot product of a core"},
      {"ws.zero_filter", {}, "false: all is made, as of dense weights"},
      {kInjectWord, {}, "none", Seen::moves},
      {"ws.share", {}, "rows: X is held by each group", Seen::moves},
      {kReduceWord, {}, "none; colors and queues"}};
  space.choices.insert(space.choices.end(), words.begin(), words.end());
  space.left_out =
      "ws.share=tokens: each group sends a part of every sum, and what adds these up outside takes "
      "no time here: it would win for that";
  return space;
}

LayoutSpace masked_product_space() {
  LayoutSpace space{kMaskedProduct, rectangle()};
  space.choices.push_back({"ws.zero_filter", {}, "false: all of the product is made"});
  return space;
}

}  // namespace

const std::vector<LayoutSpace>& wafer_layout_spaces() {
  static const std::vector<LayoutSpace> spaces = {
      stream_space(kProductWithWeights, {{"residency",
                                          {"streamed", "resident"},
                                          "resident: the weights of a core's rows and columns"},
                                         {"kernel.gemm",
                                          {"streamed", "mesh", "summa", "cannon"},
                                          "both operands and the result in the cores"},
                                         {"ws.zero_filter", {}, "none"},
                                         {"resident.storage", {}, "all: zeros of weights too"}}),
      gradient_space(),
      stream_space(kDenseGradient, {}),
      {kOnRectangle, rectangle()},
      masked_product_space()};
  return spaces;
}

const LayoutSpace* wafer_layout_space(const WseParams& params, const LayerOp& op) {
  const std::string kind = wafer_layout_kind(params, op);
  for (const LayoutSpace& space : wafer_layout_spaces()) {
    if (space.kind == kind) return &space;
  }
  return nullptr;
}

bool has_all_cores(const LayerOp& op) { return op.op == "optim"; }

std::string wafer_layout_kind(const WseParams& params, const LayerOp& op) {
  if (op.share.group != nullptr || op.x_pattern != "dense" || runs_as_tasks(params, op)) return "";
  if (has_all_cores(op)) return "";
  if (is_sampled_gradient(op)) return kGradient;
  if (is_dense_gradient(op)) return op.pattern.name == "dense" ? kDenseGradient : "";
  const bool masked = op.op == "bmm" && op.pattern.name != "dense";
  if (!has_weights(op)) return masked ? kMaskedProduct : kOnRectangle;
  return op.phase != Phase::upd ? kProductWithWeights : "";
}

}  // namespace lacuna
