// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/tile_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "models/ipu/floor_plan.hpp"
#include "sim/base/error.hpp"

namespace lacuna {
namespace {

using ChannelGroup = UnitChannel::Group;
using Mark = ipu::SuperstepBook::Mark;

/// The marks of a step's end, by tile, and what the step was.
struct Step {
  Cycle end = 0;
  std::string name;
  std::vector<Mark> marks;
  std::vector<std::uint64_t> vertices;  // that began by its end, by tile
};

class Builder {
 public:
  Builder(ipu::IpuChip& chip, const ipu::Program& program, Cycle cycles)
      : chip_(chip), program_(program), cycles_(cycles), tiles_(chip.params().ipu.tiles) {}

  UnitSeries build() {
    lay_out();
    find_steps();
    add_stack();
    add_counts();
    add_work();
    return std::move(series_);
  }

 private:
  void lay_out();
  void find_steps();
  void close_step(Cycle end, const std::string& what, const std::vector<Mark>& marks);
  Mark last_mark(ipu::TileId tile) const;
  template <class Value>
  UnitChannel channel(const char* name, const char* unit, const char* doc, const Value& value);
  void add_stack();
  void add_counts();
  void add_work();
  void add_items(const ipu::ComputeSet& set, std::size_t tile, ipu::TileWorkStats& work);

  ipu::IpuChip& chip_;
  const ipu::Program& program_;
  Cycle cycles_;
  std::size_t tiles_;
  UnitSeries series_;
  std::vector<std::size_t> place_;  // of each tile
  std::vector<Step> steps_;
  std::string under_way_;                // names of what the open step has run
  std::vector<std::uint64_t> vertices_;  // begun so far, by tile
};

/// The floor plan, whose pairs of tiles lie in columns that snake.
void Builder::lay_out() {
  const unsigned rows = chip_.params().ipu.rows;
  for (unsigned tile = 0; tile < tiles_; ++tile) {
    const unsigned id = ipu::physical_id(tile, rows);
    series_.rows = std::max(series_.rows, id / 64 + 1);
    series_.columns = std::max(series_.columns, id % 64 + 1);
  }
  series_.unit = "tile";
  series_.stored_rows = series_.timed_rows = series_.rows;
  series_.source.resize(series_.rows);
  std::iota(series_.source.begin(), series_.source.end(), 0U);
  series_.timed = series_.source;
  series_.numbers.assign(std::size_t{series_.rows} * series_.columns, 0);
  for (unsigned tile = 0; tile < tiles_; ++tile) {
    const unsigned id = ipu::physical_id(tile, rows);
    place_.push_back(std::size_t{id / 64} * series_.columns + id % 64);
    series_.numbers[place_[tile]] = tile + 1;
  }
}

Mark Builder::last_mark(ipu::TileId tile) const {
  return {chip_.account(tile), chip_.moved(tile).sent, chip_.moved(tile).received};
}

void Builder::close_step(Cycle end, const std::string& what, const std::vector<Mark>& marks) {
  if (!under_way_.empty() && !what.empty()) under_way_ += ", ";
  steps_.push_back({end, under_way_ + what, marks, vertices_});
  under_way_.clear();
}

void Builder::find_steps() {
  const auto& marks = chip_.supersteps().marks();
  vertices_.assign(tiles_, 0);
  bool all = true;
  const auto join = [&](const std::string& name) {
    if (!under_way_.empty()) under_way_ += ", ";
    under_way_ += name;
  };
  for (std::size_t s = 0; s < program_.supersteps.size(); ++s) {
    const ipu::Superstep& superstep = program_.supersteps[s];
    const ipu::SuperstepTimes& times = chip_.times()[s];
    if (superstep.compute != ipu::kNone) {
      const ipu::ComputeSet& set = program_.computes[superstep.compute];
      join(fmt::format("superstep {} {}", s, set.name));
      for (std::size_t t = 0; t < tiles_; ++t) vertices_[t] += set.first[t + 1] - set.first[t];
    }
    if (superstep.exchange == ipu::kNone) continue;
    const std::string exchange =
        fmt::format("exchange of {}", program_.exchanges[superstep.exchange].name);
    const bool both = !marks[2 * s].empty();
    if (both) close_step(times.released, "", marks[2 * s]);
    if (!marks[2 * s + 1].empty()) {
      close_step(times.end, both ? fmt::format("superstep {} {}", s, exchange) : exchange,
                 marks[2 * s + 1]);
    } else {
      join(exchange);
      all = false;
    }
  }
  std::vector<Mark> last;
  for (ipu::TileId tile = 0; tile < tiles_; ++tile) last.push_back(last_mark(tile));
  if (steps_.empty() || steps_.back().end < cycles_) close_step(cycles_, "", last);
  steps_.back().marks = std::move(last);
  if (!all) {
    series_.loss = fmt::format(
        "The {} supersteps are shown in {} steps, several at once: what they differ in within a "
        "step is lost. Every number is of one tile and exact.",
        program_.supersteps.size(), steps_.size());
  }
  for (const Step& step : steps_) {
    series_.ends.push_back(step.end);
    series_.step_names.push_back(step.name.empty() ? "end" : step.name);
  }
}

/// `value(step, tile)` is what was counted by the end of the step.
template <class Value>
UnitChannel Builder::channel(const char* name, const char* unit, const char* doc,
                             const Value& value) {
  const std::size_t cells = series_.numbers.size();
  UnitChannel made{name, unit, doc, ChannelGroup::count, Layer::idle, {}};
  made.values.assign(steps_.size() * cells, 0);
  for (std::size_t tile = 0; tile < tiles_; ++tile) {
    std::uint64_t before = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::uint64_t now = value(s, tile);
      if (now < before) throw InternalError(fmt::format("{} of tile {} goes back", name, tile));
      made.values[s * cells + place_[tile]] = now - before;
      before = now;
    }
  }
  return made;
}

void Builder::add_stack() {
  ipu::TileCycleStats names("tile.cycles");
  const auto& parts = names.cycle_stack();
  if (parts.size() != ipu::kSpends) throw InternalError("tiles spend cycles that have no name");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto spend = static_cast<ipu::Spend>(i);
    UnitChannel made = channel(parts[i]->name(), "cycles", parts[i]->doc(),
                               [&](std::size_t step, std::size_t tile) -> std::uint64_t {
                                 if (chip_.used(static_cast<ipu::TileId>(tile))) {
                                   return steps_[step].marks[tile].spent[spend];
                                 }
                                 return spend == ipu::Spend::idle ? steps_[step].end : 0;
                               });
    made.group = ChannelGroup::stack;
    made.layer = parts[i]->layer();
    series_.channels.push_back(std::move(made));
  }
}

