// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/invariants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::string name_of(const ::testing::TestParamInfo<Planted>& info) { return info.param.fault; }

INSTANTIATE_TEST_SUITE_P(
    Of, ImpossibleNumber,
    ::testing::Values(Planted{"utilisation", "useful_flop"}, Planted{"sram", "sram_read_bytes"},
                      Planted{"fabric", "fabric_bytes"}, Planted{"io", "io_bytes"},
                      Planted{"stack", "cycle stack"}, Planted{"words", "exch_received"},
                      Planted{"unsent", "exch_received"}, Planted{"classes", "sram_reads"},
                      Planted{"products", "mac_skipped"}, Planted{"useful", "mac_zero"},
                      Planted{"busy", "busy_cycles"}),
    name_of);

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

}  // namespace
}  // namespace lacuna::test
