// SPDX-License-Identifier: Apache-2.0
#include "models/wse/fabric/router.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace lacuna::wse {
namespace {

constexpr SwitchCommands kAdvance = first_command(SwitchCommand::advance);
constexpr SwitchCommands kReset = first_command(SwitchCommand::reset);
constexpr SwitchCommands kTeardown = first_command(SwitchCommand::teardown);

/// One router whose color 3 comes in from the ramp and from the east. A word that is pushed with
/// latency 1 in cycle t is routed in t + 1.
class RouterConformance : public ::testing::Test {
 protected:
  explicit RouterConformance(const char* path = "hop", const char* value = "1")
      : params_(with(path, value)) {
    ramp_.color = east_.color = Color{3};
    ramp_.from = kRamp;
    east_.from = kEast;
    for (RouterInput* input : {&ramp_, &east_}) {
      input->link = links_.add({8, 1}, kNoUnit, kNoUnit);
      for (unsigned port = 0; port < kPorts; ++port) input->out[port] = out_[port];
    }
  }

  /// Position 0 passes the core's words to the west, position 1 those of the east.
  void set_star() {
    ramp_.color_switch.rules = east_.color_switch.rules = {2, false, false};
    ramp_.to_at = {bit(kWest), 0, 0, 0};
    east_.to_at = {0, bit(kWest), 0, 0};
    ramp_.to = ramp_.to_at[0];
    east_.to = east_.to_at[0];
  }

  void make() { routers_.add(0, {east_, ramp_}); }

  void push(const RouterInput& input, std::uint32_t payload, SwitchCommands switches = 0,
            bool control = false) {
    links_.push(input.link, now_, {payload, Color{3}, control, switches});
  }

  /// Steps so many cycles and returns "payload@cycle" of what left to `port`, in its order.
  std::string words(unsigned port, unsigned cycles) {
    std::string text;
    for (const Cycle end = now_ + cycles; now_ != end; ++now_) {
      routers_.step(0, now_);
      for (unsigned p = 0; p < kPorts; ++p) {
        if (!links_.can_pop(out_[p], now_)) continue;
        const Wavelet word = links_.pop(out_[p], now_);
        last_ = word;
        if (p != port) continue;
        text += (text.empty() ? "" : " ") + std::to_string(word.payload) + "@" +
                std::to_string(now_ - 1);  // over a link of latency 1
      }
    }
    return text;
  }

  static RouterParams with(const char* path, const char* value) {
    RouterParams params;
    params.set(path, value);
    return params;
  }

