// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/view/core_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/task_stats.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"

namespace lacuna {
namespace {

using ChannelGroup = UnitChannel::Group;
using wse::CoreMark;

UnitChannel make_channel(const char* name, const char* unit, const char* doc, ChannelGroup group) {
  UnitChannel made;
  made.name = name;
  made.unit = unit;
  made.doc = doc;
  made.group = group;
  return made;
}

UnitChannel stack_channel(const CycleCounter& part) {
  UnitChannel made = make_channel(part.name(), "cycles", part.doc(), ChannelGroup::stack);
  made.layer = part.layer();
  return made;
}

std::uint64_t more(const std::string& name, std::uint64_t before, std::uint64_t now) {
  if (now >= before) return now - before;
  throw InternalError(fmt::format("{} of a core goes back from {} to {}", name, before, now));
}

/// What lies between looks at so many cells: `value(step, cell)` is what had been counted by the
/// end of a step.
template <class Value>
UnitChannel between(UnitChannel made, std::size_t steps, std::size_t cells, const Value& value) {
  std::vector<std::uint64_t> before(cells, 0);
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::uint64_t now = value(step, cell);
      made.values.push_back(more(made.name, before[cell], now));
      before[cell] = now;
    }
  }
  return made;
}

/// What the cycles that are booked by `at` leave of the time.
template <class Counts>
std::uint64_t left_of(Cycle at, const Counts& counts, std::size_t booked) {
  const auto end = counts.begin() + static_cast<std::ptrdiff_t>(booked);
  return more("the time", std::accumulate(counts.begin(), end, std::uint64_t{0}), at);
}

UnitChannel done_channel() {
  return make_channel("done", "cycles", "The core had finished, or has no work.",
                      ChannelGroup::stack);
}

constexpr std::array<const char*, 4> kWays{"words north", "words east", "words south",
                                           "words west"};
constexpr std::array<wse::Port, 4> kWayPorts{wse::kNorth, wse::kEast, wse::kSouth, wse::kWest};

/// What routers have counted by the end, of each stored place; `words_unit` in words.
void add_links(const std::vector<wse::RouterCounters>& routers, UnitSeries& series) {
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    UnitChannel made = make_channel(kWays.at(way), "wavelets",
                                    "Passed on by the router on this link.", ChannelGroup::whole);
    for (const wse::RouterCounters& router : routers) {
      made.values.push_back(router.sent.at(kWayPorts.at(way)));
    }
    series.channels.push_back(std::move(made));
  }
  UnitChannel ramp = make_channel("words to the core", "wavelets",
                                  "Sent by the router to its core.", ChannelGroup::whole);
  UnitChannel stood = make_channel("words stood", "cycles",
                                   "A word at the head of a buffer of the router stayed there, "
                                   "all colors together.",
                                   ChannelGroup::whole);
  for (const wse::RouterCounters& router : routers) {
    ramp.values.push_back(router.sent.at(wse::kRamp));
    stood.values.push_back(
        std::accumulate(router.stalls.begin(), router.stalls.end(), std::uint64_t{0}));
  }
  series.channels.push_back(std::move(ramp));
  series.channels.push_back(std::move(stood));
}

/// The series of a streamed product.
class StreamedCores {
 public:
  explicit StreamedCores(const MarkedRun& run)
      : run_(run),
        program_(run.plan.program),
        hop_(wse::QueueShapes(run.hardware.router).link().latency) {}

  UnitSeries build() {
    lay_out();
    find_ends();
    add_stack();
    add_counts();
    add_links(run_.kept.routers, series_);
    add_energy();
    add_notes();
    return std::move(series_);
  }

