// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/view/critical_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/wavelet.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

using wse::kEast;
using wse::kNorth;
using wse::kRamp;
using wse::kSouth;
using wse::kWest;
using Place = PathStep::Place;

/// A copy of a word that left a router.
struct Pass {
  Cycle at;
  Cycle sent;  // by whoever is at `from`
  unsigned from;
  unsigned to;
  unsigned color;
};

/// A word that left a queue of a core: up the ramp, or taken.
struct Queued {
  Cycle at;
  Cycle sent;  // put into the queue
  unsigned color;
};

struct Run {
  Cycle begin;
  Cycle end;
  std::uint16_t kind;
  bool second;  // beats of a microthread
};

struct UnitRecords {
  std::vector<Pass> passes;
  std::vector<Queued> ups;
  std::vector<Queued> taken;
  std::vector<Run> runs;
};

constexpr std::uint64_t kByte = 0xff;

/// The first of `records`, which are sorted by cycle, in cycle `at` that is `wanted`.
template <class Record, class Wanted>
const Record* find(const std::vector<Record>& records, Cycle at, const Wanted& wanted) {
  auto record = std::lower_bound(records.begin(), records.end(), at,
                                 [](const Record& each, Cycle cycle) { return each.at < cycle; });
  for (; record != records.end() && record->at == at; ++record) {
    if (wanted(*record)) return &*record;
  }
  return nullptr;
}

const Queued* first_at(const std::vector<Queued>& words, Cycle at) {
  return find(words, at, [](const Queued& /*word*/) { return true; });
}

const Queued* word_at(const std::vector<Queued>& words, Cycle at, unsigned color) {
  return find(words, at, [&](const Queued& word) { return word.color == color; });
}

class Walk {
 public:
  Walk(const PathWindow& window, const PathRecords& records)
      : window_(window), facts_(records), units_(windowed_units()) {
    for (const Event& event : records.events) take(event);
    for (UnitRecords& unit : units_) {
      sort_all(unit.runs, [](const Run& a, const Run& b) { return a.begin < b.begin; });
    }
    path_.window = window;
  }

  CriticalPath walk();

 private:
  /// Where the walk is: at `at`, just after what it has come from.
  struct Here {
    Place place = Place::outside;
    std::int64_t row = 0;
    std::int64_t column = 0;
    Cycle at = 0;
    const Pass* pass = nullptr;  // of a router: the copy that left in cycle `at`
    const Queued* up = nullptr;  // of a core: the word that went up in cycle `at`
  };

  std::size_t windowed_units() const {
    return std::size_t{window_.rows} * window_.columns * 2 + window_.columns;
  }
  std::size_t router_at(std::int64_t row, std::int64_t column) const {
    return (static_cast<std::size_t>(row - window_.row) * window_.columns +
            static_cast<std::size_t>(column - window_.column)) *
           2;
  }
  UnitRecords& core_at(std::int64_t row, std::int64_t column) {
    return units_[router_at(row, column) + 1];
  }
  UnitRecords& edge_at(std::int64_t column) {
    return units_[std::size_t{window_.rows} * window_.columns * 2 +
                  static_cast<std::size_t>(column - window_.column)];
  }

  void take(const Event& event);
  void add(Place place, std::int64_t row, std::int64_t column, const char* what, Cycle from,
           Cycle to);
  Here outside(std::int64_t row, std::int64_t column, Cycle at, const char* why);
  /// The same unit did this since `from`,
  Here since(const Here& here, const char* what, Cycle from);
  /// until this copy left its router, or this word its core.
  Here passed(const Here& here, const char* what, const Pass* pass);
  Here sent(const Here& here, const char* what, const Queued* up);
  const std::vector<Pass>& passes_at(const Here& here) const {
    return units_[router_at(here.row, here.column)].passes;
  }
  Here last_end();
  Here step(const Here& here);
  Here at_core(const Here& here);
  Here arrived(const Here& here, const Queued& word);
  Here went_up(const Here& here);
  Here at_router(const Here& here);
  Here came_from(const Here& here);
  bool is_from_edge(const Here& here) const;
  Here at_edge(const Here& here);
  const Pass* pass_at(std::int64_t row, std::int64_t column, Cycle at, unsigned color,
                      unsigned port, bool is_out);
  static const Run* run_before(const std::vector<Run>& runs, Cycle at);

