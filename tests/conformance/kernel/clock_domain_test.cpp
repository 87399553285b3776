// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/clock_domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/kernel/channel.hpp"
#include "sim/kernel/sim_context.hpp"
#include "tests/support/stubs.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const sc_core::sc_time kPeriod(1, sc_core::SC_NS);

/// Works for `work` cycles and says then that the run is done. Counts its cycles in two ways.
class Worker final : public sc_core::sc_module, public Clocked {
 public:
  Worker(const sc_core::sc_module_name& name, ClockDomain& clock, Cycle work)
      : sc_module(name), clock_(clock), work_(work) {
    clock.add(*this);
  }

  Cycle cycles() const { return stepped_ + slept_; }
  Cycle slept() const { return slept_; }

  Cycle step(Cycle now) override {
    ++stepped_;
    if (now + 1 < work_) {
      const Cycle last = clock_.engine() == Engine::event ? work_ - 1 : now + 1;
      clock_.moved(last);
      return last;
    }
    if (now + 1 == work_) clock_.stop(now);
    return now + 1;
  }
  void skip(Cycle from, Cycle to) override { slept_ += to - from; }

 private:
  ClockDomain& clock_;
  Cycle work_;
  Cycle stepped_ = 0;
  Cycle slept_ = 0;
};

/// Waits for a token that nobody sends.
class Waiter final : public sc_core::sc_module, public Clocked {
 public:
  explicit Waiter(const sc_core::sc_module_name& name) : sc_module(name) {}
  Cycle step(Cycle /*now*/) override { return kNever; }
  void skip(Cycle /*from*/, Cycle /*to*/) override {}
  std::string blocked() const override { return "waits for word 3 of 40\nwaits for more"; }
};

class Thrower final : public Clocked {
 public:
  Cycle step(Cycle /*now*/) override { throw InternalError("planted"); }
};

/// A module of the user, which knows simulated time and no clock domain. It pushes a token at
/// each multiple of 5 ns, in its own process.
class Outsider final : public sc_core::sc_module {
 public:
  explicit Outsider(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Outsider);
    SC_METHOD(act);
  }

  Channel<int>* out = nullptr;

 private:
  void act() {
    const Cycle now = sc_core::sc_time_stamp().value() / kPeriod.value();
    if (now > 0 && out->can_push(now)) out->push(now, static_cast<int>(now));
    next_trigger(kPeriod * 5);
  }
};

class ClockDomainInBothEngines : public ::testing::TestWithParam<Engine> {
 private:
  SimContext context_;

 protected:
  ClockDomain clock_{"clock", kPeriod, GetParam()};
};

INSTANTIATE_TEST_SUITE_P(, ClockDomainInBothEngines,
                         ::testing::Values(Engine::clocked, Engine::event),
                         [](const ::testing::TestParamInfo<Engine>& engine) {
                           return engine.param == Engine::clocked ? "clocked" : "event";
                         });

TEST_P(ClockDomainInBothEngines, EndsAfterTheCycleInWhichABlockSaysSo) {
  Worker worker("worker", clock_, 5000);
  EXPECT_EQ(clock_.run_until_done(), 5000U);
  EXPECT_EQ(worker.cycles(), 5000U);
}

TEST_P(ClockDomainInBothEngines, EndsWithTheFirstOfSeveralBlocksAndBooksTheOthersUpToThere) {
  Worker slow("slow", clock_, 900);
  Worker fast("fast", clock_, 300);
  EXPECT_EQ(clock_.run_until_done(), 300U);
  EXPECT_EQ(slow.cycles(), 300U);
  EXPECT_EQ(fast.cycles(), 300U);
}

TEST_P(ClockDomainInBothEngines, GoesOnAfterTheEndOfARun) {
  Worker fast("fast", clock_, 300);
  clock_.run_until_done();
  clock_.run(200);
  EXPECT_EQ(fast.cycles(), 500U);
}

TEST_P(ClockDomainInBothEngines, GivesUpAtTheLimit) {
  Worker worker("worker", clock_, 5000);
  EXPECT_THROW(clock_.run_until_done(4999), SimulationError);
}

TEST_P(ClockDomainInBothEngines, ReachesAnEndInTheLastCycleBeforeTheLimit) {
  Worker worker("worker", clock_, 5000);
  EXPECT_EQ(clock_.run_until_done(5000), 5000U);
}

// The feeder puts two tokens into the full channel in cycles 0 and 1; they can be popped in 7 and
// 8, and that is the last thing that moves, because its reader waits for something else.
TEST_P(ClockDomainInBothEngines, NamesTheBlocksAndChannelsOfADeadlock) {
  Channel<int> channel(clock_, 2, 7);
  test::Feeder<int> feeder("feeder", {1, 2, 3});
  Waiter waiter("waiter");
  feeder.out.bind(channel);
  clock_.add(feeder);
  clock_.add(waiter, "tile 17");
  try {
    clock_.run_until_done();
    FAIL() << "no deadlock was noticed";
  } catch (const DeadlockError& error) {
    EXPECT_EQ(std::string(error.what()),
              "deadlock: work is pending, and nothing has moved since cycle 8\n"
              "  feeder: has 1 of 3 tokens to push\n"
              "  tile 17: waits for word 3 of 40\n"
              "  tile 17: waits for more\n"
              "  channel feeder.out -> ?: 2 of 2 tokens");
  }
}

// It moves until cycle 999 alone, for longer than the watchdog.
TEST_P(ClockDomainInBothEngines, DoesNotTakeLongWorkForADeadlock) {
  Worker worker("worker", clock_, 1000);
  EXPECT_EQ(clock_.run_until_done(kNever, 10), 1000U);
}

// Pushed in 5, 10 and 15, with latency 1.
TEST_P(ClockDomainInBothEngines, WakesABlockForAModuleThatIsNotClocked) {
  Channel<int> channel(clock_, 1);
  Outsider outsider("outsider");
  outsider.out = &channel;
  test::Collector<int> collector("collector");
  collector.in.bind(channel);
  clock_.add(collector);
  clock_.run(18);
  EXPECT_THAT(collector.log(), ElementsAre(Pair(6, 5), Pair(11, 10), Pair(16, 15)));
}

TEST_P(ClockDomainInBothEngines, HandsOnWhatABlockThrows) {
  Thrower thrower;
  clock_.add(thrower);
  EXPECT_THROW(clock_.run_until_done(), InternalError);
}

TEST_P(ClockDomainInBothEngines, HandsOnWhatABlockThrowsInARunOfGivenLength) {
  Thrower thrower;
  clock_.add(thrower);
  EXPECT_THROW(clock_.run(10), InternalError);
}

TEST(ClockDomain, WithEngineEventSleepsThroughLongWork) {
  const SimContext context;
  ClockDomain clock("clock", kPeriod, Engine::event);
  Worker worker("worker", clock, 5000);
  clock.run_until_done();
  EXPECT_EQ(worker.slept(), 4998U);  // all but the first cycle and the last
  EXPECT_EQ(clock.steps(), 2U);
}

}  // namespace
}  // namespace lacuna
