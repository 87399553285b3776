// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/wse/edge/lane_injectors.hpp"
#include "models/wse/engine/copy_row.hpp"
#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/lane_numbers.hpp"
#include "models/wse/engine/routed_sums.hpp"
#include "models/wse/engine/row_groups.hpp"
#include "models/wse/engine/streaming_outcome.hpp"
#include "models/wse/engine/streaming_row.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/share.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

/// What has a limit of cycles is given up where its rows, each stepped by itself, would be more
/// work than so many rows that take all of these cycles: a few rows differ in most layouts.
constexpr std::uint64_t kMostRowsOfLimit = 8;

/// So far from the limit as these shares of it, and again after each such share, it is looked how
/// much is done; what has sent less than kPace of the words that it should have by then, if words
/// went at an even pace, is given up. Words are sent before they are worked on and the last ones
/// are followed by sums, so that few products are faster towards their end.
constexpr Cycle kFirstLook = 4;
constexpr Cycle kLooks = 16;
constexpr double kPace = 0.9;

/// So often it is said how much has been sent.
constexpr Cycle kCyclesOfAShare = 4096;

[[noreturn]] void give_up(const std::string& why) {
  CycleLimitPassed passed(why);
  passed.unknown = true;
  throw passed;
}

void require_work(std::uint64_t row_steps, Cycle limit) {
  if (limit >= kNever / kMostRowsOfLimit || row_steps <= kMostRowsOfLimit * limit) return;
  give_up(fmt::format("more than {} steps of rows", kMostRowsOfLimit * limit));
}

/// Whether the limit, and the steps of rows that it is worth, may still be kept.
void require_pace(Cycle now, std::uint64_t row_steps, double sent, Cycle limit) {
  const double at_most = static_cast<double>(limit) / kPace;
  const auto cycles = static_cast<double>(now);
  if (cycles > sent * at_most) give_up(fmt::format("{:.0f} cycles at this pace", cycles / sent));
  require_work(static_cast<std::uint64_t>(static_cast<double>(row_steps) / sent * kPace), limit);
}

template <class Number, class Sums>
class Sweep final : public StreamingSweep {
 public:
  Sweep(const HardwareParams& params, const Program& program, bool fold, Cycle marks)
      : params_(params),
        program_(program),
        shared_(program),
        injectors_(params.router, program),
        metered_(LinkRule(params.router).on_links()),
        all_open_(whole_blocks<Number>(program.columns), -1),
        mark_length_(marks) {
    const std::vector<std::uint32_t>& tokens = program.kernel.tokens;
    const auto add_way = [&](bool north, std::uint32_t first, std::uint32_t count) {
      for (const RowClass& rows : classes_of(tokens, rows_from(first, count, north), fold)) {
        ways_[north ? 1 : 0].push_back({rows, make_row(rows.first)});
      }
      // With meters the last row, which sends no copy on, does other things than the others.
      Groups& way = ways_[north ? 1 : 0];
      if (metered_ && count != 0 && way.back().rows.first != way.back().rows.last) {
        RowClass& rows = way.back().rows;
        const RowClass end{rows.last, rows.last};
        rows.last = north ? rows.last + 1 : rows.last - 1;
        way.push_back({end, make_row(end.first)});
      }
    };
    const std::uint32_t entry = program.entry;
    const bool alike = fold && std::equal(tokens.begin() + 1, tokens.end(), tokens.begin());
    if (!program.both_ways() || (alike && !metered_)) {
      // Rows that are alike never hold each other up, so the way to the north does what the way
      // to the south does.
      add_way(false, entry, program.rows - entry);
    } else {
      ways_[0].push_back({{entry, entry}, make_row(entry)});
      add_way(false, entry + 1, program.rows - entry - 1);
      add_way(true, entry - 1, entry);
    }
    classes_ = groups();
    if (program.spread_rows != 0) copies_.emplace(params.router, program);
    carry_values();
    if (marks == 0) return;
    for (Groups& way : ways_) {
      for (RowGroup<Row>& group : way) group.row->count_beats();
    }
  }

