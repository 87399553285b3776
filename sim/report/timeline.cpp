// SPDX-License-Identifier: Apache-2.0
#include "sim/report/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/report/event_flows.hpp"
#include "sim/report/event_spans.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/figures/figure_time.hpp"

namespace lacuna {

namespace {

constexpr std::size_t kMostUnits = 16;

std::set<std::uint32_t> shown_units(const OpResult& result, const UnitPatterns& patterns) {
  const std::vector<std::uint32_t> units = patterns.empty()
                                               ? first_units(result, kMostUnits)
                                               : matching_units(result.event_units, patterns);
  return {units.begin(), units.end()};
}

/// The category of a span: the layer its cycles are booked in, or that it only holds others.
const char* category_of(const EventSpan& span) {
  const std::optional<Layer> layer = layer_of(span);
  return layer ? layer_name(*layer) : "span";
}

/// The text of one trace event, or of several that belong together, and the cycles it is about.
struct Piece {
  Cycle from = 0;
  Cycle to = 0;
  std::string text;
  bool always = false;  // names of tracks
};

/// One operation on its way to trace events.
class TimelineOp {
 public:
  TimelineOp(const OpRecord& op, std::size_t process, std::string name, const UnitPatterns& units)
      : result_(op.result),
        process_(process),
        units_(shown_units(result_, units)),
        tracks_(event_tracks(result_, units_)) {
    add_name(
        fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}})",
                    process_, name));
    for (const EventSpan& span : tracks_.spans) add_span(span);
    add_waits();
    add_flows();
    add_counters();
  }

  const std::vector<Piece>& pieces() const { return pieces_; }
  Cycle cycles() const { return std::max<Cycle>(result_.cycles, 1); }

  /// What is left out where windows are, on a track of its own.
  Piece left_out(Cycle from, Cycle to) {
    const std::size_t number = track("left out of this file", ~0U, 0);
    Piece piece = slice(number, "left out", "left_out", from, to, "");
    piece.always = true;
    return piece;
  }

 private:
  double micros(Cycle cycle) const {
    return static_cast<double>(cycle) / (result_.clock_ghz * 1000);
  }

  void add_name(std::string text) { pieces_.push_back({0, 0, std::move(text), true}); }

  void add(Cycle from, Cycle to, std::string text) {
    pieces_.push_back({from, to, std::move(text)});
  }

  /// Tracks are numbered as they come and stand in the order of their units.
  std::size_t track(const std::string& name, std::uint32_t unit, unsigned lane) {
    const auto [place, is_new] = numbers_.emplace(name, numbers_.size() + 1);
    if (is_new) {
      add_name(fmt::format(
          R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":"{2}"}}}},)"
          "\n"
          R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{3}}}}})",
          process_, place->second, name, unit * 64U + std::min(lane, 63U)));
    }
    return place->second;
  }

  std::string track_name(std::uint32_t unit, const std::string& what, unsigned lane) const {
    const std::string name = result_.event_units.at(unit) + " " + what;
    return lane == 0 ? name : fmt::format("{} {}", name, lane);
  }

  Piece slice(std::size_t number, const std::string& name, const char* category, Cycle from,
              Cycle to, const std::string& more) const {
    return {
        from, to,
        fmt::format(
            R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"cycle":{},"cycles":{}{}}}}})",
            name, category, process_, number, micros(from), micros(to) - micros(from), from,
            to - from, more)};
  }

  void add_span(const EventSpan& span) {
    if (is_wait(span.what)) {
      const std::size_t number = track(track_name(span.unit, "waits", 0), span.unit, 62);
      pieces_.push_back(slice(number, span.what, category_of(span), span.from, span.to, ""));
      return;
    }
    const std::size_t number =
        track(track_name(span.unit, span.what, span.lane), span.unit, span.lane);
    pieces_.push_back(slice(number, fmt::format("{} {}", span.what, span.argument),
                            category_of(span), span.from, span.to, ""));
    if (span.what == "send" || span.what == "receive") {
      ends_[{span.unit, span.from, span.what == "send"}] = number;
    }
  }

  void add_waits() {
    for (const EventWait& wait : event_waits(result_, tracks_)) {
      const std::size_t number = track(track_name(wait.unit, "waits", 0), wait.unit, 62);
      const std::string until =
          wait.until.empty() ? "" : fmt::format(R"(,"until":"{}")", wait.until);
      pieces_.push_back(slice(number, wait.until.empty() ? "waits" : "waits until " + wait.until,
                              "wait", wait.from, wait.to, until));
    }
  }

  /// The track of a word that a router passes on, which lasts a cycle.
  std::size_t word(std::uint32_t unit, Cycle at) {
    const auto [place, is_new] = ends_.emplace(std::tuple(unit, at, true), 0);
    if (is_new) {
      place->second = track(track_name(unit, "words", 0), unit, 61);
      pieces_.push_back(slice(place->second, "word", layer_name(Layer::exchange), at, at + 1, ""));
    }
    return place->second;
  }

  void add_flows() {
    const EventFlows flows = event_flows(result_, tracks_, units_);
    std::size_t number = 0;
    for (const EventFlow& flow : flows.flows) {
      if (units_.count(flow.sender) == 0 || units_.count(flow.receiver) == 0) continue;
      const auto send = ends_.find({flow.sender, flow.sent, true});
      const auto receive = ends_.find({flow.receiver, flow.received, false});
      const bool tiles = send != ends_.end() && receive != ends_.end();
      const std::size_t from = tiles ? send->second : word(flow.sender, flow.sent);
      const std::size_t to = tiles ? receive->second : word(flow.receiver, flow.received);
      ++number;
      add(flow.sent, flow.received,
          fmt::format(
              R"({{"ph":"s","id":{0},"name":"word","cat":"flow","pid":{1},"tid":{2},"ts":{3}}},)"
              "\n"
              R"({{"ph":"f","bp":"e","id":{0},"name":"word","cat":"flow","pid":{1},"tid":{4},"ts":{5}}})",
              process_ * 1000000000 + number, process_, from, micros(flow.sent), to,
              micros(flow.received)));
    }
    if (flows.ambiguous == 0) return;
    add_name(fmt::format(
        R"({{"ph":"M","name":"process_labels","pid":{},"tid":0,"args":{{"labels":"no flows for {} receptions: the log does not tell their senders"}}}})",
        process_, flows.ambiguous));
  }

  void add_counters() {
    std::map<std::pair<std::uint32_t, std::string>, std::int64_t> held;
    for (const EventStep& step : tracks_.steps) {
      std::int64_t& value = held[{step.unit, step.what}];
      value += step.by == 0 ? 1 : step.by;  // what only happens is counted
      add(step.cycle, step.cycle + 1,
          fmt::format(R"({{"ph":"C","name":"{} {}","pid":{},"ts":{},"args":{{"{}":{}}}}})",
                      result_.event_units.at(step.unit), step.what, process_, micros(step.cycle),
                      step.by == 0 ? "so far" : "held", value));
    }
  }

  const OpResult& result_;
  std::size_t process_;
  std::set<std::uint32_t> units_;
  EventTracks tracks_;
  std::map<std::string, std::size_t> numbers_;
  /// Tracks of what flows begin and end in, by unit, first cycle and whether it sends.
  std::map<std::tuple<std::uint32_t, Cycle, bool>, std::size_t> ends_;
  std::vector<Piece> pieces_;
};

