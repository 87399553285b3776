// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sim/machines/ipu/host.hpp"

namespace lacuna::test {
namespace {

/// 8 x 8 with all 4 blocks of 4, in buckets of 1000 B; the chip takes 500 cycles at 2 GHz: 250 ns.
std::map<std::string, std::uint64_t> host_side(const std::map<std::string, std::string>& settings,
                                               bool dynamic = true, std::uint32_t batch = 1) {
  IpuHostParams host;
  host.set("link_gbs", "10");
  host.set("block_ns", "25");
  host.set("byte_ns", "1");
  for (const auto& [path, text] : settings) host.set(path, text);
  const Mask mask = dense_mask(8, 8).blocked(4, 4);
  ipu::PlannedOperation planned;
  planned.bucket_bytes = dynamic ? 1000 : 0;
  planned.blocks = 4;
  planned.block = 4;
  OpResult result;
  result.cycles = 500;
  result.clock_ghz = 2;
  LayerOp op;
  op.batch = batch;
  add_host_side(host, mask, op, planned, result);
  std::map<std::string, std::uint64_t> values;
  for (const StatEntry& entry : result.statistics) values[entry.name] = entry.value;
  return values;
}

// Conversion: 4 blocks x 25 ns + 128 B x 1 ns = 228 ns. Transfer: 1000 B at 10 GB/s = 100 ns.
TEST(IpuHost, ThatOverlapsHidesWhatIsShorterThanTheProducts) {
  auto values = host_side({});
  EXPECT_EQ(values["convert_ns"], 228U);
  EXPECT_EQ(values["transfer_ns"], 100U);
  EXPECT_EQ(values["exposed_ns"], 0U);
  EXPECT_EQ(values["step_ns"], 250U);
}

TEST(IpuHost, ThatDoesNotOverlapExposesConversionAndTransfer) {
  auto values = host_side({{"overlap", "false"}});
  EXPECT_EQ(values["exposed_ns"], 328U);
  EXPECT_EQ(values["step_ns"], 578U);
}

// At 1 GB/s the transfer takes 1000 ns: the products of one pattern wait for the next.
TEST(IpuHost, WaitsForTheSlowestStage) {
  auto values = host_side({{"link_gbs", "1"}});
  EXPECT_EQ(values["step_ns"], 1000U);
  EXPECT_EQ(values["exposed_ns"], 750U);
  values = host_side({{"link_gbs", "1"}, {"products", "8"}});  // 8 x 250 ns hide it
  EXPECT_EQ(values["exposed_ns"], 0U);
}

TEST(IpuHost, SortsCoordinatesFirst) {
  auto values = host_side({{"format", "coo"}, {"coo_ns", "2"}});
  EXPECT_EQ(values["convert_ns"], 228U + 64 * 2);
}

TEST(IpuHost, SendsOnlyValuesWhereThePatternIsCompiledIn) {
  auto values = host_side({}, false);
  EXPECT_EQ(values["device_bytes"], 128U);
  EXPECT_EQ(values.count("convert_ns"), 0U);
  // each instance of a batch has values of its own: as CSR 64 halves, 64 columns and 9 offsets
  const std::uint64_t user = values["user_bytes"];
  values = host_side({}, false, 3);
  EXPECT_EQ(values["device_bytes"], 3 * 128U);
  EXPECT_EQ(values["user_bytes"], 3 * user);
}

// 4 blocks of 16 halves are 128 B on the device. As BSR they have 4 columns of 2 B and 3 offsets of
// 4 B too; as COO 64 times two indices.
TEST(IpuHost, CountsTheBytesOfASparseResultInBothFormats) {
  const Mask mask = dense_mask(8, 8).blocked(4, 4);
  for (const auto& [format, bytes] :
       std::map<std::string, std::uint64_t>{{"bsr", 128 + 8 + 12}, {"coo", 128 + 64 * 2 * 2}}) {
    IpuHostParams host;
    host.set("format", format);
    OpResult result;
    add_sparse_result(host, mask, LayerOp(), result);
    ASSERT_EQ(result.statistics.size(), 2U);
    EXPECT_EQ(result.statistics[0].value, 128U) << format;
    EXPECT_EQ(result.statistics[1].value, bytes) << format;
  }
}

}  // namespace
}  // namespace lacuna::test
