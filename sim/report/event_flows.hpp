// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/event_spans.hpp"

namespace lacuna {

/// A stretch in which a unit that had worked, and worked again, did nothing.
struct EventWait {
  std::uint32_t unit = 0;
  Cycle from = 0;
  Cycle to = 0;
  std::string until;  // the last event of the unit in it, up to the cycle in which it goes on
};

/// A word or words on their way: what begins at one unit begins later at another because of it.
struct EventFlow {
  std::uint32_t sender = 0;
  std::uint32_t receiver = 0;
  Cycle sent = 0;      // within a send, or a word that a router passes on
  Cycle received = 0;  // likewise
};

/// All flows of an event log that can be told.
struct EventFlows {
  std::vector<EventFlow> flows;  // by the time of their ends
  std::uint64_t ambiguous = 0;   // receptions of which the log does not tell the one sending
};

/// The gaps between what each unit did, beats where it has any: workers are part of their vertex.
/// None of units whose waits the log names.
std::vector<EventWait> event_waits(const OpResult& result, const EventTracks& tracks);

/// Who sent what is received. A log with details says when and from where each word came, router by
/// router, from the edge and the cores to the cores that take it. A log without details is matched.
/// Tiles: a word takes as long from one tile to another every time; one delay alone has to fit all
/// receptions of a pair. Routers: the words of a color that come from one neighbour leave in the
/// order in which they came, if no others leave with them. `units`: those that `tracks` has, if not
/// all.
EventFlows event_flows(const OpResult& result, const EventTracks& tracks,
                       const std::set<std::uint32_t>& units = {});

}  // namespace lacuna