 private:
  void lay_out();
  void find_ends();
  void add_stack();
  void add_counts();
  void add_energy();
  void add_notes();
  Cycle lag(std::size_t place) const {
    const std::size_t entry = run_.fold.kept_entry;
    return (std::max(place, entry) - std::min(place, entry)) * hop_;
  }
  const wse::CoreCounters& core(std::size_t place, std::size_t column) const {
    return run_.kept.cores[place * program_.columns + column];
  }
  CoreMark mark(std::size_t row, std::size_t step, std::size_t column) const;
  /// `value(mark, step, column)`
  template <class Value>
  UnitChannel over_time(UnitChannel made, const Value& value) const;
  template <class Value>
  void add(UnitChannel made, const Value& value);
  void count(const char* name, const char* unit, const char* doc, std::size_t which) {
    add(make_channel(name, unit, doc, ChannelGroup::count),
        [which](const CoreMark& mark, std::size_t, std::size_t) { return mark[which]; });
  }

  const MarkedRun& run_;
  const wse::Program& program_;
  Cycle hop_;
  UnitSeries series_;
  std::vector<std::size_t> place_of_;  // by row over time: a kept row that has it
};

void StreamedCores::lay_out() {
  series_.unit = "core";
  series_.columns = program_.columns;
  series_.rows = program_.rows;
  series_.source = run_.fold.representative;
  series_.stored_rows = static_cast<std::uint32_t>(run_.fold.kept.size());
  series_.timed_rows = static_cast<std::uint32_t>(run_.marks.rows.size());
  place_of_.assign(series_.timed_rows, 0);
  for (std::size_t place = 0; place < series_.stored_rows; ++place) {
    series_.timed.push_back(run_.marks.row_of[run_.fold.kept[place]]);
    place_of_[series_.timed.back()] = place;
  }
  for (std::size_t row = 0; row < series_.rows; ++row) {
    series_.behind.push_back(program_.distance(row) * hop_);
  }
}

/// The last step ends with the last core, in its row's own time.
void StreamedCores::find_ends() {
  Cycle end = 1;
  for (std::size_t place = 0; place < series_.stored_rows; ++place) {
    for (std::size_t c = 0; c < series_.columns; ++c) {
      const Cycle last = core(place, c).end;
      end = std::max(end, last - std::min(last, lag(place)));
    }
  }
  for (Cycle at = run_.length; at < end; at += run_.length) series_.ends.push_back(at);
  series_.ends.push_back(end);
}

/// What had been counted by the end of a step; after a row's marks, at its end.
CoreMark StreamedCores::mark(std::size_t row, std::size_t step, std::size_t column) const {
  const wse::RowMarks& marks = run_.marks.rows[row];
  if (step + 1 < series_.ends.size() && step < marks.size()) return (*marks[step])[column];
  return wse::mark_of(core(place_of_[row], column), lag(place_of_[row]));
}

template <class Value>
void StreamedCores::add(UnitChannel made, const Value& value) {
  series_.channels.push_back(over_time(std::move(made), value));
}

template <class Value>
UnitChannel StreamedCores::over_time(UnitChannel made, const Value& value) const {
  return between(std::move(made), series_.ends.size(), series_.cells(),
                 [&](std::size_t step, std::size_t cell) {
                   const std::size_t column = cell % series_.columns;
                   return value(mark(cell / series_.columns, step, column), step, column);
                 });
}

/// The parts of the stack of a core that have any cycles; `make(channel, which)` fills one.
template <class Make>
void add_core_stack(const Make& make, UnitSeries& series) {
  wse::CoreStats names("wafer.core");
  const std::array<std::pair<const CycleCounter*, wse::CoreCycle>, 10> parts{
      {{&names.fma, wse::kFma},
       {&names.scalar, wse::kScalar},
       {&names.reduce, wse::kReduce},
       {&names.bank, wse::kConflict},
       {&names.residual, wse::kResidual},
       {&names.dispatch, wse::kDispatch},
       {&names.ring_out, wse::kWaitRingOut},
       {&names.buffer, wse::kWaitBuffer},
       {&names.weights, wse::kWaitWeights},
       {&names.ring_in, wse::kWaitRingIn}}};
  for (const auto& [counter, which] : parts) {
    UnitChannel made = make(stack_channel(*counter), which);
    const bool any = any_of(made.values, [](std::uint64_t value) { return value != 0; });
    if (any || which == wse::kFma) series.channels.push_back(std::move(made));
  }
}

