// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "models/wse/engine/fold.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"
#include "sim/base/cycle.hpp"
#include "sim/report/explanation.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna {

/// A finished streamed product: its plan, and the run of the rows that `fold` keeps.
struct WseExplainInput {
  const wse::StreamingPlan& plan;
  const wse::WaferOutcome& outcome;
  const wse::FoldPlan& fold;
  const wse::HardwareParams& params;
  Cycle cycles;
};

/// What bounds the product, which column limits it and why, and maps of the load of cores and
/// links.
Explanation explain_wse(const WseExplainInput& input);

/// The same for a weight gradient, of which every row is simulated.
Explanation explain_gradient(const wse::Program& program, const wse::WaferOutcome& outcome);

/// A map of `value` by core, row-major; a place of a large rectangle is the mean of its cores.
UnitMap averaged_map(const char* name, const std::string& title, const char* quantity,
                     std::size_t columns, std::size_t rows,
                     const std::function<double(std::size_t)>& value);

}  // namespace lacuna
