// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/decimal.hpp"
#include "models/sparsity/pattern_spec.hpp"

namespace lacuna {

/// The type of the elements of a row's operands.
enum class DType { fp32, fp16, bf16, fp8, int8 };
/// The type in which partial sums are kept; automatic: the machine chooses.
enum class Partials { automatic, fp16, fp32, int32 };
/// Which kernel multiplies.
enum class Mode { automatic, dense, static_, dynamic, streamed };
/// Where the weights of a product live: outside, from where they are streamed in, or on the chip.
enum class Residency { automatic, streamed, resident };
/// The part of a training step: forward, backward, update of the weights.
enum class Phase { fwd, bwd, upd };

/// Bytes of one element.
unsigned bytes_of(DType dtype);

/// Where an operand of a row lies before it, or its result has to be after it, as far as the other
/// rows of its trace tell.
struct OperandSource {
  enum class Kind {
    unknown,      // or nowhere in particular: it lies where it is taken
    activations,  // a matrix of features and tokens, or some features of one
    scores,       // of attention, a matrix for each head and sequence
    cache,        // keys or values of earlier tokens, which lie where they are taken; the
                  // activations have the last token of each sequence
    held,         // activations as a product with weights took them
  };
  Kind kind = Kind::unknown;
  std::uint32_t features = 0;  // of the activations
  std::uint32_t tokens = 0;
  std::uint32_t first = 0;  // the operand's first feature among them
  std::uint32_t place =
      0;  // of activations that are a part of the operand: their first feature in it
  std::uint32_t unit = 1;    // features that stay together in a core: pairs of a rotation
  std::uint32_t shared = 1;  // heads of the activations whose tokens follow each other in a matrix
  std::uint32_t copies = 1;  // heads, each with a matrix of its own, that take the same features
  bool by_heads = false;     // of attention, not its scores, also where its place is unknown
  bool of_product = false;   // made by a product with weights
  bool transposed = false;   // scores that are taken so
};

/// Rows that a machine runs as one program. What it is, the machine knows; groups of equal content
/// are equal programs.
struct RowGroup {
  RowGroup() = default;
  RowGroup(const RowGroup&) = default;
  RowGroup& operator=(const RowGroup&) = default;
  virtual ~RowGroup() = default;

  std::string content;
};

/// What the rows of a workload that share a chip tell each other. Filled by
/// Machine::relate(); a row that was not related to others has the chip to itself.
struct ChipShare {
  std::uint64_t beside = 0;  // bytes of the fullest core or tile: weights of other rows, which stay
  bool may_stay = false;     // automatic residency may keep its weights on the chip
  bool result_taken = false;              // a later row works on the result, where it lies
  bool among_rows = false;                // rows of the workload follow each other
  std::string reason;                     // why automatic residency has no choice; may be empty
  std::shared_ptr<const RowGroup> group;  // null: the row is a program of its own
  std::size_t place = 0;                  // of the row in its group
  std::string alone;  // why it has none, where it could have been in one; may be empty
};

/// One row of a trace: an operation on matrices Y[m x n] = W[m x k] X[k x n], of which W may be
/// sparse. Dimensions that the operation does not have are 0. Elements, not bytes.
struct LayerOp {
  // defined in its source: inline they were half of what every file with one took to compile
  LayerOp();
  LayerOp(const LayerOp&);
  LayerOp(LayerOp&&) noexcept;
  LayerOp& operator=(const LayerOp&);
  LayerOp& operator=(LayerOp&&) noexcept;
  ~LayerOp();

  std::string id;
  std::string op = "gemm";
  std::string model;
  std::string layer;
  Phase phase = Phase::fwd;
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  std::uint32_t batch = 1;
  std::uint32_t repeat = 1;
  DType dtype = DType::fp16;
  Partials partials = Partials::automatic;
  Mode mode = Mode::automatic;
  Residency residency = Residency::automatic;
  PatternSpec pattern;
  std::optional<std::uint64_t> seed;
  std::string x_pattern = "dense";
  std::optional<Decimal> x_density;
  std::string x_file;  // of x_pattern `file`: the non-zeros of X, k x n
  std::string fn;
  Pairs args;
  std::uint32_t stage = 0;
  std::vector<std::string> depends_on;
  std::size_t line = 0;  // in its file; 0 if it came from options
  /// Filled by find_sources(). Of a product of activations W, X and Y; of others their operands.
  std::vector<OperandSource> sources;
  ChipShare share;
};

/// A workload: rows in the order of the file; every dependency is an earlier row.
struct WorkloadTrace {
  std::string name;  // file name without folder, or the options that made it
  std::string path;  // empty if it came from options
  std::vector<LayerOp> ops;
};

const char* word(DType dtype);
const char* word(Partials partials);
const char* word(Mode mode);
const char* word(Residency residency);
const char* word(Phase phase);

}  // namespace lacuna
