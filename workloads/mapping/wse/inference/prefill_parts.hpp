// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/mapping/wse/inference/prefill_shape.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"

namespace lacuna::wse {

/// The score of keys that a token does not see; of those that it sees it is far from that.
constexpr float kUnseen = -30000;

/// What a layer does with a chunk of a prompt, one part after the other. `score`, `softmax`, `pv`
/// and `fold` are done for each chunk of keys, the chunk's own last; `mask` for its own alone.
enum class PrefillPart : std::uint8_t {
  norm,
  qkv,
  qk_norm,
  rope,
  value_skew,  // values move into the order in which their product takes them
  clear,       // maximum, sum of weights and context of no keys
  score,
  mask,  // of keys behind a token
  softmax,
  pv,
  fold,
  context,  // what is folded is divided by its weights
  o_proj,
  residual,
  ffn_norm,
  router,  // of layers with experts: the share of each in each token
  up_gate,
  silu,
  down,
  ffn_residual,
};
const char* word(PrefillPart part);
constexpr bool of_each_chunk(PrefillPart part) {
  return part >= PrefillPart::score && part <= PrefillPart::fold && part != PrefillPart::mask;
}

/// What differs between published kernels.
struct PrefillStyle {
  bool scalar_functions = false;  // exponential and SiLU in scalar loops of special functions
};

/// A product of tiles on a block: weights go round a ring along x and activations along y, no step
/// longer than two hops, while those that are there are multiplied.
struct TileProduct {
  std::uint32_t inputs = 1;  // of a step
  std::uint32_t outputs = 1;
  std::uint32_t tokens = 1;
  std::uint32_t steps = 1;
  std::uint32_t weights = 0;  // address of the core's own; those of all pieces
  std::uint32_t first = 0;    // rows of the sums before its own
  std::uint32_t tile = 0;     // rows of the tiles before its own
  std::uint32_t rows = 0;     // of its own that move
  std::uint32_t made = 0;     // steps that its activations have gone before
  bool adds = false;          // to what the sums are
  Projection what = Projection::qkv;
  std::uint32_t halves = 0;  // of a piece of weights as it is stored; 0: dense

  std::uint32_t stored() const { return halves != 0 ? halves : inputs * outputs; }
};

/// Of what programs are made: the whole block, or the fewest cores that take as long; chunks whose
/// keys and values they put into the bank, and take from it.
struct PrefillScope {
  bool whole = false;
  std::uint32_t chunk = 0;
  std::uint32_t keys = 0;
};

/// Programs of the parts. Cores that do the same may be there once: of a product of tiles `fold` x
/// `fold` cores take as many steps as the whole block would, of scores and their product with
/// values `fold` columns of one band; of norms and sums a column, which has all its cores; what
/// needs no other core is one. Products with zeros have all cores, as none does what another does.
class PrefillParts {
 public:
  PrefillParts(const PrefillShape& shape, const CodeCosts& costs, const InferenceParams& params,
               const PrefillStyle& style, std::uint32_t fold);

  /// From now on products that leave zeros out stand as scalar code of as many cycles, as every
  /// core has its own: of programs without values.
  void use_pieces(const Datapath& datapath) { pieces_ = &datapath; }

  /// The same parts of another scope.
  PrefillParts in(const PrefillScope& scope) const {
    PrefillParts parts = *this;
    parts.scope_ = scope;
    return parts;
  }

  const PrefillSpace& space() const { return space_; }

  /// The programs of a part, one after the other.
  std::vector<TaskProgram> plan(PrefillPart part) const;

  /// The products of tiles of a part; none of others.
  std::vector<TileProduct> products_of(PrefillPart part) const;

  TaskProgram plan_product(const TileProduct& job) const;
  /// `halves` of each core shifted along y: by so many places, or of the whole block by as many as
  /// the first product of each column needs.
  TaskProgram plan_skew(std::uint32_t halves, std::uint32_t shifts) const;
  /// Of so many columns; what joins cores of a row is a ring, of which the shortest with a step of
  /// two hops will do.
  TaskProgram plan_scores(std::uint32_t columns = 3) const;
  TaskProgram plan_values() const;

