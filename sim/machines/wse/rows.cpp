// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/rows.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/inference/decoder_rows.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/program/own_program.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

template <class... Args>
[[noreturn]] void refuse(const WaferRequest& request, fmt::format_string<Args...> what,
                         Args&&... args) {
  throw UnsupportedError(request.machine + ": " + fmt::format(what, std::forward<Args>(args)...));
}

bool is_weight_product(const WseParams& /*params*/, const LayerOp& op) { return has_weights(op); }

bool is_sparse_gradient(const WseParams& /*params*/, const LayerOp& op) {
  return is_sampled_gradient(op);
}

bool is_layer(const WseParams& /*params*/, const LayerOp& op) {
  return wse::is_layer_operation(op);
}

void require_int8(const WaferRequest& request) {
  const LayerOp& op = request.op;
  if (request.params.simd.int8 == 0) {
    refuse(request, "simd.int8 = 0, its datapath has no int8 instruction; that of a wse3 has one");
  }
  if (is_sampled_gradient(op))
    refuse(request, "weight gradients of int8; fp16 and fp32 are possible");
  if (op.partials != Partials::automatic && op.partials != Partials::int32) {
    refuse(request, "floating-point partial sums of int8 products; they are int32");
  }
}

/// What streams into the array: where it is multiplied, and how.
void require_stream(const WaferRequest& request) {
  const LayerOp& op = request.op;
  if (op.mode == Mode::dynamic) {
    refuse(request, "a wafer cannot run mode '{}' (streamed and static are possible) yet",
           word(op.mode));
  }
  if (op.dtype == DType::int8) return require_int8(request);
  if (op.dtype != DType::fp16 && op.dtype != DType::fp32) {
    refuse(request,
           "dtype '{}': nothing is published of how fast its datapath multiplies it; fp16, fp32 "
           "and, on a wse3, int8 are possible",
           word(op.dtype));
  }
  if (op.partials == Partials::int32) {
    refuse(request, "a wafer cannot run int32 partial sums of floating-point products yet");
  }
  if (op.partials == Partials::fp16 && op.dtype == DType::fp32) {
    refuse(request, "a wafer cannot run fp16 partial sums of fp32 products yet");
  }
}

/// Programs of tasks have all their operands in the cores.
void require_tasks(const WaferRequest& request) {
  const WseParams& params = request.params;
  const LayerOp& op = request.op;
  const std::string kernel = "kernel.gemm = " + params.kernel.gemm.value_text();
  if (params.ws.groups != 1U) {
    refuse(request, "ws.groups = {}: {} works on all columns, not in groups of them",
           params.ws.groups.value(), kernel);
  }
  if (op.x_pattern != "dense") {
    refuse(request, "x_pattern '{}': {} has a program of the cores that moves whole tiles of X",
           op.x_pattern, op.mode == Mode::dynamic ? "mode dynamic" : kernel);
  }
  if (has_weights(op) && wse::residency_of(op) == Residency::streamed) {
    refuse(request, "residency streamed with {}: this kernel has both operands in the cores",
           kernel);
  }
}

void require_gradient(const WaferRequest& request) {
  require_stream(request);
  if (request.params.ws.inject == wse::Inject::column_top) return;
  refuse(request,
         "the sums of a weight gradient run down the whole column, so its stream enters at the "
         "top, not where ws.inject = {} has it",
         request.params.ws.inject.value_text());
}

/// What a planner does not look at; it says itself what it cannot.
void require_layer(const WaferRequest& request) {
  const LayerOp& op = request.op;
  const bool sampled = op.op == "sddmm";  // is sparse with a pattern alone, too
  if (op.op != "bmm" && !sampled) return;
  if (op.mode == Mode::streamed) {
    refuse(request, "mode 'streamed' of op {}: both operands lie on the wafer; auto is possible",
           op.op);
  }
  const bool sparse = op.mode == Mode::static_ || op.mode == Mode::dynamic;
  if (!sparse || request.mask != nullptr) return;
  refuse(request,
         "mode '{}' of a dense row: it names a kernel for sparse operands; auto has the "
         "dense one",
         word(op.mode));
}

OpResult run_layer_row(const WaferRequest& request) {
  const auto& [machine, params, op, mask, seed, execution] = request;
  LayerOp sent = op;
  if (!params.ws.zero_filter) sent.x_pattern = "dense";
  if (sent.x_pattern != "dense" && params.zero_filter.at == wse::FilterAt::receiver) {
    throw UnsupportedError(fmt::format(
        "zero_filter.at = receiver: the cores of a {} list what is not zero of X themselves, and "
        "no zero is sent that a filter could drop",
        op.op));
  }
  OpResult result = run_layer_operation(request.with(sent, execution));
  const bool product = op.op == "bmm" || op.op == "sddmm";
  // the programs of the cores hold the pattern
  if (product || mask != nullptr) result.mode = word(mask != nullptr ? Mode::static_ : Mode::dense);
  if (op.x_pattern != "dense") add_filter_remark(request, run_layer_operation, result);
  return result;
}

bool is_decoder_row(const WseParams& /*params*/, const LayerOp& op) {
  return op.share.group != nullptr;
}

/// That a row can be what it is was found where it was grouped, or is where its file is read.
void require_nothing(const WaferRequest& /*request*/) {}

}  // namespace

const std::vector<WaferRows>& wafer_rows() {
  static const std::vector<WaferRows> rows = {
      {"layers of decoders", is_decoder_row, require_nothing, run_decoder_row},
      {"programs of one's own", is_own_program, require_nothing, run_own_program},
      {"programs of tasks", runs_as_tasks, require_tasks, run_tasks},
      {"gradients of all weights", is_whole_gradient, require_stream, run_dense_gradient},
      {"gradients of sparse weights", is_sparse_gradient, require_gradient, run_gradient},
      {"products of activations and functions", is_layer, require_layer, run_layer_row},
      {"products with weights", is_weight_product, require_stream, run_weights},
  };
  return rows;
}

OpResult run_wafer_row(const WaferRequest& request) {
  if (request.execution.sigma > 0) {
    refuse(request, "a wafer carries integers only, not --values normal:SIGMA");
  }
  for (const WaferRows& rows : wafer_rows()) {
    if (!rows.takes(request.params, request.op)) continue;
    rows.require(request);
    OpResult result = rows.run(request);
    if (!request.op.share.alone.empty()) {
      result.remarks.push_back("its decoder's layer runs row by row: " + request.op.share.alone);
    }
    return result;
  }
  refuse(request, "a wafer cannot run op '{}' yet", request.op.op);
}

}  // namespace lacuna
