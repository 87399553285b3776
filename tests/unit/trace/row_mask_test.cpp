// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_mask.hpp"

#include <gtest/gtest.h>

#include "workloads/trace/trace_reader.hpp"

namespace lacuna {
namespace {

WorkloadTrace read(const std::string& rows) {
  return parse_trace(
      "id,op,m,k,n,pattern,density,seed,pattern_args,fn,args,x_pattern,x_density\n" + rows,
      "t.csv");
}

TEST(RowMask, SeedIsTheRowsOwnOrMadeOfRunAndId) {
  const WorkloadTrace trace =
      read("fwd.l0.q,gemm,8,8,4,unstructured,0.5,,,,,,\nb,gemm,8,8,4,unstructured,0.5,99,,,,,\n");
  // mix(7 XOR FNV-1a("fwd.l0.q")), with the hash 0x9432da2789d90351
  EXPECT_EQ(row_seed(trace.ops[0], 7), 15240923033603572372U);
  EXPECT_EQ(row_seed(trace.ops[1], 7), 99U);
}

TEST(RowMask, ReferencesTakeTheMaskOfTheirRowAsItIsAtThatPoint) {
  const WorkloadTrace trace = read(
      "a,gemm,16,8,4,unstructured,0.25,5,,,,,\n"
      "b,gemm,8,16,4,ref,,,of=a;transpose=1,,,,\n"
      "c,repattern,16,8,,,,6,,,of=a;prune=4;drop=random,,\n"
      "d,gemm,16,8,4,ref,,,of=a,,,,\n"
      "e,gemm,16,8,4,ref,,,of=b;transpose=1,,,,\n");
  const Mask a = *make_mask(trace.ops[0], trace, 1);
  EXPECT_EQ(*make_mask(trace.ops[1], trace, 1), a.transposed());
  const Mask d = *make_mask(trace.ops[3], trace, 1);
  EXPECT_EQ(d.nnz(), a.nnz());
  EXPECT_FALSE(d == a);
  EXPECT_EQ(*make_mask(trace.ops[4], trace, 1), a);  // b was read before the change
  EXPECT_FALSE(make_mask(trace.ops[2], trace, 1).has_value());
}

TEST(RowMask, ActivationsHaveTheirOwnChance) {
  const WorkloadTrace trace = read("a,gemm,8,64,64,bernoulli,0.5,5,,,,bernoulli,0.5\n");
  const auto w = make_mask(trace.ops[0], trace, 1);
  const auto x = make_x_mask(trace.ops[0], 1);
  ASSERT_TRUE(w && x);
  EXPECT_EQ(x->rows, 64U);
  EXPECT_EQ(x->cols, 64U);
  EXPECT_NE(std::vector<std::uint32_t>(x->columns.begin(), x->columns.begin() + 16),
            std::vector<std::uint32_t>(w->columns.begin(), w->columns.begin() + 16));
}

}  // namespace
}  // namespace lacuna
