// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <vector>

#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/why/why.hpp"

namespace lacuna {

/// What runs need that ask why, beside the point they are asked of.
struct WhyMeans {
  const RunSettings& settings;
  MaskStore& masks;
  const Pricing& pricing;
  const LayoutRequest& layouts;
  std::size_t jobs = 1;
  std::ostream& progress;
  bool quiet = false;
  bool terminal = false;
};

/// Why a point took as long as its record says: runs it again with causes of its machine taken
/// away, each in a process of its own, laid out as it was. Nothing if its machine declares no
/// causes, or the run has no time. RequestError if the machine cannot be copied.
std::optional<Why> ask_why(const Point& point, const RunRecord& record, const WhyMeans& means);

}  // namespace lacuna