void Builder::add_counts() {
  const auto count = [&](const char* name, const char* unit, const char* doc, const auto& value) {
    series_.channels.push_back(channel(name, unit, doc, value));
  };
  count("words sent", "words", "Words that a tile put on the exchange; a multicast once.",
        [&](std::size_t s, std::size_t tile) { return steps_[s].marks[tile].sent; });
  count("words received", "words", "Words of the exchange that were written to a tile.",
        [&](std::size_t s, std::size_t tile) { return steps_[s].marks[tile].received; });
  count("vertices", "vertices", "Vertices and port transfers that a tile's program has here.",
        [&](std::size_t s, std::size_t tile) { return steps_[s].vertices[tile]; });
}

/// What a tile does in a set of vertices.
void Builder::add_items(const ipu::ComputeSet& set, std::size_t tile, ipu::TileWorkStats& work) {
  for (std::uint32_t i = set.first[tile]; i < set.first[tile + 1]; ++i) {
    const ipu::WorkItem& item = set.items[i];
    work.mac_edge += item.mac_edge;
    work.mac_zero += item.mac_zero;
    if (item.kind == ipu::WorkItem::Kind::port_send) work.port_sent += item.words;
    if (item.kind == ipu::WorkItem::Kind::port_receive) work.port_received += item.words;
    if (item.kind != ipu::WorkItem::Kind::vertex || item.index == ipu::kNone) continue;
    chip_.costs().cost(item.index);
    const std::uint64_t* const issues = chip_.costs().issues(item.index);
    for (std::size_t b = 0; b < program_.bundles.size(); ++b) {
      work.add(program_.bundles[b], issues[b]);
    }
  }
}

/// What is known of a tile's whole program, from the costs of its vertices.
void Builder::add_work() {
  const auto whole = [&](const char* name, const char* unit, const char* doc) {
    const std::vector<std::uint64_t> none(series_.numbers.size(), 0);
    return UnitChannel{name, unit, doc, ChannelGroup::whole, Layer::idle, none};
  };
  UnitChannel products = whole("products", "MAC", "Products formed, with or without use.");
  UnitChannel zeros = whole("products with zeros", "MAC", "Products with a weight that is zero.");
  UnitChannel read = whole("bytes read", "B", "Bytes read from tile memory.");
  UnitChannel written = whole("bytes written", "B", "Bytes written to tile memory.");
  for (std::size_t tile = 0; tile < tiles_; ++tile) {
    ipu::TileWorkStats work("tile");
    work.mac_algorithmic += program_.mac_algorithmic;
    for (const ipu::Superstep& superstep : program_.supersteps) {
      if (superstep.exchange != ipu::kNone) work.syncs += 1;
      if (superstep.compute == ipu::kNone) continue;
      add_items(program_.computes[superstep.compute], tile, work);
    }
    const ipu::CycleAccount& account = chip_.account(static_cast<ipu::TileId>(tile));
    work.issues += account[ipu::Spend::worker] + account[ipu::Spend::supervisor];
    work.exch_sent += chip_.moved(static_cast<ipu::TileId>(tile)).sent;
    work.exch_received += chip_.moved(static_cast<ipu::TileId>(tile)).received;
    work.derive();
    products.values[place_[tile]] = work.mac_actual.value();
    zeros.values[place_[tile]] = work.mac_zero.value();
    read.values[place_[tile]] = work.bytes_sram_read.value();
    written.values[place_[tile]] = work.bytes_sram_written.value();
    add_priced(series_, work, place_[tile]);
  }
  for (UnitChannel* const made : {&products, &zeros, &read, &written}) {
    series_.channels.push_back(std::move(*made));
  }
}

}  // namespace

UnitSeries tile_series(ipu::IpuChip& chip, const ipu::Program& program, Cycle cycles) {
  return Builder(chip, program, cycles).build();
}

}  // namespace lacuna