  const PathWindow& window_;
  const PathRecords& facts_;
  std::vector<UnitRecords> units_;
  CriticalPath path_;
  std::map<std::string, std::uint32_t> number_of_;
};

void Walk::take(const Event& event) {
  const std::uint64_t argument = event.argument;
  const std::size_t cores = std::size_t{facts_.columns} * facts_.rows;
  const bool is_edge = event.unit >= 2 * cores;
  const std::size_t place = is_edge ? event.unit - 2 * cores : event.unit / 2;
  const auto column = static_cast<std::int64_t>(place % facts_.columns);
  const std::int64_t row =
      is_edge ? window_.row : static_cast<std::int64_t>(place / facts_.columns);
  if (!window_.has(row, column)) return;
  UnitRecords& unit = is_edge               ? edge_at(column)
                      : event.unit % 2 == 0 ? units_[router_at(row, column)]
                                            : core_at(row, column);
  const auto byte = [&](unsigned shift) {
    return static_cast<unsigned>(argument >> shift & kByte);
  };
  switch (event.kind) {
    case wse::kWordPass:
      unit.passes.push_back(
          {event.cycle, event.cycle - (argument >> 24U), byte(16), byte(0), byte(8)});
      break;
    case wse::kWordUp:
      unit.ups.push_back({event.cycle, event.cycle - (argument >> 8U), byte(0)});
      break;
    case wse::kWordTaken:
      unit.taken.push_back({event.cycle, event.cycle - (argument >> 8U), byte(0)});
      break;
    default:
      unit.runs.push_back({event.cycle, event.cycle + (argument >> 1U), event.kind,
                           event.kind == wse::kBeatRun && (argument & 1U) != 0});
  }
}

std::pair<std::int64_t, std::int64_t> neighbour(std::int64_t row, std::int64_t column,
                                                unsigned port) {
  if (port == kNorth) return {row - 1, column};
  if (port == kSouth) return {row + 1, column};
  if (port == kEast) return {row, column + 1};
  return {row, column - 1};
}

unsigned facing(unsigned port) {
  constexpr std::array<unsigned, 4> kFacing{kSouth, kWest, kNorth, kEast};
  return kFacing.at(port);
}

const char* what_of(const Run& run) {
  static const std::map<std::uint16_t, const char*> whats = {
      {wse::kBeatRun, "multiplies and adds"},
      {wse::kBusyRun, "runs its program"},
      {wse::kScalarRun, "elements one by one"},
      {wse::kConflictRun, "bank conflicts or slow beats"},
      {wse::kResidualRun, "stalls of multiply-accumulates"},
      {wse::kDispatchRun, "a task is dispatched"},
      {wse::kWaitBufferRun, "waits for a free buffer of sums"},
      {wse::kWaitRoomRun, "waits for room in its output queue"},
      {wse::kIoRateRun, "the wafer's I/O rate"},
      {wse::kScanRun, "the filter looks for the next word"},
      {wse::kClosedRun, "waits for room in the first router"},
      {wse::kWaitWeightsRun, "waits for a word"},
      {wse::kWaitSumsRun, "waits for a word"},
      {wse::kWaitWordsRun, "waits for a word"}};
  if (run.second) return "adds up or moves sums";
  const auto found = whats.find(run.kind);
  if (found == whats.end()) throw InternalError("what takes no time is no part of a path");
  return found->second;
}

bool waits(const Run& run) {
  return run.kind >= wse::kWaitWeightsRun && run.kind <= wse::kWaitBufferRun;
}

/// Adjacent steps of the same unit and kind are one. The walk goes back: steps are added at the
/// front of time, in their final order after walk().
void Walk::add(Place place, std::int64_t row, std::int64_t column, const char* what, Cycle from,
               Cycle to) {
  from = std::max(from, window_.from);
  if (from >= to) return;
  const auto number = static_cast<std::uint32_t>(number_of_.size());
  const auto [known, is_new] = number_of_.emplace(what, number);
  if (is_new) path_.whats.emplace_back(what);
  const PathStep made{place,
                      static_cast<std::uint32_t>(row),
                      static_cast<std::uint32_t>(column),
                      known->second,
                      from,
                      to};
  if (!path_.steps.empty()) {
    PathStep& last = path_.steps.back();
    if (last.from == to && last.place == place && last.row == made.row &&
        last.column == made.column && last.what == made.what) {
      last.from = from;
      return;
    }
  }
  path_.steps.push_back(made);
}

