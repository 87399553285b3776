// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/system/event_kinds.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/report/json_view.hpp"

namespace lacuna {

namespace {

using system::SegmentResult;
using system::TimeStack;
using Span = ChipHistory::Span;

constexpr std::size_t kMostSteps = 4096;

/// A stretch of a part in which no chip begins anything else, of a length, or the whole part.
struct Stretch {
  Cycle end = 0;
  std::vector<std::uint64_t> ns;  // by chip, and of a chip by use
};

/// The time of each chip is the sum of its spans, or InternalError.
void check_spans(const std::vector<Span>& spans, const std::vector<TimeStack>& chips,
                 std::uint32_t shown) {
  std::vector<TimeStack> sums(shown, TimeStack{});
  for (const Span& span : spans) sums[span.chip].at(span.use) += span.end - span.begin;
  for (std::uint32_t chip = 0; chip < shown; ++chip) {
    if (sums[chip] == chips[chip]) continue;
    throw InternalError(
        fmt::format("the events of chip {} are not the time that it is accounted for", chip));
  }
}

/// Where a part is cut: wherever a chip begins something else, or every `length` ns.
std::set<Cycle> ends_of(const ChipHistory::Part& part, Cycle length) {
  std::set<Cycle> ends;
  if (length == 0) {
    for (const Span& span : part.spans) ends.insert(span.end);
  } else {
    for (Cycle end = length; end < part.ns; end += length) ends.insert(end);
  }
  ends.insert(part.ns);
  return ends;
}

/// `length`: of all stretches but the last; 0: each ends where a chip begins something else.
std::vector<Stretch> stretches_of(const ChipHistory::Part& part, std::uint32_t chips,
                                  system::Uses uses, Cycle length) {
  std::vector<Stretch> stretches;
  const std::size_t count = uses.end - uses.first;
  for (const Cycle end : ends_of(part, length)) {
    stretches.push_back({end, std::vector<std::uint64_t>(chips * count)});
  }
  for (const Span& span : part.spans) {
    Cycle begin = span.begin;
    const auto after = [](Cycle at, const Stretch& stretch) { return at < stretch.end; };
    auto at = std::upper_bound(stretches.begin(), stretches.end(), begin, after);
    for (; begin < span.end; ++at) {
      const Cycle end = std::min(span.end, at->end);
      at->ns[span.chip * count + span.use - uses.first] += end - begin;
      begin = end;
    }
  }
  return stretches;
}

/// The steps of a page: those of all parts, in the order in which they are run.
class ChipSteps {
 public:
  explicit ChipSteps(const ChipHistory& history)
      : history_(history), uses_(history.uses.end - history.uses.first) {
    Cycle ns = 0;
    for (const ChipHistory::Run& run : history.order) {
      runs_ += run.times;
      ns += run.times * history.parts[run.part].ns;
    }
    const std::uint64_t most = std::min<std::uint64_t>(
        kMostSteps, kMostViewNumbers / std::max<std::size_t>(history.chips * uses_, 1));
    cut();
    if (steps() <= most) return;
    // each run has a last stretch that is shorter
    whole_ = 2 * runs_ > most;
    length_ = whole_ ? kNever : (ns + most - runs_ - 1) / (most - runs_);
    cut();
  }

  void add_to(UnitSeries& series) const;

 private:
  void cut() {
    fine_.clear();
    for (const ChipHistory::Part& part : history_.parts) {
      fine_.push_back(stretches_of(part, history_.chips, history_.uses, length_));
    }
  }
  std::uint64_t steps() const {
    std::uint64_t all = 0;
    for (const ChipHistory::Run& run : history_.order) all += run.times * fine_[run.part].size();
    return all;
  }
  std::vector<std::string> names() const;
  std::string loss() const;

