// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/sparsity/decimal.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/mapping/system/model_parts.hpp"

namespace lacuna {

/// Layers of a model that differ in nothing: one of them, and which they are.
struct LayerKind {
  ModelShape shape;  // of one layer
  std::uint32_t window = 0;
  std::vector<std::uint32_t> layers;
};

/// The kinds of the layers of a model, by window, rotation and experts, in the order of their first
/// ones.
std::vector<LayerKind> kinds_of_layers(const ModelShape& model);

/// The share of a product's inputs that are not zero, by the names of rows of a layer, "ffn2". The
/// rest is drawn.
using InputZeros = std::map<std::string, Decimal>;

/// What a pass of a model is made of.
struct PassRequest {
  std::uint32_t batch = 1;     // sequences
  std::uint32_t tokens = 1;    // of each: 1 to decode, else a prompt
  std::uint32_t context = 1;   // positions that the last of them sees, itself one
  std::uint32_t capacity = 1;  // positions that the cache of a sequence has room for
  std::uint32_t slots = 1;     // sequences that it has room for, at least those of the pass
  bool decode = true;
  PatternSpec weights;  // of prunable weights
  InputZeros inputs;
  Routing routing;  // of tokens to experts
};

/// The rows of one layer of a kind with embedding and head, cut over `tensor` chips. There are two
/// more than of `trace make`: new keys and values are put into the cache, a row for each. The
/// largest logit is chosen; logits are made for the last token of a sequence alone.
system::ModelParts pass_rows(const LayerKind& kind, const PassRequest& request, unsigned tensor);

/// How often the stored_bytes() of a row are there: a layer has rows of experts that tokens have
/// come to, the first of which stands for all experts.
std::uint64_t copies_stored(const LayerOp& op, const LayerKind& kind, const WorkloadTrace& trace);

/// Bytes of keys or values that a row reads or writes where the cache has them; 0 of other rows.
std::uint64_t cache_operand(const LayerOp& op);

}  // namespace lacuna
