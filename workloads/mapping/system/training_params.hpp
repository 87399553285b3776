// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/parameter.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::system {

/// The order of forward and backward passes in a pipeline.
enum class Schedule {
  grouped,      // forward of one micro-batch and backward of another in every step
  one_f_one_b,  // forward and backward in turn, each stage as soon as its input is there
  sequential,   // one stage at a time
};

/// What of the forward pass is kept for the backward pass.
enum class Activations {
  stored,      // all that backward needs
  recomputed,  // the inputs of every so many layers; the rest is computed again
  offloaded,   // the same inputs, in streaming memory
};

/// Where something lives: in the chips' own memory, or in that behind the gateway.
enum class Place { chip, streaming };

/// What phases stream while others work.
enum class Prefetch {
  none,
  weights,  // of the next phase
  all,      // those, the state that the update will need, and what the last one changed
};

/// A training step of a model, and how it is laid out over the chips of a system.
struct TrainingParams : ParameterSet {
  Param<std::string> system = text(this, "system", "", "The system it is meant for.");
  Param<std::string> source = text(this, "source", "", "Where the configuration is from.");
  Param<std::string> published_system =
      text(this, "published_system", "", "The system of published results of it.");
  Param<std::string> published_workload =
      text(this, "published_workload", "", "The workload of published results of it.");
  Param<double> updates_per_iteration =
      param(this, "updates_per_iteration", 1.0, range(1.0, 1e6), "updates",
            "Weight updates that published results count as one.");

  Param<std::string> rows = text(
      this, "rows", "",
      "In place of a model: the rows of one chip for a micro-batch, as `trace make` has them or "
      "of a trace (file:PATH), "
      "such as 'kge width=128 shards=4'; each replica is one chip.");
  Param<std::string> model = text(this, "model", "bert-large", "A model of `trace make`.");
  Param<unsigned> model_layers = param(this, "model_layers", 0U, range(0U, 1U << 20U), "layers",
                                       "Layers of the model in place of its own; 0: its own.");
  Param<unsigned> tokens =
      param(this, "tokens", 512U, range(1U, 65536U), "tokens", "Of a sequence, or of a pack.");
  Param<double> packing = param(this, "packing", 1.0, range(1.0, 64.0), "",
                                "Sequences in a pack, as throughput counts them.");
  Param<unsigned> predictions = param(this, "predictions", 0U, range(0U, 4096U), "tokens",
                                      "BERT: masked tokens of a sequence; 0: as the model has it.");
  Param<std::string> pattern = text(this, "pattern", "", "Of the prunable weights; empty: dense.");
  Param<std::string> mode =
      text(this, "mode", "auto", "Of sparse operations: auto|static|dynamic.");
  Param<unsigned> pattern_every =
      param(this, "pattern_every", 0U, range(0U, 1U << 30U), "updates",
            "Weight updates from one pattern to the next, in mode dynamic; 0: it stays.");
  Param<std::string> dtype = text(this, "dtype", "fp16", "Of operands.");
  Param<Partials> partials =
      param(this, "partials", Partials::automatic,
            Choices<Partials>{
                {"auto", Partials::automatic}, {"fp16", Partials::fp16}, {"fp32", Partials::fp32}},
            "Of products of dense operands; auto: those of the operands' type.");
  Param<std::string> recipe =
      text(this, "recipe", "ipu-mixed", "Types of numbers, as in `trace make`.");
  Param<std::string> optimizer = text(this, "optimizer", "lamb", "sgd, sgdm, adam, adamw or lamb.");
  Param<double> train_steps = param(this, "train_steps", 0.0, range(0.0, 1e9), "steps",
                                    "Weight updates of a whole training.");

