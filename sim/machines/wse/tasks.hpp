// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machines/wse/request.hpp"

namespace lacuna {

/// True if a wafer runs `op` as a program of tasks: collectives, operations on local vectors,
/// matrix-vector products, stencils, and products of mode `dynamic`, which are software-driven, and
/// dense ones if kernel.gemm says so.
bool runs_as_tasks(const WseParams& params, const LayerOp& op);

/// A stencil, whose programs are files of traces/programs.
wse::TaskKernel stencil_kernel(const wse::StencilJob& job, const WseParams& params);

/// Runs it. Throws as Machine::run().
OpResult run_tasks(const WaferRequest& request);

}  // namespace lacuna