  RouterParams params_;
  Agendas agendas_;  // never started: nobody is woken
  LinkArray links_{agendas_};
  EventLog log_;
  RouterArray routers_{params_, links_, log_};
  std::vector<LinkId> out_ = {
      links_.add({8, 1}, kNoUnit, kNoUnit), links_.add({8, 1}, kNoUnit, kNoUnit),
      links_.add({8, 1}, kNoUnit, kNoUnit), links_.add({8, 1}, kNoUnit, kNoUnit),
      links_.add({8, 1}, kNoUnit, kNoUnit)};
  RouterInput ramp_;
  RouterInput east_;
  Cycle now_ = 0;
  Wavelet last_;
};

TEST_F(RouterConformance, ASwitchLetsThroughOnlyWhatItsPositionAllows) {
  set_star();
  make();
  push(east_, 9);
  push(ramp_, 1);
  EXPECT_EQ(words(kWest, 6), "1@1");
  // the word from the east stood at the head of its buffer in cycles 1 to 5
  EXPECT_EQ(routers_.counters(0).stalls[3], 5U);
}

TEST_F(RouterConformance, AnAdvanceHoldsFromTheCycleAfterItsWordHasLeft) {
  set_star();
  make();
  push(east_, 9);
  push(ramp_, 1);
  push(ramp_, 2, kAdvance | kOwnRouterOnly);
  push(ramp_, 3);
  EXPECT_EQ(words(kWest, 8), "1@1 2@2 9@3");  // 3 waits: position 1 takes nothing from the ramp
}

TEST_F(RouterConformance, ACommandForTheOwnRouterMovesNoSwitchElsewhere) {
  set_star();
  east_.to_at = {bit(kWest), 0, 0, 0};
  east_.to = bit(kWest);
  make();
  push(east_, 8, kAdvance | kOwnRouterOnly);
  push(east_, 9);
  EXPECT_EQ(words(kWest, 6), "8@1 9@2");
}

TEST_F(RouterConformance, TheLastPositionStaysUnlessTheSwitchIsARing) {
  for (const bool ring : {false, true}) {
    RouterArray routers(params_, links_, log_);
    RouterInput input = ramp_;
    input.color_switch.rules = {2, ring, false};
    input.to_at = {bit(kWest), bit(kNorth), 0, 0};
    input.to = bit(kWest);
    input.link = links_.add({8, 1}, kNoUnit, kNoUnit);
    routers.add(0, {input});
    for (std::uint32_t i = 0; i < 3; ++i) {
      links_.push(input.link, now_, {i, Color{3}, true, kAdvance});
    }
    std::map<unsigned, std::string> left;
    for (const Cycle end = now_ + 8; now_ != end; ++now_) {
      routers.step(0, now_);
      for (const unsigned port : {unsigned{kWest}, unsigned{kNorth}}) {
        if (links_.can_pop(out_[port], now_)) {
          left[port] += std::to_string(links_.pop(out_[port], now_).payload);
        }
      }
    }
    EXPECT_EQ(left[kWest], ring ? "02" : "0");
    EXPECT_EQ(left[kNorth], ring ? "1" : "12");
  }
}

/// A link that is shut for two cycles after three words.
class RouterLinkRule : public RouterConformance {
 protected:
  RouterLinkRule() {
    params_.link_words = 3;
    params_.link_cycles = 5;
    ramp_.to = bit(kWest);
    east_.to = bit(kRamp);
  }
};

// Words 0, 1, 2 leave in cycles 1, 2, 3; 4 and 5 are lost; 3 leaves in 6. Idle cycles reset
// nothing: 4 and 5 come later and are the second and third since then, so that 6, which is there at
// once, has to wait from 22 to 24.
TEST_F(RouterLinkRule, CountsWordsAndForgetsNothingWhenIdle) {
  RouterArray routers(params_, links_, log_);
  routers.add(0, {east_, ramp_});
  std::string left;
  const auto run_to = [&](Cycle end) {
    for (; now_ != end; ++now_) {
      routers.step(0, now_);
      if (!links_.can_pop(out_[kWest], now_)) continue;
      left += std::to_string(links_.pop(out_[kWest], now_).payload) + "@" +
              std::to_string(now_ - 1) + " ";
    }
  };
  for (std::uint32_t i = 0; i < 4; ++i) push(ramp_, i);
  run_to(19);
  for (std::uint32_t i = 4; i < 7; ++i) push(ramp_, i);
  run_to(30);
  EXPECT_EQ(left, "0@1 1@2 2@3 3@6 4@20 5@21 6@24 ");
  EXPECT_EQ(routers.counters(0).sent[kWest], 7U);
}

// The ramp to the core is no link: a word a cycle.
TEST_F(RouterLinkRule, LeavesTheRampAlone) {
  RouterArray routers(params_, links_, log_);
  routers.add(0, {east_, ramp_});
  for (std::uint32_t i = 0; i < 6; ++i) push(east_, i);
  std::string left;
  for (const Cycle end = now_ + 9; now_ != end; ++now_) {
    routers.step(0, now_);
    if (!links_.can_pop(out_[kRamp], now_)) continue;
    left += std::to_string(links_.pop(out_[kRamp], now_).payload) + "@" + std::to_string(now_ - 1) +
            " ";
  }
  EXPECT_EQ(left, "0@1 1@2 2@3 3@4 4@5 5@6 ");
}

/// Colors 3 and 5, three words each, that share the link to the west.
class RouterArbitration : public RouterConformance {
 protected:
  using RouterConformance::RouterConformance;

