// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/machine.hpp"
#include "sim/driver/result_sequence.hpp"
#include "sim/driver/wse_gradient.hpp"
#include "sim/driver/wse_layers.hpp"
#include "sim/driver/wse_params.hpp"
#include "sim/driver/wse_silicon.hpp"
#include "sim/driver/wse_streaming.hpp"
#include "sim/driver/wse_tasks.hpp"
#include "sim/driver/wse_units.hpp"
#include "workloads/mapping/wse/layer_plan.hpp"
#include "workloads/trace/operand_sources.hpp"

namespace lacuna {
namespace {

/// One sampled product, such as the gradient of a sparse weight: its results leave the wafer. The
/// products of attention, many at once, stay on it.
bool is_gradient(const LayerOp& op) { return op.op == "sddmm" && op.batch == 1; }

/// The gradient of a dense weight: the left operand is streamed from outside as weights are.
bool is_dense_gradient(const LayerOp& op) {
  return op.op == "bmm" && op.batch == 1 && op.phase != Phase::fwd &&
         (op.fn.empty() || op.fn == "dot");
}

class WseMachine final : public Machine {
 public:
  explicit WseMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "wse"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  Silicon silicon() const override { return wafer_silicon(params_); }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }
  Mode default_mode() const override { return Mode::streamed; }

  void check() const override {
    const unsigned words = params_.core.fabric_words_per_issue;
    if (params_.queue.ring_in + params_.router.ramp - 1 < words) {
      throw ParameterError(
          fmt::format("queue.ring_in = {} with router.ramp = {} can never hold the {} words that "
                      "core.fabric_words_per_issue asks for",
                      params_.queue.ring_in.value(), params_.router.ramp.value(), words));
    }
    if (params_.wafer.modules == wse::Modules::per_core &&
        (params_.wafer.columns > 64 || params_.wafer.rows > 64)) {
      throw ParameterError(fmt::format(
          "wafer.modules = per_core allows up to 64 x 64 cores, and wafer.columns x wafer.rows is "
          "{} x {}",
          params_.wafer.columns.value(), params_.wafer.rows.value()));
    }
    if (params_.wafer.columns > params_.wafer.program_columns) {
      throw ParameterError(fmt::format("wafer.columns = {} is more than wafer.program_columns = {}",
                                       params_.wafer.columns.value(),
                                       params_.wafer.program_columns.value()));
    }
  }

  std::string extent() const override {
    return fmt::format("{} x {} of {} cores", params_.wafer.columns.value(),
                       params_.wafer.rows.value(), params_.wafer.cores.value());
  }

  void relate(WorkloadTrace& workload) const override;

  std::string describe_unit(const std::string& name) const override {
    return describe_wafer_unit(params_, name_, name);
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  void require_supported(const LayerOp& op) const;
  void require_int8(const LayerOp& op) const;

  std::string name_;
  WseParams params_;
};

/// Whole operands that lie in blocks wherever they come from make no difference.
void WseMachine::relate(WorkloadTrace& workload) const {
  find_sources(workload);
  if (params_.ws.k_partition != wse::KPartition::block) return;
  if (params_.ws.inject != wse::Inject::column_top) return;
  for (LayerOp& op : workload.ops) {
    if (op.batch != 1) continue;
    const bool product = op.op == "gemm" || op.op == "spmm";
    const std::uint32_t width = product ? op.k : op.m;
    const std::uint32_t unit = op.fn == "rope" ? 2 : 1;
    const auto lies_there = [&](const OperandSource& source) {
      return source.features == width && source.unit == unit;
    };
    auto& sources = op.sources;
    sources.erase(std::remove_if(sources.begin(), sources.end(), lies_there), sources.end());
  }
}

void WseMachine::require_int8(const LayerOp& op) const {
  if (params_.simd.int8 == 0) {
    throw UnsupportedError(fmt::format(
        "{}: simd.int8 = 0, its datapath has no int8 instruction; that of a wse3 has one", name_));
  }
  if (is_gradient(op)) throw UnsupportedError(fmt::format("{}: weight gradients of int8", name_));
  if (op.partials != Partials::automatic && op.partials != Partials::int32) {
    throw UnsupportedError(
        fmt::format("{}: floating-point partial sums of int8 products; they are "
                    "int32",
                    name_));
  }
}

void WseMachine::require_supported(const LayerOp& op) const {
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError(fmt::format("{}: a wafer cannot run {} yet", name_, what));
  };
  if (op.op != "gemm" && op.op != "spmm" && !is_gradient(op) && !is_dense_gradient(op))
    refuse(fmt::format("op '{}'", op.op));
  if (op.mode == Mode::dynamic) {
    refuse(fmt::format("mode '{}' (streamed and static are possible)", word(op.mode)));
  }
  if (op.dtype == DType::int8) {
    require_int8(op);
    return;
  }
  if (op.dtype != DType::fp16 && op.dtype != DType::fp32) {
    throw UnsupportedError(fmt::format(
        "{}: dtype '{}': nothing is published of how fast its datapath multiplies it; fp16, fp32 "
        "and, on a wse3, int8 are possible",
        name_, word(op.dtype)));
  }
  if (op.partials == Partials::int32) refuse("int32 partial sums of floating-point products");
  if (op.partials == Partials::fp16 && op.dtype == DType::fp32) {
    refuse("fp16 partial sums of fp32 products");
  }
}

OpResult WseMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
  if (execution.sigma > 0) {
    throw UnsupportedError(
        fmt::format("{}: a wafer carries integers only, not --values normal:SIGMA", name_));
  }
  if (runs_as_tasks(params_, op)) return run_tasks(params_, op, mask, seed, execution);
  const bool gradient = is_gradient(op);
  const bool dense_gradient = is_dense_gradient(op);
  if (!gradient && !dense_gradient && wse::is_layer_operation(op)) {
    return run_layer_operation(params_, op, mask, seed, execution);
  }
  require_supported(op);
  if (gradient && params_.ws.inject != wse::Inject::column_top) {
    throw UnsupportedError(
        fmt::format("{}: the sums of a weight gradient run down the whole column, so its stream "
                    "enters at the top, not where ws.inject = {} has it",
                    name_, params_.ws.inject.value_text()));
  }
  if (gradient) return run_gradient(params_, op, mask, seed, execution);
  OpResult result = run_streamed(params_, op, mask, seed, execution);
  if (!op.sources.empty() && op.mode != Mode::static_) {
    OpResult moved = run_operand_moves(params_, op, mask, execution);
    if (moved.cycles != 0) put_before(std::move(moved), result);
  }
  if (dense_gradient) {
    result.notes.emplace_back("operands",
                              "W, made on the wafer, has left it before and is streamed in as "
                              "weights are; X lies with its k along columns");
  }
  return result;
}

}  // namespace

std::unique_ptr<Machine> make_wse_machine(std::string name) {
  return std::make_unique<WseMachine>(std::move(name));
}

}  // namespace lacuna
