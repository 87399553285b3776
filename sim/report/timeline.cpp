// SPDX-License-Identifier: Apache-2.0
#include "sim/report/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "sim/report/event_spans.hpp"
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

/// What a unit does, as a class of cycles for its colour.
Layer layer_of(const std::string& what) {
  const auto has = [&](const char* word) { return what.find(word) != std::string::npos; };
  if (has("sync")) return Layer::sync;
  if (has("send") || has("receive") || has("exchange") || has("reduction") || has("port")) {
    return Layer::exchange;
  }
  return has("superstep") ? Layer::idle : Layer::compute;
}

/// One operation on its way to trace events.
class TimelineOp {
 public:
  TimelineOp(const OpRecord& op, std::size_t process, std::string name, const UnitPatterns& units)
      : result_(op.result),
        process_(process),
        name_(std::move(name)),
        units_(shown_units(result_, units)),
        tracks_(event_tracks(result_)) {}

  void write(std::string& json) {
    add(json,
        fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}})",
                    process_, name_));
    for (const EventSpan& span : tracks_.spans) {
      if (units_.count(span.unit) != 0) write_span(json, span);
    }
    write_counters(json);
  }

 private:
  double micros(Cycle cycle) const {
    return static_cast<double>(cycle) / (result_.clock_ghz * 1000);
  }

  static void add(std::string& json, const std::string& event) {
    if (json.back() != '[') json += ",\n";
    json += event;
  }

  /// Tracks are numbered as they come and stand in the order of their units.
  std::size_t track(std::string& json, const EventSpan& span) {
    const std::string what =
        span.lane == 0 ? span.what : fmt::format("{} {}", span.what, span.lane);
    const std::string name = result_.event_units.at(span.unit) + " " + what;
    const auto [place, is_new] = numbers_.emplace(name, numbers_.size() + 1);
    if (is_new) {
      add(json,
          fmt::format(
              R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":"{2}"}}}},)"
              "\n"
              R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{3}}}}})",
              process_, place->second, name, span.unit * 64U + std::min(span.lane, 63U)));
    }
    return place->second;
  }

  void write_span(std::string& json, const EventSpan& span) {
    const std::size_t number = track(json, span);
    add(json,
        fmt::format(
            R"({{"ph":"X","name":"{} {}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"cycle":{},"cycles":{}}}}})",
            span.what, span.argument, layer_name(layer_of(span.what)), process_, number,
            micros(span.from), micros(span.to) - micros(span.from), span.from,
            span.to - span.from));
  }

  void write_counters(std::string& json) {
    std::map<std::pair<std::uint32_t, std::string>, std::int64_t> held;
    for (const EventStep& step : tracks_.steps) {
      if (units_.count(step.unit) == 0) continue;
      std::int64_t& value = held[{step.unit, step.what}];
      value += step.by == 0 ? 1 : step.by;  // what only happens is counted
      add(json, fmt::format(R"({{"ph":"C","name":"{} {}","pid":{},"ts":{},"args":{{"{}":{}}}}})",
                            result_.event_units.at(step.unit), step.what, process_,
                            micros(step.cycle), step.by == 0 ? "so far" : "held", value));
    }
  }

  const OpResult& result_;
  std::size_t process_;
  std::string name_;
  std::set<std::uint32_t> units_;
  EventTracks tracks_;
  std::map<std::string, std::size_t> numbers_;
};

/// Names of things in a dump: "!" to "~" as digits.
std::string vcd_code(std::size_t number) {
  std::string code;
  do {
    code += static_cast<char>('!' + number % 94);
    number /= 94;
  } while (number > 0);
  return code;
}

std::string vcd_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

/// The scopes of a file of waves: each part of a unit's name, between dots, is one in the other.
class Scopes {
 public:
  /// Leaves the scopes that the unit is not in, and enters those that it is in.
  std::string enter(const std::string& unit) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= unit.size();) {
      const std::size_t end = std::min(unit.find('.', at), unit.size());
      parts.push_back(vcd_name(unit.substr(at, end - at)));
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
  const EventTracks tracks = event_tracks(result);
  std::map<std::pair<std::uint32_t, std::string>, std::map<Cycle, std::int64_t>> changes;
  Signals signals;
  for (const EventSpan& span : tracks.spans) {
    if (units.count(span.unit) == 0) continue;
    ++changes[{span.unit, span.what}][span.from];
    --changes[{span.unit, span.what}][span.to];
    Signal& argument = signals[{span.unit, span.what + "_argument"}];
    argument.bits = 64;
    argument.values[span.from] = span.argument;
  }
  for (const EventStep& step : tracks.steps) {
    if (units.count(step.unit) == 0) continue;
    if (step.by != 0) {
      changes[{step.unit, step.what}][step.cycle] += step.by;
      continue;
    }
    Signal& argument = signals[{step.unit, step.what + "_argument"}];
    argument.bits = 64;
    argument.values[step.cycle] = step.argument;
    ++changes[{step.unit, step.what}][step.cycle];
    --changes[{step.unit, step.what}][step.cycle + 1];
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

std::string timeline_json(const std::vector<RunRecord>& records, const UnitPatterns& units) {
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  std::size_t process = 0;
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      const std::string name =
          fmt::format("run {}: {}, {}", record.run, record.machine, op.row.op_id);
      TimelineOp(op, ++process, name, units).write(json);
    }
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
    text += fmt::format("$var reg {} {} {} $end\n", signal.bits, code, vcd_name(key.second));
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

std::vector<Figure> gantt_figures(const std::vector<RunRecord>& records,
                                  const UnitPatterns& units) {
  constexpr std::size_t kMostFigures = 8;
  constexpr std::size_t kMostTracks = 40;
  std::vector<Figure> figures;
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      if (op.result.events.empty() || figures.size() == kMostFigures) continue;
      const std::set<std::uint32_t> shown = shown_units(op.result, units);
      std::map<std::string, std::vector<PhaseSpan>> tracks;
      std::vector<std::string> order;
      EventTracks found = event_tracks(op.result);
      std::stable_sort(found.spans.begin(), found.spans.end(), [](const auto& a, const auto& b) {
        return std::pair(a.unit, a.from) < std::pair(b.unit, b.from);
      });
      for (const EventSpan& span : found.spans) {
        // workers are inside their vertex; the superstep holds all
        if (shown.count(span.unit) == 0 || span.what == "worker") continue;
        const std::string track = op.result.event_units.at(span.unit);
        if (tracks.count(track) == 0) order.push_back(track);
        tracks[track].push_back({track, span.what, layer_of(span.what), span.from, span.to, 1});
      }
      std::vector<PhaseSpan> spans;
      for (std::size_t i = 0; i < std::min(order.size(), kMostTracks); ++i) {
        const std::vector<PhaseSpan>& own = tracks[order[i]];
        spans.insert(spans.end(), own.begin(), own.end());
      }
      if (spans.empty()) continue;
      figures.push_back(draw_phases(
          fmt::format("gantt_run{}_{}", record.run, vcd_name(op.row.op_id)),
          {fmt::format("{}, {}, {}", record.machine, record.workload, op.row.op_id)}, spans));
    }
  }
  return figures;
}

}  // namespace lacuna
