// SPDX-License-Identifier: Apache-2.0
#include "models/wse/edge/injector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

int as_flag(bool whether) { return whether ? -1 : 0; }

}  // namespace

InjectorBank::InjectorBank(const RouterParams& router, const Program& program,
                           std::vector<LinkId> links, UnitId first_unit, std::size_t row,
                           Agendas& agendas, LinkArray& array, EventLog& log, ClockDomain& clock)
    : program_(program),
      rule_(router),
      first_unit_(first_unit),
      row_(row),
      agendas_(agendas),
      links_(array),
      log_(log),
      clock_(clock),
      columns_(links.size()),
      stream_(program),
      tokens_(program) {
  for (std::uint32_t c = 0; c < program.columns; ++c) words_.emplace_back(program.kernel, c);
  for (std::size_t c = 0; c < links.size(); ++c) {
    columns_[c].link = links[c];
    if (!program.has_stream(c)) columns_[c].hold = Hold::done;
    scan(columns_[c], c, 0);
  }
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
  tokens_.fill();
  bool sent = take_exits(now);
  bool short_of_tokens = false;
  const bool moved = program_.column_fifo != 0 ? step_row_stream(now, short_of_tokens)
                                               : step_columns(now, short_of_tokens);
  if (sent || moved) {
    clock_.moved(now);
    return now + 1;
  }
  Cycle next = short_of_tokens ? tokens_.in().next(now) : kNever;
  if (exits_short_) next = std::min(next, tokens_.next_exit(now));
  for (const Column& column : columns_) {
    if (column.hold == Hold::closed && column.meter.opens() > now) {
      next = std::min(next, column.meter.opens());
    }
    if (column.hold == Hold::scanning) next = std::min(next, column.found);
  }
  return next;
}

bool InjectorBank::step_columns(Cycle now, bool& short_of_tokens) {
  bool sent = false;
  ask_in_turn(now, columns_.size(), [&](std::size_t c) {
    Column& column = columns_[c];
    if (column.hold != Hold::done && column.link != kNoLink) {
      column.hold = try_send(column, c, now);
      sent = sent || column.hold == Hold::none;
      short_of_tokens = short_of_tokens || column.hold == Hold::no_token;
    }
    count(c, now, 1);
    return true;
  });
  return sent;
}

/// A word put into a FIFO can be sent in the next cycle, and a slot freed can be filled then.
bool InjectorBank::step_row_stream(Cycle now, bool& short_of_tokens) {
  bool moved = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (column.link == kNoLink) {
      count(c, now, 1);
      continue;
    }
    const bool left = !sent_all(column, c);
    const Control control = Control::of_fifos(as_flag(left), as_flag(column.stored != 0),
                                              left ? as_flag(can_send(column, now)) : 0);
    column.hold = hold_of(control, left);
    count(c, now, 1);
    if (column.hold == Hold::none) send(column, c, now);
    moved = moved || column.hold == Hold::none;
  }
  const std::uint64_t put = stream_.advance(
      tokens_.in(), [&](std::uint32_t c) { return columns_[c].stored < program_.column_fifo; },
      [&](std::uint32_t c) { ++columns_[c].stored; });
  for (Column& column : columns_) {
    if (column.hold == Hold::none && column.link != kNoLink) --column.stored;
  }
  short_of_tokens = stream_.short_of_tokens();
  return moved || put != 0;
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
    exits_short_ = !tokens_.buy_exit();
    if (exits_short_) return false;
    const Wavelet word = links_.pop(exits_[k], now);
    collected_[k].push_back(word.payload);
    taken = true;
    return true;
  });
  if (taken && mesh_ != nullptr) mesh_->stop_if_done(now);
  return taken;
}

void InjectorBank::end_records() {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c].hold = Hold::done;
    if (log_.keeps(kClosedRun)) extend_run(columns_[c], c, kNever, 0);
  }
}

void InjectorBank::account(Cycle now) {
  if (accounted_ >= now) return;
  const Cycle slept = now - accounted_;
  const Cycle from = accounted_;
  accounted_ = now;
  tokens_.fill(slept);
  for (std::size_t c = 0; c < columns_.size(); ++c) count(c, from, slept);
}

bool InjectorBank::sent_all(const Column& column, std::size_t index) const {
  return index < program_.columns
             ? words_[index].over()
             : column.counters.words == program_.background[index - program_.columns].words;
}

void InjectorBank::send(Column& column, std::size_t index, Cycle now) {
  const Wavelet word = next_word(index);
  links_.push(column.link, now, word);
  if (rule_.on_links()) column.meter.sent(rule_, now);
  log_.record(now, first_unit_ + index, kWordIn, column.counters.words);
  ++column.counters.words;
  if (word.zero) ++column.counters.zeros;
  scan(column, index, now + 1);
}

/// The filter looks for the next word from cycle `from` on.
void InjectorBank::scan(Column& column, std::size_t index, Cycle from) const {
  if (index >= program_.scan_cycles.size() || column.scanned == program_.scan_cycles[index].size())
    return;
  column.found = from + program_.scan_cycles[index][column.scanned++] - 1;
}

InjectorBank::Hold InjectorBank::try_send(Column& column, std::size_t index, Cycle now) {
  const bool left = !sent_all(column, index);
  const Control control = Control::of_streams(as_flag(left), as_flag(now >= column.found),
                                              left ? as_flag(can_send(column, now)) : 0);
  if (control.asks == 0) return hold_of(control, left);
  if (!tokens_.in().buy()) return Hold::no_token;
  send(column, index, now);
  return Hold::none;
}

InjectorBank::Hold InjectorBank::hold_of(const Control& control, bool left) {
  if (!left) return Hold::done;
  if (control.scanning != 0) return Hold::scanning;
  if (control.closed != 0) return Hold::closed;
  return control.no_token != 0 ? Hold::no_token : Hold::none;
}

Wavelet InjectorBank::next_word(std::size_t index) {
  if (index < program_.columns) return words_[index].next();
  --to_enter_;
  return {0, program_.background[index - program_.columns].color, false};
}

void InjectorBank::count(std::size_t index, Cycle from, Cycle cycles) {
  Column& column = columns_[index];
  if (log_.keeps(kClosedRun)) extend_run(column, index, from, cycles);
  switch (column.hold) {
    case Hold::none:
      break;
    case Hold::no_token:
      column.counters.no_token += cycles;
      break;
    case Hold::closed:
      column.counters.closed += cycles;
      break;
    case Hold::scanning:
      column.counters.scanning += cycles;
      break;
    case Hold::done:
      column.counters.done += cycles;
      break;
  }
}

/// Keeps the record of cycles in which a column was held up by the same.
void InjectorBank::extend_run(Column& column, std::size_t index, Cycle at, Cycle length) {
  if (column.hold == column.run_of && at == column.run_begin + column.run_length) {
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
  column.run_of = column.hold;
  column.run_begin = at;
  column.run_length = length;
}

std::string InjectorBank::blocked() const {
  std::string text;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    if (column.link == kNoLink || column.hold == Hold::done) continue;
    text += fmt::format("injector {}: word {} waits for {}\n", c, column.counters.words.value(),
                        column.hold == Hold::closed     ? "room in the router below"
                        : column.hold == Hold::scanning ? "the filter"
                                                        : "its turn");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace lacuna::wse