  SweepOutcome run(Cycle limit) override {
    Cycle last_move = 0;
    std::uint64_t row_steps = 0;
    Cycle next_mark = mark_length_ == 0 ? kNever : mark_length_;
    Cycle next_look = limit == kNever ? kNever : limit / kFirstLook + 1;
    for (Cycle now = 0;; ++now) {
      if (now == next_mark) {
        mark();
        next_mark += mark_length_;
      }
      if (now % kCyclesOfAShare == 0) say_share(share_sent());
      const bool sent = injectors_.moved() || (copies_ && copies_->moved());
      step_rows(now);
      const bool moved = sent || row_moved();
      const std::size_t pending = rows_left();
      if (pending == 0) return outcome();
      if (now >= limit) throw CycleLimitPassed(fmt::format("more than {} cycles", limit));
      require_work(row_steps += groups(), limit);
      if (now == next_look) {
        require_pace(now, row_steps, share_sent(), limit);
        next_look += limit / kLooks + 1;
      }
      if (copies_) {
        copies_->arrive(injectors_.step(now, copies_->open()));
      } else {
        top().arrive(injectors_.step(now, top().open()));
      }
      if (moved) last_move = now;
      if (now - last_move > ClockDomain::kWatchdog) {
        throw DeadlockError(injectors_.deadlock(last_move, pending, program_.rows));
      }
    }
  }

 private:
  using Row = StreamingRow<Number, Sums>;
  using Groups = RowGroups<Row>;

  std::unique_ptr<Row> make_row(std::uint32_t row) const {
    return std::make_unique<Row>(params_, shared_, program_.kernel.tokens[row], row);
  }
  Row& top() { return *ways_[0].front().row; }
  double share_sent() const {
    const auto words = static_cast<double>(injectors_.words());
    return words == 0 ? 1 : 1 - static_cast<double>(injectors_.words_left()) / words;
  }
  std::uint32_t groups() const {
    return static_cast<std::uint32_t>(ways_[0].size() + ways_[1].size());
  }
  void step_rows(Cycle now) {
    if (copies_) {
      copies_->step(top().takes());
      top().arrive(copies_->copied());
    }
    if (groups() > 1 || metered_ || copies_) {
      step_groups(now);
    } else {
      top().step(now);
    }
  }
  /// Rows that have not finished.
  std::size_t rows_left() const {
    std::size_t left = 0;
    for (const Groups& way : ways_) {
      for (const RowGroup<Row>& group : way) left += group.row->finished() ? 0 : group.rows.count();
    }
    return left;
  }
  bool row_moved() const {
    const auto moved = [](const RowGroup<Row>& group) { return group.row->moved(); };
    return std::any_of(ways_[0].begin(), ways_[0].end(), moved) ||
           std::any_of(ways_[1].begin(), ways_[1].end(), moved);
  }
  void step_groups(Cycle now);
  void step_way(Groups& way, std::size_t first, Cycle now);
  void part(Groups& way, std::size_t group);
  SweepOutcome outcome();
  std::vector<std::size_t> group_of_row() const;
  FoldPlan fold(const std::vector<std::size_t>& group) const;
  void carry_values();
  void mark();
  WaferMarks take_marks();

  const HardwareParams params_;
  const Program& program_;
  const SumStreams shared_;
  /// From where words enter to the south, and from the row above it to the north.
  std::array<Groups, 2> ways_;
  std::uint32_t classes_ = 0;
  std::optional<CopyRow<Number>> copies_;  // the row before the first with tokens
  LaneInjectors<Number> injectors_;
  const bool metered_;  // links are shut after so many words
  const std::vector<Number> all_open_;
  std::vector<RowValues> values_;  // by row; without values empty
  Cycle mark_length_;              // 0: no marks are made
  std::uint64_t marked_ = 0;       // cores, all marks together
};

