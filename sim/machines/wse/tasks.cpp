// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/program/own_program.hpp"
#include "sim/machines/wse/program/yaml_program.hpp"
#include "workloads/mapping/wse/kernels/collective.hpp"
#include "workloads/mapping/wse/kernels/dense_mesh.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

using wse::Collective;
using wse::CollectiveOp;
using wse::Element;
using wse::ReducePattern;
using wse::TaskKernel;

[[noreturn]] void refuse(const std::string& what) {
  throw UnsupportedError("a wafer cannot run " + what);
}

std::uint32_t number_of(const LayerOp& op, const char* key, std::uint32_t otherwise) {
  const std::string* text = find_value(op.args, key);
  if (text == nullptr) return otherwise;
  const auto value = parse_integer(*text, 0, ~std::uint32_t{0});
  if (!value) {
    refuse(fmt::format("op '{}' with {} = {} (at most 4294967295)", op.op, key, *text));
  }
  return static_cast<std::uint32_t>(*value);
}

Element element_of(const LayerOp& op) {
  if (op.dtype == DType::fp16) return Element::fp16;
  if (op.dtype == DType::fp32) return Element::fp32;
  refuse(fmt::format("op '{}' in dtype '{}' (fp16 and fp32 are possible)", op.op, word(op.dtype)));
}

ReducePattern pattern_of(const LayerOp& op) {
  for (const ReducePattern pattern :
       {ReducePattern::automatic, ReducePattern::chain, ReducePattern::star, ReducePattern::tree,
        ReducePattern::two_phase, ReducePattern::generated, ReducePattern::ring,
        ReducePattern::snake}) {
    if (op.fn == wse::word(pattern)) return pattern;
  }
  refuse(
      fmt::format("op '{}' with function '{}' (auto, chain, star, tree, two_phase, generated, "
                  "ring and snake are possible)",
                  op.op, op.fn));
}

class TaskOperation {
 public:
  explicit TaskOperation(const WaferRequest& request)
      : request_(request), params_(request.params), op_(request.op) {}

  OpResult run() const {
    TaskKernel kernel = prepare();
    const bool product = op_.op == "gemm" || op_.op == "spmm";
    wse::LayerPlan plan;
    plan.bytes = kernel.bytes;
    plan.limit = params_.kernel_bytes();
    plan.mac_algorithmic = product ? std::uint64_t{op_.m} * op_.k * op_.n : 0;
    plan.notes = std::move(kernel.notes);
    plan.kernel = kernel;
    plan.kernel->wide = op_.dtype == DType::fp32;
    plan.stages.push_back({op_.op, {std::move(kernel.program)}, {{0, 0, 0}}});
    plan.compare = std::move(kernel.compare);
    OpResult result = run_task_plan(request_, std::move(plan));
    if (!has_weights(op_)) return result;
    result.mode = word(op_.mode == Mode::dynamic ? Mode::dynamic : Mode::dense);
    result.residency = word(Residency::resident);
    return result;
  }

 private:
  wse::CodeCosts costs() const { return params_.costs(); }
  /// A job with the numbers that are asked for.
  template <typename Job>
  Job begun() const {
    Job job;
    job.values = request_.execution.values;
    job.seed = request_.seed;
    return job;
  }
  void require_rectangle(std::uint64_t columns, std::uint64_t rows) const {
    if (columns <= params_.wafer.columns && rows <= params_.wafer.rows) return;
    refuse(fmt::format("op '{}' on {} x {} cores: wafer.columns x wafer.rows is {} x {}", op_.op,
                       columns, rows, params_.wafer.columns.value(), params_.wafer.rows.value()));
  }

  /// Before a plan is made, whose addresses hold only what fits.
  void require_memory(const std::string& what, std::uint64_t bytes) const {
    if (bytes <= params_.kernel_bytes()) return;
    throw OutOfMemoryError(
        fmt::format("{}: {} bytes in a core, which has {}", what, bytes, params_.kernel_bytes()));
  }

