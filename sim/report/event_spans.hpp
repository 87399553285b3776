// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/report/result.hpp"

namespace lacuna {

/// A stretch of time in which a unit did one thing, made of two events of its log.
struct EventSpan {
  std::uint32_t unit = 0;
  std::string what;  // the kind without its ending: "worker", "vertex", "send"
  std::uint64_t argument = 0;
  unsigned lane = 0;  // spans of one unit and `what` in one lane do not overlap
  Cycle from = 0;
  Cycle to = 0;  // the first cycle after it
};

/// A moment in which something of a unit changed by one.
struct EventStep {
  std::uint32_t unit = 0;
  std::string what;
  Cycle cycle = 0;
  int by = 0;  // +1 and -1 of what is put and taken; 0 of what only happens
  std::uint64_t argument = 0;
};

/// An event log, read.
struct EventTracks {
  std::vector<EventSpan> spans;       // by their ends
  std::vector<EventStep> steps;       // in the order of the log
  std::vector<EventStep> words = {};  // of logs with details: words on their way
};

/// Reads an event log by the endings of its kinds. X_start and X_end, X_launch and X_exit,
/// X_first and X_last are a span; the last is in the span's last cycle. X_arrive lasts until
/// the next X_release of any unit, whose first cycle is after it. It is a `barrier` until the
/// last unit has come. X_run has twice its length as argument; X_push and X_pop are steps;
/// anything else is a moment. An end without a start began at the last release, or is a moment
/// if there is none. A start without an end lasts until the next. `units`, if not empty: of
/// these alone.
EventTracks event_tracks(const OpResult& result, const std::set<std::uint32_t>& units = {});

/// The layer of the cycle stack in which the cycles of a span are booked. Nothing for a span that
/// only holds others, such as a reduction, or a worker within its vertex.
std::optional<Layer> layer_of(const EventSpan& span);

/// Whether a span of this name is a wait, with its cause.
bool is_wait(const std::string& what);

/// The units whose names match one of `patterns`: a name, the beginning of one up to a dot, or
/// either with `*` for any characters. Empty if there is no such unit.
std::vector<std::uint32_t> matching_units(const std::vector<std::string>& names,
                                          const std::vector<std::string>& patterns);

/// The first `most` units with events, and the last of all, which is often the whole machine.
std::vector<std::uint32_t> first_units(const OpResult& result, std::size_t most);

}  // namespace lacuna