  const ChipHistory& history_;
  std::size_t uses_;                        // how many
  std::vector<std::vector<Stretch>> fine_;  // by part
  std::uint64_t runs_ = 0;
  Cycle length_ = 0;  // of steps; 0: they end where a chip begins something else
  bool whole_ = false;
};

/// "layer 3 of 28": of parts of one name the number of the run.
std::vector<std::string> ChipSteps::names() const {
  std::map<std::string, std::uint64_t> all;
  for (const ChipHistory::Run& run : history_.order) all[run.name] += run.times;
  std::map<std::string, std::uint64_t> so_far;
  std::vector<std::string> names;
  for (const ChipHistory::Run& run : history_.order) {
    for (std::uint64_t i = 0; i < run.times; ++i) {
      const std::uint64_t number = ++so_far[run.name];
      names.push_back(all[run.name] == 1
                          ? run.name
                          : fmt::format("{} {} of {}", run.name, number, all[run.name]));
    }
  }
  return names;
}

void ChipSteps::add_to(UnitSeries& series) const {
  const std::vector<std::string> titles = names();
  std::vector<const Stretch*> steps;
  UnitChannel held;
  held.name = "held";
  held.unit = "B";
  held.doc = "Memory that is taken at most while the segment is run.";
  Cycle begin = 0;
  std::size_t run = 0;
  for (const ChipHistory::Run& each : history_.order) {
    for (std::uint64_t i = 0; i < each.times; ++i, ++run) {
      for (const Stretch& stretch : fine_[each.part]) {
        steps.push_back(&stretch);
        series.ends.push_back(begin + stretch.end);
        series.step_names.push_back(titles[run]);
        append(held.values, each.held);
      }
      begin = series.ends.back();
    }
  }
  for (std::size_t use = 0; use < uses_; ++use) {
    const system::UseText& text = text_of(static_cast<system::Use>(history_.uses.first + use));
    UnitChannel made;
    made.name = text.name;
    made.unit = "ns";
    made.doc = text.doc;
    made.group = UnitChannel::Group::stack;
    made.layer = text.layer;
    for (const Stretch* const step : steps) {
      for (std::uint32_t chip = 0; chip < history_.chips; ++chip) {
        made.values.push_back(step->ns[chip * uses_ + use]);
      }
    }
    series.channels.push_back(std::move(made));
  }
  if (!held.values.empty()) series.channels.push_back(std::move(held));
  series.loss = loss();
}

std::string ChipSteps::loss() const {
  if (whole_) {
    return fmt::format(
        "Each of the {} {} is a step: when its chips did what within it is "
        "lost. Every number is of one chip and exact.",
        runs_, history_.parts_are);
  }
  if (length_ != 0) {
    return fmt::format(
        "A step is {} ns, or what is left of its {}: when its chips did what within it is "
        "lost. Every number is of one chip and exact.",
        length_, history_.part_is);
  }
  return "A step ends where a chip begins something else: nothing is lost.";
}

}  // namespace

std::vector<Span> chip_spans(const std::vector<Event>& events, std::uint32_t chips) {
  std::vector<Span> spans;
  std::vector<Cycle> begun(chips, 0);
  for (const Event& event : events) {
    if (event.unit >= chips || event.kind >= 2 * system::kUses) continue;
    const bool first = event.kind % 2 == 0;
    if (first) begun[event.unit] = event.cycle;
    if (first || event.cycle + 1 <= begun[event.unit]) continue;
    spans.push_back({event.unit, event.kind / 2U, begun[event.unit], event.cycle + 1});
  }
  return spans;
}

UnitSeries history_series(const ChipHistory& history, std::uint32_t columns) {
  const std::uint32_t rows = history.chips / columns;
  UnitSeries series;
  series.unit = "chip";
  series.columns = columns;
  series.rows = series.stored_rows = series.timed_rows = rows;
  series.source.resize(rows);
  std::iota(series.source.begin(), series.source.end(), 0U);
  series.timed = series.source;
  series.numbers.resize(history.chips);
  std::iota(series.numbers.begin(), series.numbers.end(), 1U);
  ChipSteps(history).add_to(series);
  return series;
}

void add_bytes(const char* name, const char* doc, std::vector<std::uint64_t> of_chips,
               UnitSeries& series) {
  UnitChannel made;
  made.name = name;
  made.unit = "B";
  made.doc = doc;
  made.group = UnitChannel::Group::whole;
  made.values = std::move(of_chips);
  series.channels.push_back(std::move(made));
}

UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows,
                       const std::vector<std::uint32_t>& places) {
  ChipHistory history;
  history.chips = columns * rows;
  history.uses = system::kUsesOfLinks;
  for (const SegmentResult& segment : run.segments) {
    history.parts.push_back({segment.ns, chip_spans(segment.events, history.chips)});
    check_spans(history.parts.back().spans, segment.chips, history.chips);
  }
  for (const system::Repeat& repeat : program.order) {
    history.order.push_back({repeat.segment, repeat.times, program.segments[repeat.segment].name});
  }
  if (places.empty()) return history_series(history, columns);
  const std::uint32_t count = *std::max_element(places.begin(), places.end()) + 1;
  const auto memory = memory_over(program, count);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    for (const std::uint32_t place : places) {
      history.order[i].held.push_back(memory[i][place].total());
    }
  }
  return history_series(history, columns);
}

