// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/kge.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "workloads/generate/generator_table.hpp"
#include "workloads/trace/op_cost.hpp"

namespace lacuna {
namespace {

// The BioKG example published with the distributed-KGE library of Graphcore: RotatE of 64 complex
// numbers on four chips, 60 triples for each pair of shards (240 on a chip), one negative from
// each shard, half of the heads and half of the tails replaced.
TEST(Kge, HasTheSizesOfThePublishedBioKgExample) {
  const WorkloadTrace trace = generate_workload("kge", {{"score", "rotate"},
                                                        {"width", "64"},
                                                        {"entities", "93773"},
                                                        {"relations", "51"},
                                                        {"shards", "4"},
                                                        {"positives", "60"},
                                                        {"dtype", "fp32"}});
  std::map<std::string, const LayerOp*> rows;
  for (const LayerOp& op : trace.ops) rows[op.id] = &op;
  EXPECT_EQ(rows.at("fwd.gather")->n, 1440U);  // 4 * (2 * 60 + 240)
  EXPECT_EQ(rows.at("fwd.gather")->k, 23444U);
  const LayerOp& sent = *rows.at("fwd.exchange");
  EXPECT_EQ(std::uint64_t{sent.m} * sent.n, 153600U);  // 4 * (60 + 240) rows of 128
  // three quarters of 614,400 bytes leave the chip
  EXPECT_EQ(cost_of(sent, masked_elements(sent)).link, 460800U);
  const LayerOp& negative = *rows.at("fwd.negative");
  EXPECT_EQ(negative.batch, 2U);
  EXPECT_EQ(negative.m, 120U);
  EXPECT_EQ(negative.k, 128U);
  EXPECT_EQ(negative.n, 480U);
  // 3 operations for each of 2 * 120 * 128 * 480 pairs
  EXPECT_EQ(cost_of(negative, masked_elements(negative)).scalar, 44236800U);
  const LayerOp& table = *rows.at("upd.entity");
  const LayerOp& relation = *rows.at("upd.relation");
  EXPECT_EQ(std::uint64_t{4} * table.m * table.k, 12003328U);
  EXPECT_EQ(relation.m * relation.k, 3264U);
  // of the table only what has a gradient is updated, of the relations all
  EXPECT_EQ(only_touched(table, trace).k, 1440U);
  EXPECT_EQ(only_touched(relation, trace).k, 51U);
}

TEST(Kge, WeightDecayUpdatesEveryRowOfTheTable) {
  const Pairs shape = {{"width", "8"}, {"entities", "90"}, {"relations", "3"}, {"positives", "4"}};
  for (const auto& [optimizer, rows] : {std::pair("adam", "touched"), std::pair("adamw", "all")}) {
    Pairs settings = shape;
    settings.emplace_back("optimizer", optimizer);
    const WorkloadTrace trace = generate_workload("kge", settings);
    EXPECT_EQ(trace.ops.back().args, (Pairs{{"rows", rows}})) << optimizer;
  }
}

}  // namespace
}  // namespace lacuna