/// Of kWindows windows of equal length of each operation, every so manieth is kept.
constexpr std::uint64_t kWindows = 64;

bool is_kept(const Piece& piece, Cycle cycles, std::uint64_t every) {
  if (piece.always || every == 1) return true;
  const auto window = [&](Cycle at) { return std::min(at * kWindows / cycles, kWindows - 1); };
  const std::uint64_t first = window(piece.from);
  const std::uint64_t last = window(piece.to > piece.from ? piece.to - 1 : piece.from);
  return first % every == 0 || first / every != last / every;
}

std::size_t size_of(const std::vector<TimelineOp>& ops, std::uint64_t every) {
  std::size_t size = 0;
  for (const TimelineOp& op : ops) {
    for (const Piece& piece : op.pieces()) {
      if (is_kept(piece, op.cycles(), every)) size += piece.text.size() + 2;
    }
  }
  return size;
}

/// n, if every n-th window is kept so that the file is no larger than `limit`; 1 if all are.
std::uint64_t sampling(const std::vector<TimelineOp>& ops, std::size_t limit) {
  constexpr std::size_t kRest = 32768;  // what stands around the events, and says what is left out
  for (std::uint64_t every = 1; every <= kWindows; every *= 2) {
    if (size_of(ops, every) + kRest <= std::max(limit, kRest)) return every;
  }
  throw refused(
      "--timeline-limit: found {} MB, but one of {} windows of time of the units "
      "shown takes {:.3g} MB; a larger limit, or fewer --units",
      limit / 1000000, kWindows, static_cast<double>(size_of(ops, kWindows) + kRest) * 1e-6);
}

