// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/edge/injectors.hpp"
#include "models/wse/engine/mesh.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sent_words.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// Injectors one by one, with the words they send. Words that leave at the edge, if the program
/// has the edge collect them, are taken first, one for each outlet; they pay out of the same
/// bucket, or of one of their own that is filled alike (full duplex).
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

  /// By column, of the cycles before `at`.
  std::vector<InjectorCounters> counters(Cycle at);

  /// Words of Program::background that have not been sent: the run is not over before they are.
  const std::uint64_t& to_enter() const { return to_enter_; }

 private:
  using Number = std::int64_t;

  struct Column {
    LinkId link = kNoLink;
    std::uint64_t words = 0;  // that were sent
    std::uint64_t zeros = 0;  // of them
    // Of the log: a record of cycles in which it was held up by the same.
    Hold run_of = Hold::none;
    Cycle run_begin = 0;
    Cycle run_length = 0;
  };

  bool take_exits(Cycle now);
  void send(std::size_t index, Cycle now);
  Wavelet next_word(std::size_t index);
  void extend_runs(Cycle at, Cycle length);
  void extend_run(std::size_t index, Hold hold, Cycle at, Cycle length);

  const Program& program_;
  UnitId first_unit_;
  std::size_t row_;
  Agendas& agendas_;
  LinkArray& links_;
  EventLog& log_;
  ClockDomain& clock_;
  Injectors<Number> injectors_;
  std::vector<Column> columns_;
  std::vector<Number> room_;      // -1: a word can be sent
  std::vector<SentWords> words_;  // of those with a stream
  std::vector<std::uint32_t> due_;
  std::vector<LinkId> exits_;
  std::vector<std::vector<std::uint32_t>> collected_;
  bool exits_short_ = false;  // of tokens, in the cycle just performed
  const Mesh* mesh_ = nullptr;
  Cycle accounted_ = 0;
  std::uint64_t to_enter_ = 0;
};

}  // namespace lacuna::wse
