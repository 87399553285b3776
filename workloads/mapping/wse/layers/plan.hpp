// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/code_costs.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {
struct Mask;
}

namespace lacuna::wse {

/// How one product Y[m x n] = W[m x k] X[k x n] lies on side x side cores: W in blocks of
/// rows x inner, X of inner x columns, Y of rows x columns; core (r, c) begins and ends with block
/// (r, c) of each, but of X with block (c, r) if W stays.
struct ProductShape {
  std::uint32_t side = 1;
  std::uint32_t rows = 1;
  std::uint32_t inner = 1;
  std::uint32_t columns = 1;
  /// Which operand stays in its core while the two others are shifted, W or Y along rows of cores
  /// and X along columns.
  bool w_stays = false;
  /// An instruction works on a column of W and Y (length `rows`), or on a row of X and Y.
  bool along_rows = true;

  std::uint32_t length() const { return along_rows ? rows : columns; }
  /// Numbers that multiply a vector, for each of `inner`.
  std::uint32_t scalars() const { return along_rows ? columns : rows; }
  /// Elements from one vector to the next.
  std::uint32_t stride() const { return (length() + 3) / 4 * 4; }
};

/// What the planner of a layer's operation needs to know of the machine.
struct LayerSetup {
  WaferParams wafer;
  TaskParams hardware;
  CodeCosts costs;
  InferenceParams functions;
  bool estimates = false;    // stages have the fullest part alone, or what they take, roughly
  bool keeps_zeros = false;  // a product with a mask runs as if it had none
};

/// Sums along a line of so many cores.
LineSums line_of(const LayerSetup& setup, std::uint32_t cores);

/// A row of a trace as a planner takes it. `mask` is that of its masked operand, `x_mask` says what
/// of X (k x n) is not zero if the row's x_pattern does; null: dense.
struct LayerRequest {
  const LayerSetup& setup;
  const LayerOp& op;
  const Mask* mask = nullptr;
  std::uint64_t seed = 0;
  bool values = false;
  const Mask* x_mask = nullptr;

  /// Whether the mask says what is moved and multiplied.
  bool skips_zeros() const { return mask != nullptr && !setup.keeps_zeros; }
};

/// Where a part of a stage lies: its north-west core.
struct LayerPlacement {
  std::uint32_t part = 0;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// Parts of the wafer that exchange no words with each other and begin together. Parts of equal
/// program do the same in the same cycles, so each distinct one is simulated once. A stage begins
/// when the last core has ended the one before.
struct LayerStage {
  std::string name;
  std::vector<TaskProgram> parts;  // distinct
  std::vector<LayerPlacement> places;
  std::uint64_t times = 1;  // done so often, one after the other
  bool moves = false;       // operands between layouts; values are not carried
  Cycle estimate = 0;       // without parts
};

/// Puts a stage together of lines or cores, of which those with equal keys do the same.
template <typename Key>
class StageParts {
 public:
  explicit StageParts(const char* name) { stage_.name = name; }

  /// One more in this place; `make` makes the part, once for each key.
  template <typename Make>
  void add(const Key& key, std::uint32_t row, std::uint32_t column, const Make& make) {
    const auto part = static_cast<std::uint32_t>(stage_.parts.size());
    const auto [found, is_new] = parts_.try_emplace(key, part);
    if (is_new) stage_.parts.push_back(make());
    stage_.places.push_back({found->second, row, column});
  }

  LayerStage take() { return std::move(stage_); }

 private:
  LayerStage stage_;
  std::map<Key, std::uint32_t> parts_;
};

/// An operation on its way to a wafer.
struct LayerPlan {
  std::vector<LayerStage> stages;
  std::uint64_t bytes = 0;       // of the fullest core
  std::uint64_t limit = 0;       // of its memory
  std::uint64_t mac_useful = 0;  // of a kernel: what it forms but for edge and zeros
  std::uint64_t mac_algorithmic = 0;
  std::optional<KernelWork> kernel;  // of a kernel, whose one part is all there is of the wafer
  std::vector<std::pair<std::string, std::string>> notes;
  std::optional<ProductShape> blocks;  // in which a product of activations runs

  // with values only
  WaferMemory memory;
  std::function<LayerComparison(const WaferMemory&)> compare;
};

/// Plans an operation that a wafer runs as a program of tasks; the table of these is in
/// layer_plan.cpp. Throws UnsupportedError, which names the operation, or OutOfMemoryError.
LayerPlan plan_layer(const LayerRequest& request);

/// True if plan_layer() has a row for the operation.
bool is_layer_operation(const LayerOp& op);

/// The whole rectangle as one program: the parts of a stage, each in its place.
TaskProgram whole_program(const LayerStage& stage, const WaferParams& wafer);

// The rows of the table.

/// `eltwise`: each core works on its own elements.
LayerPlan plan_layer_eltwise(const LayerRequest& request);

/// `softmax`, `layernorm`, `rmsnorm` and sums over tokens: sums and maxima along a row of cores,
/// and along a column for what is summed over tokens.
LayerPlan plan_layer_rows(const LayerRequest& request);

/// `optim`: parameters and their state lie spread over all cores.
LayerPlan plan_layer_optimizer(const LayerRequest& request);

/// `bmm` and `sddmm`: operands that lie on the wafer are shifted along rings.
LayerPlan plan_layer_product(const LayerRequest& request);

/// `embed`: rows of a table that lies spread over the columns' cores, found by filters.
LayerPlan plan_layer_embedding(const LayerRequest& request);

/// Bytes of a core with so many of data, beside which it has queues, code and weights that stay;
/// OutOfMemoryError, of `what` these are and `when`, if it has less.
std::uint64_t checked_core_bytes(const LayerRequest& request, std::uint64_t bytes, const char* what,
                                 const char* when = "");

/// The same of operands and results: the plan's note of it.
void check_core_bytes(const LayerRequest& request, std::uint64_t bytes, LayerPlan& plan);

/// Counts `found` as compared. It is wrong if it is further from `exact` than `roundings` of the
/// type explain. A rounding is 2^-11 (fp16) or 2^-22 (fp32) of `scale` or of the result, whichever
/// is larger.
void compare_element(LayerComparison& comparison, double found, double exact, DType type,
                     double roundings, double scale);

}  // namespace lacuna::wse
