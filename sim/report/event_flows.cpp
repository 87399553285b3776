// SPDX-License-Identifier: Apache-2.0
#include "sim/report/event_flows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {
namespace {

using Stretch = std::pair<Cycle, Cycle>;

/// What each unit did, as stretches that neither overlap nor touch.
std::map<std::uint32_t, std::vector<Stretch>> work_of(const EventTracks& tracks) {
  std::set<std::uint32_t> beating;
  for (const EventSpan& span : tracks.spans) {
    if (span.what == "beat") beating.insert(span.unit);
  }
  std::map<std::uint32_t, std::vector<Stretch>> all;
  for (const EventSpan& span : tracks.spans) {
    const bool counts = beating.count(span.unit) != 0 ? span.what == "beat" : span.what != "worker";
    if (counts && span.to > span.from) all[span.unit].emplace_back(span.from, span.to);
  }
  for (auto& [unit, stretches] : all) {
    sort_all(stretches);
    std::vector<Stretch> joined;
    for (const Stretch& each : stretches) {
      if (!joined.empty() && each.first <= joined.back().second) {
        joined.back().second = std::max(joined.back().second, each.second);
      } else {
        joined.push_back(each);
      }
    }
    stretches = std::move(joined);
  }
  return all;
}

using Times = std::vector<Cycle>;

/// The only delay after which each reception follows a sending; 0 if there is none, or several.
Cycle only_delay(const Times& sent, const Times& received) {
  Cycle found = 0;
  for (const Cycle first : sent) {
    if (first >= received.front()) break;
    const Cycle delay = received.front() - first;
    const bool fits = all_of(received, [&](Cycle at) {
      return at >= delay && std::binary_search(sent.begin(), sent.end(), at - delay);
    });
    if (!fits) continue;
    if (found != 0) return 0;
    found = delay;
  }
  return found;
}

/// Of tiles: receptions name their sender.
void add_exchanges(const EventTracks& tracks, EventFlows& flows) {
  std::map<std::uint32_t, Times> sent;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Times> received;
  for (const EventSpan& span : tracks.spans) {
    if (span.what == "send") sent[span.unit].push_back(span.from);
    if (span.what == "receive") {
      received[{static_cast<std::uint32_t>(span.argument), span.unit}].push_back(span.from);
    }
  }
  for (auto& [unit, times] : sent) sort_all(times);
  for (auto& [pair, times] : received) {
    sort_all(times);
    const Cycle delay = only_delay(sent[pair.first], times);
    if (delay == 0) {
      flows.ambiguous += times.size();
      continue;
    }
    for (const Cycle at : times) {
      flows.flows.push_back({pair.first, pair.second, at - delay, at});
    }
  }
}

/// Routers by their place, as names of units have them.
struct Places {
  std::map<std::pair<unsigned, unsigned>, std::uint32_t> unit_at;
  std::map<std::uint32_t, std::pair<unsigned, unsigned>> place_of;

  explicit Places(const std::vector<std::string>& names) {
    for (std::uint32_t unit = 0; unit < names.size(); ++unit) {
      unsigned row = 0;
      unsigned column = 0;
      int end = 0;
      std::sscanf(names[unit].c_str(), "wafer.r%u.c%u.router%n", &row, &column, &end);  // NOLINT
      if (end == 0 || static_cast<std::size_t>(end) != names[unit].size()) continue;
      unit_at[{row, column}] = unit;
      place_of[unit] = {row, column};
    }
  }