Walk::Here Walk::outside(std::int64_t row, std::int64_t column, Cycle at, const char* why) {
  add(Place::outside, row, column, why, window_.from, at);
  return {Place::outside, row, column, window_.from};
}

Walk::Here Walk::since(const Here& here, const char* what, Cycle from) {
  add(here.place, here.row, here.column, what, from, here.at);
  return {here.place, here.row, here.column, from};
}

Walk::Here Walk::passed(const Here& here, const char* what, const Pass* pass) {
  Here there = since(here, what, pass->at);
  there.place = Place::router;
  there.pass = pass;
  return there;
}

Walk::Here Walk::sent(const Here& here, const char* what, const Queued* up) {
  Here there = since(here, what, up->at);
  there.up = up;
  return there;
}

/// The last of the runs that begin before `at`.
const Run* Walk::run_before(const std::vector<Run>& runs, Cycle at) {
  const auto after = std::lower_bound(
      runs.begin(), runs.end(), at, [](const Run& run, Cycle cycle) { return run.begin < cycle; });
  return after == runs.begin() ? nullptr : &*(after - 1);
}

/// The copy of a color that left in a cycle: through `port`, or of a word that came in there.
const Pass* Walk::pass_at(std::int64_t row, std::int64_t column, Cycle at, unsigned color,
                          unsigned port, bool is_out) {
  if (!window_.has(row, column)) return nullptr;
  return find(units_[router_at(row, column)].passes, at, [&](const Pass& pass) {
    return pass.color == color && (is_out ? pass.to : pass.from) == port;
  });
}

/// The core whose last beat is the latest; the first of several.
Walk::Here Walk::last_end() {
  Here last;
  for (std::int64_t row = window_.row; row < std::int64_t{window_.row} + window_.rows; ++row) {
    for (std::int64_t c = window_.column; c < std::int64_t{window_.column} + window_.columns; ++c) {
      for (const Run& run : core_at(row, c).runs) {
        if (run.begin >= window_.to || waits(run) || run.kind == wse::kDispatchRun) continue;
        const Cycle end = std::min(run.end, window_.to);
        if (last.place == Place::outside || end > last.at) last = {Place::core, row, c, end};
      }
    }
  }
  return last;
}

CriticalPath Walk::walk() {
  Here here = last_end();
  if (here.place == Place::outside) {
    outside(window_.row, window_.column, window_.to, "nothing is done in the window");
  } else {
    add(Place::core, here.row, here.column, "all has ended", here.at, window_.to);
  }
  while (here.place != Place::outside && here.at > window_.from) here = step(here);
  std::reverse(path_.steps.begin(), path_.steps.end());
  return std::move(path_);
}

Walk::Here Walk::step(const Here& here) {
  if (here.place == Place::edge) return at_edge(here);
  if (!window_.has(here.row, here.column)) {
    return outside(here.row, here.column, here.at, "outside of the chosen cores");
  }
  if (here.place == Place::router) return at_router(here);
  return here.up != nullptr ? went_up(here) : at_core(here);
}

/// What a core did up to cycle `at`.
Walk::Here Walk::at_core(const Here& here) {
  const UnitRecords& core = core_at(here.row, here.column);
  const Run* const run = run_before(core.runs, here.at);
  const bool idle = run == nullptr || run->end < here.at;
  if (!idle && !waits(*run)) {
    return since(here, what_of(*run), run->begin);
  }
  // it waited, or had nothing to do: what came and was taken now ended that, or a word that left
  const Cycle begin = idle ? (run == nullptr ? 0 : run->end) : run->begin;
  const Queued* latest = nullptr;
  find(core.taken, here.at, [&](const Queued& word) {
    const bool later = latest == nullptr || word.sent > latest->sent;
    if (word.sent + facts_.ramp > begin && later) latest = &word;
    return false;
  });
  if (latest != nullptr) return arrived(here, *latest);
  if (!idle && run->kind == wse::kWaitRoomRun && here.at > 0) {
    if (const Queued* const up = first_at(core.ups, here.at - 1)) {
      return sent(here, what_of(*run), up);
    }
  }
  return since(here, idle ? "has nothing to do" : what_of(*run), begin);
}

