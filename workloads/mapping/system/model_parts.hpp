// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/enum_array.hpp"
#include "workloads/mapping/system/chip_cost.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::system {

/// The parts of a model that are laid out over chips.
enum class Part : std::uint8_t { embedding, attention, ffn, head };
inline constexpr std::size_t kParts = 4;
const char* part_name(Part part);

/// Something of each part.
template <typename T>
using OfParts = EnumArray<Part, T, kParts>;

/// The rows of a part for one micro-batch on one chip, by phase of training.
struct PartRows {
  std::vector<LayerOp> forward;
  std::vector<LayerOp> backward;  // with the additions to the gradients that are accumulated
  std::vector<LayerOp> update;
  std::vector<std::string> wanted;  // ids of backward rows whose results other parts read
};

/// The norms of a block whose features are shared by chips: how many, and the bytes of the sums
/// over its features that each of them exchanges, forward and backward alike.
struct SharedNorms {
  unsigned count = 0;
  std::uint64_t bytes = 0;
};

/// What chips exchange where they share the vocabulary of the logits, of each part of the tokens
/// that is worked on at once.
struct SharedLogits {
  unsigned parts = 0;
  std::uint64_t operand_bytes = 0;  // what the logits are made of, and its gradient
  std::uint64_t number_bytes = 0;   // one FP32 number for each token
};

/// A model as one layer, its embedding and its head, cut over the chips that share each matrix.
struct ModelParts {
  OfParts<PartRows> parts;
  WorkloadTrace trace;  // that the rows refer to
  unsigned layers = 0;
  bool tied = false;                 // the head has the table of tokens of the embedding
  std::uint64_t value_bytes = 2;     // of a number of them
  std::uint64_t boundary_bytes = 0;  // of a micro-batch between two blocks
  /// Of the attention and feed-forward blocks, whole: what their first products make of it, such as
  /// queries, keys and values, and what their last product takes.
  OfParts<std::uint64_t> first_bytes{};
  OfParts<std::uint64_t> last_bytes{};
  OfParts<SharedNorms> norms{};  // of the blocks, with columns > 1
  SharedLogits logits;

  const PartRows& of(Part part) const { return parts[part]; }
};

/// How the rows of a model are cut: over chips, and into parts that one chip works on one after the
/// other.
struct PartCuts {
  unsigned tensor = 1;           // chips that share each matrix
  bool accumulate = false;       // gradients of micro-batches are added
  unsigned attention_parts = 1;  // of the heads
  unsigned head_parts = 1;       // of the tokens whose logits are made
  unsigned gradient_parts = 1;   // of the rows of the gradient of each matrix
  bool share_sequence = false;   // norms and sums: each chip a part of the tokens
  unsigned columns = 1;  // of the chips that share each matrix, those that share its columns
};

/// What the id of a row that adds a gradient ends with, after that of the gradient.
inline constexpr const char* kAddition = "_accumulate";

/// True if the row makes the gradient of a matrix of weights.
bool is_weight_gradient(const LayerOp& op);

/// Sorts the rows of `trace`, a training trace with one layer, embedding and heads, into parts,
/// and cuts them over `tensor` chips. Projections to more heads or wider layers are cut by rows,
/// those back by columns, attention by heads, tables by tokens. Norms and residuals stay whole,
/// or are shared by tokens. `columns` cuts matrices of blocks in both dimensions: heads go over
/// tensor / columns chips, their queries and the features of norms and residuals over `columns`.
/// A chip's share of a sparse matrix has the pattern and density of the whole. If gradients of
/// several micro-batches are accumulated, each matrix has a row that adds. RequestError if
/// heads, widths, blocks or tokens cannot be cut. Rows done in parts are those of a part,
/// repeated.
ModelParts model_parts(const WorkloadTrace& trace, unsigned layers, const PartCuts& cuts);

/// The part of the elements that the pattern of a row keeps, its own or that it refers to.
double kept_share(const LayerOp& op, const WorkloadTrace& trace);

/// Bytes of the weights that a row reads, as they are kept: kept ones alone of sparse ones, and the
/// place of each block.
std::uint64_t packed_bytes(const LayerOp& op, std::uint64_t elements, std::uint64_t bytes_each,
                           const WorkloadTrace& trace);

/// Bytes of a row's weights, table or gains on one chip, and of their places if they are sparse; 0
/// of rows without any.
std::uint64_t stored_bytes(const LayerOp& op, const WorkloadTrace& trace);

/// Bytes of an optimizer's state for a weight, in FP32.
unsigned optimizer_bytes(const std::string& optimizer);

/// True if the row updates the table of tokens.
bool is_table(const LayerOp& op);

/// The trained matrices and vectors that `update` has the rows of an optimizer of, on one chip: in
/// the types that `trace` gives them.
Trained trained_numbers(const std::vector<LayerOp>& update, const WorkloadTrace& trace,
                        const std::string& optimizer);

}  // namespace lacuna::system