  TaskKernel collective() const {
    if (const std::string* between = find_value(op_.args, "between");
        between != nullptr && *between == "chips") {
      refuse(fmt::format("op '{}' between chips: the ranks of one wafer are its cores", op_.op));
    }
    auto what = begun<Collective>();
    what.op = op_.op == "broadcast" ? CollectiveOp::broadcast
              : op_.op == "reduce"  ? CollectiveOp::reduce
                                    : CollectiveOp::allreduce;
    if (what.op != CollectiveOp::broadcast) what.pattern = pattern_of(op_);
    const std::uint32_t ranks = number_of(op_, "ranks", 1);
    what.rows = number_of(op_, "rows", 1);
    if (what.rows == 0 || ranks % what.rows != 0) {
      refuse(fmt::format("op '{}' over {} cores in {} rows", op_.op, ranks, what.rows));
    }
    what.columns = ranks / what.rows;
    require_rectangle(what.columns, what.rows);
    what.element = element_of(op_);
    // of a pattern the kept numbers move, as all know their places
    const std::uint64_t elements = request_.mask == nullptr
                                       ? std::uint64_t{op_.m} * std::max(op_.n, 1U)
                                       : request_.mask->nnz();
    require_memory(fmt::format("a vector of {} elements", elements),
                   elements * wse::source_bytes(what.element));
    what.elements = static_cast<std::uint32_t>(elements);
    what.ramp = params_.router.ramp;
    TaskKernel made;
    made.program = wse::plan_collective(what, params_.kernel_bytes());
    made.bytes = what.elements * wse::source_bytes(what.element);
    const ReducePattern taken =
        what.pattern == ReducePattern::automatic ? wse::best_pattern(what) : what.pattern;
    if (what.op != CollectiveOp::broadcast) made.notes.emplace_back("pattern", word(taken));
    what.pattern = taken;
    made.notes.emplace_back("published model",
                            fmt::format("{:.6g} cycles", wse::model_cycles(what)));
    made.compare = [what](const wse::WaferMemory& memory) {
      return wse::compare_collective(what, memory);
    };
    return made;
  }

  TaskKernel spmm() const {
    if (op_.dtype != DType::fp32) {
      refuse(fmt::format("mode 'dynamic' in dtype '{}': the software-driven product is fp32",
                         word(op_.dtype)));
    }
    if (op_.batch != 1) refuse("a batch of software-driven products");
    auto job = begun<wse::SpmmJob>();
    job.m = op_.m;
    job.k = op_.k;
    job.n = op_.n;
    job.mask = request_.mask;
    job.columns = std::min(params_.wafer.columns.value(), op_.k);
    job.rows = std::min(params_.wafer.rows.value(), op_.m);
    job.align = params_.map.align;
    job.memory_bytes = params_.kernel_bytes();
    return wse::plan_spmm(job, params_.kernel, costs());
  }

  TaskKernel local() const {
    const std::uint64_t cores = params_.cores();
    const std::uint64_t all = std::uint64_t{op_.m} * op_.n;
    const std::uint64_t each = (all + cores - 1) / cores;
    require_memory(fmt::format("vectors of {} elements", each),
                   each * 2 * wse::source_bytes(element_of(op_)) + 16);
    const Pairs constants{{"kind", op_.op},
                          {"type", word(op_.dtype)},
                          {"length", std::to_string(each)},
                          {"apart", params_.map.align == wse::Alignment::good ? "4" : "0"}};
    TaskKernel made =
        kernel_of(shipped_program("local", constants, params_, request_.execution.values));
    made.copies = cores;
    made.edge = op_.op == "mul" ? 0 : each * cores - all;
    return made;
  }

