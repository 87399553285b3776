// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/fabric.hpp"

#include <gtest/gtest.h>

#include "models/ipu/sync_unit.hpp"
#include "sim/base/error.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::ipu {
namespace {

// The fabric and the barrier stand between tiles in the place of channels, and keep the same
// contract: what one block says in a cycle, another sees in a later one, whoever is stepped first.

TEST(FabricConformance, AWordIsHeardALatencyLaterByAnyNumberOfListeners) {
  ExchangeFabric fabric(2, 40);
  for (Cycle now = 0; now < 500; ++now) {
    fabric.put(1, now, {static_cast<std::uint32_t>(now), 0, 1});
    for (const Cycle latency : {Cycle{1}, Cycle{7}, Cycle{40}}) {
      if (now < latency) continue;
      ASSERT_EQ(fabric.get(1, now - latency).low, now - latency);
      ASSERT_EQ(fabric.get(1, now - latency).low, now - latency);
    }
  }
}

TEST(FabricConformance, AWordSentInTheSameCycleDoesNotDisplaceTheOneBeingHeard) {
  for (const std::size_t reach : {1U, 31U, 32U, 33U}) {
    ExchangeFabric fabric(1, reach);
    fabric.put(0, 0, {5, 0, 1});
    for (Cycle now = 1; now <= reach; ++now) fabric.put(0, now, {6, 0, 1});
    EXPECT_EQ(fabric.get(0, 0).low, 5U) << reach;
  }
}

TEST(FabricConformance, WhoListensToSilenceHearsAnError) {
  ExchangeFabric fabric(2, 40);
  fabric.put(1, 3, {9, 0, 1});
  EXPECT_NO_THROW(fabric.get(1, 3));
  EXPECT_THROW(fabric.get(1, 4), InternalError);
  EXPECT_THROW(fabric.get(0, 3), InternalError);
}

class Member : public Clocked {
 public:
  Cycle step(Cycle /*now*/) override { return kNever; }
};

TEST(FabricConformance, TheBarrierIsReleasedAFixedTimeAfterTheLastArrivalInAnyOrder) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), Engine::clocked);
  std::vector<Member> members(3);
  for (const std::vector<Cycle>& arrivals :
       {std::vector<Cycle>{10, 20, 30}, std::vector<Cycle>{30, 10, 20}}) {
    SyncUnit sync(clock, 150, 1);
    for (const Member& member : members) sync.add(member);
    for (const Cycle at : arrivals) {
      EXPECT_EQ(sync.release(0), kNever);
      sync.arrive(0, at);
    }
    EXPECT_EQ(sync.release(0), 180U);
    EXPECT_EQ(sync.last_arrival(0), 30U);
  }
}

}  // namespace
}  // namespace lacuna::ipu