/// Names of things in a dump: "!" to "~" as digits.
std::string vcd_code(std::size_t number) {
  std::string code;
  do {
    code += static_cast<char>('!' + number % 94);
    number /= 94;
  } while (number > 0);
  return code;
}

/// The scopes of a file of waves: each part of a unit's name, between dots, is one in the other.
class Scopes {
 public:
  /// Leaves the scopes that the unit is not in, and enters those that it is in.
  std::string enter(const std::string& unit) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= unit.size();) {
      const std::size_t end = std::min(unit.find('.', at), unit.size());
      parts.push_back(file_word(unit.substr(at, end - at)));
      at = end + 1;
    }
    std::size_t shared = 0;
    while (shared < std::min(open_.size(), parts.size()) && open_[shared] == parts[shared]) {
      ++shared;
    }
    std::string text = leave(open_.size() - shared);
    for (std::size_t i = shared; i < parts.size(); ++i) {
      text += fmt::format("$scope module {} $end\n", parts[i]);
    }
    open_ = std::move(parts);
    return text;
  }

  std::string leave_all() const { return leave(open_.size()); }

 private:
  static std::string leave(std::size_t scopes) {
    std::string text;
    for (; scopes != 0; --scopes) text += "$upscope $end\n";
    return text;
  }

  std::vector<std::string> open_;
};

std::string binary(std::uint64_t value) {
  std::string digits;
  for (; value > 0; value >>= 1U) digits.insert(digits.begin(), (value & 1U) != 0 ? '1' : '0');
  return digits.empty() ? "0" : digits;
}

/// Changes of one signal by the cycle they take effect in; the last of a cycle counts.
struct Signal {
  unsigned bits = 16;
  std::map<Cycle, std::uint64_t> values;
};

using Signals = std::map<std::pair<std::uint32_t, std::string>, Signal>;

Signals signals_of(const OpResult& result, const std::set<std::uint32_t>& units) {
  const EventTracks tracks = event_tracks(result, units);
  std::map<std::pair<std::uint32_t, std::string>, std::map<Cycle, std::int64_t>> changes;
  Signals signals;
  const auto add = [&](std::uint32_t unit, const std::string& what, Cycle from, Cycle to,
                       std::uint64_t argument) {
    ++changes[{unit, what}][from];
    --changes[{unit, what}][to];
    Signal& signal = signals[{unit, what + "_argument"}];
    signal.bits = 64;
    signal.values[from] = argument;
  };
  for (const EventSpan& each : tracks.spans) {
    add(each.unit, each.what, each.from, each.to, each.argument);
  }
  for (const EventStep& step : tracks.steps) {
    if (step.by != 0) {
      changes[{step.unit, step.what}][step.cycle] += step.by;
    } else {
      add(step.unit, step.what, step.cycle, step.cycle + 1, step.argument);
    }
  }
  for (const auto& [key, steps] : changes) {
    std::int64_t level = 0;
    for (const auto& [cycle, by] : steps) {
      level += by;
      signals[key].values[cycle] = static_cast<std::uint64_t>(std::max<std::int64_t>(level, 0));
    }
  }
  return signals;
}

}  // namespace

std::string timeline_json(const Runs& records, const UnitPatterns& units, std::size_t limit) {
  std::vector<TimelineOp> ops;
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      ops.emplace_back(op, ops.size() + 1,
                       fmt::format("run {}: {}, {}", record.run, record.machine, op.row.op_id),
                       units);
    }
  }
  const std::uint64_t every = sampling(ops, limit);
  std::string json = R"({"displayTimeUnit":"ns",)";
  json += every == 1 ? R"("otherData":{"sampling":"every event of the units shown"},)"
                     : fmt::format(R"("otherData":{{"sampling":"of {} windows of equal length of )"
                                   R"(each operation every {}th, the first included"}},)",
                                   kWindows, every);
  json += "\"traceEvents\":[";
  const auto add = [&](const Piece& piece) {
    if (json.back() != '[') json += ",\n";
    json += piece.text;
  };
  for (TimelineOp& op : ops) {
    std::vector<Piece> gaps;
    for (std::uint64_t window = 0; every != 1 && window < kWindows; window += every) {
      const auto begin = [&](std::uint64_t number) {
        return (number * op.cycles() + kWindows - 1) / kWindows;
      };
      gaps.push_back(op.left_out(begin(window + 1), begin(std::min(window + every, kWindows))));
    }
    for (const Piece& piece : op.pieces()) {
      if (is_kept(piece, op.cycles(), every)) add(piece);
    }
    for (const Piece& piece : gaps) add(piece);
  }
  return json + "]}\n";
}

