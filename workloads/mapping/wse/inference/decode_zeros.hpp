// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lacuna {
struct Mask;
}

namespace lacuna::wse {

/// Products of a decode layer; q, k and v are one, up and gate another.
enum class Projection : std::uint8_t { qkv, o, up, down };
inline constexpr std::size_t kProjections = 4;
const char* word(Projection projection);

/// The matrices that a core has a tile of. `up` is up, then gate, of each input.
enum class Matrix : std::uint8_t { q, k, v, o, up, down };
inline constexpr std::size_t kMatrices = 6;
const char* word(Matrix matrix);
Projection projection_of(Matrix matrix);
/// The one that stands for the whole projection where that is one tile.
Matrix matrix_of(Projection projection);

/// Elements of an array that are not zero; what lies outside is padding, and zero.
class NonZeros {
 public:
  NonZeros() = default;
  explicit NonZeros(const Mask& mask);
  /// None is zero.
  NonZeros(std::uint32_t rows, std::uint32_t cols)
      : rows_(rows), cols_(cols), bits_(std::size_t{rows} * cols, true) {}

  /// Rows of as many columns, below these.
  void append(const NonZeros& more) {
    rows_ += more.rows_;
    cols_ = more.cols_;
    bits_.insert(bits_.end(), more.bits_.begin(), more.bits_.end());
  }

  bool given() const { return rows_ != 0; }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t cols() const { return cols_; }
  bool at(std::uint32_t row, std::uint32_t col) const {
    return row < rows_ && col < cols_ && bits_[std::size_t{row} * cols_ + col];
  }

 private:
  std::uint32_t rows_ = 0;
  std::uint32_t cols_ = 0;
  std::vector<bool> bits_;
};

/// Neighbouring outputs of an input that have weights.
struct OutputRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Features of a tile's inputs and outputs, those of its projection; beyond them: padding.
struct TileFeatures {
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> outputs;
};

/// Outputs with weights of each input of a tile, as it stores them: of `whole` inputs all, those of
/// padding too.
std::vector<std::vector<OutputRun>> stored_runs(const NonZeros& weights, const TileFeatures& tile,
                                                bool whole);

/// How a core stores a tile of sparse weights: values side by side in the order of inputs, then
/// what says where they belong. If all outputs of an input are there or none (`whole`, in all
/// cores), the numbers of the inputs that are, two bytes each. Else for each input the number of
/// its runs of outputs, two bytes, and for each run its first output and length, four bytes.
struct SparseTileSize {
  std::uint32_t inputs = 0;  // with weights
  std::uint32_t values = 0;
  std::uint32_t runs = 0;
  std::uint32_t outputs = 0;  // of any tile
  bool whole = true;

  /// Halves of memory of a tile of so many inputs.
  std::uint64_t halves(std::uint32_t all_inputs) const {
    return values + (whole ? std::uint64_t{inputs} : all_inputs + 2 * std::uint64_t{runs});
  }

  /// Becomes the most of it and of a tile.
  void cover(const NonZeros& weights, const TileFeatures& tile);
  /// Once all are covered: of whole inputs all outputs are stored.
  void finish() {
    if (whole) values = inputs * outputs;
  }
};

/// Zeros of a layer, and which of them the program profits from.
struct DecodeZeros {
  bool skip = false;     // an input that is zero has no instruction; each is tested
  bool compact = false;  // zeros of the hidden vector do not travel between blocks
  std::array<NonZeros, kProjections> inputs;      // features x sequences, or tokens of a chunk of
                                                  // a prompt; not given: not tested
  std::array<NonZeros, kProjections> weights;     // outputs x inputs; q, k, v and up, gate follow
                                                  // each other
  NonZeros hidden;                                // features x sequences, between blocks
  std::array<SparseTileSize, kMatrices> sizes{};  // of the fullest tile; see find_fullest_tiles()
  std::array<bool, kMatrices> dense{};            // stored with their zeros; see choose_forms()
  std::string name;                               // equal for equal zeros

  const NonZeros& inputs_of(Matrix matrix) const { return inputs.at(at(matrix)); }
  const NonZeros& weights_of(Matrix matrix) const { return weights.at(at(matrix)); }
  const SparseTileSize& size_of(Matrix matrix) const {
    return sizes.at(static_cast<std::size_t>(matrix));
  }
  bool tests(Matrix matrix) const { return skip && inputs_of(matrix).given(); }
  /// Whether a matrix is stored as lists.
  bool sparse(Matrix matrix) const {
    return weights_of(matrix).given() && !dense.at(static_cast<std::size_t>(matrix));
  }
  /// Whether its product leaves anything out.
  bool act_on(Matrix matrix) const { return tests(matrix) || sparse(matrix); }
  bool any_lists() const;

 private:
  static std::size_t at(Matrix matrix) { return static_cast<std::size_t>(projection_of(matrix)); }
};

}  // namespace lacuna::wse
