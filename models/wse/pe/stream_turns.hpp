// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/wse/pe/stream_control.hpp"
#include "models/wse/program/exchange_plan.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// The instructions of a reduction: one for each input of a column, or one without. All but the
/// last write sums back; the last sends the total on or keeps it.
struct SumTurns {
  std::uint32_t next_input = 0;
  std::uint32_t inputs_left = 0;  // after the instruction under way
  bool keeps = false;
  Color out{};  // unless it keeps

  void load(const StreamingKernel& kernel, std::uint32_t keeper, std::uint32_t column) {
    const ReducePlan::Role& role = kernel.role(keeper, column);
    next_input = role.first;
    inputs_left = role.inputs;
    keeps = role.keeps;
    out = kernel.sum_color(role.out, column);
  }
  /// The next instruction begins; the color of what it takes in, if anything.
  std::optional<Color> begin(const StreamingKernel& kernel, std::uint32_t column) {
    if (inputs_left == 0) return {};
    --inputs_left;
    return kernel.sum_color(kernel.reduce.inputs[next_input++].color, column);
  }
  bool gathers() const { return inputs_left != 0; }
  /// Whether the total goes to another column.
  bool sends(const StreamingKernel& kernel) const { return !keeps && !kernel.reduce.idealised; }
};

/// The packets of an exchange among groups that a column has kept, sent and taken.
struct PacketTurns {
  bool begun = false;  // a reduction is over
  std::uint32_t kept = 0;
  std::uint32_t sent = 0;
  std::uint32_t taken = 0;

  void reduced(bool keeps) {
    begun = true;
    kept += keeps ? 1 : 0;
  }
  /// Whether there are packets to send and to take: rows that are kept, and once all are, the rest;
  /// nothing before the first reduction, so that a row of cores does what the one above did.
  template <class Number>
  void look_up(StreamState<Number>& s, std::size_t i, const ExchangePlan& plan,
               std::size_t column) const {
    const ExchangePlan::Column& mine = plan.columns[column];
    const auto flag = [](bool set) { return static_cast<Number>(set ? -1 : 0); };
    const std::uint64_t ready = kept == mine.keeps && begun ? plan.packets : kept;
    s.unsent[i] = flag(sent < ready * mine.sends.size());
    s.untaken[i] = flag(taken < std::uint64_t{plan.packets} * mine.takes.size());
  }
  const ExchangePlan::Take& take(const ExchangePlan::Column& mine) {
    return mine.takes[taken++ % mine.takes.size()];
  }
  const ExchangePlan::Send& send(const ExchangePlan::Column& mine) {
    return mine.sends[sent++ % mine.sends.size()];
  }
};

}  // namespace lacuna::wse
