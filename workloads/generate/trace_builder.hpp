// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Appends rows to a trace, of one layer of one model after the other.
class TraceBuilder {
 public:
  TraceBuilder(std::string model, DType dtype, Mode mode)
      : model_(std::move(model)), dtype_(dtype), mode_(mode) {}

  /// What follows is called "PHASE.LAYER.NAME".
  void begin_layer(std::string layer) { layer_ = std::move(layer); }

  /// Adds a row and returns its id. Dimensions that the operation has not are 0.
  struct Shape {
    std::uint32_t m = 0;
    std::uint32_t k = 0;
    std::uint32_t n = 0;
    std::uint32_t batch = 1;
  };
  std::string add(const std::string& op, const std::string& name, Shape shape,
                  std::vector<std::string> inputs, const std::string& fn = "") {
    LayerOp row;
    row.op = op;
    row.id = "fwd." + layer_ + "." + name;
    row.model = model_;
    row.layer = layer_ + "." + name;
    row.m = shape.m;
    row.k = shape.k;
    row.n = shape.n;
    row.batch = shape.batch;
    row.dtype = dtype_;
    row.fn = fn;
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