  /// The router at a port: north, east, south, west.
  const std::uint32_t* next(std::uint32_t unit, unsigned port) const {
    const auto at = place_of.find(unit);
    if (at == place_of.end() || port > 3) return nullptr;
    auto [row, column] = at->second;
    if (port == 0) --row;
    if (port == 1) ++column;
    if (port == 2) ++row;
    if (port == 3) --column;
    const auto found = unit_at.find({row, column});
    return found == unit_at.end() ? nullptr : &found->second;
  }
};

/// Of a log with details: every word of it says when it was sent, and from which port.
void add_words(const OpResult& result, const EventTracks& tracks,
               const std::set<std::uint32_t>& units, EventFlows& flows) {
  constexpr unsigned kRamp = 4;
  constexpr std::array<unsigned, 4> kFacing{2, 3, 0, 1};
  const Places places(result.event_units);
  std::map<std::string, std::uint32_t> injectors;
  for (std::uint32_t unit = 0; unit < result.event_units.size(); ++unit) {
    const std::string& name = result.event_units[unit];
    if (starts_with(name, "wafer.injector.")) injectors[name] = unit;
  }
  const auto byte = [](std::uint64_t argument, unsigned shift) {
    return static_cast<unsigned>(argument >> shift & 0xffU);
  };
  std::set<std::tuple<std::uint32_t, Cycle, unsigned, unsigned>> passed;  // color, out of port
  for (const EventStep& word : tracks.words) {
    if (word.what != "word_pass") continue;
    passed.insert({word.unit, word.cycle, byte(word.argument, 8), byte(word.argument, 0)});
  }
  for (const EventStep& word : tracks.words) {
    if (word.what == "word_taken") {
      flows.flows.push_back(
          {word.unit - 1, word.unit, word.cycle - (word.argument >> 8U), word.cycle});
    }
    if (word.what != "word_pass") continue;
    const Cycle sent = word.cycle - (word.argument >> 24U);
    const unsigned from = byte(word.argument, 16);
    if (from == kRamp) {
      flows.flows.push_back({word.unit + 1, word.unit, sent, word.cycle});
      continue;
    }
    const std::uint32_t* const next = places.next(word.unit, from);
    // of a router that is not read nothing is known, not even that no word of it was meant
    if (next != nullptr && !units.empty() && units.count(*next) == 0) continue;
    const bool sender = next != nullptr &&
                        passed.count({*next, sent, byte(word.argument, 8), kFacing.at(from)}) != 0;
    const auto place = places.place_of.find(word.unit);
    if (sender) {
      flows.flows.push_back({*next, word.unit, sent, word.cycle});
    } else if (place != places.place_of.end()) {
      const auto edge = injectors.find(fmt::format("wafer.injector.c{}", place->second.second));
      if (edge != injectors.end()) {
        flows.flows.push_back({edge->second, word.unit, sent, word.cycle});
      } else {
        ++flows.ambiguous;
      }
    }
  }
}

/// Of routers: a word_out has its color and its port.
void add_hops(const OpResult& result, const EventTracks& tracks, EventFlows& flows) {
  const Places places(result.event_units);
  if (places.unit_at.empty()) return;
  std::map<std::tuple<std::uint32_t, unsigned, unsigned>, Times> left;  // router, color, port
  for (const EventStep& step : tracks.steps) {
    if (step.what != "word_out") continue;
    const auto color = static_cast<unsigned>(step.argument >> 8U);
    left[{step.unit, color, static_cast<unsigned>(step.argument & 0xffU)}].push_back(step.cycle);
  }
  for (const auto& [way, sent] : left) {
    const auto& [unit, color, port] = way;
    const std::uint32_t* const next = places.next(unit, port);
    if (next == nullptr) continue;
    for (auto on = left.lower_bound({*next, color, 0U});
         on != left.end() && std::get<0>(on->first) == *next && std::get<1>(on->first) == color;
         ++on) {
      const Times& passed = on->second;
      bool each_later = passed.size() == sent.size();
      for (std::size_t i = 0; each_later && i < sent.size(); ++i) each_later = passed[i] > sent[i];
      if (!each_later) {
        flows.ambiguous += passed.size();
        continue;
      }
      for (std::size_t i = 0; i < sent.size(); ++i) {
        flows.flows.push_back({unit, *next, sent[i], passed[i]});
      }
    }
  }
}

}  // namespace

std::vector<EventWait> event_waits(const OpResult& result, const EventTracks& tracks) {
  std::map<std::uint32_t, std::vector<const Event*>> events;
  std::set<std::uint32_t> named;  // units whose waits the log has itself
  for (const EventSpan& span : tracks.spans) {
    if (is_wait(span.what)) named.insert(span.unit);
  }
  const std::map<std::uint32_t, std::vector<Stretch>> work = work_of(tracks);
  for (const Event& event : result.events) {
    const bool counts = work.count(event.unit) != 0 && named.count(event.unit) == 0;
    if (counts) events[event.unit].push_back(&event);
  }
  std::vector<EventWait> waits;
  for (const auto& [unit, stretches] : work) {
    if (named.count(unit) != 0) continue;
    const std::vector<const Event*>& own = events[unit];
    for (std::size_t i = 1; i < stretches.size(); ++i) {
      EventWait wait{unit, stretches[i - 1].second, stretches[i].first, ""};
      // what begins with the next stretch did not end the wait; what came just before it did
      auto after = std::lower_bound(own.begin(), own.end(), wait.to,
                                    [](const Event* event, Cycle at) { return event->cycle < at; });
      if (after != own.begin() && (*(after - 1))->cycle >= wait.from) {
        const Event& last = **(after - 1);
        wait.until = fmt::format("{} {}", result.event_kinds.at(last.kind), last.argument);
      }
      waits.push_back(std::move(wait));
    }
  }
  return waits;
}

EventFlows event_flows(const OpResult& result, const EventTracks& tracks,
                       const std::set<std::uint32_t>& units) {
  EventFlows flows;
  add_exchanges(tracks, flows);
  if (tracks.words.empty()) {
    add_hops(result, tracks, flows);
  } else {
    add_words(result, tracks, units, flows);
  }
  sort_all(flows.flows, [](const EventFlow& a, const EventFlow& b) {
    return std::tie(a.received, a.sender, a.receiver, a.sent) <
           std::tie(b.received, b.sender, b.receiver, b.sent);
  });
  return flows;
}

}  // namespace lacuna
