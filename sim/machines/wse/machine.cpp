// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/silicon.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/target.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "sim/machines/wse/units.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"
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

bool may_be_resident(const LayerOp& op) {
  return op.share.may_stay || op.residency == Residency::resident || op.mode == Mode::static_;
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
    setter_.set(params_, path, text, origin);
  }
  Mode default_mode() const override { return Mode::streamed; }

  void check() const override {
    const unsigned words = params_.core.fabric_words_per_issue;
    const unsigned sums = params_.queue.sums_in();
    if (wse::QueueShapes(params_.router).ramp_down(sums).capacity < words) {
      throw ParameterError(fmt::format(
          "queue.in: number 3 of {} words with router.ramp = {} can never hold the {} words that "
          "core.fabric_words_per_issue asks for",
          sums, params_.router.ramp.value(), words));
    }
    if (params_.router.link_cycles < params_.router.link_words) {
      throw ParameterError(
          fmt::format("router.link_cycles = {} is less than router.link_words = {}: a link passes "
                      "a word a cycle",
                      params_.router.link_cycles.value(), params_.router.link_words.value()));
    }
    if (params_.queue.sums_out() < 2) {
      throw ParameterError("queue.out: number 2, of partial sums, needs 2 words at least");
    }
    if (params_.mem.conflict_bytes != 8 && params_.mem.conflict_bytes != 16) {
      throw ParameterError(fmt::format("mem.conflict_bytes = {}: banks repeat after 8 or 16 bytes",
                                       params_.mem.conflict_bytes.value()));
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

  std::unique_ptr<Machine> clone() const override { return std::make_unique<WseMachine>(*this); }
  const std::vector<LayoutSpace>& layouts() const override { return wafer_layout_spaces(); }
  std::string layout_kind(const LayerOp& op, const Mask* /*mask*/) const override {
    return wafer_layout_kind(params_, op);
  }

  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override;
  void place_operands(WorkloadTrace& workload) const override;

  std::vector<std::string> slow_settings() const override;

  std::string describe_unit(const std::string& name) const override {
    return describe_wafer_unit(params_, name_, name);
  }

  std::optional<Cycle> least_cycles(const LayerOp& op, const Mask* mask) const override {
    const bool product = op.op == "gemm" || op.op == "spmm";
    const bool plain = op.phase == Phase::fwd && op.x_pattern == "dense";
    if (!product || !plain || runs_as_tasks(params_, op)) return std::nullopt;
    return least_cycles_of_weights(params_, op, mask);
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  OpResult run_on_wafer(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                        const Execution& execution) const;
  OpResult simulate(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                    const Execution& execution) const;
  void require_supported(const LayerOp& op) const;
  void require_int8(const LayerOp& op) const;
  void require_groups(const LayerOp& op) const;
  void require_filter(const LayerOp& op) const;

  std::string name_;
  WseParams params_;
  TargetSetter setter_;
};

/// What keeps rows from being simulated once for all that are alike, or a row from being stepped
/// as a whole, in the words of those who refuse to.
std::vector<std::string> WseMachine::slow_settings() const {
  std::vector<std::string> settings;
  const std::string lanes = wse::reason_against_lanes(params_.router);
  if (!lanes.empty()) settings.push_back(lanes + ", so that no row is stepped as a whole");
  if (!wse::QueueShapes(params_.router).flows()) {
    settings.emplace_back(
        "words stop in every router (router.entries = 1), so that no row is stepped as a whole");
  }
  if (params_.core.init_cycles != 0) {
    settings.emplace_back(
        "cores begin at a cycle, not with their first word (core.init_cycles), so that no row "
        "repeats another");
  }
  if (params_.wafer.modules == wse::Modules::per_core) {
    settings.emplace_back("each router and each core is a module of its own (wafer.modules)");
  }
  return settings;
}

void WseMachine::relate(WorkloadTrace& workload, const MaskOf& mask_of,
                        std::uint64_t /*seed*/) const {
  find_sources(workload);
  share_wafer(params_, workload, mask_of);
  for (LayerOp& op : workload.ops) {
    if (!has_weights(op) || may_be_resident(op)) continue;
    op.share.beside = 0;  // streamed weights leave results where they are, beside nothing
    op.share.result_taken = false;
  }
  place_operands(workload);
}

/// Whole operands that lie in blocks wherever they come from make no difference.
void WseMachine::place_operands(WorkloadTrace& workload) const {
  find_sources(workload);
  if (params_.ws.k_partition != wse::KPartition::block) return;
  if (params_.ws.inject != wse::Inject::column_top) return;
  const bool grouped = params_.ws.groups != 1;
  if (grouped && params_.ws.exchange == wse::Exchange::next) return;
  for (LayerOp& op : workload.ops) {
    const bool product = has_weights(op);
    if (op.batch != 1 || (product && may_be_resident(op))) continue;
    const std::uint32_t width = product ? op.k : op.m;
    const std::uint32_t unit = op.fn == "rope" ? 2 : 1;
    // Groups of columns lie otherwise than what functions take and leave.
    const auto lies_there = [&](const OperandSource& source) {
      const bool alike = !grouped || product == source.of_product;
      return alike && source.features == width && source.unit == unit;
    };
    auto& sources = op.sources;
    sources.erase(std::remove_if(sources.begin(), sources.end(), lies_there), sources.end());
  }
}

/// Products with streamed or resident weights know groups of columns; functions and products of
/// activations take and leave operands over all columns.
void WseMachine::require_groups(const LayerOp& op) const {
  if (params_.ws.groups == 1) return;
  const auto refuse = [&](const std::string& why) {
    throw UnsupportedError(
        fmt::format("{}: ws.groups = {}: {}", name_, params_.ws.groups.value(), why));
  };
  if (runs_as_tasks(params_, op)) {
    refuse(fmt::format("kernel.gemm = {} works on all columns, not in groups of them",
                       params_.kernel.gemm.value_text()));
  }
  if (is_gradient(op) || is_dense_gradient(op)) {
    refuse(
        fmt::format("op '{}': the sums of a weight gradient run down whole columns, which "
                    "groups would all have a part of",
                    op.op));
  }
}

/// Zeros of X are left out by somebody, or the row is refused.
void WseMachine::require_filter(const LayerOp& op) const {
  if (op.x_pattern == "dense") return;
  const auto refuse = [&](const std::string& why) {
    throw UnsupportedError(fmt::format("{}: x_pattern '{}': {}", name_, op.x_pattern, why));
  };
  if (!runs_as_tasks(params_, op)) return;
  refuse(fmt::format("{} has a program of the cores that moves whole tiles of X",
                     op.mode == Mode::dynamic
                         ? "mode dynamic"
                         : "kernel.gemm = " + params_.kernel.gemm.value_text()));
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

/// By a program of tasks, which has all its operands in the cores.
OpResult WseMachine::run_on_wafer(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                  const Execution& execution) const {
  if (has_weights(op) && wse::residency_of(op) == Residency::streamed) {
    throw UnsupportedError(
        fmt::format("{}: residency streamed with kernel.gemm = {}: this kernel has both operands "
                    "in the cores",
                    name_, params_.kernel.gemm.value_text()));
  }
  OpResult result = run_tasks(params_, op, mask, seed, execution);
  if (!has_weights(op)) return result;
  result.mode = word(op.mode == Mode::dynamic ? Mode::dynamic : Mode::dense);
  result.residency = word(Residency::resident);
  return result;
}

OpResult WseMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
  OpResult result = simulate(op, mask, seed, execution);
  if (params_.target != Target::none) {
    result.notes.emplace_back("target", params_.target.value_text());
  }
  return result;
}

OpResult WseMachine::simulate(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                              const Execution& execution) const {
  if (execution.sigma > 0) {
    throw UnsupportedError(
        fmt::format("{}: a wafer carries integers only, not --values normal:SIGMA", name_));
  }
  require_groups(op);
  require_filter(op);
  if (runs_as_tasks(params_, op)) return run_on_wafer(op, mask, seed, execution);
  const bool gradient = is_gradient(op);
  if (!gradient && !is_dense_gradient(op) && wse::is_layer_operation(op)) {
    LayerOp sent = op;
    if (!params_.ws.zero_filter) sent.x_pattern = "dense";
    OpResult result = run_layer_operation(params_, sent, mask, seed, execution);
    const bool product = op.op == "bmm" || op.op == "sddmm";
    // the programs of the cores hold the pattern
    if (product || mask != nullptr) result.mode = word(mask ? Mode::static_ : Mode::dense);
    if (op.x_pattern != "dense") {
      LayerOp whole = op;
      whole.x_pattern = "dense";
      add_filter_remark(params_,
                        run_layer_operation(params_, whole, mask, seed, without_record(execution)),
                        result);
    }
    return result;
  }
  require_supported(op);
  if (gradient && params_.ws.inject != wse::Inject::column_top) {
    throw UnsupportedError(
        fmt::format("{}: the sums of a weight gradient run down the whole column, so its stream "
                    "enters at the top, not where ws.inject = {} has it",
                    name_, params_.ws.inject.value_text()));
  }
  if (gradient) {
    OpResult result = run_gradient(params_, op, mask, seed, execution);
    result.mode = word(wse::kernel_of(mask != nullptr, Residency::streamed));
    return result;
  }
  if (has_weights(op)) return run_weights(params_, op, mask, seed, execution);
  // Of its two operands the one with zeros is streamed.
  const bool stream_x = op.x_pattern != "dense";
  OpResult result = run_streamed(params_, op, mask, seed, execution, stream_x);
  result.mode = word(Mode::dense);
  if (stream_x) {
    LayerOp whole = op;
    whole.x_pattern = "dense";
    add_filter_remark(
        params_, run_streamed(params_, whole, mask, seed, without_record(execution), true), result);
    result.notes.emplace_back("operands",
                              "X, made on the wafer, has left it before and is streamed in; W lies "
                              "with its k along columns");
    return result;
  }
  result.notes.emplace_back("operands",
                            "W, made on the wafer, has left it before and is streamed in as "
                            "weights are; X lies with its k along columns");
  return result;
}

}  // namespace

std::unique_ptr<Machine> make_wse_machine(std::string name) {
  return std::make_unique<WseMachine>(std::move(name));
}

}  // namespace lacuna
