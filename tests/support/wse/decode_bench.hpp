// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/wse/task_bench.hpp"
#include "workloads/mapping/wse/inference/decode_layer.hpp"
#include "workloads/mapping/wse/inference/decode_values.hpp"

namespace lacuna::wse {

/// Grouped queries with norms of heads; widths as given.
inline DecoderModel grouped_model(std::uint32_t width, std::uint32_t head_dim, std::uint32_t ffn) {
  DecoderModel model;
  model.width = width;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_dim = head_dim;
  model.ffn = ffn;
  model.qk_norm = true;
  return model;
}

/// Widths that do not divide by the cores.
inline DecoderModel small_model() { return grouped_model(44, 16, 70); }

inline DecodeBlock small_block(std::uint32_t columns, std::uint32_t rows, std::uint32_t context) {
  DecodeBlock block;
  block.columns = columns;
  block.rows = rows;
  block.context = context;
  return block;
}

// Halves have 11 bits; of some hundred roundings of numbers below 4 the sum stays under 2^-7.
inline constexpr double kHalves = 1.0 / 128;

struct DecodeBench {
  TaskProgram program(const DecodeShape& shape) const {
    TaskProgram program = DecodeLayer(shape, costs, params).plan();
    DecodeValues(shape, 7).fill(program);
    return program;
  }

  /// The largest difference to the reference in any column, over the largest number.
  double error(const DecodeShape& shape) const {
    const TaskOutcome outcome = run_tasks(program(shape));
    const DecodeValues values(shape, 7);
    return error(shape, outcome, values, values.reference());
  }

  static double error(const DecodeShape& shape, const TaskOutcome& outcome,
                      const DecodeValues& values, const std::vector<double>& expected) {
    double most = 0;
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    const std::uint32_t columns = shape.block().columns;
    for (std::uint32_t copy = 0; copy < columns * shape.block().batch; ++copy) {
      const std::vector<double> found =
          values.found(outcome.memory, copy % columns, copy / columns);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        most = std::max(most, std::abs(found[i] - expected[i]));
      }
    }
    return most / largest;
  }

  CodeCosts costs;
  InferenceParams params;
};

}  // namespace lacuna::wse
