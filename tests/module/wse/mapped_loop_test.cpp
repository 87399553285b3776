// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "tests/support/wse/decode_bench.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {
namespace {

/// Set-up of what `write` appends, by the default costs: an instruction that loads its two
/// descriptors takes 2 + 4 + 2; one whose descriptors stand where they have to, the load of its
/// number, 2, and the dispatch, 4.
template <class Write>
Cycle setup_of(const InferenceParams& params, const Write& write) {
  const CodeCosts costs;
  const Datapath datapath;
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(costs, params, routines);
  code.count(datapath);
  write(code);
  code.stamp();
  return code.shares().at(0).setup;
}

TEST(MappedLoop, DescriptorsOfAMatrixVectorProductMoveOnByThemselves) {
  // results stay, weights move on
  const auto product = [](CoreCode& code) {
    write_gemv(code, {0, 512, 1024, 3, 8}, Element::fp32);
  };
  EXPECT_EQ(setup_of({}, product), 8U + 6 + 6);
  InferenceParams loads;
  loads.set("moving_descriptors", "false");
  EXPECT_EQ(setup_of(loads, product), 3 * 8U);
}

TEST(MappedLoop, AnOuterLoopLoadsDescriptorsAgain) {
  // Values of two positions for three heads, vectors of 4: results of the heads lie one behind the
  // other and move on, a position's values stay. The second position begins with the first head.
  const auto values = [](CoreCode& code) {
    for (std::uint32_t position = 0; position < 2; ++position) {
      for (std::uint32_t head = 0; head < 3; ++head) {
        code.accumulate(position == 0, Element::fp16_32, in_memory(256 + 16 * head),
                        in_memory(8 * position), cell(128), 4);
      }
    }
  };
  EXPECT_EQ(setup_of({}, values), 2 * (8U + 6 + 6));
  // something else between two of them, or weights that lie apart
  const auto broken = [](CoreCode& code) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      code.accumulate(false, Element::fp16_32, in_memory(256), in_memory(8 * i), cell(128), 4);
      code.number_op(VectorOp::move, Element::fp32, 512, number(0));
    }
  };
  // a number's operation is followed by scalar.dependent - 1 = 1
  EXPECT_EQ(setup_of({}, broken), 2 * (8U + 1));
  const auto apart = [](CoreCode& code) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      code.accumulate(false, Element::fp16_32, in_memory(256), in_memory(10 * i), cell(128), 4);
    }
  };
  EXPECT_EQ(setup_of({}, apart), 2 * 8U);
}

TEST(MappedLoop, ReadsOfDifferentWidthMeetWhereOneIsWithinTheOther) {
  // One element a cycle, sums at 4 i and halves at 2 i + b, banks that repeat after 16 bytes: of
  // eight elements in a row those meet whose half is in one of the sum's two banks, 2 i - b = 0 or
  // -2 modulo 16, two of them wherever the halves begin. Each takes a cycle more.
  SimdParams simd;
  simd.set("fma16_32", "1");
  MemoryParams mem;
  mem.set("conflict_bytes", "16");
  mem.set("write_share", "0");
  for (std::uint32_t b = 0; b < 16; b += 2) {
    Instruction what;
    what.op = VectorOp::fma;
    what.element = Element::fp16_32;
    what.to = in_memory(0);
    what.a = in_memory(256 + b);
    what.b = number(2);
    what.length = 8;
    const BeatCost cost(what, simd, mem, 1, 0);
    EXPECT_EQ(cost.beats(0, 8), 8U);
    EXPECT_EQ(cost.stalls_from(0, 8).bank, 2U) << b;
  }
}

// What the code of the first core has is what its phases take, but for waiting; phases without a
// sum have none.
TEST(DecodeShares, AreTheTimeOfPhasesWithoutSums) {
  const DecodeBench bench;
  for (const bool receives : {false, true}) {
    DecodeBlock block = small_block(8, 5, 12);
    block.receives = receives;
    const DecodeLayer layer(DecodeShape(small_model(), block), bench.costs, bench.params);
    const Datapath datapath;
    const std::vector<CodeShares> shares = layer.shares(datapath);
    const std::vector<DecodePhase> phases = layer.phases();
    ASSERT_EQ(shares.size(), phases.size());
    const TaskProgram program = layer.plan();
    for (const Engine engine : {Engine::clocked, Engine::event}) {
      const std::vector<Cycle> stamps = run_tasks(program, engine).stamps.at(0);
      for (std::size_t i = 0; i < phases.size(); ++i) {
        const Cycle cycles = stamps.at(i + 1) - stamps.at(i);
        EXPECT_LE(shares[i].all(), cycles) << word(phases[i]);
        if (shares[i].words == 0) {
          EXPECT_EQ(shares[i].all(), cycles) << word(phases[i]);
        } else if (phases[i] != DecodePhase::receive) {
          EXPECT_LT(shares[i].all(), cycles) << word(phases[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
