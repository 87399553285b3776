// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/layouts.hpp"

#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr const char* kWeights = "product with weights";
constexpr const char* kGradient = "gradient of sparse weights";

/// One sampled product by itself. Groups that share tokens each make a part of every sum, and what
/// adds these up outside takes no time here: no search chooses that.
LayoutSpace gradient_space() {
  return {kGradient,
          {{"ws.groups",
            {"1", "2", "3", "5", "6", "10", "15"},
            "",
            "X is held by each: groups times as much a core",
            {"1 group", "2 groups", "3 groups", "5 groups", "6 groups", "10 groups", "15 groups"}},
           {"ws.share", {"rows"}, "ws.groups > 1", "rows: all X in each group", {"all tokens"}},
           {"ws.lie",
            {"side_by_side", "interleaved"},
            "ws.groups > 1",
            "none",
            {"side by side", "interleaved"}},
           {"ws.k_partition",
            {"block", "cyclic"},
            "",
            "the fullest column's features of X and dY",
            {"blocks", "cyclic"}},
           {"ws.lookahead",
            {"4", "8", "16", "32", "64", "128"},
            "",
            "a vector of dY of all tokens of a core for each"},
           {"ws.row_order", {"ring", "rotate", "natural"}, "", "none"},
           // dot products that do not wait: every row is simulated
           {"ws.gradient",
            {"kept", "chained"},
            "wafer.columns * wafer.rows <= 1024",
            "kept: a word for each dot product of a core",
            {},
            "chained"}},
          {}};
}

}  // namespace

const std::vector<LayoutSpace>& wafer_layout_spaces() {
  static const std::vector<LayoutSpace> spaces = {
      {kWeights,
       {{"residency",
         {"streamed", "resident"},
         "",
         "resident: the weights of a core's rows and columns"},
        {"ws.groups",
         {"1", "2", "3", "5", "6", "10", "15"},
         "",
         "what groups do not share is held by each: groups times as much a core",
         {"1 group", "2 groups", "3 groups", "5 groups", "6 groups", "10 groups", "15 groups"}},
        {"ws.share",
         {"rows", "tokens"},
         "ws.groups > 1",
         "rows: all activations in each group",
         {"all tokens", "shares of tokens"}},
        {"ws.lie",
         {"side_by_side", "interleaved"},
         "ws.groups > 1",
         "none",
         {"side by side", "interleaved"}},
        {"ws.buses",
         {"1", "2", "3"},
         "ws.groups > 1 and ws.share == rows",
         "none; two colors for each pair of groups"},
        {"ws.k_partition",
         {"block", "cyclic", "balanced"},
         "",
         "the fullest column's features and results",
         {"blocks", "cyclic", "blocks"}},
        {"ws.lookahead",
         {"4", "8", "16", "32", "64", "128"},
         "",
         "a vector of partial sums of all tokens of a core for each"},
        {"ws.row_order", {"ring", "rotate", "natural"}, "", "none"},
        {"ws.reduce", {"ring", "chain", "tree", "two_phase"}, "", "none; colors and queues"},
        {"ws.inject",
         {"column_top", "middle_row"},
         "",
         "none",
         {"first rows fuller", "middle rows fuller"},
         "middle_row"},
        {"kernel.gemm",
         {"streamed", "mesh", "summa", "cannon"},
         "density == 1 and residency != streamed and wafer.columns * wafer.rows <= 1024",
         "both operands and the result in the cores"}},
       // resident weights without their zeros: every core differs, and is simulated
       {"residency != resident or density == 1 or resident.storage == all or "
        "n * batch * wafer.columns * wafer.rows <= 8388608"}},
      gradient_space()};
  return spaces;
}

std::string wafer_layout_kind(const WseParams& params, const LayerOp& op) {
  if (op.x_pattern != "dense" || runs_as_tasks(params, op)) return "";
  if (is_sampled_gradient(op)) return kGradient;
  return has_weights(op) && op.phase != Phase::upd ? kWeights : "";
}

}  // namespace lacuna
