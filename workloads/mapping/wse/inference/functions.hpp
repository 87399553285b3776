// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/inference/decode_zeros.hpp"

namespace lacuna::wse {

// Functions that a core computes in its own memory; addresses are in bytes. `sum` is the type in
// which results add up: fp32, or fp16 of programs that have nothing else.

/// The type of an instruction that multiplies halves into sums of this type.
inline Element products(Element sum) { return sum == Element::fp32 ? Element::fp16_32 : sum; }
inline unsigned bytes_of(Element sum) { return sum == Element::fp32 ? 4 : 2; }

/// y = W x, an instruction for each input; `w` holds the outputs of an input side by side.
struct LocalGemv {
  std::uint32_t w = 0;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  bool adds = false;  // to what y holds
};
void write_gemv(CoreCode& code, const LocalGemv& job, Element sum);

/// What a product leaves out: inputs that are zero, weights that are. Values lie one behind the
/// other in the order in which they are used.
struct LeftOut {
  bool tests = false;   // each input is compared with zero before its instructions
  bool listed = false;  // weights are stored as lists
  bool whole = true;    // of inputs, with all outputs; else of runs of outputs for each
  std::vector<std::vector<OutputRun>> runs;  // of each input; with `listed`

  /// Of the weights of a tile.
  void take(const DecodeZeros& zeros, Matrix matrix, const TileFeatures& tile);
};

/// A product of a core's tile with a vector, some of whose weights or inputs are zero.
struct SparseGemv : LeftOut {
  LocalGemv dense;
  std::vector<bool> zero;  // inputs that are; with `tests`
};
void write_sparse_gemv(CoreCode& code, const SparseGemv& job, Element sum);

/// A step of a product of tiles with zeros: sums += weights x activations, both of which have the
/// tokens of a core side by side, `pitch` elements from a row to the next. Each token of an input
/// is tested until one is not zero; else its instructions are left out.
struct SparseTile : LeftOut {
  std::uint32_t weights = 0;
  std::uint32_t activations = 0;
  std::uint32_t sums = 0;
  std::uint32_t tokens = 1;
  std::uint32_t pitch = 1;
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::vector<std::uint32_t> zeros;  // of the tokens of an input the first so many; with `tests`
};
/// A step without zeros, of operands in this type: what the struct says of tests and lists is not
/// used.
void write_tile(CoreCode& code, const SparseTile& job, Element sum,
                Element operand = Element::fp16);
void write_sparse_tile(CoreCode& code, const SparseTile& job, Element sum);

/// Numbers at `to` become those at `from`, halves; nothing if they are the same.
void write_halves(CoreCode& code, std::uint32_t to, std::uint32_t from, std::uint32_t elements,
                  Element sum);

/// Numbers of several tokens: those of a feature side by side, `pitch` elements from a feature to
/// the next.
struct TokenRows {
  std::uint32_t tokens = 1;
  std::uint32_t pitch = 1;

  /// A number of each token for every feature; one of each feature for every token.
  Operand each_token(std::uint32_t address) const {
    return pitch == 1 ? in_memory(address, 0) : around(address, pitch);
  }
  Operand each_feature(std::uint32_t address) const {
    return pitch == 1 ? in_memory(address) : each_for(address, pitch);
  }
};

/// For each token the sum over `features` of a * b (or of a), numbers of the type `from`, at `to`.
void write_token_products(CoreCode& code, const TokenRows& rows, std::uint32_t to, std::uint32_t a,
                          std::optional<std::uint32_t> b, std::uint32_t features, Element from,
                          Element sum);
/// For each token the largest, or the sum, of numbers of this type, beginning with `first`.
void write_of_tokens(CoreCode& code, const TokenRows& rows, VectorOp op, Element element,
                     std::uint32_t to, std::uint32_t from, std::uint32_t features, float first);

/// The sum of the squares of `elements` numbers of the type `from`, at `to`.
inline void write_square_sum(CoreCode& code, std::uint32_t to, std::uint32_t numbers,
                             std::uint32_t elements, Element from, Element sum) {
  write_token_products(code, {}, to, numbers, numbers, elements, from, sum);
}

/// `count` sums of squares of `width` numbers become what normalises them: 1 / rms,
/// where `epsilon` keeps from dividing by zero.
void write_inverse_rms(CoreCode& code, std::uint32_t stats, std::uint32_t count,
                       std::uint32_t width, Element sum, float epsilon = 1e-6F);

/// z = x * gain / rms, once the sum of squares of all cores is at `stats`; numbers of the model's
/// width. Halves, but for the statistics.
struct Normalised {
  std::uint32_t x = 0;
  std::uint32_t z = 0;
  std::uint32_t gain = 0;
  std::uint32_t stats = 0;
  std::uint32_t stats16 = 0;
  std::uint32_t elements = 0;
  std::uint32_t width = 0;
};
void write_normalised(CoreCode& code, const Normalised& job, Element sum);

/// `x` becomes exp(x) in `to`: a polynomial of x over a power of two, squared. `x` is spoilt.
void write_exp(CoreCode& code, std::uint32_t to, std::uint32_t x, std::uint32_t elements,
               Element sum);

/// SiLU(gate) * up, or SiLU(gate), by an odd polynomial of the sigmoid; `work` has room for three
/// arrays.
struct GatedUnit {
  std::optional<std::uint32_t> up;
  std::uint32_t gate = 0;
  std::uint32_t work = 0;
  std::uint32_t elements = 0;
};
/// Returns the address of the result, within `work`.
std::uint32_t write_silu(CoreCode& code, const GatedUnit& job, Element sum);

/// The same in a scalar loop over the elements, each with a special function (simd.special_cycles).
std::uint32_t write_scalar_silu(CoreCode& code, const GatedUnit& job, Element sum);

/// The exponential in a scalar loop of special functions.
void write_scalar_exp(CoreCode& code, std::uint32_t to, std::uint32_t x, std::uint32_t elements,
                      Element sum);

/// Rotates pairs of neighbours at `x` by the angles at `cos` and `sin`, one for each; `work` has
/// room for twice the elements. Of several tokens those of a feature lie side by side.
struct Rotation {
  std::uint32_t x = 0;
  std::uint32_t cos = 0;
  std::uint32_t sin = 0;
  std::uint32_t work = 0;
  std::uint32_t pairs = 0;
  std::uint32_t tokens = 1;
};
void write_rotation(CoreCode& code, const Rotation& job, Element sum);

/// Coefficients of z^0, z^1, ... of the polynomial in z = x^2 that is (sigmoid(x) - 1/2) / x at the
/// Chebyshev nodes of |x| < kSigmoidRange.
std::vector<double> sigmoid_coefficients(unsigned terms);
inline constexpr float kSigmoidRange = 4;

}  // namespace lacuna::wse