/// Each row has a group of its own then.
template <class Number, class Sums>
void Sweep<Number, Sums>::carry_values() {
  if (program_.kernel.activations.empty()) return;
  for (std::uint32_t row = 0; row < program_.rows; ++row) values_.emplace_back(program_, row);
  for (Groups& way : ways_) {
    for (RowGroup<Row>& group : way) group.row->carry(values_[group.rows.first]);
  }
}

/// Each group in its own time.
template <class Number, class Sums>
void Sweep<Number, Sums>::mark() {
  marked_ += std::uint64_t{groups()} * program_.columns;
  require_marks(marked_);
  for (Groups& way : ways_) {
    for (RowGroup<Row>& group : way) group.marks.push_back(group.row->mark());
  }
}

template <class Number, class Sums>
WaferMarks Sweep<Number, Sums>::take_marks() {
  WaferMarks marks;
  for (const std::size_t group : group_of_row()) {
    marks.row_of.push_back(static_cast<std::uint32_t>(group));
  }
  for (Groups& way : ways_) {
    for (RowGroup<Row>& group : way) marks.rows.push_back(std::move(group.marks));
  }
  return marks;
}

/// A cycle of all groups, from where words enter to the ends, each in its local time. What a row
/// learns of the next is a hop and a cycle old, so that row's previous cycle tells it.
template <class Number, class Sums>
void Sweep<Number, Sums>::step_groups(Cycle now) {
  if (ways_[1].empty()) return step_way(ways_[0], 0, now);
  const bool ends = ways_[0].size() == 1;
  top().step(now,
             {ends ? &all_open_ : &ways_[0][1].row->takes(), &ways_[1].front().row->takes(), ends});
  step_way(ways_[0], 1, now);
  ways_[1].front().row->arrive(top().copied_back());
  step_way(ways_[1], 0, now);
}

/// From group `first` on. Only the last row of a group has a neighbour that does other things than
/// itself; when that one does not take a copy at once, this row goes its own way from then on.
template <class Number, class Sums>
void Sweep<Number, Sums>::step_way(Groups& way, std::size_t first, Cycle now) {
  for (std::size_t i = first; i < way.size(); ++i) {
    if (i != 0) way[i].row->arrive(way[i - 1].row->copied());
    const bool alone = way[i].rows.first == way[i].rows.last;
    const bool behind = i + 1 < way.size();
    const std::vector<Number>* open = behind ? &way[i + 1].row->takes() : &all_open_;
    if (behind && !alone) {
      if (way[i].row->meets_shut()) {
        part(way, i);
        open = &way[i + 1].row->takes();
      } else {
        if (way[i].row->meets_closed(*open)) split_last(way, i);
        open = &all_open_;
      }
    }
    way[i].row->step(now, {open, nullptr, !behind});
  }
}

/// Takes the first row out of a group: a shut link delays a copy for the others, not for itself.
template <class Number, class Sums>
void Sweep<Number, Sums>::part(Groups& way, std::size_t group) {
  RowGroup<Row>& whole = way[group];
  const std::uint32_t first = whole.rows.first;
  RowGroup<Row> others{{whole.rows.last > first ? first + 1 : first - 1, whole.rows.last},
                       std::make_unique<Row>(whole.row->follower()),
                       whole.marks};
  whole.rows.last = first;
  way.insert(way.begin() + static_cast<std::ptrdiff_t>(group) + 1, std::move(others));
}

/// The group of each row, those to the north behind those to the south.
template <class Number, class Sums>
std::vector<std::size_t> Sweep<Number, Sums>::group_of_row() const {
  std::vector<std::size_t> group_of(program_.rows, 0);
  std::size_t group = 0;
  for (const Groups& way : ways_) {
    for (const RowGroup<Row>& mine : way) {
      const auto [first, last] = std::minmax(mine.rows.first, mine.rows.last);
      for (std::uint32_t row = first; row <= last; ++row) group_of[row] = group;
      ++group;
    }
  }
  return group_of;
}

