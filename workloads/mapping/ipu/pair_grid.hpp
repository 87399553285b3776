// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workloads/mapping/ipu/gemm.hpp"

namespace lacuna::ipu {

/// What a tile has of a result Y[m x n] that is no product. It is formed like one, from rows of a
/// left operand and columns of a right one with k elements each.
struct PairPart {
  std::uint64_t rows = 1;
  std::uint64_t groups = 1;  // of columns
  std::uint64_t depth = 1;   // elements of the contraction
};

/// Where a tile has its operands and results, in elements of their types from the beginning of its
/// memory.
struct PairPlaces {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::uint64_t own = 0;
  std::uint64_t sums = 0;
};

/// What such a result is, and the vertex that forms a tile's part of it.
class PairKernel {
 public:
  /// Reads the sum at a row and a column of a result.
  using Read = std::function<double(std::uint32_t row, std::uint32_t column)>;

  PairKernel() = default;
  virtual ~PairKernel() = default;
  PairKernel(const PairKernel&) = delete;
  PairKernel& operator=(const PairKernel&) = delete;

  virtual std::string name() const = 0;  // of the compute set
  /// Columns that are formed together.
  virtual std::uint64_t width() const = 0;
  /// The contraction is cut in multiples of it, and a row of the left operand padded to them.
  virtual std::uint64_t grain() const = 0;
  /// The right operand lies by columns, padded like rows of the left one; else by rows, unpadded.
  virtual bool right_by_columns() const = 0;
  /// Elements of a third operand, of the shape of the result, if it has one.
  virtual bool has_own() const { return false; }
  virtual float own(std::uint64_t /*position*/) const { return 0; }

  /// Bundles of the busiest worker, if results are stored as `stored`.
  virtual std::uint64_t bundles(const PairPart& part, DType stored) const = 0;
  /// Writes the codelets; vertices are asked for afterwards, those of equal parts once.
  virtual void write(ProgramBuilder& builder, DType stored) = 0;
  virtual std::uint32_t vertex(ProgramBuilder& builder, const PairPart& part) = 0;
  virtual VertexFunction function(const PairPart& part, const PairPlaces& places,
                                  DType stored) const = 0;

  /// Compares a result with the same in FP64; may outlive the kernel.
  virtual std::function<void(Comparison&, const Read&)> comparison() const = 0;
};

/// Plans and lowers it. Rows, groups of columns and the contraction are cut into a grid of tiles.
/// Of the grids that fit, the one with the soonest estimated end is taken. Tiles that need the
/// same rows or columns are home of equal shares of them. If the contraction is cut, parts are
/// formed in FP32, and each tile of the same rows and columns sums a slice over all parts.
/// OutOfMemoryError.
PlannedOperation plan_pairs(const ChipParams& chip, const PlannerParams& planner,
                            const GemmProblem& problem, PairKernel& kernel);

}  // namespace lacuna::ipu
