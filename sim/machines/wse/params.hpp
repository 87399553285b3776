// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "models/energy/energy_params.hpp"
#include "models/wse/params.hpp"
#include "sim/base/parameter.hpp"
#include "sim/machines/product_runs.hpp"
#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/inference/params.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna {

/// Which of two columns of values a machine has that both were measured on: see wse_target.hpp.
enum class Target { none, silicon, simfabric };

/// What a harness that measures adds, and takes off what it has measured.
struct TimerParams : ParameterSet {
  Param<unsigned> sync_hop =
      param(this, "sync_hop", 1U, range(0U, 4U), "cycles",
            "What the alignment of two cores' clocks takes off for each hop between them; used "
            "when results are compared with published ones that say so.");
};

/// Where the layers of a decoder lie, of a model and of the rows of a trace.
struct BlockParams : ParameterSet {
  Param<unsigned> columns = param(this, "columns", 256U, range(1U, 4096U), "cores",
                                  "Columns of cores of a block (EPCC).");
  Param<unsigned> rows =
      param(this, "rows", 256U, range(1U, 4096U), "cores", "Rows of cores of a block (EPCC).");
  Param<unsigned> across = param(this, "across", 2U, range(1U, 4096U), "blocks",
                                 "Blocks beside each other, if there is room for them.");
  Param<unsigned> down = param(this, "down", 4U, range(1U, 4096U), "blocks",
                               "Rows of blocks, if there is room for them.");
};

/// All parameters of a wafer.
struct WseParams : ParameterSet {
  Param<Target> target = param(
      this, "target", Target::none,
      Choices<Target>{
          {"none", Target::none}, {"silicon", Target::silicon}, {"simfabric", Target::simfabric}},
      "Of a wse3: values as chips show them, or as the vendor's fabric simulator does; a "
      "parameter that is set by its name keeps that. none: a machine with one set of values.");
  Param<double> clock = param(this, "clock", 0.85, range(0.001, 100.0), "GHz",
                              "Clock of cores and fabric; turns cycles into seconds.");
  Group<wse::WaferParams> wafer = group(this, "wafer", "The simulated rectangle.");
  Group<wse::CoreParams> core = group(this, "core", "A core: dispatch and issue.");
  Group<wse::QueueParams> queue = group(this, "queue", "Queues between core and ramp.");
  Group<wse::RouterParams> router = group(this, "router", "Routers, links and ramps.");
  Group<wse::MemoryParams> mem = group(this, "mem", "The memory of a core.");
  Group<wse::SimdParams> simd = group(this, "simd", "Elements per cycle of the datapath.");
  Group<wse::ScalarParams> scalar = group(this, "scalar", "Scalar code of tasks.");
  Group<wse::VectorParams> vec =
      group(this, "vec", "Set-up of tensor instructions of compiled programs.");
  Group<wse::TaskCostParams> task = group(this, "task", "Tasks of compiled programs.");
  Group<TimerParams> timer = group(this, "timer", "Time stamps of a measurement.");
  Group<wse::KernelParams> kernel = group(this, "kernel", "Software-driven kernels.");
  Group<wse::InferenceParams> llm =
      group(this, "llm", "Programs of transformer inference: functions and sums.");
  Group<BlockParams> blocks = group(this, "blocks", "Blocks of cores for layers of decoders.");
  Group<wse::StreamingParams> ws = group(this, "ws", "Weight streaming.");
  Group<wse::ZeroFilterParams> zero_filter =
      group(this, "zero_filter", "The sender's comparison with zero.");
  Group<wse::ResidentParams> resident =
      group(this, "resident", "Weights that stay in the cores (residency resident).");
  Group<wse::IoParams> io = group(this, "io", "The edge of the wafer.");
  Group<wse::MapParams> map = group(this, "map", "Placement of operands in memory.");
  Group<EnergyParams> energy = group(this, "energy", "What pricing needs to know.");

  /// No parameter: by operand of the row at hand (LayerOp::sources) how the wafer was laid out for
  /// the row that made it; null, or not there: as it is now.
  std::vector<std::shared_ptr<const WseParams>> makers;

  /// No parameter: what is known of the product at hand; null: nothing is kept.
  std::shared_ptr<ProductRuns> runs;

  /// No parameter: the store of a system streams weights, which stay only where a row asks for it.
  bool fed_from_store = false;

  wse::HardwareParams hardware() const { return {core, queue, router}; }
  /// Of cores that run tasks.
  wse::TaskParams task_hardware() const { return {core, queue, router, mem, simd, task}; }
  wse::CodeCosts costs() const { return {core, scalar, vec, task}; }
  wse::Datapath datapath() const { return {simd, mem}; }
  std::uint64_t core_bytes() const { return std::uint64_t{mem.kib} * 1024; }
  /// Without the code of a kernel.
  std::uint32_t kernel_bytes() const {
    return (mem.kib - std::min(mem.kib.value(), kernel.code_kib.value())) * 1024;
  }
  std::uint64_t cores() const { return std::uint64_t{wafer.columns} * wafer.rows; }
};

}  // namespace lacuna