namespace {

/// Columns of the page of chips that are a replica each: as near to a square as divides them.
std::uint32_t columns_of(std::uint32_t chips) {
  std::uint32_t columns = 1;
  for (std::uint32_t side = 1; std::uint64_t{side} * side <= chips; ++side) {
    if (chips % side == 0) columns = side;
  }
  return columns;
}

/// What the chips of a stage hold at most, in any phase of the training.
void add_memory(const system::TrainingParams& training, const TrainingResult& result,
                UnitSeries& series) {
  const std::uint32_t of_replica = training.pipeline * training.tensor;
  std::vector<std::uint64_t> bytes(of_replica, 0);
  for (const system::MemoryAccount& account : result.memory) {
    for (unsigned shard = 0; shard < training.tensor; ++shard) {
      std::uint64_t& most = bytes.at(account.chip * training.tensor + shard);
      most = std::max(most, account.use.total());
    }
  }
  std::vector<std::uint64_t> all;
  for (std::uint32_t chip = 0; chip < series.columns * series.rows; ++chip) {
    all.push_back(bytes[chip % of_replica]);
  }
  add_bytes("memory", "What the chip keeps, in the phase in which that is most.", all, series);
}

}  // namespace

UnitSeries training_series(const system::TrainingParams& training, const TrainingResult& result) {
  const auto chips = static_cast<std::uint32_t>(training.chips());
  const std::uint32_t of_replica = training.pipeline * training.tensor;
  const std::uint32_t columns = of_replica == 1 ? columns_of(chips) : of_replica;
  std::vector<std::uint32_t> places;
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    places.push_back(chip % of_replica / training.tensor);
  }
  UnitSeries series = chip_series(result.program, result.run, columns, chips / columns, places);
  add_memory(training, result, series);
  if (of_replica == 1) return series;
  for (std::uint32_t replica = 0; replica < series.rows; ++replica) {
    series.row_notes.push_back(fmt::format("replica {} of {}", replica, series.rows));
  }
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint32_t chip = column / training.tensor;
    series.column_notes.push_back(
        training.tensor == 1 ? fmt::format("place {} of the pipeline", chip)
                             : fmt::format("place {} of the pipeline, shard {} of {}", chip,
                                           column % training.tensor, training.tensor.value()));
  }
  return series;
}

namespace {

/// Gives each part what of `spans` lies in it; parts follow each other and have no spans yet.
void deal_out(const std::vector<Span>& spans, std::vector<ChipHistory::Part>& parts) {
  std::vector<Cycle> begins;
  Cycle at = 0;
  for (const ChipHistory::Part& part : parts) {
    begins.push_back(at);
    at += part.ns;
  }
  for (const Span& span : spans) {
    Cycle begin = span.begin;
    auto place = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), begin) -
                                          begins.begin() - 1);
    for (; begin < span.end; ++place) {
      const Cycle from = begins[place];
      const Cycle end = std::min(span.end, from + parts[place].ns);
      parts[place].spans.push_back({span.chip, span.use, begin - from, end - from});
      begin = end;
    }
  }
}

}  // namespace

std::string chips_page(const std::string& title, Cycle ns, const UnitSeries& series) {
  ViewFacts facts;
  facts.title = title;
  facts.cycles = ns;
  facts.clock_ghz = 1;
  facts.units = series.numbers.size();
  facts.tick = "ns";
  return pack(view_data(facts, series));
}

UnitSeries wafer_series(const WaferSystemRun& run) {
  const std::vector<Span> spans = chip_spans(run.result.events, run.params.chips());
  ChipHistory history;
  history.chips = run.params.chips();
  history.part_is = "pass";
  history.parts_are = "passes of the first wafer";
  history.uses = system::kUsesOfStores;
  check_spans(spans, run.result.chips, history.chips);
  Cycle from = 0;
  const auto add = [&](const std::string& name, Cycle to) {
    if (to <= from) return;  // a pass without work may end with the one before
    history.order.push_back({history.parts.size(), 1, name});
    history.parts.push_back({to - from, {}});
    from = to;
  };
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    add(run.passes[i].name, run.result.first_wafer[i].second);
  }
  add("until the store has all", run.result.ns);
  deal_out(spans, history.parts);
  UnitSeries series = history_series(history, columns_of(history.chips));
  add_bytes("memory", "What a wafer holds at its fullest.",
            std::vector<std::uint64_t>(history.chips, run.memory.back().use.total()), series);
  return series;
}

}  // namespace lacuna