std::string waves_vcd(const OpRecord& op, const UnitPatterns& units) {
  const OpResult& result = op.result;
  const Signals signals = signals_of(result, shown_units(result, units));
  std::string text = "$version Lacuna $end\n$timescale 1 fs $end\n";
  std::map<Cycle, std::string> changes;
  std::size_t number = 0;
  std::uint32_t unit = ~0U;
  Scopes scopes;
  for (const auto& [key, signal] : signals) {
    if (key.first != unit) {
      unit = key.first;
      text += scopes.enter(result.event_units.at(unit));
    }
    const std::string code = vcd_code(number++);
    text += fmt::format("$var reg {} {} {} $end\n", signal.bits, code, file_word(key.second));
    if (signal.values.count(0) == 0) changes[0] += "b0 " + code + "\n";
    for (const auto& [cycle, value] : signal.values) {
      changes[cycle] += fmt::format("b{} {}\n", binary(value), code);
    }
  }
  text += scopes.leave_all();
  text += "$enddefinitions $end\n";
  for (const auto& [cycle, lines] : changes) {
    const double femtoseconds = static_cast<double>(cycle) * 1e6 / result.clock_ghz;
    text += fmt::format("#{:.0f}\n{}", femtoseconds, lines);
  }
  return text +
         fmt::format("#{:.0f}\n", static_cast<double>(result.cycles) * 1e6 / result.clock_ghz);
}

namespace {

/// The issue slots of a vertex: those that no worker has are no work, though the vertex goes on.
struct VertexSlots {
  std::size_t place = 0;  // of its span
  Cycle first = ~Cycle{0};
  Cycle last = 0;
  double taken = 0;  // worker-cycles

  double lost(double workers) const {
    return last > first ? static_cast<double>(last - first) - taken / workers : 0;
  }
};

double workers_of(const RunRecord& record) {
  const auto& all = record.parameters;
  const auto* const found =
      find_where(all, [](const auto& each) { return each.path == "tile.workers"; });
  return found == nullptr ? 1 : std::stod(found->value);
}

/// Vertices are paler by the slots that no worker had; what is within them is no bar of its own.
void add_span(const EventSpan& span, const std::string& track, std::vector<PhaseSpan>& spans,
              std::vector<VertexSlots>& vertices) {
  if (span.what == "worker" && !vertices.empty()) {
    VertexSlots& vertex = vertices.back();
    vertex.first = std::min(vertex.first, span.from);
    vertex.last = std::max(vertex.last, span.to);
    vertex.taken += static_cast<double>(span.to - span.from);
  }
  const std::optional<Layer> layer = layer_of(span);
  if (!layer) return;
  if (span.what == "vertex") vertices.push_back({spans.size()});
  spans.push_back({track, span.what, *layer, span.from, span.to, 1});
}

}  // namespace

Figures gantt_figures(const Runs& records, const UnitPatterns& units) {
  constexpr std::size_t kMostFigures = 8;
  constexpr std::size_t kMostTracks = 40;
  Figures figures;
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      if (op.result.events.empty() || figures.size() == kMostFigures) continue;
      const std::set<std::uint32_t> shown = shown_units(op.result, units);
      std::map<std::string, std::vector<PhaseSpan>> tracks;
      std::vector<std::string> order;
      EventTracks found = event_tracks(op.result, shown);
      sort_all(found.spans, [](const auto& a, const auto& b) {
        return std::tuple(a.unit, a.from, b.to) < std::tuple(b.unit, b.from, a.to);
      });
      std::map<std::string, std::vector<VertexSlots>> vertices;
      for (const EventSpan& span : found.spans) {
        const std::string& track = op.result.event_units.at(span.unit);
        if (layer_of(span) && tracks.count(track) == 0) order.push_back(track);
        add_span(span, track, tracks[track], vertices[track]);
      }
      for (const auto& [track, own] : vertices) {
        for (const VertexSlots& each : own) {
          PhaseSpan& span = tracks[track][each.place];
          span.busy -= each.lost(workers_of(record)) / static_cast<double>(span.to - span.from);
        }
      }
      std::vector<PhaseSpan> spans;
      for (std::size_t i = 0; i < std::min(order.size(), kMostTracks); ++i) {
        const std::vector<PhaseSpan>& own = tracks[order[i]];
        append(spans, own);
      }
      if (spans.empty()) continue;
      figures.push_back(draw_phases(
          fmt::format("gantt_run{}_{}", record.run, file_word(op.row.op_id)),
          {fmt::format("{}, {}, {}", record.machine, record.workload, op.row.op_id)}, spans));
    }
  }
  return figures;
}

}  // namespace lacuna
