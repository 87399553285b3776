// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/invariants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/machine.hpp"
#include "tests/support/driver/program_bench.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;

/// A fault of a machine and the counter that its message must name.
struct Planted {
  const char* fault;
  const char* counter;
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.fault; }

class ImpossibleNumber : public ::testing::TestWithParam<Planted> {};

TEST_P(ImpossibleNumber, EndsTheRunWithStatus4NamesTheCounterAndTheCommand) {
  const ProgramBench lacuna;
  const Ran ran = lacuna(std::string("run --machine fake --gemm 64x64x64 --pattern "
                                     "unstructured:0.5 --out ") +
                         lacuna.path("out") + " --set fault=" + GetParam().fault);
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr(GetParam().counter));
  EXPECT_THAT(ran.err, HasSubstr("lacuna run --machine fake --gemm 64x64x64"));
  EXPECT_TRUE(lacuna.listing().empty()) << "something was written";
}

TEST_P(ImpossibleNumber, EndsAComparisonToo) {
  const ProgramBench lacuna;
  const Ran ran = lacuna(std::string("compare --machine fake --gemm 64x64x64 --pattern "
                                     "unstructured:0.5 --pattern dense --set fault=") +
                         GetParam().fault);
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr(GetParam().counter));
}

std::string fault_of(const ::testing::TestParamInfo<Planted>& info) { return info.param.fault; }

INSTANTIATE_TEST_SUITE_P(
    Of, ImpossibleNumber,
    ::testing::Values(Planted{"utilisation", "useful_flop"}, Planted{"sram", "sram_read_bytes"},
                      Planted{"fabric", "fabric_bytes"}, Planted{"io", "io_bytes"},
                      Planted{"stack", "cycle stack"}, Planted{"words", "exch_received"},
                      Planted{"unsent", "exch_received"}, Planted{"classes", "sram_reads"},
                      Planted{"products", "mac_skipped"}, Planted{"useful", "mac_zero"},
                      Planted{"busy", "busy_cycles"}),
    fault_of);

// Every bundle of a long element-wise pass loads 16 B and stores 8, all that the ports carry; its
// instructions are fetched beside: 1,024 x 1,024 x 24 / 8 B of operands and results, the bias that
// each tile receives and its homes send, and nothing else.
TEST(PossibleNumbers, APassThatFillsThePortsOfATileIsNotAboveTheirPeak) {
  const auto machine = make_ipu_machine("bow");
  machine->set("ipu.tiles", "16", "test");
  LayerOp op;
  op.id = "bias";
  op.op = "eltwise";
  op.fn = "bias";
  op.m = op.n = 1024;
  const OpResult result = machine->run(op, nullptr, 1, {});
  EXPECT_NO_THROW(check_possible(result));
  constexpr std::uint64_t kVectors = 1024 * 1024 / 4;
  EXPECT_EQ(result.sram_write_bytes, kVectors * 8 + 15 * 1024 * 2);
  EXPECT_GE(result.sram_read_bytes, kVectors * 16 + 1024 * 2);
  EXPECT_LE(result.sram_read_bytes, kVectors * 16 + 2 * 1024 * 2);
}

std::uint64_t counter(const OpResult& result, const std::string& name) {
  std::uint64_t sum = 0;
  for (const StatEntry& entry : result.statistics) sum += entry.name == name ? entry.value : 0;
  return sum;
}

/// 15 x 9 weights times 13 columns in two groups of two columns of cores: dense ones resident.
OpResult in_groups(const std::string& share, const std::string& filter, const Mask* mask) {
  const auto machine = make_wse_machine("wse2");
  for (const auto& [path, value] : std::map<std::string, std::string>{{"wafer.columns", "4"},
                                                                      {"wafer.rows", "4"},
                                                                      {"ws.groups", "2"},
                                                                      {"ws.share", share},
                                                                      {"ws.index_bits", "16"},
                                                                      {"ws.zero_filter", filter}}) {
    machine->set(path, value, "test");
  }
  LayerOp op;
  op.id = "product";
  op.m = 15;
  op.k = 9;
  op.n = 13;
  op.residency = mask == nullptr ? Residency::resident : Residency::streamed;
  op.mode = mask == nullptr ? Mode::dense : Mode::streamed;
  return machine->run(op, mask, 1, {});
}

// Two groups of 13 columns have 7 each: every weight that is sent multiplies one that is none. Two
// groups that hold 15 dense rows have 8 each: every one of 9 x 13 activations multiplies one that
// is none. Of a diagonal of 9 the other 126 x 13 products are left out, or formed with zeros.
TEST(PossibleNumbers, ProductsOfPaddingAreOutsideTheMatrices) {
  Mask diagonal{15, 9, 1, 1, {0}, {}};
  for (std::uint32_t row = 0; row < 15; ++row) {
    if (row < 9) diagonal.columns.push_back(row);
    diagonal.offsets.push_back(diagonal.columns.size());
  }
  struct Case {
    const char* share;
    const char* filter;
    const Mask* mask;
    std::uint64_t edge, zero, skipped;
  };
  for (const Case& each : {Case{"tokens", "true", &diagonal, 9, 0, 126 * 13},
                           Case{"tokens", "false", &diagonal, 135, 126 * 13, 0},
                           Case{"rows", "true", nullptr, 9 * 13, 0, 0},
                           Case{"rows", "true", &diagonal, 0, 0, 126 * 13}}) {
    SCOPED_TRACE(std::string(each.share) + " " + each.filter);
    const OpResult result = in_groups(each.share, each.filter, each.mask);
    EXPECT_NO_THROW(check_possible(result));
    EXPECT_EQ(counter(result, "mac_edge"), each.edge);
    EXPECT_EQ(counter(result, "mac_zero"), each.zero);
    EXPECT_EQ(counter(result, "mac_skipped"), each.skipped);
  }
}

// Five too many products and as many too few skipped add up, modulo 2^64.
TEST(PossibleNumbers, ADifferenceBelowZeroIsFound) {
  OpResult result = in_groups("tokens", "true", nullptr);
  EXPECT_NO_THROW(check_possible(result));
  for (StatEntry& entry : result.statistics) {
    if (entry.name == "mac_skipped") entry.value -= 5;
    if (entry.name == "mac_zero" || entry.name == "mac_actual_fp16_acc16") entry.value += 5;
  }
  EXPECT_THAT([&] { check_possible(result); },
              ::testing::ThrowsMessage<InternalError>(HasSubstr("is more than mac_algorithmic")));
}

}  // namespace
}  // namespace lacuna::test
