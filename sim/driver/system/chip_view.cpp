// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/chip_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/system/chip_node.hpp"
#include "models/system/event_kinds.hpp"
#include "sim/base/error.hpp"
#include "sim/report/json_view.hpp"

namespace lacuna {

namespace {

using system::SegmentResult;
using system::TimeStack;

constexpr std::size_t kMostSteps = 4096;

/// A stretch of a segment in which no chip begins anything else, of a length, or the whole segment.
struct Stretch {
  Cycle end = 0;
  std::vector<TimeStack> chips;
};

struct Span {
  std::uint32_t chip;
  std::size_t use;
  Cycle begin;
  Cycle end;
};

/// What the first `chips` chips did, from the events of a segment.
std::vector<Span> spans_of(const SegmentResult& segment, std::uint32_t chips) {
  std::vector<Span> spans;
  std::vector<Cycle> begun(chips, 0);
  for (const Event& event : segment.events) {
    if (event.unit >= chips || event.kind >= system::kCarryFirst) continue;
    const bool first = event.kind % 2 == 0;
    if (first) begun[event.unit] = event.cycle;
    if (first || event.cycle + 1 <= begun[event.unit]) continue;
    spans.push_back({event.unit, event.kind / 2U, begun[event.unit], event.cycle + 1});
  }
  return spans;
}

/// Where a segment is cut: wherever a chip begins something else, or every `length` ns.
std::set<Cycle> ends_of(const std::vector<Span>& spans, Cycle ns, Cycle length) {
  std::set<Cycle> ends;
  if (length == 0) {
    for (const Span& span : spans) ends.insert(span.end);
  } else {
    for (Cycle end = length; end < ns; end += length) ends.insert(end);
  }
  ends.insert(ns);
  return ends;
}

/// `length`: of all stretches but the last; 0: each ends where a chip begins something else.
std::vector<Stretch> stretches_of(const SegmentResult& segment, std::uint32_t chips, Cycle length) {
  const std::vector<Span> spans = spans_of(segment, chips);
  const std::set<Cycle> ends = ends_of(spans, segment.ns, length);
  std::vector<Stretch> stretches;
  for (const Cycle end : ends) stretches.push_back({end, std::vector<TimeStack>(chips)});
  std::vector<TimeStack> sums(chips);
  for (const Span& span : spans) {
    Cycle begin = span.begin;
    const auto after = [](Cycle at, const Stretch& stretch) { return at < stretch.end; };
    auto at = std::upper_bound(stretches.begin(), stretches.end(), begin, after);
    for (; begin < span.end; ++at) {
      const Cycle end = std::min(span.end, at->end);
      at->chips[span.chip][span.use] += end - begin;
      sums[span.chip][span.use] += end - begin;
      begin = end;
    }
  }
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    if (sums[chip] == segment.chips[chip]) continue;
    throw InternalError(
        fmt::format("the events of chip {} are not the time that it is accounted for", chip));
  }
  return stretches;
}

/// The steps of a page: those of all segments, in the order in which they are run.
class ChipSteps {
 public:
  ChipSteps(const system::Program& program, const system::ProgramResult& run, std::uint32_t chips)
      : program_(program), chips_(chips) {
    Cycle ns = 0;
    for (const system::Repeat& repeat : program.order) {
      runs_ += repeat.times;
      ns += repeat.times * run.segments[repeat.segment].ns;
    }
    const std::uint64_t most =
        std::min<std::uint64_t>(kMostSteps, kMostViewNumbers / (chips * system::kUses));
    cut(run);
    if (steps() <= most) return;
    if (2 * runs_ <= most) {
      // each run has a last stretch that is shorter
      length_ = (ns + most - runs_ - 1) / (most - runs_);
      cut(run);
      return;
    }
    whole_ = true;
    for (std::size_t i = 0; i < fine_.size(); ++i) {
      const std::vector<TimeStack>& of = run.segments[i].chips;
      fine_[i] = {{run.segments[i].ns, std::vector<TimeStack>(of.begin(), of.begin() + chips)}};
    }
  }

  void add_to(UnitSeries& series) const;

 private:
  void cut(const system::ProgramResult& run) {
    fine_.clear();
    for (const SegmentResult& segment : run.segments) {
      fine_.push_back(stretches_of(segment, chips_, length_));
    }
  }
  std::uint64_t steps() const {
    std::uint64_t all = 0;
    for (const system::Repeat& repeat : program_.order) {
      all += repeat.times * fine_[repeat.segment].size();
    }
    return all;
  }
  std::vector<std::string> names() const;
  std::string loss() const;

