// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/stream_memory.hpp"

namespace lacuna::wse {
namespace {

struct Row {
  const char* op;
  LayerPlan (*plan)(const LayerRequest&);
};

constexpr std::array<Row, 9> kOperations = {{{"eltwise", plan_layer_eltwise},
                                             {"softmax", plan_layer_rows},
                                             {"take_max", plan_layer_rows},
                                             {"layernorm", plan_layer_rows},
                                             {"rmsnorm", plan_layer_rows},
                                             {"optim", plan_layer_optimizer},
                                             {"embed", plan_layer_embedding},
                                             {"bmm", plan_layer_product},
                                             {"sddmm", plan_layer_product}}};

const Row* find_row(const LayerOp& op) {
  const auto* found = std::find_if(kOperations.begin(), kOperations.end(),
                                   [&](const Row& row) { return op.op == row.op; });
  return found == kOperations.end() ? nullptr : found;
}

std::uint32_t append(std::uint32_t count, std::uint32_t& all) {
  const std::uint32_t first = all;
  all += count;
  return first;
}

}  // namespace

LineSums line_of(const LayerSetup& setup, std::uint32_t cores) {
  return {cores, LineSums::groups_of(setup.functions, cores), 0};
}

bool is_layer_operation(const LayerOp& op) { return find_row(op) != nullptr; }

LayerPlan plan_layer(const LayerRequest& request) {
  const Row* row = find_row(request.op);
  if (row == nullptr) {
    throw UnsupportedError(fmt::format("a wafer cannot run op '{}'", request.op.op));
  }
  const LayerOp& op = request.op;
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError(fmt::format("a wafer does not run {} {}", op.op, what));
  };
  if (request.mask != nullptr && op.mode == Mode::dynamic) {
    refuse("in mode dynamic: the cores' programs hold the pattern (auto is possible)");
  }
  if (op.partials == Partials::int32) refuse("with int32 partial sums");
  if (op.partials == Partials::fp16 && op.dtype == DType::fp32) {
    refuse("with fp16 partial sums of fp32 products");
  }
  constexpr std::uint64_t kMostTokens = 0xFFFFFFFF;
  if (std::uint64_t{std::max(op.n, 1U)} * op.batch > kMostTokens) {
    refuse(fmt::format("of n x batch = {} x {}: more than {} tokens", op.n, op.batch, kMostTokens));
  }
  return row->plan(request);
}

TaskProgram whole_program(const LayerStage& stage, const WaferParams& wafer) {
  TaskProgram whole;
  whole.columns = wafer.columns;
  whole.rows = wafer.rows;
  whole.routers.emplace_back();  // of cores that are not used
  whole.cores.emplace_back();
  const std::size_t cores = std::size_t{whole.columns} * whole.rows;
  whole.router_of.assign(cores, 0);
  whole.core_of.assign(cores, 0);
  std::vector<std::uint32_t> first_router;
  std::vector<std::uint32_t> first_core;
  std::uint32_t routers = 1;
  std::uint32_t programs = 1;
  for (const TaskProgram& part : stage.parts) {
    first_router.push_back(append(static_cast<std::uint32_t>(part.routers.size()), routers));
    first_core.push_back(append(static_cast<std::uint32_t>(part.cores.size()), programs));
    whole.routers.insert(whole.routers.end(), part.routers.begin(), part.routers.end());
    const auto first_routine = static_cast<std::uint32_t>(whole.routines.size());
    whole.routines.insert(whole.routines.end(), part.routines.begin(), part.routines.end());
    for (CoreProgram core : part.cores) {
      for (std::size_t i = 0; i < core.tasks.size() && !part.routines.empty(); ++i) {
        for (auto& step : core.tasks[i].steps) step.routine += first_routine;
      }
      whole.cores.push_back(std::move(core));
    }
  }
  const bool remembers = std::any_of(stage.parts.begin(), stage.parts.end(),
                                     [](const TaskProgram& part) { return !part.memory.empty(); });
  if (remembers) whole.memory.resize(cores);
  for (const LayerPlacement& place : stage.places) {
    const TaskProgram& part = stage.parts[place.part];
    for (std::size_t r = 0; r < part.rows; ++r) {
      for (std::size_t c = 0; c < part.columns; ++c) {
        const std::size_t to = (place.row + r) * whole.columns + place.column + c;
        const std::size_t from = r * part.columns + c;
        whole.router_of[to] = first_router[place.part] + part.router_of[from];
        whole.core_of[to] = first_core[place.part] + part.core_of[from];
        if (!part.memory.empty()) whole.memory[to] = part.memory[from];
      }
    }
  }
  return whole;
}

std::uint64_t checked_core_bytes(const LayerRequest& request, std::uint64_t bytes, const char* what,
                                 const char* when) {
  const TaskParams& hardware = request.setup.hardware;
  std::uint64_t words = 0;
  for (const unsigned depth : hardware.queue.in_depths()) words += depth;
  for (const unsigned depth : hardware.queue.out_depths()) words += depth;
  const std::uint64_t code = std::uint64_t{hardware.mem.code_kib} * 1024;
  const std::uint64_t beside = request.op.share.beside;
  const std::uint64_t all = bytes + words * 4 + code + beside;
  const std::uint64_t limit = std::uint64_t{hardware.mem.kib} * 1024;
  if (all <= limit) return all;
  throw OutOfMemoryError(fmt::format(
      "{} '{}': a core needs {} bytes of {}{}: {} {} B + queues {} B + code {} B{}", request.op.op,
      request.op.id, all, limit, when, what, bytes, words * 4, code, beside_text(beside)));
}

void check_core_bytes(const LayerRequest& request, std::uint64_t bytes, LayerPlan& plan) {
  plan.bytes = checked_core_bytes(request, bytes, "operands and results");
  plan.limit = std::uint64_t{request.setup.hardware.mem.kib} * 1024;
}

void compare_element(LayerComparison& comparison, double found, double exact, DType type,
                     double roundings, double scale) {
  const double unit = type == DType::fp32 ? 0x1p-22 : 0x1p-11;
  const double error = std::abs(found - exact);
  ++comparison.compared;
  if (!(error <= roundings * unit * std::max(std::abs(exact), scale))) ++comparison.wrong;
  comparison.largest_error = std::max(comparison.largest_error, error);
}

}  // namespace lacuna::wse
