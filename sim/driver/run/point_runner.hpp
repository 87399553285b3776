// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/progress.hpp"

namespace lacuna {

/// What came of the points of an experiment, in their order; nothing for a point that an
/// interrupt (Ctrl-C) prevented.
struct Finished {
  std::vector<std::optional<RunRecord>> records;
  bool interrupted = false;
};

/// What the reason of a failed point begins with if a defect of Lacuna made it fail.
inline constexpr const char* kDefectMark = "internal inconsistency: ";

/// What else a caller of run_forked() wants.
struct Forking {
  /// Masks are made by the children, each its own, and not here for all of them.
  bool masks_in_children = false;

  /// An error of a child is a failed point, and the others go on.
  bool keep_going = false;

  /// No children: the points run in this process, one after the other, and an interrupt waits. For
  /// what takes less time than a child would.
  bool here = false;

  /// Called as a point finishes, in the order in which they do, with its index in `points`.
  std::function<void(std::size_t index, const RunRecord& record)> finished = {};
};

/// Runs each point in a child process, `jobs` at a time. Masks are made here, before the children
/// that use them. A child that dies leaves a point of status `failed`; a RequestError or
/// InternalError of a child ends the experiment. Children do not outlive this process.
Finished run_forked(const std::vector<Point>& points, const RunSettings& settings, MaskStore& masks,
                    const Pricing& pricing, std::size_t jobs, Progress& progress,
                    const Forking& forking = {});

/// The record of a point that an interrupt prevented: what is known without its masks, in rows of
/// status `interrupted`.
RunRecord interrupted_record(const Point& point, const RunSettings& settings);

/// What a process that runs a point says to the one that asked for it: its result or its error.
std::string point_message(const Point& point, const RunSettings& settings, MaskStore& masks,
                          const Pricing& pricing);

/// The record in a message; an error in it is thrown, or makes the point a failed one if
/// `keep_going`.
RunRecord record_of(const std::string& message, const Point& point, const RunSettings& settings,
                    bool keep_going);

}  // namespace lacuna
