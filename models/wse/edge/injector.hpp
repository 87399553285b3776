// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/injector_control.hpp"
#include "models/wse/edge/tokens.hpp"
#include "models/wse/engine/mesh.hpp"
#include "models/wse/engine/row_stream.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sent_words.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// Sends the stream of each column into its northernmost router: for each step the weights, then
/// a command. All columns share the wafer's I/O: a token bucket, filled by `rate` in each cycle
/// and visited from column (cycle mod columns) on, pays for every word. Words that leave at the
/// edge, if the program has the edge collect them, are taken first, one for each outlet; they pay
/// out of the same bucket, or of one of their own that is filled alike (full duplex).
class InjectorBank : public Clocked {
 public:
  /// `links[c]` is the link into column c, kNoLink if another module feeds it. `first_unit` is
  /// the unit of column 0; `row` is the bank's row in the agendas.
  InjectorBank(const RouterParams& router, const Program& program, std::vector<LinkId> links,
               UnitId first_unit, std::size_t row, Agendas& agendas, LinkArray& array,
               EventLog& log, ClockDomain& clock);

  /// Has the bank collect what comes over `exits`, as Program::outlets. It ends the run of `mesh`
  /// when it has taken the last word; null: its owner does.
  void collect(std::vector<LinkId> exits, const Mesh* mesh);

  /// The words collected at an outlet.
  const std::vector<std::uint32_t>& collected(std::size_t outlet) const {
    return collected_[outlet];
  }

  Cycle step(Cycle now) override;
  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // account() does it
  std::string blocked() const override;

  /// Accounts for the cycles before `now`, in which nothing was sent.
  void account(Cycle now);

  /// Ends the open records of the event log; the run is over.
  void end_records();

  const InjectorCounters& counters(std::size_t column) const { return columns_[column].counters; }

  /// Words of Program::background that have not been sent: the run is not over before they are.
  const std::uint64_t& to_enter() const { return to_enter_; }

 private:
  /// Words that one stream puts into the columns' FIFOs pay; those sent out of them do not.
  bool step_row_stream(Cycle now, bool& short_of_tokens);

  enum class Hold : std::uint8_t { none, no_token, closed, scanning, done };
  using Control = InjectorControl<int>;
  static Hold hold_of(const Control& control, bool left);

  struct Column {
    LinkId link = kNoLink;
    std::uint32_t stored = 0;  // in its FIFO
    LinkMeter meter;
    std::uint64_t scanned = 0;  // words that were looked for
    Cycle found = 0;            // when the next one can be sent
    Hold hold = Hold::none;
    Hold run_of = Hold::none;  // of the log
    Cycle run_begin = 0;
    Cycle run_length = 0;
    InjectorCounters counters;
  };

  bool take_exits(Cycle now);
  bool step_columns(Cycle now, bool& short_of_tokens);
  bool sent_all(const Column& column, std::size_t index) const;
  void send(Column& column, std::size_t index, Cycle now);
  Hold try_send(Column& column, std::size_t index, Cycle now);
  Wavelet next_word(std::size_t index);
  void scan(Column& column, std::size_t index, Cycle from) const;
  void count(std::size_t index, Cycle from, Cycle cycles);
  void extend_run(Column& column, std::size_t index, Cycle at, Cycle length);
  bool can_send(const Column& column, Cycle now) const {
    return column.meter.open(now) && links_.can_push(column.link, now);
  }

  const Program& program_;
  const LinkRule rule_;
  UnitId first_unit_;
  std::size_t row_;
  Agendas& agendas_;
  LinkArray& links_;
  EventLog& log_;
  ClockDomain& clock_;
  std::vector<Column> columns_;
  std::vector<SentWords> words_;  // of those with a stream
  RowStream stream_;
  std::vector<std::uint32_t> due_;
  EdgeTokens tokens_;
  std::vector<LinkId> exits_;
  std::vector<std::vector<std::uint32_t>> collected_;
  bool exits_short_ = false;  // of tokens, in the cycle just performed
  const Mesh* mesh_ = nullptr;
  Cycle accounted_ = 0;
  std::uint64_t to_enter_ = 0;
};

}  // namespace lacuna::wse
