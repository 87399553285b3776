// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// As simulate(), with every router and every core as a SystemC module of its own, wired through
/// ports: wafer.r3.c7.router, wafer.r3.c7.core, wafer.injectors. For small rectangles; the outcome
/// is the same.
WaferOutcome simulate_modules(const HardwareParams& params, const Program& program,
                              const RunOptions& options);

/// The names of all modules of `program`, in the order of their construction.
std::vector<std::string> module_names(const HardwareParams& params, const Program& program);

}  // namespace lacuna::wse
