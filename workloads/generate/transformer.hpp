// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/pattern_rules.hpp"
#include "workloads/generate/recipe.hpp"
#include "workloads/generate/routing.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What of a transformer becomes a trace.
struct TransformerOptions {
  enum class Part {
    weights,   // only the products with prunable weights
    forward,   // inference over whole sequences
    training,  // forward with dropout, backward and update
    decode,    // one token for each sequence, after `context` tokens
  };

  Part part = Part::forward;
  std::uint32_t sequences = 1;
  std::uint32_t tokens = 128;     // of each sequence
  std::uint32_t context = 0;      // decode: tokens already in the cache
  std::uint32_t layers = 0;       // 0: all
  bool causal = false;            // skip what a causal mask hides, instead of computing it
  bool embedding = false;         // rows before the first layer
  bool heads = false;             // rows after the last layer
  std::uint32_t predictions = 0;  // BERT head: masked positions; 0: 20 to 128 tokens, else 76
  bool recompute = false;         // training: forward rows of a layer again before its backward
  std::uint32_t replicas = 1;     // training: gradients are reduced over so many
  std::string optimizer = "adamw";
  DType dtype = DType::fp16;
  Mode mode = Mode::automatic;
  PatternSpec pattern;             // of every prunable weight
  std::vector<PatternRule> rules;  // for some of them; the last that matches wins
  PatternSpec attention;           // which scores are computed; dense: all
  bool attention_given = false;    // then also in layers with a window of their own
  Routing routing;                 // of tokens to experts
  bool routing_given = false;
  bool share_density = false;     // between unlike matrices as Erdos-Renyi does
  bool same_mask = false;         // layers after the first take its masks
  Recipe recipe = Recipe::plain;  // training: types of numbers
  bool loss_scaling = false;      // training: scale, unscale and check of the gradients
};

/// The rows of a model, in order of execution: "fwd.l0.q", "fwd.l0.k", ... RequestError if the
/// options do not fit the model.
WorkloadTrace make_transformer(const ModelShape& shape, const TransformerOptions& options);

/// Appends the backward rows of `trace`, which has forward rows only, and the updates of its
/// parameters: matrices, tables, and the vectors (biases and norms) that weight decay and trust
/// ratio leave out. Products cost twice their forward products; where a value had several
/// readers, their gradients are added. The rows of the recipe are put between.
void append_training(WorkloadTrace& trace, const TransformerOptions& options,
                     const ModelShape& shape);

}  // namespace lacuna
