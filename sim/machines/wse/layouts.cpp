// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/layouts.hpp"

#include <utility>

#include "sim/machines/wse/gradient_rows.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr const char* kGradient = "gradient of sparse weights";
constexpr const char* kDenseGradient = "gradient of dense weights";

/// What spaces have in common.
LayoutChoice groups_choice(std::string memory) {
  return {"ws.groups",
          {"1", "2", "3", "5", "6", "10", "15"},
          "",
          std::move(memory),
          {"1 group", "2 groups", "3 groups", "5 groups", "6 groups", "10 groups", "15 groups"}};
}

LayoutChoice share_choice(std::string memory) {
  return {"ws.share",
          {"rows", "tokens"},
          "ws.groups > 1",
          std::move(memory),
          {"all tokens", "shares of tokens"}};
}

LayoutChoice lie_choice() {
  return {"ws.lie",
          {"side_by_side", "interleaved"},
          "ws.groups > 1",
          "none",
          {"side by side", "interleaved"}};
}

LayoutChoice lookahead_choice(std::string memory) {
  return {"ws.lookahead", {"4", "8", "16", "32", "64", "128"}, "", std::move(memory)};
}

LayoutChoice order_choice() { return {"ws.row_order", {"ring", "rotate", "natural"}, "", "none"}; }

/// How the sums of a streamed product are formed, and where its stream enters.
void add_stream_choices(std::vector<LayoutChoice>& choices) {
  choices.push_back(lookahead_choice("a vector of partial sums of all tokens of a core for each"));
  choices.push_back(order_choice());
  choices.push_back(
      {"ws.reduce", {"ring", "chain", "tree", "two_phase"}, "", "none; colors and queues"});
  choices.push_back({"ws.inject",
                     {"column_top", "middle_row"},
                     "",
                     "none",
                     {"first rows fuller", "middle rows fuller"},
                     "middle_row"});
}

LayoutChoice buses_choice() {
  return {"ws.buses",
          {"1", "2", "3"},
          "ws.groups > 1 and ws.share == rows",
          "none; two colors for each pair of groups"};
}

LayoutSpace weights_space() {
  LayoutSpace space;
  space.kind = kProductWithWeights;
  space.choices = {
      {"residency",
       {"streamed", "resident"},
       "",
       "resident: the weights of a core's rows and columns"},
      groups_choice("what groups do not share is held by each: groups times as much a core"),
      share_choice("rows: all activations in each group"),
      lie_choice(),
      buses_choice(),
      {"ws.k_partition",
       {"block", "cyclic", "balanced"},
       "",
       "the fullest column's features and results",
       {"blocks", "cyclic", "blocks"}}};
  add_stream_choices(space.choices);
  space.choices.push_back(
      {"kernel.gemm",
       {"streamed", "mesh", "summa", "cannon"},
       "density == 1 and residency != streamed and wafer.columns * wafer.rows <= 1024",
       "both operands and the result in the cores"});
  space.by_rule = {"wafer.columns", "wafer.rows", "io.share", "ws.zero_filter", "resident.storage"};
  // resident weights without their zeros: every core differs, and is simulated
  space.where = {
      "residency != resident or density == 1 or resident.storage == all or "
      "n * batch * wafer.columns * wafer.rows <= 8388608"};
  return space;
}

/// One sampled product by itself.
LayoutSpace gradient_space() {
  LayoutSpace space;
  space.kind = kGradient;
  space.choices = {
      groups_choice("X is held by each: groups times as much a core"),
      {"ws.share", {"rows"}, "ws.groups > 1", "rows: all X in each group", {"all tokens"}},
      lie_choice(),
      {"ws.k_partition",
       {"block", "cyclic"},
       "",
       "the fullest column's features of X and dY",
       {"blocks", "cyclic"}},
      lookahead_choice("a vector of dY of all tokens of a core for each"),
      order_choice(),
      // dot products that do not wait: every row is simulated
      {"ws.gradient",
       {"kept", "chained"},
       "wafer.columns * wafer.rows <= 1024",
       "kept: a word for each dot product of a core",
       {},
       "chained"}};
  space.left_out = {
      {"ws.share=tokens",
       "each group sends a part of every sum, and what adds these up outside takes no time here: "
       "it would win for that"}};
  return space;
}

/// A product that streams dY and holds X, whose tokens lie along columns. All loads are alike, so
/// that nothing is balanced.
LayoutSpace dense_gradient_space() {
  LayoutSpace space;
  space.kind = kDenseGradient;
  space.choices = {
      groups_choice("what groups do not share is held by each: groups times as much a core"),
      share_choice("rows: all X in each group; tokens: a part of the inputs"),
      lie_choice(),
      buses_choice(),
      {"ws.k_partition",
       {"block", "cyclic"},
       "",
       "the fullest column's tokens of X and rows of dW",
       {"blocks", "cyclic"}}};
  add_stream_choices(space.choices);
  return space;
}

}  // namespace

const std::vector<LayoutSpace>& wafer_layout_spaces() {
  static const std::vector<LayoutSpace> spaces = {weights_space(), gradient_space(),
                                                  dense_gradient_space()};
  return spaces;
}

std::string wafer_layout_kind(const WseParams& params, const LayerOp& op) {
  if (op.share.group != nullptr || op.x_pattern != "dense" || runs_as_tasks(params, op)) return "";
  if (is_sampled_gradient(op)) return kGradient;
  if (is_dense_gradient(op)) return op.pattern.name == "dense" ? kDenseGradient : "";
  return has_weights(op) && op.phase != Phase::upd ? kProductWithWeights : "";
}

}  // namespace lacuna
