// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/ipu/chip_params.hpp"
#include "workloads/mapping/ipu/operation.hpp"

namespace lacuna::ipu {

/// Rows of a trace, run on a chip with numbers of one's own, in both engines, which must agree.
class ChipRows {
 public:
  using Numbers = std::vector<double>;

  explicit ChipRows(unsigned tiles) { params_.ipu.tiles = tiles; }

  /// Y[m x n] = W[m x k] X[k x n], row-major; one or several of them behind each other.
  Numbers product(std::uint32_t m, std::uint32_t k, std::uint32_t n, const std::vector<Numbers>& w,
                  const std::vector<Numbers>& x);

  /// An element-wise function of operands of equal length.
  Numbers elements(const std::string& function, const std::vector<Numbers>& operands);

  /// Rows of `length`.
  Numbers softmax(std::uint32_t length, const Numbers& x);
  Numbers rms_norm(std::uint32_t length, const Numbers& x, const Numbers& gain);
  /// All but the largest of each row, which is 0.
  Numbers take_max(std::uint32_t length, const Numbers& x);

  /// Rows of a table, by their numbers; and the table with rows added to some of its own.
  Numbers gather(std::uint32_t width, const Numbers& table, const std::vector<std::uint32_t>& rows);
  Numbers scatter(std::uint32_t width, const Numbers& table, const Numbers& added,
                  const std::vector<std::uint32_t>& rows);

  /// Any row, with its operands by their seeds, counted from the row's: see
  /// OperationRequest::given.
  Numbers any_row(const LayerOp& op, const std::map<std::uint64_t, Numbers>& operands);

 private:
  Numbers run(const LayerOp& op, const GivenOperands& given);

  ChipParams params_;
  PlannerParams planner_;
};

}  // namespace lacuna::ipu