  std::string shared_link() {
    east_.color = Color{5};
    ramp_.to = east_.to = bit(kWest);
    routers_.add(0, {ramp_, east_});  // in the order of their colors
    for (const std::uint32_t i : {1U, 2U, 3U}) {
      push(ramp_, i);
      links_.push(east_.link, now_, {6 + i, Color{5}, false, 0});
    }
    return words(kWest, 10);
  }
};

struct RouterInLockstep : RouterArbitration {
  RouterInLockstep() : RouterArbitration("multicast", "lockstep") {}
};

struct RouterOfFixedOrder : RouterArbitration {
  RouterOfFixedOrder() : RouterArbitration("arbiter", "fixed") {}
};

TEST_F(RouterArbitration, ColorsTakeTurnsFromOnePastTheColorGrantedLast) {
  EXPECT_EQ(shared_link(), "1@1 7@2 2@3 8@4 3@5 9@6");
}

TEST_F(RouterInLockstep, ColorsTakeTurnsLikewise) {
  EXPECT_EQ(shared_link(), "1@1 7@2 2@3 8@4 3@5 9@6");
}

TEST_F(RouterOfFixedOrder, TheLowestColorGoesFirst) {
  EXPECT_EQ(shared_link(), "1@1 2@2 3@3 7@4 8@5 9@6");
}

TEST_F(RouterArbitration, TheTurnMovesOnGrantsOnlyHoweverLongNothingComes) {
  EXPECT_EQ(shared_link(), "1@1 7@2 2@3 8@4 3@5 9@6");  // after color 5 it is any color's turn
  push(ramp_, 4);
  EXPECT_EQ(words(kWest, 10), "4@11");  // now color 5 is next, nine cycles later too
  push(ramp_, 5);
  links_.push(east_.link, now_, {10, Color{5}, false, 0});
  EXPECT_EQ(words(kWest, 10), "10@21 5@22");
}

TEST_F(RouterConformance, AResetReturnsToTheFirstPosition) {
  set_star();
  make();
  push(ramp_, 1, kAdvance, true);
  push(east_, 8, kReset, true);
  push(east_, 9);
  push(ramp_, 2);
  EXPECT_EQ(words(kWest, 8), "1@1 8@2 2@3");
}

TEST_F(RouterConformance, InPopModeEachRouterTakesOneCommandOutOfTheList) {
  set_star();
  ramp_.color_switch.rules.pop = east_.color_switch.rules.pop = true;
  make();
  // advance here, reset in the next router
  const auto list = static_cast<SwitchCommands>(kAdvance | kReset << 2U);
  push(ramp_, 1, list, true);
  push(east_, 9);
  EXPECT_EQ(words(kWest, 2), "");
  EXPECT_EQ(words(kWest, 1), "1@1");
  EXPECT_EQ(last_.switches, kReset);
  EXPECT_EQ(words(kWest, 4), "9@2");
}

TEST_F(RouterConformance, ATeardownClosesAColorForTheTimeOfItsReconfiguration) {
  params_.reconfig = 10U;
  RouterArray routers(params_, links_, log_);
  ramp_.to = bit(kWest);
  routers.add(0, {ramp_});
  push(ramp_, 1, kTeardown, true);
  push(ramp_, 2);
  std::string left;
  Cycle asked = 0;
  for (now_ = 1; now_ < 20; ++now_) {
    const Cycle next = routers.step(0, now_);
    if (now_ == 2) asked = next;
    if (links_.can_pop(out_[kWest], now_)) {
      left += std::to_string(links_.pop(out_[kWest], now_).payload) + "@" +
              std::to_string(now_ - 1) + " ";
    }
  }
  // it left in cycle 1, so cycles 2 to 11 are lost
  EXPECT_EQ(left, "1@1 2@12 ");
  EXPECT_EQ(asked, 12U);
}

TEST_F(RouterConformance, ARangeFilterDropsWhatIsOutsideAndTheRampIsTakenAllTheSame) {
  ramp_.to = bit(kWest);
  east_.to = bit(kRamp);
  east_.filter = WaveletFilter::range(2, 3);
  make();
  for (std::uint32_t index = 1; index <= 4; ++index) push(east_, index << 16U);
  EXPECT_EQ(words(kRamp, 8), "131072@2 196608@3");
  EXPECT_EQ(routers_.counters(0).filtered, 2U);
  EXPECT_EQ(routers_.counters(0).sent[kRamp], 4U);
}

TEST(WaveletFilter, ACounterPassesSoManyOfEachPeriodFromItsOffsetOn) {
  WaveletFilter filter = WaveletFilter::counter(2, 5, 1);
  std::string passed;
  for (std::uint32_t i = 0; i < 10; ++i) passed += filter.passes({i, Color{0}}) ? '1' : '0';
  EXPECT_EQ(passed, "0110001100");
}

TEST(WaveletFilter, ASparseCounterCountsGroupsThatEndWithAControlWavelet) {
  WaveletFilter filter = WaveletFilter::sparse_counter(1, 2, 0);
  std::string passed;
  for (const bool control : {false, false, true, false, true, true, true}) {
    passed += filter.passes({0, Color{0}, control}) ? '1' : '0';
  }
  EXPECT_EQ(passed, "1110010");
}

}  // namespace
}  // namespace lacuna::wse
