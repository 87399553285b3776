// SPDX-License-Identifier: Apache-2.0
#include "sim/report/event_spans.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {

namespace {

enum class Role { opens, closes, waits, releases, runs, puts, takes, moves, happens };

struct Ending {
  std::string_view text;
  Role role;
};

constexpr std::array<Ending, 11> kEndings = {{{"_start", Role::opens},
                                              {"_end", Role::closes},
                                              {"_launch", Role::opens},
                                              {"_exit", Role::closes},
                                              {"_first", Role::opens},
                                              {"_last", Role::closes},
                                              {"_arrive", Role::waits},
                                              {"_release", Role::releases},
                                              {"_run", Role::runs},
                                              {"_push", Role::puts},
                                              {"_pop", Role::takes}}};

struct Kind {
  std::string what;
  Role role = Role::happens;
};

Kind kind_of(const std::string& name) {
  for (const Ending& ending : kEndings) {
    if (name.size() <= ending.text.size()) continue;
    const std::size_t at = name.size() - ending.text.size();
    if (name.compare(at, ending.text.size(), ending.text) == 0) {
      return {name.substr(0, at), ending.role};
    }
  }
  for (const char* const word : {"word_pass", "word_up", "word_taken"}) {
    if (name == word) return {name, Role::moves};
  }
  return {name, Role::happens};
}

/// One pass over a log; spans wait in `open_` for their ends.
class Reader {
 public:
  Reader(const OpResult& result, const std::set<std::uint32_t>& units)
      : result_(result), units_(units) {
    for (const std::string& name : result.event_kinds) kinds_.push_back(kind_of(name));
    for (const Kind& kind : kinds_) {
      if (kind.role == Role::opens) opened_.insert(kind.what);
      if (kind.role == Role::closes) closed_.insert(kind.what);
      releases_ = releases_ || kind.role == Role::releases;
    }
  }

  EventTracks read() {
    for (const Event& event : result_.events) {
      const Kind& kind = kinds_.at(event.kind);
      const bool of_all = kind.role == Role::waits || kind.role == Role::releases;
      if (of_all || is_shown(event.unit)) take(event, kind);
    }
    for (auto& [key, spans] : open_) {
      for (EventSpan& span : spans) finish(span, std::max(result_.cycles, span.from + 1));
    }
    return std::move(tracks_);
  }

 private:
  using Key = std::pair<std::uint32_t, std::string>;

  bool is_shown(std::uint32_t unit) const { return units_.empty() || units_.count(unit) != 0; }

  void take(const Event& event, const Kind& kind) {
    switch (kind.role) {
      case Role::opens:
        if (closed_.count(kind.what) == 0) end_all(event.unit, kind.what, event.cycle);
        [[fallthrough]];
      case Role::waits:
        return open(event, kind.what);
      case Role::closes:
        return close(event, kind.what);
      case Role::releases:
        return release(event, kind.what);
      case Role::runs:
        finish({event.unit, kind.what, event.argument & 1U, 0, event.cycle, 0},
               event.cycle + (event.argument >> 1U));
        break;
      case Role::puts:
        return step(event, kind.what, 1);
      case Role::takes:
        return step(event, kind.what, -1);
      case Role::moves:
        tracks_.words.push_back({event.unit, kind.what, event.cycle, 0, event.argument});
        break;
      case Role::happens:
        return step(event, kind.what, 0);
    }
  }

  void step(const Event& event, const std::string& what, int by) {
    tracks_.steps.push_back({event.unit, what, event.cycle, by, event.argument});
  }

  void open(const Event& event, const std::string& what) {
    open_[{event.unit, what}].push_back({event.unit, what, event.argument, 0, event.cycle, 0});
  }

  /// The open span of the same argument, or the oldest.
  void close(const Event& event, const std::string& what) {
    if (opened_.count(what) == 0 && !releases_) {
      return step(event, what, 0);
    }
    if (opened_.count(what) == 0) {
      const Cycle from = released_.count(event.unit) != 0 ? released_[event.unit] : 0;
      finish({event.unit, what, event.argument, 0, from, 0}, event.cycle);
      return;
    }
    std::vector<EventSpan>& spans = open_[{event.unit, what}];
    if (spans.empty()) return;
    auto span = std::find_if(spans.begin(), spans.end(), [&](const EventSpan& each) {
      return each.argument == event.argument;
    });
    if (span == spans.end()) span = spans.begin();
    finish(*span, event.cycle + 1);
    spans.erase(span);
  }