/// The rows that are kept: of each group the one nearest to where words enter, by the ways on
/// which its rows send copies.
template <class Number, class Sums>
FoldPlan Sweep<Number, Sums>::fold(const std::vector<std::size_t>& group_of) const {
  const std::uint32_t entry = program_.entry;
  std::vector<std::uint32_t> stands_for(program_.rows);
  const auto kept_as = [&](std::uint32_t row, std::uint32_t before) {
    const bool end = row == 0 || row + 1 == program_.rows;
    const bool repeats = before != entry && group_of[row] == group_of[before] && !end;
    stands_for[row] = repeats ? stands_for[before] : row;
  };
  stands_for[entry] = entry;
  for (std::uint32_t row = entry + 1; row < program_.rows; ++row) kept_as(row, row - 1);
  for (std::uint32_t row = entry; row-- != 0;) kept_as(row, row + 1);
  FoldPlan fold;
  if (!program_.kernel.held.empty()) fold.refused = kRowsDiffer;
  fold.classes = classes_;
  fold.entry = entry;
  std::vector<std::uint32_t> place(program_.rows);
  for (std::uint32_t row = 0; row < program_.rows; ++row) {
    place[row] = static_cast<std::uint32_t>(fold.kept.size());
    if (stands_for[row] == row) fold.kept.push_back(row);
  }
  for (const std::uint32_t row : stands_for) fold.representative.push_back(place[row]);
  fold.kept_entry = place[entry];
  return fold;
}

template <class Number, class Sums>
SweepOutcome Sweep<Number, Sums>::outcome() {
  const StreamingOutcome known(params_, program_);
  const std::vector<std::size_t> group_of = group_of_row();
  SweepOutcome swept{fold(group_of), {}, groups(), {}};
  if (mark_length_ != 0) swept.marks = take_marks();
  WaferOutcome& outcome = swept.kept;
  const std::size_t columns = program_.columns;
  outcome.cores.resize(swept.fold.kept.size() * columns);
  outcome.routers.resize(outcome.cores.size());
  for (std::uint32_t place = 0; place < swept.fold.kept.size(); ++place) {
    const std::uint32_t row = swept.fold.kept[place];
    if (row < program_.spread_rows) {
      copies_->add_counters(known.streamed_words(), &outcome.routers[place * columns]);
      continue;
    }
    const std::size_t group = group_of[row];
    const std::size_t south = ways_[0].size();
    Row& from = *(group < south ? ways_[0][group] : ways_[1][group - south]).row;
    const std::uint32_t entry = swept.fold.kept_entry;
    const std::uint32_t hops = std::max(place, entry) - std::min(place, entry);
    // The rows keep the time of the first of them, which is a hop behind a row that copies.
    const Cycle behind =
        Cycle{hops + program_.spread_rows} * QueueShapes(params_.router).link().latency;
    const std::vector<LaneCounts>& counts = from.counts();
    for (std::uint32_t c = 0; c < columns; ++c) {
      CoreCounters& mine = outcome.cores[place * columns + c];
      mine = known.core(c, counts[c], row, behind);
      outcome.cycles = std::max(outcome.cycles, mine.end);
    }
    RouterCounters* const routers = &outcome.routers[place * columns];
    known.add_routers(row, counts, routers);
    from.add_stalls(program_, routers);
    if (from.end() != 0) outcome.routers[place * columns].end = from.end() + behind;
    outcome.cycles = std::max(outcome.cycles, outcome.routers[place * columns].end);
  }
  for (CoreCounters& core : outcome.cores) core.cycles[kDone] = outcome.cycles - core.end;
  outcome.injectors = injectors_.counters(outcome.cycles);
  for (const RowValues& row : values_) {
    for (std::uint32_t c = 0; c < columns; ++c) outcome.results.push_back(row.result(c));
  }
  return swept;
}

