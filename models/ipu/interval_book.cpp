// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/interval_book.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/exchange/conflicts.hpp"
#include "sim/base/error.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::size_t kMostPages = 100000;

}  // namespace

IntervalBook::IntervalBook(const ChipParams& params, const Program& program, Cycle length)
    : memory_(params.tile.memory), program_(program), length_(length), walk_(program.set_size) {}

IntervalBook::Page& IntervalBook::page(Cycle at) {
  const std::size_t index = at / length_;
  if (index >= kMostPages) {
    throw RequestError(fmt::format(
        "--interval: found '{}'; allowed: at most {} intervals of an operation, and it goes on in "
        "cycle {}",
        length_, kMostPages, at));
  }
  while (pages_.size() <= index) {
    pages_.emplace_back();
    pages_.back().issues.assign(program_.bundles.size(), 0);
  }
  return pages_[index];
}

void IntervalBook::spend(Spend spend, Cycle from, Cycle to) {
  while (from < to) {
    const Cycle end = std::min(to, (from / length_ + 1) * length_);
    page(from).spent[spend] += end - from;
    from = end;
  }
}

void IntervalBook::vertex(std::uint32_t vertex, Cycle begin, const VertexCost& cost,
                          const std::uint64_t* issues) {
  if (cost.cycles == 0) return;
  if (begin / length_ != (begin + cost.cycles - 1) / length_) {
    walk(vertex, begin);
    return;
  }
  Page& here = page(begin);
  here.spent[Spend::worker] += cost.worker;
  here.spent[Spend::supervisor] += cost.supervisor;
  here.spent[Spend::slot] += cost.slot;
  here.spent[Spend::conflict] += cost.conflict;
  for (std::size_t b = 0; b < here.issues.size(); ++b) here.issues[b] += issues[b];
}

void IntervalBook::walk(std::uint32_t vertex, Cycle begin) {
  const auto nobody = [] {};
  Cycle at = begin;
  for (bool more = walk_.start(program_, program_.vertices[vertex], nullptr, nobody); more; ++at) {
    Page& here = page(at);
    here.spent[walk_.step(here.issues.data())] += 1;
    more = walk_.go_on(nobody);
  }
}

/// Books the words of `instruction`, one or two in each of its cycles, the last perhaps one less.
template <class Instruction>
void IntervalBook::move(const Instruction& instruction, Cycle begin,
                        std::uint64_t TileTraffic::*words) {
  const std::uint64_t each = instruction.wide ? 2 : 1;
  const Cycle first = begin + instruction.start;
  const Cycle end = first + instruction.cycles();
  for (Cycle from = first; from < end;) {
    const Cycle to = std::min(end, (from / length_ + 1) * length_);
    const auto before = [&](Cycle at) {
      return std::min<std::uint64_t>(instruction.words, (at - first) * each);
    };
    page(from).moved.*words += before(to) - before(from);
    from = to;
  }
}

void IntervalBook::conflict(Cycle from, Cycle to) {
  while (from < to) {
    const Cycle end = std::min(to, (from / length_ + 1) * length_);
    page(from).moved.conflicts += end - from;
    from = end;
  }
}

void IntervalBook::exchange(const ExchangePlan& plan, TileId tile, Cycle begin) {
  std::uint32_t send = plan.send_first[tile];
  std::uint32_t receive = plan.receive_first[tile];
  const std::uint32_t sends_end = plan.send_first[tile + 1];
  const std::uint32_t receives_end = plan.receive_first[tile + 1];
  Cycle until = begin;  // what is spent is booked up to here
  const auto busy = [&](Cycle from, Cycle to) {
    if (from > until) spend(Spend::exchange_gap, until, from);
    spend(Spend::exchange, std::max(from, until), to);
    until = std::max(until, to);
  };
  while (send != sends_end || receive != receives_end) {
    const bool is_send =
        receive == receives_end ||
        (send != sends_end && plan.sends[send].start <= plan.receives[receive].start);
    if (is_send) {
      const Send& what = plan.sends[send++];
      busy(begin + what.start, begin + what.start + what.cycles());
      move(what, begin, &TileTraffic::sent);
    } else {
      const Receive& what = plan.receives[receive++];
      busy(begin + what.start, begin + what.start + what.cycles());
      move(what, begin, &TileTraffic::received);
      ++page(begin + what.start).moved.fragments;
    }
  }
  spend(Spend::exchange_tail, until, begin + plan.length);
  for_each_conflict(PlainElements(memory_, plan.memory_begin),
                    plan.sends.data() + plan.send_first[tile], plan.sends.data() + sends_end,
                    plan.receives.data() + plan.receive_first[tile],
                    plan.receives.data() + receives_end,
                    [&](Cycle from, Cycle to) { conflict(begin + from, begin + to); });
}

}  // namespace lacuna::ipu
