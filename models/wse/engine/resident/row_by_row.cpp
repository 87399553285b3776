// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/resident/row_by_row.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/wse/edge/injector.hpp"
#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/resident/rows_ahead.hpp"
#include "models/wse/fabric/lanes_can.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/fabric/ramp.hpp"
#include "models/wse/pe/streaming_core.hpp"
#include "models/wse/program/sent_words.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

/// Of each column the cycles in which words leave the row above, and those from which on a word
/// waits there for its own ramp: with routers in lockstep it then tells whether this row is closed.
struct Passage {
  explicit Passage(std::uint32_t columns) : sent(columns), waits(columns) {}

  std::vector<std::vector<Cycle>> sent;
  std::vector<std::vector<Cycle>> waits;
};

/// The program of one row. What is the same in all rows stays in place.
struct RowProgram {
  const Program& whole;
  Program row;

  explicit RowProgram(const Program& all) : whole(all), row(all) {
    row.rows = 1;
    row.kernel.held = {};
    row.kernel.tokens.assign(1, 0);
  }

  void select(std::uint32_t number) {
    const auto first = static_cast<std::ptrdiff_t>(std::size_t{number} * whole.columns);
    const auto last = first + whole.columns;
    row.row_above = number != 0;
    row.kernel.tokens[0] = whole.kernel.tokens[number];
    row.router_of.assign(whole.router_of.begin() + first, whole.router_of.begin() + last);
    if (!whole.kernel.held.empty()) {
      row.kernel.held.clear();
      row.kernel.held.append(whole.kernel.held, static_cast<std::size_t>(first), whole.columns);
    }
    row.outlets.clear();
    for (std::uint32_t c = 0; c < whole.columns && number + 1 < whole.rows; ++c) {
      row.outlets.push_back({0, c, kSouth, whole.kernel.weights});
    }
  }
};

/// One row, its source in the north and what it sends south.
class OneRow : private RowWaker {
 public:
  /// `clock` is for the injectors, which tell it when they move; it does not run.
  OneRow(const HardwareParams& params, const Program& program, const Passage& from_north,
         ClockDomain& clock);

  /// False if a word would have met a closed link, or nothing more happens.
  bool run();

  /// After its end.
  void add_to(WaferOutcome& outcome);
  /// What has been accounted for; the last core may have been done before.
  Cycle end() const { return end_; }
  Passage& sent_south() { return sent_south_; }

 private:
  void wake_row(std::size_t /*row*/, Cycle /*at*/) override {}  // next() asks the agendas
  bool step(Cycle now);
  bool take_from_north(Cycle now);
  void note_wait(std::size_t column, Cycle now);
  void give_to_south(Cycle now);
  Cycle next();

  const HardwareParams& params_;
  const Program& program_;
  EventLog log_;
  Agendas agendas_;
  LinkArray links_{agendas_};
  RouterArray routers_;
  StreamingCores cores_;
  std::optional<InjectorBank> injectors_;
  std::vector<LinkId> north_;
  std::vector<LinkId> south_;
  std::vector<SentWords> sources_;  // by column
  struct Arrival {
    Cycle at;
    std::uint32_t column;
    bool waits;  // above, and does not come yet
  };
  std::vector<Arrival> arrivals_;  // of all columns, in order
  std::size_t next_arrival_ = 0;
  Cycle next_injection_ = 0;
  Passage sent_south_;
  std::vector<std::uint32_t> due_;
  std::vector<std::uint32_t> edge_due_;
  std::vector<const RouterInput*> streams_;  // by column, in lockstep: the buffer of the stream
  std::vector<bool> waits_;                  // its head did in the cycle before
  Cycle end_ = 0;
};

OneRow::OneRow(const HardwareParams& params, const Program& program, const Passage& from_north,
               ClockDomain& clock)
    : params_(params),
      program_(program),
      routers_(params.router, links_, log_),
      cores_(params, program.kernel, links_, log_),
      sent_south_(program.columns),
      due_(std::size_t{2} * program.columns) {
  MeshPlan plan = build_mesh(params, program, links_);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    routers_.add(plan.ports[i].unit - 1, plan.inputs[i]);
    cores_.add(plan.ports[i]);
  }
  // The second row of the agendas is the edge: injectors, then outlets.
  agendas_.start(2, std::size_t{2} * program.columns, *this);
  north_ = plan.injectors;
  south_ = plan.outlets;
  std::iota(due_.begin(), due_.end(), 0U);
  for (std::uint32_t c = 0; c < program.columns; ++c) sources_.emplace_back(program.kernel, c);
  if (params.router.multicast == Multicast::lockstep && !program.outlets.empty()) {
    waits_.assign(program.columns, false);
    for (std::size_t c = 0; c < program.columns; ++c) {
      const auto [first, last] = routers_.inputs_of(c);
      const auto* const stream = std::find_if(
          &routers_.inputs()[first], &routers_.inputs()[first] + (last - first),
          [&](const RouterInput& input) { return input.color == program.kernel.weights; });
      streams_.push_back(stream);
    }
  }
  if (!program.row_above) {
    injectors_.emplace(params.router, program, plan.injectors, router_unit(program.columns, 1, 0),
                       1, agendas_, links_, log_, clock);
    return;
  }
  for (std::uint32_t c = 0; c < from_north.sent.size(); ++c) {
    for (const Cycle at : from_north.sent[c]) arrivals_.push_back({at, c, false});
    for (const Cycle at : from_north.waits[c]) arrivals_.push_back({at, c, true});
  }
  std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.at, a.column) < std::tie(b.at, b.column);
  });
}