  TaskKernel gemv() const {
    if (op_.dtype != DType::fp16) refuse("op 'gemv' in a type other than fp16");
    const std::uint32_t cores = std::min(params_.wafer.columns.value(), params_.wafer.rows.value());
    auto job = begun<wse::GemvJob>();
    job.m = op_.m;
    job.k = op_.k;
    job.cores = cores;
    job.reduce = params_.kernel.gemv_reduce;
    job.repeats = params_.kernel.gemv_repeats;
    job.walk = params_.kernel.gemv_walk;
    job.align = params_.map.align;
    job.ramp = params_.router.ramp;
    require_memory("a tile of W with its share of x and y", wse::gemv_bytes(job));
    return wse::plan_gemv(job, costs());
  }

  TaskKernel stencil() const {
    auto job = begun<wse::StencilJob>();
    job.shape = params_.kernel.stencil;
    job.element = element_of(op_);
    job.width = op_.m;
    job.height = std::max(op_.n, 1U);
    job.columns = params_.wafer.columns;
    job.rows = params_.wafer.rows;
    job.iterations = params_.kernel.iterations;
    if (job.shape != wse::StencilShape::five_points && job.height != 1) {
      refuse("a stencil of 7 or 25 points over m x n points in a core (n belongs to five_points)");
    }
    require_memory(fmt::format("{} points", std::uint64_t{job.width} * job.height),
                   wse::stencil_bytes(job));
    return stencil_kernel(job, params_);
  }

  TaskKernel dense() const {
    if (op_.dtype != DType::fp16) refuse("a dense product over a mesh in a type other than fp16");
    if (op_.batch != 1) refuse("a batch of dense products over a mesh");
    auto job = begun<wse::DenseMeshJob>();
    job.m = op_.m;
    job.k = op_.k;
    job.n = op_.n;
    job.side = std::min(params_.wafer.columns.value(), params_.wafer.rows.value());
    job.kind = params_.kernel.gemm;
    job.memory_bytes = params_.kernel_bytes();
    return wse::plan_dense_mesh(job, costs());
  }

  TaskKernel prepare() const {
    const bool product = op_.op == "gemm" || op_.op == "spmm";
    if (op_.batch != 1 && !product) refuse(fmt::format("a batch of op '{}'", op_.op));
    if (product && op_.mode != Mode::dynamic) return dense();
    if (product) return spmm();
    if (op_.op == "gemv") return gemv();
    if (op_.op == "stencil") return stencil();
    if (op_.op == "axpy" || op_.op == "dot" || op_.op == "mul") return local();
    return collective();
  }

  const WaferRequest& request_;
  const WseParams& params_;
  const LayerOp& op_;
};

}  // namespace

wse::TaskKernel stencil_kernel(const wse::StencilJob& job, const WseParams& params) {
  const bool flat = job.shape == wse::StencilShape::five_points;
  const bool star = job.shape == wse::StencilShape::seven_points;
  Pairs constants{{"type", job.element == Element::fp16 ? "fp16" : "fp32"}};
  const auto add = [&](const char* name, std::uint32_t value) {
    constants.emplace_back(name, std::to_string(value));
  };
  add("wide", job.columns);
  add("high", job.rows);
  add("iterations", job.iterations);
  add(flat ? "width" : "depth", job.width);
  if (flat) add("height", job.height);
  return stencil_of(job, shipped_program(flat   ? "stencil_plane"
                                         : star ? "stencil_star"
                                                : "stencil_far",
                                         constants, params)
                             .program);
}

bool runs_as_tasks(const WseParams& params, const LayerOp& op) {
  for (const char* const name :
       {"broadcast", "reduce", "allreduce", "gemv", "axpy", "dot", "mul", "stencil"}) {
    if (op.op == name) return true;
  }
  const bool dense = op.pattern.name == "dense" && params.kernel.gemm != wse::DenseMesh::streamed;
  return (op.op == "gemm" || op.op == "spmm") && (op.mode == Mode::dynamic || dense);
}

OpResult run_tasks(const WaferRequest& request) { return TaskOperation(request).run(); }

}  // namespace lacuna
