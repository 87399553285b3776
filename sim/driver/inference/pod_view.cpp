// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/system/chip_node.hpp"
#include "models/system/event_kinds.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/inference/pod_model.hpp"
#include "sim/driver/run/unit_view.hpp"

namespace lacuna {

namespace {

using system::SegmentResult;
using system::TimeStack;

constexpr std::size_t kMostSteps = 4096;

/// A stretch of a segment in which no chip begins anything else, or the whole segment.
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

std::vector<Stretch> stretches_of(const SegmentResult& segment, std::uint32_t chips) {
  const std::vector<Span> spans = spans_of(segment, chips);
  std::set<Cycle> ends;
  for (const Span& span : spans) ends.insert(span.end);
  ends.insert(segment.ns);
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
    std::size_t all = 0;
    for (const SegmentResult& segment : run.segments) {
      fine_.push_back(stretches_of(segment, chips));
    }
    for (const system::Repeat& repeat : program.order) {
      all += repeat.times * fine_[repeat.segment].size();
      runs_ += repeat.times;
    }
    whole_ = all > kMostSteps;
    if (!whole_) return;
    for (std::size_t i = 0; i < fine_.size(); ++i) {
      const std::vector<TimeStack>& of = run.segments[i].chips;
      fine_[i] = {{run.segments[i].ns, std::vector<TimeStack>(of.begin(), of.begin() + chips)}};
    }
  }

  void add_to(UnitSeries& series) const;

 private:
  std::vector<std::string> names() const;

  const system::Program& program_;
  std::uint32_t chips_;
  std::vector<std::vector<Stretch>> fine_;  // by segment
  std::uint64_t runs_ = 0;
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
  series.loss = whole_ ? fmt::format(
                             "Each of the {} segments that are run is a step: when its "
                             "chips did what within it is lost. Every number is of one "
                             "chip and exact.",
                             runs_)
                       : "A step ends where a chip begins something else: nothing is lost.";
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

/// "layers 0 to 11" or "no layer".
std::string layers_text(unsigned first, unsigned count) {
  if (count == 0) return "no layer";
  if (count == 1) return fmt::format("layer {}", first);
  return fmt::format("layers {} to {}", first, first + count - 1);
}

/// What the fullest tile of each chip holds, of a stage.
void add_memory(const PodPass& pass, UnitSeries& series) {
  const auto add = [&](const char* name, const char* doc, std::uint64_t TileAccount::*of) {
    UnitChannel made;
    made.name = name;
    made.unit = "B";
    made.doc = doc;
    made.group = UnitChannel::Group::whole;
    for (const TileAccount& stage : pass.memory) {
      made.values.insert(made.values.end(), series.columns, stage.*of);
    }
    series.channels.push_back(std::move(made));
  };
  add("weights", "Weights that the fullest tile of the chip keeps.", &TileAccount::weights);
  add("cache", "Keys and values that the fullest tile of the chip keeps.", &TileAccount::cache);
  unsigned first = 0;
  for (std::size_t stage = 0; stage < pass.cut.layers.size(); ++stage) {
    const unsigned count = pass.cut.layers[stage];
    series.row_notes.push_back(fmt::format("stage {}: {}", stage, layers_text(first, count)));
    first += count;
  }
}

}  // namespace

/// The chips over time, and each distinct row on the tiles of one of them.
void PodModel::add_pages(const PodPass& pass, const PassRequest& request) {
  const std::string on = fmt::format("{} on {}: ", setup_.model.name, place());
  UnitSeries chips = chip_series(pass.program, pass.run, pass.cut.tensor,
                                 static_cast<std::uint32_t>(pass.cut.layers.size()));
  add_memory(pass, chips);
  ViewFacts facts;
  facts.title = on + "the chips that have a part of the model";
  facts.cycles = pass.run.ns;
  facts.clock_ghz = 1;
  facts.units = pass.cut.chips();
  facts.tick = "ns";
  pages_->push_back(pack(view_data(facts, chips)));
  const SeenRow add = [&](const std::string& title, const OpResult& result) {
    ViewFacts row;
    row.title = on + title;
    row.cycles = result.cycles;
    row.clock_ghz = result.clock_ghz;
    row.units = result.units;
    row.exact = result.exact;
    pages_->push_back(packed_view(*chip_, setup_.pricing, row, result, *result.units_in_time));
  };
  see_rows(kinds_, request, pass.cut.tensor, *chip_, setup_.times, add);
}

}  // namespace lacuna
