// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/streaming_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/wse/engine/copy_row.hpp"
#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/lane_width.hpp"
#include "models/wse/engine/routed_reduction.hpp"
#include "models/wse/engine/rows_in_lanes.hpp"
#include "models/wse/engine/streaming_outcome.hpp"
#include "models/wse/engine/streaming_row.hpp"
#include "models/wse/fabric/lane_limits.hpp"
#include "models/wse/fabric/queue.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/share.hpp"

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

template <class Row>
class StreamingRows {
 public:
  StreamingRows(const HardwareParams& params, const Program& program, bool fold, Cycle marks)
      : params_(params),
        program_(program),
        rows_(params, program, fold),
        classes_(rows_.groups()),
        mark_length_(marks) {
    carry_values();
    if (marks == 0) return;
    rows_.for_each_group([](RowGroup<Row>& group) { group.row->count_beats(); });
  }

  LanesOutcome run(Cycle limit) {
    std::uint64_t row_steps = 0;
    Cycle next_mark = mark_length_ == 0 ? kNever : mark_length_;
    Cycle next_look = limit == kNever ? kNever : limit / kFirstLook + 1;
    const auto begins = [&](Cycle now) {
      if (now == next_mark) {
        mark();
        next_mark += mark_length_;
      }
      if (now % kCyclesOfAShare == 0) say_share(share_sent());
    };
    const auto ends = [&](Cycle now, std::size_t left, bool /*moved*/) {
      if (left == 0) return true;
      if (now >= limit) throw CycleLimitPassed(fmt::format("more than {} cycles", limit));
      require_work(row_steps += rows_.groups(), limit);
      if (now == next_look) {
        require_pace(now, row_steps, share_sent(), limit);
        next_look += limit / kLooks + 1;
      }
      return false;
    };
    rows_.run(begins, ends);
    return outcome();
  }

 private:
  using Number = typename Row::Number;

  double share_sent() {
    const auto words = static_cast<double>(rows_.injectors().words());
    return words == 0 ? 1 : 1 - static_cast<double>(rows_.injectors().words_left()) / words;
  }
  LanesOutcome outcome();
  FoldPlan fold(const std::vector<std::size_t>& group) const;
  void carry_values();
  void mark();
  WaferMarks take_marks();

  const HardwareParams params_;
  const Program& program_;
  RowsInLanes<Row> rows_;
  const std::uint32_t classes_;
  std::vector<RowValues> values_;  // by row; without values empty
  Cycle mark_length_;              // 0: no marks are made
  std::uint64_t marked_ = 0;       // cores, all marks together
};

/// Each row has a group of its own then.
template <class Row>
void StreamingRows<Row>::carry_values() {
  if (program_.kernel.activations.empty()) return;
  for (std::uint32_t row = 0; row < program_.rows; ++row) values_.emplace_back(program_, row);
  rows_.for_each_group([&](RowGroup<Row>& group) { group.row->carry(values_[group.rows.first]); });
}

/// Each group in its own time.
template <class Row>
void StreamingRows<Row>::mark() {
  marked_ += std::uint64_t{rows_.groups()} * program_.columns;
  require_marks(marked_);
  rows_.for_each_group([](RowGroup<Row>& group) { group.marks.push_back(group.row->mark()); });
}

template <class Row>
WaferMarks StreamingRows<Row>::take_marks() {
  WaferMarks marks;
  for (const std::size_t group : rows_.group_of_row()) {
    marks.row_of.push_back(static_cast<std::uint32_t>(group));
  }
  rows_.for_each_group([&](RowGroup<Row>& group) { marks.rows.push_back(std::move(group.marks)); });
  return marks;
}

/// The rows that are kept: of each group and number of tokens the one nearest to where words enter,
/// by the ways on which its rows send copies.
template <class Row>
FoldPlan StreamingRows<Row>::fold(const std::vector<std::size_t>& group_of) const {
  const std::uint32_t entry = program_.entry;
  const std::vector<std::uint32_t>& tokens = program_.kernel.tokens;
  std::vector<std::uint32_t> stands_for(program_.rows);
  const auto kept_as = [&](std::uint32_t row, std::uint32_t before) {
    const bool end = row == 0 || row + 1 == program_.rows;
    const bool same = group_of[row] == group_of[before] && tokens[row] == tokens[before];
    const bool repeats = before != entry && same && !end;
    stands_for[row] = repeats ? stands_for[before] : row;
  };
  stands_for[entry] = entry;
  for (std::uint32_t row = entry + 1; row < program_.rows; ++row) kept_as(row, row - 1);
  for (std::uint32_t row = entry; row-- != 0;) kept_as(row, row + 1);
  FoldPlan fold;
  if (!program_.kernel.held.empty()) fold.refused = kRowsDiffer;
  fold.classes = classes_;
  fold.keep(stands_for, entry);
  return fold;
}

