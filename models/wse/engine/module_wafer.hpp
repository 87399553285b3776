// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// A Wafer with every router and every core as a SystemC module of its own, wired through ports:
/// wafer.r3.c7.router, wafer.r3.c7.core, wafer.injectors. For small rectangles; what it does is the
/// same.
std::unique_ptr<CountedWafer> make_modules(const HardwareParams& params, const Program& program,
                                           ClockDomain& clock, const RunOptions& options);

/// The names of all modules of `program`, in the order of their construction.
std::vector<std::string> module_names(const HardwareParams& params, const Program& program);

}  // namespace lacuna::wse
