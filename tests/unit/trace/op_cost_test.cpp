// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/op_cost.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna {
namespace {

const char* const kExample =
    "# lacuna-trace v1\n"
    "id,model,layer,op,phase,m,k,n,batch,repeat,dtype,pattern,density,block,seed,pattern_args,"
    "x_pattern,x_density,fn,args,depends_on\n"
    "emb,demo,0,embed,fwd,64,1000,32,,,fp16,,,,,,,,,,-\n"
    "q,demo,0,gemm,fwd,64,64,32,,,fp16,unstructured,0.25,,42,,,,,,emb\n"
    "kv,demo,0,gemm,fwd,128,64,32,,,fp16,block,0.25,4,43,,,,,,emb\n"
    "s,demo,0,bmm,fwd,32,16,32,4,,fp16,,,,,,,,,,q;kv\n"
    "p,demo,0,softmax,fwd,32,,32,4,,fp16,,,,,,,,,,\n"
    "c,demo,0,bmm,fwd,32,32,16,4,,fp16,,,,,,,,,,p;kv\n"
    "f1,demo,0,gemm,fwd,256,64,32,,2,fp16,nm,,,,keep=2;of=4,,,,,c\n"
    "act,demo,0,eltwise,fwd,256,,32,,2,fp16,,,,,,,,relu,,\n"
    "f2,demo,0,gemm,fwd,64,256,32,,2,fp16,nm,,,,keep=2;of=4,bernoulli,0.5,,,\n"
    "dq,demo,0,gemm,bwd,64,64,32,,,fp16,ref,,,,of=q;transpose=1,,,,,\n"
    "gq,demo,0,sddmm,bwd,64,32,64,,,fp16,ref,,,,of=q,,,,,\n"
    "uq,demo,0,optim,upd,64,64,,,,fp32,ref,,,,of=q,,,adamw,,\n"
    "ar,demo,0,allreduce,upd,64,,64,,,fp16,ref,,,,of=q,,,ring,ranks=4,gq\n";

OpCost row_cost(const LayerOp& op, const WorkloadTrace& trace) {
  const std::optional<Mask> mask = make_mask(op, trace, 1);
  return cost_of(op, mask ? mask->nnz() : masked_elements(op));
}

struct Expected {
  std::uint64_t algorithmic, useful, scalar, special, traffic;
};

// Each row times its repeats, worked out by hand: q keeps 1,024 of 64 x 64, so 1,024 * 32 useful
// products, and moves (1,024 + 64 * 32 + 64 * 32) * 2 bytes; p has 4,096 elements, 4 + 1
// operations each, and a reciprocal for each of 128 rows; and so on.
TEST(OpCost, OfEachRowOfATransformerBlock) {
  const std::map<std::string, Expected> expected = {
      {"emb", {0, 0, 0, 0, 8320}},
      {"q", {131072, 32768, 0, 0, 10240}},
      {"kv", {262144, 65536, 0, 0, 16384}},
      {"s", {65536, 65536, 0, 0, 16384}},
      {"p", {0, 0, 16384, 4224, 16384}},
      {"c", {65536, 65536, 0, 0, 16384}},
      {"f1", {1048576, 524288, 0, 0, 73728}},
      {"act", {0, 0, 16384, 0, 65536}},
      {"f2", {1048576, 524288, 0, 0, 73728}},
      {"dq", {131072, 32768, 0, 0, 10240}},
      {"gq", {131072, 32768, 0, 0, 10240}},
      {"uq", {0, 0, 12288, 2048, 28672}},
      {"ar", {0, 0, 0, 0, 0}},
  };
  const WorkloadTrace trace = parse_trace(kExample, "example.csv");
  ASSERT_EQ(trace.ops.size(), 13U);
  OpCost total;
  for (const LayerOp& op : trace.ops) {
    const OpCost cost = row_cost(op, trace);
    const Expected& e = expected.at(op.id);
    EXPECT_EQ(cost.algorithmic_macs, e.algorithmic) << op.id;
    EXPECT_EQ(cost.useful_macs, e.useful) << op.id;
    EXPECT_EQ(cost.scalar, e.scalar) << op.id;
    EXPECT_EQ(cost.special, e.special) << op.id;
    EXPECT_EQ(cost.traffic, e.traffic) << op.id;
    if (op.id == "f2") {
      EXPECT_EQ(cost.expected_macs, 262144U);
    }
    if (op.id == "ar") {
      EXPECT_EQ(cost.link, 3072U);  // 2 * 3/4 of 1,024 values of 2 B
    }
    total += cost;
  }
  EXPECT_EQ(total.algorithmic_macs, 2883584U);
  EXPECT_EQ(total.useful_macs, 1343488U);
  EXPECT_EQ(total.scalar, 45056U);
  EXPECT_EQ(total.special, 6272U);
  EXPECT_EQ(total.traffic, 346240U);
}

// A filter of one place with strides passes over inputs: of 1,024 there the 64 x 4 of the product
// are read, beside 32 x 64 weights and 32 x 4 results of 2 B. 100 that serve several are read once.
TEST(OpCost, ReadsNoMoreInputsThanTheProductTakes) {
  const auto traffic = [](const std::string& unique) {
    const WorkloadTrace trace =
        parse_trace("id,op,m,k,n,args\na,gemm,32,64,4,x_unique=" + unique + "\n", "strides.csv");
    return row_cost(trace.ops[0], trace).traffic;
  };
  EXPECT_EQ(traffic("1024"), 2U * (32 * 64 + 64 * 4 + 32 * 4));
  EXPECT_EQ(traffic("100"), 2U * (32 * 64 + 100 + 32 * 4));
}

}  // namespace
}  // namespace lacuna
