// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/files/journal.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/progress.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

/// What the reason of a failed point begins with if a defect of Lacuna made it fail.
inline constexpr const char* kDefectMark = "internal inconsistency: ";

/// How points are run.
struct PointRuns {
  const RunSettings& settings;
  MaskStore& masks;
  const Pricing& pricing;
  Progress& progress;

  Workers workers = {};

  /// Keeps points as they finish, and operations of points that have several.
  Journal* journal = nullptr;

  /// Masks are made by the children, each its own, and not here for all of them.
  bool masks_in_children = false;

  /// An error of a child is a failed point, and the others go on.
  bool keep_going = false;

  /// An operation of a point that was run elsewhere, on a machine with the same parameters, by
  /// OpRecord::content; nothing of others. Of points without a journal.
  std::function<std::optional<OpRecord>(std::size_t point, const std::string& content)> known = {};

  /// No children: the points run in this process, one after the other. For what takes less time
  /// than a child would, or has more events than go through a pipe.
  bool here = false;
};

/// Finished points, each at its place; nothing of others.
using Records = std::vector<std::optional<RunRecord>>;

/// The finished points of a journal.
Records kept_records(const Journal* journal, std::size_t all);

/// How many there are.
std::size_t count_finished(const Records& records);

/// Runs the points that `records` lacks: those of `order`, or all. A child that dies leaves a point
/// of status `failed`; a RequestError or InternalError of a child ends the experiment. False if
/// Ctrl-C ended it.
bool run_points(const std::vector<Point>& points, const PointRuns& how, Records& records,
                const std::vector<std::size_t>* order = nullptr);

/// On a rank of MPI that is not the first: runs what that one asks for.
void serve_points(const std::vector<Point>& points, const PointRuns& how);

/// The record of a point that an interrupt prevented: what is known without its masks, in rows of
/// status `interrupted`.
RunRecord interrupted_record(const Point& point, const RunSettings& settings);

}  // namespace lacuna
