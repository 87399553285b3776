// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/functions/operands.hpp"
#include "workloads/functions/row_functions.hpp"

namespace lacuna {

/// Where the numbers of a row operation come from: a tile's memory, or the reference.
class RowReader {
 public:
  RowReader() = default;
  RowReader(const RowReader&) = default;
  RowReader(RowReader&&) = default;
  RowReader& operator=(const RowReader&) = default;
  RowReader& operator=(RowReader&&) = default;
  virtual ~RowReader() = default;

  virtual double operand(unsigned tensor, std::uint64_t row, std::uint64_t i) const = 0;
  virtual double vector(unsigned which, std::uint64_t i) const = 0;
  virtual double saved(std::uint64_t row, unsigned which) const = 0;
};

/// Element i of `row`, which has `length` elements.
RowElement read_row_element(const RowFunction& function, const RowReader& reader, std::uint64_t row,
                            std::uint64_t i, std::uint64_t length);

/// The operands as made from a seed, exact in their type.
class SeededRows final : public RowReader {
 public:
  /// Row r begins at position r * stride of an operand.
  SeededRows(std::uint64_t seed, std::uint64_t stride, const RealOperands& numbers = {})
      : seed_(seed), stride_(stride), numbers_(numbers) {}

  const RealOperands& numbers() const { return numbers_; }

  double operand(unsigned tensor, std::uint64_t row, std::uint64_t i) const override;
  double vector(unsigned which, std::uint64_t i) const override;
  double saved(std::uint64_t row, unsigned which) const override;

 private:
  std::uint64_t seed_;
  std::uint64_t stride_;
  RealOperands numbers_;
};

/// The statistics of a whole row, by stage.
std::vector<RowStats> row_stats(const RowFunction& function, const RowReader& reader,
                                std::uint64_t row, std::uint64_t length);

/// Statistics of a stage of which nothing was read yet, and with one more value of statistic i.
RowStats nothing_found(const RowStage& stage);
void combine(const RowStage& stage, RowStats& stats, unsigned i, double value);

}  // namespace lacuna
