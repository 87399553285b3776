// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory_ports.hpp"

#include <gtest/gtest.h>

namespace lacuna::ipu {
namespace {

MemoryPorts ports(unsigned load_bytes, unsigned store_bytes) {
  MemoryParams memory;
  memory.load_bytes = load_bytes;
  memory.store_bytes = store_bytes;
  return MemoryPorts(memory);
}

Bundle bundle(std::uint64_t reads, std::uint64_t writes) {
  return Bundle("any").add(Tally::read_input, reads).add(Tally::write_partial, writes);
}

// Accesses are of 8 bytes: 2 reads are 16 B, which a port of 16 B/cycle does at once, one of 8 in
// two slots and one of 4 in four. Loads and stores have ports of their own: the longer counts.
TEST(MemoryPorts, ABundleTakesTheSlotsOfItsBusierPort) {
  EXPECT_EQ(ports(16, 8).lost(bundle(2, 1)), 0U);
  EXPECT_EQ(ports(8, 8).lost(bundle(2, 1)), 1U);
  EXPECT_EQ(ports(4, 8).lost(bundle(2, 1)), 3U);
  EXPECT_EQ(ports(4, 2).lost(bundle(2, 1)), 3U);
  EXPECT_EQ(ports(16, 2).lost(bundle(2, 1)), 3U);
  EXPECT_EQ(ports(16, 8).lost(bundle(0, 0)), 0U);
}

TEST(MemoryPorts, TheMatrixUnitStoresWholeWordsOfSixtyFourBits) {
  EXPECT_EQ(ports(16, 2).whole_stores(), 8U);
  EXPECT_EQ(ports(16, 15).whole_stores(), 8U);
  EXPECT_EQ(ports(16, 16).whole_stores(), 16U);
  EXPECT_EQ(ports(16, 63).whole_stores(), 32U);
}

TEST(MemoryPorts, AnInstructionIsNoNarrowerThanItIsAndWiderPortsWidenIt) {
  EXPECT_EQ(ports(4, 4).most_loads(), 16U);
  EXPECT_EQ(ports(32, 4).most_loads(), 32U);
  EXPECT_EQ(ports(4, 4).most_stores(), 8U);
  EXPECT_EQ(ports(4, 16).most_stores(), 16U);
}

TEST(MemoryPorts, AnInterleavedElementHasTwoPorts) {
  EXPECT_EQ(MemoryPorts::element_slots(3, false), 3U);
  EXPECT_EQ(MemoryPorts::element_slots(3, true), 2U);
  EXPECT_EQ(MemoryPorts::element_slots(2, true), 1U);
}

}  // namespace
}  // namespace lacuna::ipu