bool OneRow::take_from_north(Cycle now) {
  for (; next_arrival_ != arrivals_.size(); ++next_arrival_) {
    const Arrival& arrival = arrivals_[next_arrival_];
    if (arrival.at != now) break;
    const LinkId link = north_[arrival.column];
    if (!links_.can_push(link, now)) return false;
    if (!arrival.waits) links_.push(link, now, sources_[arrival.column].next());
  }
  return true;
}

/// While a word waits no other comes, so that a link that is open at the begin stays so.
void OneRow::note_wait(std::size_t column, Cycle now) {
  const bool waits = streams_[column]->waiting;
  if (waits && !waits_[column]) sent_south_.waits[column].push_back(now);
  waits_[column] = waits;
}

/// A word was sent south a hop before it is there.
void OneRow::give_to_south(Cycle now) {
  const auto give = [&](std::size_t c) {
    if (!links_.can_pop(south_[c], now)) return;
    links_.pop(south_[c], now);
    sent_south_.sent[c].push_back(now - QueueShapes(params_.router).link().latency);
  };
  if (injectors_) {  // who have taken their part of the agenda
    for (std::size_t c = 0; c < south_.size(); ++c) give(c);
    return;
  }
  for (const std::uint32_t unit : edge_due_) {
    if (unit >= program_.columns) give(unit - program_.columns);
  }
}

Cycle OneRow::next() {
  Cycle at = std::min(agendas_.row(0).next(), agendas_.row(1).next());
  if (injectors_) at = std::min(at, next_injection_);
  if (next_arrival_ != arrivals_.size()) at = std::min(at, arrivals_[next_arrival_].at);
  return at;
}

bool OneRow::step(Cycle now) {
  if (injectors_) {
    next_injection_ = injectors_->step(now);
  } else {
    agendas_.set_stepping(1);
    agendas_.row(1).collect(now, edge_due_);
  }
  if (!take_from_north(now)) return false;
  give_to_south(now);
  agendas_.set_stepping(0);
  RowAgenda& agenda = agendas_.row(0);
  if (now != 0) agenda.collect(now, due_);  // in cycle 0 every unit looks at its links
  for (const std::uint32_t unit : due_) {
    const Cycle again = unit % 2 == 0 ? routers_.step(unit / 2, now) : cores_.step(unit / 2, now);
    if (again != kNever) agenda.add(unit, again);
    if (unit % 2 == 0 && !streams_.empty()) note_wait(unit / 2, now);
  }
  return true;
}

bool OneRow::run() {
  for (Cycle now = 0; now != kNever; now = next()) {
    if (!step(now)) return false;
    if (cores_.finished() == cores_.size() && links_.words() == 0) {
      end_ = now + 1;
      return true;
    }
  }
  return false;
}

void OneRow::add_to(WaferOutcome& outcome) {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    // the last word leaves a bus, if no core takes it
    outcome.cycles = std::max({outcome.cycles, cores_.counters(i).end, routers_.counters(i).end});
    routers_.account(i, end_);
    cores_.settle(i, end_);
    outcome.cores.push_back(cores_.counters(i));
    outcome.routers.push_back(routers_.counters(i));
  }
  if (!injectors_) return;
  injectors_->account(end_);
  for (std::size_t c = 0; c < program_.columns; ++c) {
    outcome.injectors.push_back(injectors_->counters(c));
  }
}

bool can_run(const HardwareParams& params, const Program& program, const RunOptions& options) {
  const bool plain = options.engine == Engine::event && options.jitter == 0 &&
                     options.shuffle == 0 && !options.event_log && !options.modules &&
                     !options.look;
  return plain && !program.gradient && program.background.empty() && program.inlets.empty() &&
         program.outlets.empty() && program.kernel.activations.empty() &&
         program.kernel.steps != 0 && program.rows > 1 && program.entry == 0 &&
         QueueShapes(params.router).flows() && QueueShapes(params.router).links_alike() &&
         kSlotFree == 1 && RampRule::always_open() &&
         !(QueueShapes(params.router).has_turns() && has_turns(program));
}

}  // namespace

std::optional<WaferOutcome> simulate_row_by_row(const HardwareParams& params,
                                                const Program& program, const RunOptions& options) {
  if (!can_run(params, program, options)) return std::nullopt;
  if (auto ahead = simulate_rows_ahead(params, program)) return ahead;
  WaferOutcome outcome;
  const SimContext context;
  ClockDomain clock("rows", sc_core::sc_time(1, sc_core::SC_PS), Engine::event);
  RowProgram one(program);
  Passage passage(program.columns);
  std::vector<Cycle> ends;
  for (std::uint32_t r = 0; r < program.rows; ++r) {
    one.select(r);
    OneRow row(params, one.row, passage, clock);
    if (!row.run()) return std::nullopt;
    row.add_to(outcome);
    ends.push_back(row.end());
    passage = std::move(row.sent_south());
  }
  // After its row's end a core waits for the end of all, which may be sooner.
  for (std::size_t i = 0; i < outcome.cores.size(); ++i) {
    outcome.cores[i].cycles[kDone] += outcome.cycles - ends[i / program.columns];
  }
  for (InjectorCounters& injector : outcome.injectors) injector.done += outcome.cycles - ends[0];
  return outcome;
}

}  // namespace lacuna::wse
