// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/driver/experiment.hpp"
#include "sim/driver/progress.hpp"

namespace lacuna {

/// What came of the points of an experiment, in their order; nothing for a point that an
/// interrupt (Ctrl-C) prevented.
struct Finished {
  std::vector<std::optional<RunRecord>> records;
  bool interrupted = false;
};

/// Runs each point in a child process, `jobs` at a time. Masks are made here, before the children
/// that use them. A child that dies leaves a point of status `failed`; a RequestError or
/// InternalError of a child ends the experiment.
Finished run_forked(const std::vector<Point>& points, const RunSettings& settings, MaskStore& masks,
                    const Pricing& pricing, std::size_t jobs, Progress& progress);

}  // namespace lacuna