template <class Row>
LanesOutcome StreamingRows<Row>::outcome() {
  const StreamingOutcome known(params_, program_);
  const std::vector<std::size_t> group_of = rows_.group_of_row();
  std::vector<Row*> groups;
  rows_.for_each_group([&](RowGroup<Row>& group) { groups.push_back(group.row.get()); });
  LanesOutcome result{fold(group_of), {}, rows_.groups(), {}};
  if (mark_length_ != 0) result.marks = take_marks();
  WaferOutcome& outcome = result.kept;
  const std::size_t columns = program_.columns;
  outcome.cores.resize(result.fold.kept.size() * columns);
  outcome.routers.resize(outcome.cores.size());
  for (std::uint32_t place = 0; place < result.fold.kept.size(); ++place) {
    const std::uint32_t row = result.fold.kept[place];
    if (row < program_.distribution_rows) {
      rows_.copies()->add_counters(known.streamed_words(), &outcome.routers[place * columns]);
      continue;
    }
    Row& from = *groups[group_of[row]];
    const std::uint32_t entry = result.fold.kept_entry;
    const std::uint32_t hops = std::max(place, entry) - std::min(place, entry);
    // The rows keep the time of the first of them, which is a hop behind a row that copies.
    const Cycle behind =
        Cycle{hops + program_.distribution_rows} * QueueShapes(params_.router).link().latency;
    const std::vector<LaneCounts>& counts = from.counts();
    for (std::uint32_t c = 0; c < columns; ++c) {
      CoreCounters& mine = outcome.cores[place * columns + c];
      mine = known.core(c, counts[c], row, behind);
      outcome.cycles = std::max(outcome.cycles, mine.end);
    }
    RouterCounters* const routers = &outcome.routers[place * columns];
    known.add_routers(row, counts, routers);
    from.add_counts(program_, routers);
    if (from.end() != 0) outcome.routers[place * columns].end = from.end() + behind;
    outcome.cycles = std::max(outcome.cycles, outcome.routers[place * columns].end);
  }
  for (CoreCounters& core : outcome.cores) core.cycles[kDone] = outcome.cycles - core.end;
  outcome.injectors = rows_.injectors().counters(outcome.cycles);
  for (const RowValues& row : values_) {
    for (std::uint32_t c = 0; c < columns; ++c) outcome.results.push_back(row.result(c));
  }
  return result;
}

/// Calls `run` with a Number that holds every number of the program.
template <class Run>
auto in_lanes_of(const HardwareParams& params, const Program& program, const Run& run) {
  return in_lanes(largest_in_lanes(params, program), QueueShapes(params.router).longest(), run);
}

template <class Row>
LanesOutcome run_rows(const HardwareParams& params, const Program& program,
                      const RunOptions& options) {
  const StreamingKernel& kernel = program.kernel;
  // rows behind the first of a group stall as it does, and hold fewer words
  const bool alike = kernel.activations.empty() && kernel.held.empty() && kBufferCounts == 1;
  StreamingRows<Row> rows(params, program, options.fold && alike, options.marks);
  // no row that differs is worth being given up
  return rows.run(kernel.held.empty() ? options.limit : kNever);
}

template <class Number>
LanesOutcome run_lanes(const HardwareParams& params, const Program& program,
                       const RunOptions& options) {
  using Plain = StreamingRow<Number, RoutedReduction<Number, false>>;
  using Exchanging = StreamingRow<Number, RoutedReduction<Number, true>>;
  return program.kernel.exchange.on() ? run_rows<Exchanging>(params, program, options)
                                      : run_rows<Plain>(params, program, options);
}

/// Why a run of a program is not one in lanes; empty if it is.
std::string reason_against(const HardwareParams& params, const Program& program,
                           const RunOptions& options) {
  const bool clocked = options.engine == Engine::clocked;
  const bool shuffled = clocked && options.shuffle != 0;
  const char* const units = shuffled ? "units are stepped in another order" : options.for_units();
  if (*units != 0) return units;
  if (options.marks != 0 && program.distribution_rows != 0) {
    return "rows behind some that copy keep another time than a watch of rows has";
  }
  // Marks know no beats of elements.
  if (!program.kernel.held.empty() && (options.marks != 0 || clocked || options.shuffle != 0)) {
    return "cores that hold single elements are looked at one by one";
  }
  return reason_against_stream_lanes(params, program);
}

}  // namespace

std::string reason_against_stream_lanes(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  if (program.gradient) return "cores form a weight gradient";
  const bool values = !kernel.activations.empty();
  if (kernel.exchange.on() && values) return "groups of columns exchange values";
  if (!kernel.held.empty() && values) return "cores that hold single elements carry values";
  // Who counts the elements that a word meets looks for the word in the column's own stream.
  if (!kernel.held.empty() && program.distribution_rows != 0) {
    return "cores hold single elements, and several columns share a stream";
  }
  if (kernel.steps == 0 || program.rows == 0) return "there is nothing to do";
  if (program.columns == 1) return "there is one column";
  std::string reason = reason_against_lanes(params.router);
  if (reason.empty()) reason = reason_against_copy_row(program);
  if (reason.empty() && !QueueShapes(params.router).flows()) {
    reason = "words stop in every router (router.entries = 1)";
  }
  if (reason.empty()) reason = reason_against_own_time(program, params, {});
  if (!reason.empty()) return reason;
  const bool fits = in_lanes_of(params, program, [](auto /*number*/) { return true; });
  return fits ? "" : "a number of it is too large for a lane";
}

std::optional<LanesOutcome> stream_in_lanes(const HardwareParams& params, const Program& program,
                                            const RunOptions& options, std::string* refused) {
  std::string reason = reason_against(params, program, options);
  if (refused != nullptr) *refused = reason;
  if (!reason.empty()) return {};
  return in_lanes_of(params, program, [&](auto number) {
    return std::optional(run_lanes<decltype(number)>(params, program, options));
  });
}

}  // namespace lacuna::wse