/// The word came down the ramp and may have waited in its queue.
Walk::Here Walk::arrived(const Here& here, const Queued& word) {
  const Cycle ready = std::min(word.sent + facts_.ramp, here.at);
  add(Place::core, here.row, here.column, "a word stands in the input queue", ready, here.at);
  add(Place::core, here.row, here.column, "a word comes down the ramp", word.sent, ready);
  const Pass* const pass = pass_at(here.row, here.column, word.sent, word.color, kRamp, true);
  if (pass == nullptr) return outside(here.row, here.column, word.sent, "before the records");
  return {Place::router, here.row, here.column, word.sent, pass};
}

/// The word went up the ramp in cycle `at`.
Walk::Here Walk::went_up(const Here& here) {
  const Queued& up = *here.up;
  const UnitRecords& core = core_at(here.row, here.column);
  const Cycle ready = up.sent + 1;
  if (up.at > ready) {
    // the ramp took another word just before, or its end in the router was full
    if (const Queued* const other = first_at(core.ups, up.at - 1)) {
      return sent(here, "a word waits for the ramp", other);
    }
    const Pass* const room = pass_at(here.row, here.column, up.at - 1, up.color, kRamp, false);
    if (room != nullptr) return passed(here, "a word waits for room in its router", room);
  }
  add(Place::core, here.row, here.column, "a word stands in the output queue", ready, up.at);
  add(Place::core, here.row, here.column, "a word is put into the output queue", up.sent, ready);
  return {Place::core, here.row, here.column, up.sent};
}

/// The copy left in cycle `at`. If its word could have gone before: the one ahead of it went then,
/// or room came free beyond the port, or the port was another's.
Walk::Here Walk::at_router(const Here& here) {
  const Pass& pass = *here.pass;
  const Cycle way = pass.from == kRamp ? facts_.ramp : is_from_edge(here) ? 1 : facts_.hop;
  const Cycle ready = std::min(pass.sent + way, pass.at);
  if (pass.at == ready || pass.at == 0) return came_from(here);
  const Cycle before = pass.at - 1;
  if (const Pass* const ahead =
          pass_at(here.row, here.column, before, pass.color, pass.from, false);
      ahead != nullptr && ahead->sent != pass.sent) {
    return passed(here, "a word stands behind another", ahead);
  }
  if (pass.to == kRamp) {
    if (word_at(core_at(here.row, here.column).taken, before, pass.color) != nullptr) {
      since(here, "a word waits for room in the core's queue", before);
      return {Place::core, here.row, here.column, before};
    }
  } else {
    const auto [row, column] = neighbour(here.row, here.column, pass.to);
    if (const Pass* const room = pass_at(row, column, before, pass.color, facing(pass.to), false)) {
      since(here, "a word waits for room in the next router", before);
      return {Place::router, row, column, before, room};
    }
  }
  const Pass* const other =
      find(passes_at(here), before, [&](const Pass& each) { return each.to == pass.to; });
  if (other != nullptr) return passed(here, "the port sends another word", other);
  Here there = since(here, "a word waits for its link or switch", ready);
  there.pass = here.pass;
  return came_from(there);
}

/// Whether the word of a copy came in from the edge: from no router.
bool Walk::is_from_edge(const Here& here) const {
  const unsigned from = here.pass->from;
  if (from == kRamp) return false;
  const auto [row, column] = neighbour(here.row, here.column, from);
  const bool enters = from == kNorth && here.row == facts_.entry;
  return enters || row < 0 || column < 0 || row >= facts_.rows || column >= facts_.columns;
}

/// Who sent the word that came into a router.
Walk::Here Walk::came_from(const Here& here) {
  const Pass& pass = *here.pass;
  if (pass.from == kRamp) {
    add(Place::core, here.row, here.column, "a word goes up the ramp", pass.sent, here.at);
    const Queued* const up = word_at(core_at(here.row, here.column).ups, pass.sent, pass.color);
    if (up == nullptr) return outside(here.row, here.column, pass.sent, "before the records");
    return {Place::core, here.row, here.column, pass.sent, nullptr, up};
  }
  if (is_from_edge(here)) {
    since(here, "a word comes in at the edge", pass.sent);
    return {Place::edge, here.row, here.column, pass.sent};
  }
  const auto [row, column] = neighbour(here.row, here.column, pass.from);
  since(here, "a word comes over a link", pass.sent);
  if (!window_.has(row, column)) return {Place::router, row, column, pass.sent};
  const Pass* const before = pass_at(row, column, pass.sent, pass.color, facing(pass.from), true);
  if (before == nullptr) return outside(row, column, pass.sent, "before the records");
  return {Place::router, row, column, pass.sent, before};
}

