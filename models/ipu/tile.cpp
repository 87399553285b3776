// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"

namespace lacuna::ipu {

const std::vector<std::string>& event_kind_names() {
  static const std::vector<std::string> names{
      "vertex_start", "worker_launch", "worker_exit",     "vertex_end",  "send_first",
      "send_last",    "receive_first", "receive_last",    "port_send",   "port_receive",
      "sync_arrive",  "sync_release",  "superstep_start", "exchange_end"};
  return names;
}

VertexCosts::VertexCosts(const Program& program)
    : program_(program),
      costs_(program.vertices.size()),
      known_(program.vertices.size(), 0),
      executions_(program.vertices.size(), 0),
      issues_(program.vertices.size() * program.bundles.size(), 0) {}

const VertexCost& VertexCosts::cost(std::uint32_t vertex) {
  if (known_[vertex] == 0) {
    known_[vertex] = 1;
    costs_[vertex] = vertex_cost(program_, program_.vertices[vertex],
                                 issues_.data() + vertex * program_.bundles.size());
  }
  return costs_[vertex];
}

void VertexCosts::add_issues(std::vector<std::uint64_t>& issues) const {
  const std::size_t bundles = program_.bundles.size();
  for (std::size_t v = 0; v < executions_.size(); ++v) {
    if (executions_[v] == 0) continue;
    for (std::size_t b = 0; b < bundles; ++b) {
      issues[b] += executions_[v] * issues_[v * bundles + b];
    }
  }
}

bool uses_tile(const Program& program, TileId tile) {
  const auto computes = [&](const ComputeSet& set) {
    return set.first[tile] != set.first[tile + 1];
  };
  const auto exchanges = [&](const ExchangePhase& phase) {
    return phase.plan.send_first[tile] != phase.plan.send_first[tile + 1] ||
           phase.plan.receive_first[tile] != phase.plan.receive_first[tile + 1];
  };
  return std::any_of(program.computes.begin(), program.computes.end(), computes) ||
         std::any_of(program.exchanges.begin(), program.exchanges.end(), exchanges);
}

Tile::Tile(const sc_core::sc_module_name& name, TileId id, ChipContext& chip)
    : sc_module(name), chip_(chip), id_(id), used_(uses_tile(chip.program, id)) {
  if (!used_) mode_ = Mode::done;
}

void Tile::settle(Cycle end) { spend(used_ ? Spend::barrier : Spend::idle, arrived_, end); }

std::string Tile::blocked() const {
  if (mode_ == Mode::port) {
    const char* const doing = item_->kind == WorkItem::Kind::port_send ? "push" : "pop";
    return fmt::format("waits to {} word {} of {} at its port", doing, moved_words_ + 1,
                       item_->words);
  }
  if (mode_ == Mode::barrier)
    return fmt::format("waits at the barrier of superstep {}", superstep_);
  return {};
}

bool Tile::begin_superstep(Cycle at) {
  SuperstepTimes& times = chip_.times[superstep_];
  times.begin = std::min({times.begin, at, mean_end()});
  if (superstep().compute == kNone) return false;
  const ComputeSet& set = chip_.program.computes[superstep().compute];
  item_ = set.items.data() + set.first[id_];
  items_end_ = set.items.data() + set.first[id_ + 1];
  moved_words_ = 0;
  return item_ != items_end_;
}

/// When a tile that has done its work up to a barrier or the end by cycle `at` leaves off, with the
/// mean of all tiles' work: a cycle more is waited for, one less is not spent.
Cycle Tile::end_in_mean_time(Cycle at) {
  const Cycle end = mean_end();
  Cycle excess = over_ + (at > end ? at - end : 0);
  over_ = 0;
  for (const Spend spend : {Spend::slot, Spend::conflict, Spend::supervisor, Spend::worker}) {
    const Cycle less = std::min<Cycle>(excess, account_[spend]);
    account_[spend] -= less;
    excess -= less;
  }
  return end;
}

bool Tile::end_compute(Cycle at) {
  SuperstepTimes& times = chip_.times[superstep_];
  const bool last = superstep_ + 1 == chip_.program.supersteps.size();
  const bool waits = superstep().exchange != kNone;
  const bool means = !chip_.means.empty() && (waits || last);
  const Cycle until = means ? end_in_mean_time(at) : at;
  times.computed = std::max(times.computed, std::min(until, mean_end()));
  times.end = std::max(times.end, times.computed);
  if (!waits) {
    const bool more = go_on(until);
    arrived_ = std::min(at, until);
    return more;
  }
  record(at, EventKind::sync_arrive, superstep_);
  mode_ = Mode::barrier;
  arrived_ = std::min(at, until);
  chip_.sync.arrive(superstep_, until);
  return false;
}

void Tile::pass_barrier(Cycle now) {
  const Cycle last = chip_.sync.last_arrival(superstep_);
  spend(Spend::barrier, arrived_, last);
  spend(Spend::sync, last, now);
  chip_.times[superstep_].released = now;
  chip_.marks.released(superstep_, id_, account_, moved_);
}

void Tile::move_all() {
  const TileTraffic& mine = traffic();
  moved_.sent += mine.sent;
  moved_.received += mine.received;
  moved_.fragments += mine.fragments;
  moved_.conflicts += mine.conflicts;
  // the first tile that is released moves the words of all, before any tile can change them
  if (values() && chip_.carried == carried_++) {
    ++chip_.carried;
    carry(plan(), chip_.memories);
  }
}

bool Tile::exchange_at_once(Cycle now) {
  move_all();
  chip_.clock.moved(now);
  return end_exchange(now);
}

bool Tile::end_exchange(Cycle at) {
  SuperstepTimes& times = chip_.times[superstep_];
  times.end = std::max(times.end, at);
  segment_ = at;
  chip_.marks.exchanged(superstep_, id_, account_, moved_);
  return go_on(at);
}

bool Tile::go_on(Cycle at) {
  if (++superstep_ < chip_.program.supersteps.size()) return true;
  mode_ = Mode::done;
  arrived_ = at;
  chip_.end = std::max(chip_.end, at);
  if (--chip_.unfinished == 0) chip_.clock.stop(std::max<Cycle>(chip_.end, 1) - 1);
  return false;
}

void Tile::end_vertex(Cycle begin, Cycle at) {
  const Cycle last = std::max(begin + 1, at) - 1;
  record(last, EventKind::vertex_end, item_->index);
  if (chip_.book.enabled()) {
    IntervalBook::Page& page = chip_.book.page(last);
    page.mac_edge += item_->mac_edge;
    page.mac_zero += item_->mac_zero;
  }
  if (values() && item_->function != kNone) chip_.program.functions[item_->function](memory());
}

bool Tile::move_port_word(Cycle now) {
  const bool send = item_->kind == WorkItem::Kind::port_send;
  if (send ? !out->can_push(now) : !in->can_pop(now)) return false;
  const std::uint32_t address = item_->address + moved_words_;
  if (send) {
    out->push(now, values() ? memory().word(address) : moved_words_);
    ++chip_.port_sent;
  } else {
    const std::uint32_t word = in->pop(now);
    if (values()) memory().set_word(address, word);
    ++chip_.port_received;
  }
  record(now, send ? EventKind::port_send : EventKind::port_receive, moved_words_);
  ++moved_words_;
  spend(Spend::port, now, now + 1);
  if (chip_.book.enabled()) {
    IntervalBook::Page& page = chip_.book.page(now);
    ++(send ? page.port_sent : page.port_received);
  }
  return true;
}

std::unique_ptr<Tile> make_tile(Engine engine, const char* name, TileId id, ChipContext& chip) {
  return engine == Engine::clocked ? make_clocked_tile(name, id, chip)
                                   : make_event_tile(name, id, chip);
}

}  // namespace lacuna::ipu