  /// The row of cores whose piece of the weights' inputs a core has at the begin of a product, and
  /// which piece of it; `piece` is of its own.
  InputPiece weights_at(const TileProduct& job, std::uint32_t row, std::uint32_t column,
                        std::uint32_t piece) const;
  /// The column of cores whose keys a core has the scores of, as number `block` of its own.
  std::uint32_t keys_at(std::uint32_t row, std::uint32_t column, std::uint32_t block) const;
  /// The column whose cores have the keys or values of the tokens of `column` in their banks.
  std::uint32_t bank_column(std::uint32_t row, std::uint32_t column, bool values) const {
    return values ? x_.core_at(x_.position(column) + value_skew_of(row)) : column;
  }
  /// Where the activations of a column begin.
  std::uint32_t tile_of(std::uint32_t column) const { return space_.tile[skew_of(column) % 2]; }

 private:
  struct CorePlace {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  using Write = void (PrefillParts::*)(CoreCode& code, CorePlace at) const;
  /// What a core multiplies in a step: where it lies in its memory, and in the product.
  struct StepTile {
    std::uint32_t weights = 0;
    std::uint32_t tile = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;
    InputPiece piece;
  };
  /// Cycles of what cores of a product multiply in a step, by all that they depend on: where it
  /// lies, the row of cores if weights are listed, the column if inputs are tested, and the piece.
  using PieceKey = std::array<std::uint32_t, 6>;
  using PieceCycles = std::map<PieceKey, std::uint32_t>;
  CoreMakers makers() const { return {costs_, params_}; }
  std::pair<std::uint32_t, std::uint32_t> kind(std::uint32_t row, std::uint32_t column) const {
    return {row, skew_of(column) % 2};
  }
  /// These cores of the block, or all.
  CoreExtent cores(std::uint32_t columns, std::uint32_t rows) const;
  TaskProgram written(const LineSums* line, Write write) const;
  std::vector<TaskProgram> plan_products(PrefillPart part) const;
  TaskProgram plan_value_skew() const;
  CoreExtent folded() const;

  // what a core does
  void norm(CoreCode& code, CorePlace at) const;
  void ffn_norm(CoreCode& code, CorePlace at) const;
  void head_norms(CoreCode& code, CorePlace at) const;
  void rope(CoreCode& code, CorePlace at) const;
  void clear(CoreCode& code, CorePlace) const;
  void mask(CoreCode& code, CorePlace) const;
  void softmax(CoreCode& code, CorePlace at) const;
  void fold_in(CoreCode& code, CorePlace) const;
  void finish_context(CoreCode& code, CorePlace at) const;
  void residual(CoreCode& code, CorePlace) const;
  void route_tokens(CoreCode& code, CorePlace at) const;
  void silu(CoreCode& code, CorePlace at) const;

  TokenRows rows() const { return {shape_.t(), shape_.pitch()}; }
  LineSums column() const;
  LineSums band() const;
  void write_norm(CoreCode& code, CorePlace at, std::uint32_t gain) const;
  void exponential(CoreCode& code, std::uint32_t to, std::uint32_t x, std::uint32_t rows) const;
  void choose(CoreCode& code) const;
  void product(CoreCode& code, const TileProduct& job, const CoreRing& x, const CoreRing& y,
               CorePlace core, PieceCycles& known) const;
  SparseTile tile_of(const TileProduct& job, std::uint32_t weights,
                     std::uint32_t activations) const;
  void multiply(CoreCode& code, const TileProduct& job, std::uint32_t weights,
                std::uint32_t tile) const;
  void multiply_nonzero(CoreCode& code, const TileProduct& job, const StepTile& at,
                        PieceCycles& known) const;
  SparseTile nonzeros_of(const TileProduct& job, const StepTile& at) const;
  void score(CoreCode& code, std::uint32_t keys) const;
  void weigh(CoreCode& code, std::uint32_t values, std::uint32_t held, std::uint32_t block) const;
  void send_to_root(CoreCode& code, std::uint32_t row, std::uint32_t root,
                    const Operand& kept) const;
  Operand kept_scores(std::uint32_t block) const;

  std::uint32_t skew_of(std::uint32_t column) const;
  std::uint32_t value_skew_of(std::uint32_t row) const;

  const PrefillShape shape_;
  const CodeCosts& costs_;
  const InferenceParams& params_;
  const PrefillStyle style_;
  PrefillScope scope_;
  const PrefillSpace space_;
  const Element sum_;
  const Datapath* pieces_ = nullptr;
  const std::uint32_t fold_;
  const CoreRing x_;
  const CoreRing y_;
  const CoreRing in_band_;
};

}  // namespace lacuna::wse