  Param<unsigned> micro_batch = param(this, "micro_batch", 1U, range(1U, 65536U), "sequences",
                                      "Sequences, or packs, that a stage works on at once.");
  Param<unsigned> accumulation = param(this, "accumulation", 1U, range(1U, 1U << 20U),
                                       "micro-batches", "Of a replica in a weight update.");
  Param<unsigned> tensor =
      param(this, "tensor", 1U, range(1U, 1024U), "chips", "Chips that share each matrix.");
  Param<unsigned> tensor_columns =
      param(this, "tensor_columns", 1U, range(1U, 1024U), "chips",
            "Of those, chips that share the columns of a matrix of the blocks: it is cut in two "
            "dimensions, tensor / tensor_columns x tensor_columns; 1: in one.");
  Param<unsigned> attention_parts =
      param(this, "attention_parts", 1U, range(1U, 1024U), "parts",
            "Parts of the heads that are worked on one after the other, to save memory.");
  Param<unsigned> head_parts =
      param(this, "head_parts", 1U, range(1U, 65536U), "parts",
            "Parts of the tokens whose logits are made one after the other, to save memory.");
  Param<unsigned> gradient_parts =
      param(this, "gradient_parts", 1U, range(1U, 1024U), "parts",
            "Parts of the gradient of a matrix that are made and added one after the other.");
  Param<bool> share_sequence =
      flag(this, "share_sequence", false,
           "Chips that share each matrix also share the tokens of norms and residuals; operands "
           "of products are gathered.");
  Param<unsigned> pipeline =
      param(this, "pipeline", 1U, range(1U, 1024U), "stages", "Stages of the pipeline.");
  Param<unsigned> replicas =
      param(this, "replicas", 1U, range(1U, 65536U), "replicas", "Copies of all that.");
  Param<unsigned> rts = param(this, "rts", 1U, range(1U, 65536U), "replicas",
                              "Replicas that share one copy of the weights.");
  Param<unsigned> rts_state = param(this, "rts_state", 1U, range(1U, 65536U), "replicas",
                                    "Replicas that share one copy of the optimizer's state.");
  Param<std::string> layers =
      text(this, "layers", "", "Layers of each stage, such as 3-7-7-7; empty: spread evenly.");
  Param<std::string> attention = text(this, "attention", "", "The same of attention blocks alone.");
  Param<std::string> ffn = text(this, "ffn", "", "The same of feed-forward blocks alone.");
  Param<unsigned> embedding_stage =
      param(this, "embedding_stage", 0U, range(0U, 1023U), "", "Stage of the embedding.");
  Param<unsigned> head_stage =
      param(this, "head_stage", 0U, range(0U, 1023U), "", "Stage whose chip has the head.");

  Param<Schedule> schedule = param(this, "schedule", Schedule::grouped,
                                   Choices<Schedule>{{"grouped", Schedule::grouped},
                                                     {"1f1b", Schedule::one_f_one_b},
                                                     {"sequential", Schedule::sequential}},
                                   "Order of the steps of a pipeline; 1f1b has no common steps.");
  Param<Activations> activations =
      param(this, "activations", Activations::recomputed,
            Choices<Activations>{{"stored", Activations::stored},
                                 {"recomputed", Activations::recomputed},
                                 {"offloaded", Activations::offloaded}},
            "What of the forward pass is kept for the backward pass.");
  Param<unsigned> checkpoint_every = param(this, "checkpoint_every", 1U, range(1U, 1024U), "layers",
                                           "Layers between kept activations.");
  Param<Place> state = param(this, "state", Place::chip,
                             Choices<Place>{{"chip", Place::chip}, {"streaming", Place::streaming}},
                             "Where the state of the optimizer is between steps.");
  Param<unsigned> phases = param(this, "phases", 1U, range(1U, 4096U), "phases",
                                 "Parts of the blocks that are on the chips one after the other; "
                                 "with more than one, embedding and head are phases of their own, "
                                 "and weights are in streaming memory.");
  Param<Prefetch> prefetch =
      param(this, "prefetch", Prefetch::none,
            Choices<Prefetch>{
                {"none", Prefetch::none}, {"weights", Prefetch::weights}, {"all", Prefetch::all}},
            "What phases stream in the background, by io_tiles: weights of "
            "the next phase; all: state too.");
  Param<unsigned> io_tiles = param(this, "io_tiles", 0U, range(0U, 1024U), "tiles",
                                   "Tiles set apart for transfers, which then go on in the "
                                   "background; 0: they are waited for.");
  Param<std::string> available_memory = text(
      this, "available_memory", "", "planner.available_memory of each stage, such as 0.2-0.25.");

  Param<double> code_kib =
      param(this, "code_kib", 64.0, range(0.0, 1e5), "KiB", "Code of a tile, all phases together.");
  Param<double> buffer_kib = param(this, "buffer_kib", 32.0, range(0.0, 1e5), "KiB",
                                   "Exchange code, stacks and buffers of a tile.");

  /// Chips that share the rows of a matrix.
  unsigned tensor_rows() const { return tensor / tensor_columns; }

  std::uint64_t chips() const { return std::uint64_t{tensor} * pipeline * replicas; }

  /// Sequences of a weight update, those of packs counted apart.
  double global_batch() const { return packing * micro_batch * accumulation * replicas; }

  /// Relations between parameters; ParameterError names the first that does not hold.
  void check() const;
};

/// "3-7-7-7" as numbers; ParameterError names the parameter.
std::vector<unsigned> parse_counts(const std::string& name, const std::string& text);
std::vector<double> parse_shares(const std::string& name, const std::string& text);

}  // namespace lacuna::system
