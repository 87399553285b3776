// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::wse {

/// Where a core holds its part of the rows of an operation. A row of it is a token; the core has
/// some of the token's features, of each feature all its tokens side by side.
struct RowSpace {
  Element element = Element::fp16;         // operands and results
  std::uint32_t x = 0;                     // operand 0
  std::uint32_t dy = 0;                    // operand 1: the gradient
  std::uint32_t y = 0;                     // the result
  std::array<std::uint32_t, 3> scratch{};  // like operands
  std::array<std::uint32_t, 2> singles{};  // likewise, FP32
  std::array<std::uint32_t, 2> vectors{};  // a number for each feature: factor, or bias; summand
  std::array<std::uint32_t, 2> saved{};    // a number for each token: mean, 1 / deviation
  std::uint32_t sums = 0;                  // two for each token, FP32
  std::uint32_t stats = 0;                 // what is made of them, in the type of operands
  std::uint32_t columns = 0;               // two for each feature, FP32: sums over tokens
  std::uint32_t features = 0;
  std::uint32_t tokens = 0;
  std::uint64_t length = 1;  // features of a whole row
  /// Of masked rows how many elements each token has here, which lie token after token; empty: all
  /// of its features.
  std::vector<std::uint32_t> kept = {};
  std::uint64_t elements = 0;  // in all
};

/// The instructions of an operation on rows for core `core` of a line of them.
struct RowCode {
  const char* op;  // or the fn of an eltwise
  Phase phase;
  unsigned scratch;  // vectors like operands
  unsigned singles;  // the same in FP32, where operands are halves
  unsigned columns;  // sums over tokens, which a second stage combines
  void (*write)(const RowSpace& space, const LineSums& line, std::uint32_t core, CoreCode& code);
};

/// Null if there is none.
const RowCode* find_row_code(const std::string& name, Phase phase);

}  // namespace lacuna::wse
