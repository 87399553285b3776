// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/base/statistics.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/sim_context.hpp"
#include "tests/support/stubs.hpp"

namespace lacuna {
namespace {

struct RelayStats : StatGroup {
  using StatGroup::StatGroup;
  CycleCounter work{this, "work", Layer::compute, "Cycles spent on a token."};
  CycleCounter full{this, "full", Layer::stall, "Cycles a finished token waited for room."};
  CycleCounter idle{this, "idle", Layer::idle, "Cycles without a token."};
};

/// Takes a token, works on it for `service` cycles and hands it on. It sleeps through its work,
/// and while it waits for a token or for room.
class Relay final : public sc_core::sc_module, public Clocked {
 public:
  Relay(const sc_core::sc_module_name& name, Cycle service) : sc_module(name), service_(service) {}

  sc_core::sc_port<PopIf<int>> in{"in"};
  sc_core::sc_port<PushIf<int>> out{"out"};
  RelayStats stats{"relay"};

  Cycle step(Cycle now) override {
    book(now, 1);
    if (holds_ && now >= due_ && out->can_push(now)) {
      out->push(now, token_ + 1);
      holds_ = false;
      return now + 1;
    }
    if (!holds_ && in->can_pop(now)) {
      token_ = in->pop(now);
      holds_ = true;
      due_ = now + 1 + service_;
      return due_;
    }
    return holds_ && now < due_ ? due_ : kNever;
  }
  void skip(Cycle from, Cycle to) override { book(from, to - from); }

 private:
  /// A sleeper changes from work to waiting at due_ at the earliest, which it never sleeps past
  /// without being stepped; so `from` decides for the whole span.
  void book(Cycle from, Cycle cycles) {
    (!holds_ ? stats.idle : from < due_ ? stats.work : stats.full) += cycles;
  }

  Cycle service_;
  int token_ = 0;
  bool holds_ = false;
  Cycle due_ = 0;
};

/// Collects tokens and ends the run with the last.
class Sink final : public sc_core::sc_module, public Clocked {
 public:
  Sink(const sc_core::sc_module_name& name, ClockDomain& clock, std::size_t wanted,
       test::Staller staller)
      : sc_module(name), clock_(clock), wanted_(wanted), staller_(staller) {}

  sc_core::sc_port<PopIf<int>> in{"in"};

  const test::EventLog<int>& log() const { return log_; }

  Cycle step(Cycle now) override {
    if (!in->can_pop(now)) return kNever;
    if (!staller_.stalls(now)) log_.emplace_back(now, in->pop(now));
    if (log_.size() == wanted_) clock_.stop(now);
    return now + 1;
  }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}

 private:
  ClockDomain& clock_;
  std::size_t wanted_;
  test::Staller staller_;
  test::EventLog<int> log_;
};

/// What is simulated; all of it follows from a seed.
struct Scenario {
  explicit Scenario(std::uint64_t number) : seed(number) {
    Random random(number);
    relays = 1 + random.bounded(5);
    tokens = 1 + random.bounded(50);
    stall = random.unit() * 0.8;
    jitter = random.bounded(3) == 0 ? random.bounded(9) : 0;
    for (std::size_t i = 0; i <= relays; ++i) {
      capacity.push_back(1 + random.bounded(4));
      // now and then far beyond what the agenda keeps near
      latency.push_back(1 + random.bounded(random.bounded(6) == 0 ? 700 : 4));
      service.push_back(random.bounded(random.bounded(3) == 0 ? 300 : 6));
    }
  }
  std::uint64_t seed;
  std::size_t relays;
  std::size_t tokens;
  double stall;
  Cycle jitter;
  std::vector<std::size_t> capacity;
  std::vector<Cycle> latency;
  std::vector<Cycle> service;
};

struct Outcome {
  test::EventLog<int> log;
  Cycle cycles = 0;
  std::vector<std::uint64_t> counters;
};

Outcome simulate(const Scenario& scenario, Engine engine, std::uint64_t shuffle) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  clock.shuffle(shuffle);
  std::vector<std::unique_ptr<Channel<int>>> channels;
  for (std::size_t i = 0; i <= scenario.relays; ++i) {
    channels.push_back(
        std::make_unique<Channel<int>>(clock, scenario.capacity[i], scenario.latency[i]));
    channels.back()->jitter(scenario.jitter, scenario.seed + i);
  }
  std::vector<int> tokens;
  for (std::size_t i = 0; i < scenario.tokens; ++i) tokens.push_back(static_cast<int>(100 * i));

  test::Feeder<int> feeder("feeder", tokens, {scenario.stall, mix(scenario.seed)});
  feeder.out.bind(*channels.front());
  clock.add(feeder);
  std::vector<std::unique_ptr<Relay>> relays;
  for (std::size_t i = 0; i < scenario.relays; ++i) {
    const std::string name = "relay" + std::to_string(i);
    relays.push_back(std::make_unique<Relay>(name.c_str(), scenario.service[i]));
    relays.back()->in.bind(*channels[i]);
    relays.back()->out.bind(*channels[i + 1]);
    clock.add(*relays.back());
  }
  Sink sink("sink", clock, tokens.size(), {scenario.stall, mix(scenario.seed + 1)});
  sink.in.bind(*channels.back());
  clock.add(sink);

  Outcome outcome;
  outcome.cycles = clock.run_until_done(kNever, 5000);
  outcome.log = sink.log();
  for (const auto& relay : relays) {
    for (const Counter* counter : relay->stats.counters()) {
      outcome.counters.push_back(counter->value());
    }
    Cycle booked = 0;
    for (const CycleCounter* part : relay->stats.cycle_stack()) booked += part->value();
    EXPECT_EQ(booked, outcome.cycles) << "a cycle was not booked once";
  }
  return outcome;
}

class Pipeline : public ::testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(, Pipeline, ::testing::Range<std::uint64_t>(1, 41));

TEST_P(Pipeline, NeitherEngineNorOrderChangesTheOutcome) {
  // One test is many scenarios, because a process each would cost more than the simulation.
  for (std::uint64_t seed = 10 * GetParam(); seed < 10 * GetParam() + 10; ++seed) {
    SCOPED_TRACE("scenario " + std::to_string(seed));
    const Scenario scenario(seed);
    const Outcome expected = simulate(scenario, Engine::clocked, 0);
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      for (const std::uint64_t shuffle : {std::uint64_t{0}, seed}) {
        const Outcome actual = simulate(scenario, engine, shuffle);
        EXPECT_TRUE(test::same_log(expected.log, actual.log));
        EXPECT_EQ(actual.cycles, expected.cycles);
        EXPECT_EQ(actual.counters, expected.counters);
      }
    }
  }
}

TEST_P(Pipeline, EveryTokenArrivesOnceAndInOrderWhateverTheStalls) {
  const Scenario scenario(GetParam());
  const Outcome outcome = simulate(scenario, Engine::event, 0);
  ASSERT_EQ(outcome.log.size(), scenario.tokens);
  for (std::size_t i = 0; i < scenario.tokens; ++i) {
    // each relay adds 1
    EXPECT_EQ(outcome.log[i].second, static_cast<int>(100 * i + scenario.relays));
  }
}

}  // namespace
}  // namespace lacuna