  const system::Program& program_;
  std::uint32_t chips_;
  std::vector<std::vector<Stretch>> fine_;  // by segment
  std::uint64_t runs_ = 0;
  Cycle length_ = 0;  // of steps; 0: they end where a chip begins something else
  bool whole_ = false;
};

/// "layer 3 of 28": of segments of one name the number of the run.
std::vector<std::string> ChipSteps::names() const {
  std::map<std::string, std::uint64_t> all;
  for (const system::Repeat& repeat : program_.order) {
    all[program_.segments[repeat.segment].name] += repeat.times;
  }
  std::map<std::string, std::uint64_t> so_far;
  std::vector<std::string> names;
  for (const system::Repeat& repeat : program_.order) {
    const std::string& name = program_.segments[repeat.segment].name;
    for (std::uint64_t i = 0; i < repeat.times; ++i) {
      const std::uint64_t number = ++so_far[name];
      names.push_back(all[name] == 1 ? name : fmt::format("{} {} of {}", name, number, all[name]));
    }
  }
  return names;
}

void ChipSteps::add_to(UnitSeries& series) const {
  const std::vector<std::string> titles = names();
  std::vector<const Stretch*> steps;
  Cycle begin = 0;
  std::size_t run = 0;
  for (const system::Repeat& repeat : program_.order) {
    for (std::uint64_t i = 0; i < repeat.times; ++i, ++run) {
      for (const Stretch& stretch : fine_[repeat.segment]) {
        steps.push_back(&stretch);
        series.ends.push_back(begin + stretch.end);
        series.step_names.push_back(titles[run]);
      }
      begin = series.ends.back();
    }
  }
  const system::ChipStats names("chip");
  for (std::size_t use = 0; use < system::kUses; ++use) {
    UnitChannel made;
    made.name = names.all[use]->name();
    made.unit = "ns";
    made.doc = names.all[use]->doc();
    made.group = UnitChannel::Group::stack;
    made.layer = names.all[use]->layer();
    for (const Stretch* const step : steps) {
      for (std::uint32_t chip = 0; chip < chips_; ++chip) {
        made.values.push_back(step->chips[chip][use]);
      }
    }
    series.channels.push_back(std::move(made));
  }
  series.loss = loss();
}

std::string ChipSteps::loss() const {
  if (whole_) {
    return fmt::format(
        "Each of the {} segments that are run is a step: when its chips did what within it is "
        "lost. Every number is of one chip and exact.",
        runs_);
  }
  if (length_ != 0) {
    return fmt::format(
        "A step is {} ns, or what is left of its segment: when its chips did what within it is "
        "lost. Every number is of one chip and exact.",
        length_);
  }
  return "A step ends where a chip begins something else: nothing is lost.";
}

}  // namespace

UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows) {
  UnitSeries series;
  series.unit = "chip";
  series.columns = columns;
  series.rows = series.stored_rows = series.timed_rows = rows;
  series.source.resize(rows);
  std::iota(series.source.begin(), series.source.end(), 0U);
  series.timed = series.source;
  series.numbers.resize(std::size_t{columns} * rows);
  std::iota(series.numbers.begin(), series.numbers.end(), 1U);
  ChipSteps(program, run, columns * rows).add_to(series);
  return series;
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
      most = std::max(most, account.total());
    }
  }
  UnitChannel made;
  made.name = "memory";
  made.unit = "B";
  made.doc = "What the chip keeps, in the phase in which that is most.";
  made.group = UnitChannel::Group::whole;
  for (std::uint32_t chip = 0; chip < series.columns * series.rows; ++chip) {
    made.values.push_back(bytes[chip % of_replica]);
  }
  series.channels.push_back(std::move(made));
}

}  // namespace

UnitSeries training_series(const system::TrainingParams& training, const TrainingResult& result) {
  const auto chips = static_cast<std::uint32_t>(training.chips());
  const std::uint32_t of_replica = training.pipeline * training.tensor;
  const std::uint32_t columns = of_replica == 1 ? columns_of(chips) : of_replica;
  UnitSeries series = chip_series(result.program, result.run, columns, chips / columns);
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

std::string training_page(const std::string& title, const system::TrainingParams& training,
                          const TrainingResult& result) {
  ViewFacts facts;
  facts.title = title;
  facts.cycles = result.run.ns;
  facts.clock_ghz = 1;
  facts.units = training.chips();
  facts.tick = "ns";
  return pack(view_data(facts, training_series(training, result)));
}

}  // namespace lacuna