void StreamedCores::add_stack() {
  add_core_stack(
      [&](UnitChannel made, wse::CoreCycle which) {
        return over_time(std::move(made), [&](const CoreMark& mark, std::size_t, std::size_t) {
          return mark[which];
        });
      },
      series_);
  add(done_channel(), [&](const CoreMark& mark, std::size_t step, std::size_t) {
    return left_of(series_.ends[step], mark, wse::kCoreCycles);
  });
}

/// Zeros that the filter kept out of a column are counted when a core comes to the end of their
/// row.
void StreamedCores::add_counts() {
  const wse::StreamingKernel& kernel = program_.kernel;
  const std::size_t columns = program_.columns;
  if (run_.plan.left_out != 0) {
    std::vector<std::uint64_t> zeros((kernel.steps + std::size_t{1}) * columns, 0);
    for (std::size_t step = 0; step < kernel.steps; ++step) {
      for (std::size_t c = 0; c < columns; ++c) {
        const std::uint32_t group = kernel.groups.group_of(static_cast<std::uint32_t>(c));
        const std::size_t place = step * kernel.groups.count + group;
        const bool is_row = run_.plan.row_of_step.at(place) != wse::kNoRow;
        const std::uint32_t all = is_row ? run_.plan.column_features.at(c) : 0;
        zeros[(step + 1) * columns + c] =
            zeros[step * columns + c] + more("a row of zeros", kernel.count(step, c), all);
      }
    }
    add(make_channel("zeros kept out", "elements",
                     "Zeros that the sender's filter left out of the rows that a core came to the "
                     "end of.",
                     ChannelGroup::count),
        [&](const CoreMark& mark, std::size_t, std::size_t c) {
          return zeros[mark[wse::kRowsDone] * columns + c];
        });
  }
  count("rows done", "rows",
        run_.resident ? "Tokens of X that a core came to the end of."
                      : "Rows of W that a core came to the end of.",
        wse::kRowsDone);
  count("link load, stream", "wavelets",
        "Words of the stream that a core took: what its column's link brought.", wse::kStreamWords);
  count("link load, sums", "wavelets",
        "Words of partial sums that a core passed on or kept: what its row's links bring and take.",
        wse::kSumWords);
  count("buffers in use", "vector-cycles",
        "Partial-sum vectors in use, added up over cycles: a queue between products and reduction.",
        wse::kBuffersInUse);
}

void StreamedCores::add_energy() {
  for (std::size_t place = 0; place < series_.stored_rows; ++place) {
    const std::uint32_t row = run_.fold.kept[place];
    for (std::size_t c = 0; c < series_.columns; ++c) {
      wse::RowCounts one;
      one.core = core(place, c);
      one.router = run_.kept.routers[place * program_.columns + c];
      one.ends.push_back(one.core.end);
      wse::WaferStats stats;
      stats.add_row(one, run_.fold, program_, run_.hardware, row,
                    run_.kept.cycles + Cycle{run_.fold.hops_behind(row)} * hop_);
      add_priced(series_, stats.core, place * series_.columns + c);
      add_priced(series_, stats.router, place * series_.columns + c);
    }
  }
}