  void release(const Event& event, const std::string& what) {
    released_[event.unit] = event.cycle;
    Cycle last = 0;
    for (const auto& [key, spans] : open_) {
      if (key.second == what && !spans.empty()) last = std::max(last, spans.back().from);
    }
    for (auto& [key, spans] : open_) {
      if (key.second != what) continue;
      for (EventSpan& span : spans) {
        if (span.from < last) {
          finish({span.unit, "barrier", span.argument, 0, span.from, 0}, last);
          span.from = last;
        }
        finish(span, event.cycle);
      }
      spans.clear();
    }
  }

  void end_all(std::uint32_t unit, const std::string& what, Cycle to) {
    std::vector<EventSpan>& spans = open_[{unit, what}];
    for (EventSpan& span : spans) finish(span, to);
    spans.clear();
  }

  void finish(EventSpan span, Cycle to) {
    if (!is_shown(span.unit)) return;
    span.to = std::max(to, span.from);
    std::vector<Cycle>& ends = lanes_[{span.unit, span.what}];
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](Cycle end) { return end <= span.from; });
    span.lane = static_cast<unsigned>(free - ends.begin());
    if (free == ends.end()) ends.push_back(0);
    ends[span.lane] = span.to;
    tracks_.spans.push_back(std::move(span));
  }

  const OpResult& result_;
  const std::set<std::uint32_t>& units_;
  bool releases_ = false;  // the log has some
  std::vector<Kind> kinds_;
  std::set<std::string> opened_;
  std::set<std::string> closed_;
  std::map<Key, std::vector<EventSpan>> open_;
  std::map<Key, std::vector<Cycle>> lanes_;  // the ends of their last spans
  std::map<std::uint32_t, Cycle> released_;  // last, by unit
  EventTracks tracks_;
};

/// `*` stands for any characters.
bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (matches(name.substr(i), pattern.substr(1))) return true;
    }
    return false;
  }
  return !name.empty() && name.front() == pattern.front() &&
         matches(name.substr(1), pattern.substr(1));
}

}  // namespace

bool is_wait(const std::string& what) {
  if (starts_with(what, "wait_")) return true;
  constexpr std::array<const char*, 6> kWords = {"conflict", "residual", "dispatch",
                                                 "io_rate",  "closed",   "scan"};
  return contains(kWords, what);
}

EventTracks event_tracks(const OpResult& result, const std::set<std::uint32_t>& units) {
  return Reader(result, units).read();
}

std::optional<Layer> layer_of(const EventSpan& span) {
  struct Booked {
    const char* what;
    Layer layer;
  };
  constexpr std::array<Booked, 21> kBooked = {{{"vertex", Layer::compute},
                                               {"busy", Layer::compute},
                                               {"scalar", Layer::compute},
                                               {"send", Layer::exchange},
                                               {"receive", Layer::exchange},
                                               {"exchange", Layer::exchange},
                                               {"port", Layer::exchange},
                                               {"word", Layer::exchange},
                                               {"carry", Layer::exchange},
                                               {"sync", Layer::sync},
                                               {"conflict", Layer::stall},
                                               {"residual", Layer::stall},
                                               {"dispatch", Layer::stall},
                                               {"wait_room", Layer::stall},
                                               {"wait_buffer", Layer::stall},
                                               {"closed", Layer::stall},
                                               {"scan", Layer::stall},
                                               {"barrier", Layer::imbalance},
                                               {"wait_weights", Layer::imbalance},
                                               {"wait_sums", Layer::imbalance},
                                               {"wait_words", Layer::imbalance}}};
  // the microthread's beats are those of partial sums on their way
  if (span.what == "beat") return span.argument == 0 ? Layer::compute : Layer::exchange;
  if (span.what == "io_rate") return Layer::idle;
  const auto* const found =
      find_where(kBooked, [&](const Booked& each) { return span.what == each.what; });
  return found == nullptr ? std::nullopt : std::optional<Layer>(found->layer);
}

std::vector<std::uint32_t> matching_units(const std::vector<std::string>& names,
                                          const std::vector<std::string>& patterns) {
  std::vector<std::uint32_t> units;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool wanted = any_of(patterns, [&](const std::string& pattern) {
      return matches(names[i], pattern) || matches(names[i], pattern + ".*");
    });
    if (wanted) units.push_back(static_cast<std::uint32_t>(i));
  }
  return units;
}

std::vector<std::uint32_t> first_units(const OpResult& result, std::size_t most) {
  std::set<std::uint32_t> active;
  for (const Event& event : result.events) active.insert(event.unit);
  std::vector<std::uint32_t> units(active.begin(), active.end());
  if (units.size() > most + 1) {
    units.erase(units.begin() + static_cast<std::ptrdiff_t>(most), units.end() - 1);
  }
  return units;
}

}  // namespace lacuna
