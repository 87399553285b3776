// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Sides of a row; those that its operation has not are 0.
struct RowSides {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
  std::uint32_t batch = 1;
};

inline void set_sides(LayerOp& row, const RowSides& sides) {
  row.m = sides.m;
  row.k = sides.k;
  row.n = sides.n;
  row.batch = sides.batch;
}

inline LayerOp make_row(std::string id, std::string op, DType dtype, const RowSides& sides,
                        std::string fn = "") {
  LayerOp row;
  row.id = std::move(id);
  row.op = std::move(op);
  row.dtype = dtype;
  row.fn = std::move(fn);
  set_sides(row, sides);
  return row;
}

/// A row of an operation, of the model, layer, phase and type of another.
inline LayerOp row_like(const LayerOp& other, std::string id, std::string op) {
  LayerOp row = make_row(std::move(id), std::move(op), other.dtype, {});
  row.model = other.model;
  row.layer = other.layer;
  row.phase = other.phase;
  return row;
}

/// Appends rows to a trace, of one layer of one model after the other.
class TraceBuilder {
 public:
  TraceBuilder(std::string model, DType dtype, Mode mode)
      : model_(std::move(model)), dtype_(dtype), mode_(mode) {}

  /// What follows is called "PHASE.LAYER.NAME".
  void begin_layer(std::string layer) { layer_ = std::move(layer); }

  /// Adds a row and returns its id.
  std::string add(const std::string& op, const std::string& name, const RowSides& sides,
                  std::vector<std::string> inputs, const std::string& fn = "") {
    LayerOp row = make_row("fwd." + layer_ + "." + name, op, dtype_, sides, fn);
    row.model = model_;
    row.layer = layer_ + "." + name;
    row.depends_on = std::move(inputs);
    trace_.ops.push_back(std::move(row));
    return trace_.ops.back().id;
  }

  /// The row added last, to be refined.
  LayerOp& last() { return trace_.ops.back(); }

  /// Gives the row added last a pattern, and with it the mode of sparse rows.
  void thin_out(PatternSpec pattern) {
    if (pattern.name == "dense") return;
    last().mode = mode_;
    last().pattern = std::move(pattern);
  }

  WorkloadTrace take() { return std::move(trace_); }

 private:
  std::string model_;
  DType dtype_;
  Mode mode_;
  std::string layer_;
  WorkloadTrace trace_;
};

}  // namespace lacuna