void StreamedCores::add_notes() {
  const wse::StreamingKernel& kernel = program_.kernel;
  const char* const rows = run_.resident ? "outputs" : "tokens";
  std::uint64_t first = 0;
  for (std::size_t row = 0; row < series_.rows; ++row) {
    const std::uint32_t held = kernel.tokens[row];
    series_.row_notes.push_back(
        held == 0 ? fmt::format("holds no {}", rows)
                  : fmt::format("holds {} {}, {} to {}; its time begins in cycle {}", held, rows,
                                first, first + held - 1, series_.behind[row]));
    first += held;
  }
  std::vector<std::uint64_t> keeps(series_.columns, 0);
  for (const std::uint32_t column : kernel.final_column) {
    if (column < keeps.size()) ++keeps[column];
  }
  for (std::size_t c = 0; c < series_.columns; ++c) {
    series_.column_notes.push_back(fmt::format(
        "runs {} rows of {}: adds {} {} times {} input features, and keeps the sums of {} rows",
        kernel.steps, run_.resident ? "X" : "W", run_.plan.column_weights.at(c),
        run_.resident ? "activations" : "weights", run_.plan.column_features.at(c), keeps[c]));
  }
  series_.loss = fmt::format(
      "Every number is of one core and exact, {} of {} rows stored: the others did the same. A row "
      "is shown in its own time, which begins when its first word can be there, so many cycles "
      "after the run as it lies hops behind.",
      series_.stored_rows, series_.rows);
  if (run_.plan.rows_off != 0) {
    series_.loss += fmt::format(" {} further rows have nothing to do.", run_.plan.rows_off);
  }
}

}  // namespace

UnitSeries core_series(const MarkedRun& run) { return StreamedCores(run).build(); }

TaskMark task_mark(Cycle at, const wse::TaskOutcome& so_far) {
  TaskMark mark;
  mark.at = at;
  mark.cores.resize(so_far.cores.size());
  for (std::size_t i = 0; i < mark.cores.size(); ++i) {
    const wse::TaskCounters& core = so_far.cores[i];
    auto& counts = mark.cores[i];
    std::copy(core.cycles.begin(), core.cycles.end(), counts.begin());
    counts[static_cast<std::size_t>(wse::TaskCycle::idle)] = 0;  // it may have slept
    counts[wse::kTaskCycles] = core.sent;
    counts[wse::kTaskCycles + 1] = core.received;
    counts[wse::kTaskCycles + 2] = core.instructions;
  }
  return mark;
}

namespace {

/// Of marks of all cores at the ends of steps.
template <class Mark, class Value>
UnitChannel between(const std::vector<Mark>& marks, UnitChannel made, const Value& value) {
  return between(std::move(made), marks.size(), marks.back().cores.size(),
                 [&](std::size_t step, std::size_t core) { return value(marks[step], core); });
}

/// Of rows that are all stored, in steps that end with these marks; no channels yet.
template <class Mark>
UnitSeries stored_rows(const std::vector<Mark>& marks, std::uint32_t columns) {
  UnitSeries series;
  series.unit = "core";
  series.columns = columns;
  series.rows = static_cast<std::uint32_t>(marks.back().cores.size() / columns);
  series.source.resize(series.rows);
  std::iota(series.source.begin(), series.source.end(), 0U);
  series.timed = series.source;
  series.stored_rows = series.timed_rows = series.rows;
  for (const Mark& mark : marks) series.ends.push_back(mark.at);
  return series;
}

/// The channels of a TaskMark, and what its cycles leave of the time.
void add_task_marks(const std::vector<TaskMark>& marks, UnitSeries& series) {
  const auto add = [&](UnitChannel made, const auto& value) {
    series.channels.push_back(between(marks, std::move(made), value));
  };
  const auto counted = [](std::size_t which) {
    return [which](const TaskMark& mark, std::size_t i) { return mark.cores[i].at(which); };
  };
  wse::TaskCoreStats names("wafer.tasks");
  using wse::TaskCycle;
  const std::array<std::pair<const CycleCounter*, TaskCycle>, 9> parts{
      {{&names.vector, TaskCycle::vector},
       {&names.scalar, TaskCycle::scalar},
       {&names.special, TaskCycle::special},
       {&names.fabric, TaskCycle::fabric},
       {&names.bank, TaskCycle::conflict},
       {&names.residual, TaskCycle::residual},
       {&names.dispatch, TaskCycle::dispatch},
       {&names.wait_out, TaskCycle::wait_out},
       {&names.wait_in, TaskCycle::wait_in}}};
  for (const auto& [counter, cycle] : parts) {
    add(stack_channel(*counter), counted(static_cast<std::size_t>(cycle)));
  }
  add(stack_channel(names.drained), [](const TaskMark& mark, std::size_t i) {
    return left_of(mark.at, mark.cores[i], wse::kTaskCycles);
  });
  add(make_channel("words sent", "wavelets", "Put on the ramp by a core.", ChannelGroup::count),
      counted(wse::kTaskCycles));
  add(make_channel("words taken", "wavelets", "Taken by a core out of its queues.",
                   ChannelGroup::count),
      counted(wse::kTaskCycles + 1));
  add(make_channel("instructions", "instructions", "Tensor instructions started.",
                   ChannelGroup::count),
      counted(wse::kTaskCycles + 2));
}

}  // namespace