/// What kept the injector from sending sooner: a word each cycle, or what it waited for.
Walk::Here Walk::at_edge(const Here& here) {
  const std::vector<Run>& runs = edge_at(here.column).runs;
  const Run* const run = run_before(runs, here.at);
  if (run == nullptr || run->end < here.at) {
    const Cycle from = run == nullptr ? window_.from : run->end;
    return since(here, "words enter one after the other", from);
  }
  if (run->kind == wse::kClosedRun && here.at > 0) {
    const Cycle before = here.at - 1;
    for (const unsigned port : {kNorth, kWest, kSouth, kEast}) {
      const Pass* const pass =
          find(passes_at(here), before, [&](const Pass& each) { return each.from == port; });
      if (pass != nullptr) return passed(here, what_of(*run), pass);
    }
  }
  return since(here, what_of(*run), run->begin);
}

}  // namespace

PathWindow fitted(PathWindow window, std::uint32_t columns, std::uint32_t rows, Cycle cycles) {
  if (window.column >= columns || window.row >= rows) {
    throw UnsupportedError(
        fmt::format("--view-cores: found column {} and row {}; there are {} columns and {} rows",
                    window.column, window.row, columns, rows));
  }
  if (window.from >= cycles) {
    throw UnsupportedError(
        fmt::format("--view-path: found cycle {}; it ends with cycle {}", window.from, cycles));
  }
  window.columns = std::min(window.columns, columns - window.column);
  window.rows = std::min(window.rows, rows - window.row);
  window.to = std::min(window.to, cycles);
  return window;
}

wse::RunOptions with_records(wse::RunOptions options, const PathWindow& window,
                             std::uint32_t columns, std::uint32_t rows) {
  constexpr std::size_t kMost = 60'000'000;
  options.event_log = true;
  options.modules = false;  // which have no details
  options.look = {};
  options.look_at_tasks = {};
  options.first_look = kNever;
  EventScope& scope = options.event_scope;
  scope.kinds = wse::kPathEvents;
  scope.from = window.from;
  scope.to = window.to;
  scope.most = kMost;
  const std::size_t edge = std::size_t{columns} * rows * 2;
  scope.units.assign(edge + columns, false);
  for (std::uint32_t c = window.column; c < window.column + window.columns && c < columns; ++c) {
    scope.units[edge + c] = true;
    for (std::uint32_t r = window.row; r < window.row + window.rows && r < rows; ++r) {
      const std::size_t router = (std::size_t{r} * columns + c) * 2;
      scope.units[router] = scope.units[router + 1] = true;
    }
  }
  return options;
}

void require_records(bool left_out) {
  if (!left_out) return;
  throw UnsupportedError(
      "--view-path: there are more than 60 million records in the window; fewer cycles or fewer "
      "cores (--view-cores) leave fewer");
}

std::vector<Event> unfold_records(const std::vector<Event>& kept, const PathWindow& window,
                                  const wse::FoldPlan& fold, const wse::Program& program,
                                  Cycle hop) {
  const std::size_t width = std::size_t{2} * program.columns;
  std::vector<std::vector<Event>> by_row(fold.kept.size() + 1);
  for (const Event& event : kept) by_row[event.unit / width].push_back(event);
  std::vector<Event> all;
  for (std::size_t row = window.row; row < std::size_t{window.row} + window.rows; ++row) {
    const std::size_t from = fold.representative[row];
    for (Event event : by_row[from]) {
      event.unit = static_cast<std::uint32_t>(event.unit + row * width - from * width);
      event.cycle += Cycle{fold.hops_behind(row)} * hop;
      all.push_back(event);
    }
  }
  for (Event event : by_row.back()) {
    event.unit =
        static_cast<std::uint32_t>(event.unit + program.rows * width - fold.kept.size() * width);
    all.push_back(event);
  }
  return all;
}

CriticalPath critical_path(const PathWindow& window, const PathRecords& records) {
  return Walk(window, records).walk();
}

}  // namespace lacuna