/// Calls `run` with a Number that holds every number of the program.
template <class Run>
auto in_lanes_of(const HardwareParams& params, const Program& program, const Run& run) {
  return in_lanes(largest_in_lanes(params, program), QueueShapes(params.router).longest(), run);
}

template <class Number>
std::unique_ptr<StreamingSweep> make_sweep(const HardwareParams& params, const Program& program,
                                           bool fold, Cycle marks) {
  if (program.kernel.exchange.on()) {
    return std::make_unique<Sweep<Number, RoutedSums<Number, true>>>(params, program, fold, marks);
  }
  return std::make_unique<Sweep<Number, RoutedSums<Number, false>>>(params, program, fold, marks);
}

}  // namespace

bool lanes_can_stream(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  // Who carries the numbers of a row knows no exchange. Who counts the elements that a word meets
  // looks for the word in the column's own stream.
  const bool values = !kernel.activations.empty();
  if (kernel.exchange.on() && values) return false;
  if (!kernel.held.empty() && (values || program.spread_rows != 0)) return false;
  return reason_against_lanes(params.router).empty() && *reason_against_copy_row(program) == 0 &&
         kernel.steps != 0 && program.columns > 1 && program.rows != 0 && !program.gradient &&
         QueueShapes(params.router).flows() &&
         reason_against_own_time(program, params, {}).empty() &&
         in_lanes_of(params, program, [](auto /*number*/) { return true; });
}

std::unique_ptr<StreamingSweep> make_streaming_sweep(const HardwareParams& params,
                                                     const Program& program, bool fold,
                                                     Cycle marks) {
  if (!lanes_can_stream(params, program)) return nullptr;
  const bool alike = program.kernel.activations.empty() && program.kernel.held.empty();
  return in_lanes_of(params, program, [&](auto number) {
    return make_sweep<decltype(number)>(params, program, fold && alike, marks);
  });
}

namespace {

/// A sweep as a block of a clock domain: it looks ahead to the end of the run at once.
class SweepBlock final : public Clocked {
 public:
  SweepBlock(StreamingSweep& sweep, ClockDomain& clock, Cycle limit)
      : sweep_(sweep), clock_(clock), limit_(limit) {}

  Cycle step(Cycle now) override {
    if (!outcome_) outcome_ = sweep_.run(limit_);
    clock_.stop(outcome_ ? outcome_->kept.cycles - 1 : now);
    if (outcome_) clock_.moved(outcome_->kept.cycles - 1);
    return kNever;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // the outcome accounts for every cycle

  std::optional<SweepOutcome>& outcome() { return outcome_; }

 private:
  StreamingSweep& sweep_;
  ClockDomain& clock_;
  Cycle limit_;
  std::optional<SweepOutcome> outcome_;
};

}  // namespace

std::optional<SweepOutcome> sweep(const HardwareParams& params, const Program& program,
                                  const RunOptions& options) {
  const bool plain = options.jitter == 0 && !options.event_log && !options.modules && !options.look;
  const bool one_by_one = options.engine == Engine::clocked && options.shuffle != 0;
  // Rows behind some that copy keep another time than RowWatch has them.
  const bool marks_behind = options.marks != 0 && program.spread_rows != 0;
  // Marks know no beats of elements, and no row that differs is worth being given up.
  const bool held = !program.kernel.held.empty();
  const bool held_one_by_one =
      options.marks != 0 || options.engine == Engine::clocked || options.shuffle != 0;
  if (!plain || one_by_one || marks_behind || (held && held_one_by_one)) return {};
  const std::unique_ptr<StreamingSweep> sweep =
      make_streaming_sweep(params, program, options.fold, options.marks);
  if (sweep == nullptr) return {};
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), options.engine);
  SweepBlock block(*sweep, clock, held ? kNever : options.limit);
  clock.add(block, "wafer");
  clock.run_until_done();
  return std::move(block.outcome());
}

}  // namespace lacuna::wse