UnitSeries series_of_marks(const std::vector<TaskMark>& marks,
                           const std::vector<wse::RouterCounters>& routers, std::uint32_t columns) {
  UnitSeries series = stored_rows(marks, columns);
  add_task_marks(marks, series);
  add_links(routers, series);
  return series;
}

namespace {

/// What one core of a weight gradient is priced by.
void add_gradient_energy(const wse::WaferOutcome& run, const wse::Program& program,
                         const wse::HardwareParams& hardware, UnitSeries& series) {
  wse::Program alone;  // a wafer of one core, of what the counts of a core depend on
  const wse::StreamingKernel& kernel = program.kernel;
  alone.columns = alone.rows = 1;
  alone.kernel.weights = kernel.stream_color(0);
  alone.kernel.fp32 = kernel.fp32;
  alone.kernel.psum_fp32 = kernel.psum_fp32;
  alone.kernel.ring_fp32 = kernel.ring_fp32;
  alone.kernel.ring_elements = kernel.ring_elements;
  alone.kernel.simd = kernel.simd;
  for (std::size_t i = 0; i < run.cores.size(); ++i) {
    const std::size_t row = i / program.columns;
    alone.kernel.tokens.assign(1, std::max(1U, kernel.tokens[row]));
    wse::WaferOutcome one;
    one.cycles = run.cycles;
    one.cores.push_back(run.cores[i]);
    one.routers.push_back(run.routers[i]);
    wse::WaferStats stats;
    stats.collect_gradient(one, alone, hardware, 0);
    if (row + 1 != program.rows) stats.core.deliveries += run.cores[i].reductions;
    add_priced(series, stats.core, i);
    add_priced(series, stats.router, i);
  }
}

/// How the cycles of the cores divide at each mark, and what they have done by then.
void add_gradient_channels(const std::vector<GradientMark>& marks, UnitSeries& series) {
  add_core_stack(
      [&](UnitChannel made, wse::CoreCycle which) {
        return between(marks, std::move(made), [which](const GradientMark& mark, std::size_t i) {
          return mark.cores[i].cycles[which];
        });
      },
      series);
  series.channels.push_back(
      between(marks, done_channel(), [](const GradientMark& mark, std::size_t i) {
        return left_of(mark.at, mark.cores[i].cycles, wse::kDone);
      }));
  const auto add = [&](const char* name, const char* unit, const char* doc, const auto& count) {
    series.channels.push_back(
        between(marks, make_channel(name, unit, doc, ChannelGroup::count),
                [&](const GradientMark& mark, std::size_t i) { return mark.cores[i].*count; }));
  };
  add("words sent", "wavelets", "Put on the ramp by a core.", &wse::CoreCounters::sent);
  add("words taken", "wavelets", "Taken by a core out of its queues.",
      &wse::CoreCounters::received);
  add("positions done", "weights", "Dot products that were begun.", &wse::CoreCounters::weights);
}

}  // namespace

UnitSeries gradient_series(std::vector<GradientMark> marks, const wse::WaferOutcome& run,
                           const wse::Program& program, const wse::HardwareParams& hardware) {
  marks.push_back({run.cycles, run.cores});
  UnitSeries series = stored_rows(marks, program.columns);
  add_gradient_channels(marks, series);
  add_links(run.routers, series);
  add_gradient_energy(run, program, hardware, series);
  return series;
}

}  // namespace lacuna
