// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/driver/run/pricing.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/json_view.hpp"

namespace lacuna {

/// What the page of --view has of a run whose units did `series`, in the form of pack(): priced,
/// and in pyramids if it has more numbers than a page holds. `result` has its clock.
std::string packed_view(const Machine& machine, const Pricing& pricing, const ViewFacts& facts,
                        const OpResult& result, UnitSeries& series);

/// The same of an operation that knows what each unit did.
std::string packed_view(const Machine& machine, const Pricing& pricing, std::string title,
                        const OpResult& result);

}  // namespace lacuna
