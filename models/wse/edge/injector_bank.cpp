// SPDX-License-Identifier: Apache-2.0
#include "models/wse/edge/injector_bank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/wse/program/event_kinds.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {

InjectorBank::InjectorBank(const RouterParams& router, const Program& program,
                           std::vector<LinkId> links, UnitId first_unit, std::size_t row,
                           Agendas& agendas, LinkArray& array, EventLog& log, ClockDomain& clock)
    : program_(program),
      first_unit_(first_unit),
      row_(row),
      agendas_(agendas),
      links_(array),
      log_(log),
      clock_(clock),
      injectors_(router, program),
      columns_(links.size()),
      room_(links.size(), 0) {
  for (std::uint32_t c = 0; c < program.columns; ++c) words_.emplace_back(program.kernel, c);
  for (std::size_t c = 0; c < links.size(); ++c) columns_[c].link = links[c];
  for (const Background& other : program.background) to_enter_ += other.words;
  if (to_enter_ != 0 && program.column_fifo != 0) {
    throw InternalError("other words run down the columns of one stream that feeds all of them");
  }
}

Cycle InjectorBank::step(Cycle now) {
  if (agendas_.active()) {
    agendas_.set_stepping(row_);
    agendas_.row(row_).collect(now, due_);
  }
  account(now);
  accounted_ = now + 1;
  injectors_.tokens().fill();
  const bool taken = take_exits(now);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const LinkId link = columns_[c].link;
    const bool room = link != kNoLink && !injectors_.over(c) && links_.can_push(link, now);
    room_[c] = room ? -1 : 0;
  }
  const std::vector<Number>& sent = injectors_.send_words(now, room_);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (sent[c] != 0) send(c, now);
  }
  extend_runs(now, 1);
  if (taken || injectors_.moved()) {
    clock_.moved(now);
    return now + 1;
  }
  const Cycle next = injectors_.next(now);
  return exits_short_ ? std::min(next, injectors_.tokens().next_exit(now)) : next;
}

void InjectorBank::collect(std::vector<LinkId> exits, const Mesh* mesh) {
  exits_ = std::move(exits);
  collected_.resize(exits_.size());
  mesh_ = mesh;
}

/// One word from each outlet that has one, from outlet (cycle mod outlets) on.
bool InjectorBank::take_exits(Cycle now) {
  bool taken = false;
  exits_short_ = false;
  ask_in_turn(now, exits_.size(), [&](std::size_t k) {
    if (!links_.can_pop(exits_[k], now)) return true;
    exits_short_ = !injectors_.tokens().buy_exit();
    if (exits_short_) return false;
    const Wavelet word = links_.pop(exits_[k], now);
    collected_[k].push_back(word.payload);
    taken = true;
    return true;
  });
  if (taken && mesh_ != nullptr) mesh_->stop_if_done(now);
  return taken;
}

void InjectorBank::account(Cycle now) {
  if (accounted_ >= now) return;
  const Cycle slept = now - accounted_;
  injectors_.sleep(slept);
  extend_runs(accounted_, slept);
  accounted_ = now;
}

void InjectorBank::send(std::size_t index, Cycle now) {
  Column& column = columns_[index];
  const Wavelet word = next_word(index);
  links_.push(column.link, now, word);
  log_.record(now, first_unit_ + index, kWordIn, column.words);
  ++column.words;
  if (word.zero) ++column.zeros;
}

Wavelet InjectorBank::next_word(std::size_t index) {
  if (index < program_.columns) return words_[index].next();
  --to_enter_;
  return {0, program_.background[index - program_.columns].color, false};
}

std::vector<InjectorCounters> InjectorBank::counters(Cycle at) {
  account(at);
  std::vector<InjectorCounters> counters = injectors_.counters(at);
  for (std::size_t c = 0; c < counters.size(); ++c) counters[c].zeros = columns_[c].zeros;
  return counters;
}

void InjectorBank::end_records() {
  if (!log_.keeps(kClosedRun)) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) extend_run(c, Hold::done, kNever, 0);
}

void InjectorBank::extend_runs(Cycle at, Cycle length) {
  if (!log_.keeps(kClosedRun)) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) extend_run(c, injectors_.hold(c), at, length);
}

void InjectorBank::extend_run(std::size_t index, Hold hold, Cycle at, Cycle length) {
  Column& column = columns_[index];
  if (hold == column.run_of && at == column.run_begin + column.run_length) {
    column.run_length += length;
    return;
  }
  if (column.run_of != Hold::none && column.run_of != Hold::done) {
    const EventKind kind = column.run_of == Hold::no_token ? kIoRateRun
                           : column.run_of == Hold::closed ? kClosedRun
                                                           : kScanRun;
    log_.record_run(column.run_begin, column.run_length, first_unit_ + index, kind,
                    column.run_length << 1U);
  }
  column.run_of = hold;
  column.run_begin = at;
  column.run_length = length;
}

std::string InjectorBank::blocked() const {
  std::string text;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Hold hold = injectors_.hold(c);
    if (columns_[c].link == kNoLink || hold == Hold::done) continue;
    text += fmt::format("injector {}: word {} waits for {}\n", c, columns_[c].words,
                        hold == Hold::closed     ? "room in the router below"
                        : hold == Hold::scanning ? "the filter"
                                                 : "its turn");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace lacuna::wse
