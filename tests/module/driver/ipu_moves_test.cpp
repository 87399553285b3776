// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using IpuCycles = std::map<std::string, std::uint64_t>;

constexpr const char* kIpu = "run --machine gc200 --set ipu.tiles=32 --quiet --wide ";

/// Cycles of each row, by id, and of all: the last whole number of its line.
IpuCycles ipu_cycles_of(const std::string& more) {
  const Ran ran = run_real(kIpu + more);
  EXPECT_EQ(ran.status, 0) << more << '\n' << ran.err << ran.out;
  std::istringstream lines(ran.out);
  IpuCycles found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string id;
    in >> id;
    if (id != "a" && id != "act" && id != "b" && id != "TOTAL") continue;
    for (std::string word; in >> word;) {
      if (word.find_first_not_of("0123456789") == std::string::npos) found[id] = std::stoull(word);
    }
  }
  return found;
}

/// Two products of 64 x 64 with 64 columns and a function between them; `a` and `b` are pattern,
/// density, mode and block of each.
std::string two_products(const ProgramBench& bench, const std::string& a, const std::string& b) {
  return "--trace " +
         bench.file("two.csv",
                    "# lacuna-trace v1\n"
                    "id,op,phase,m,k,n,dtype,fn,pattern,density,mode,block,depends_on\n"
                    "a,gemm,fwd,64,64,64,fp16,," +
                        a +
                        ",\n"
                        "act,eltwise,fwd,64,,64,fp16,gelu,dense,1,,,a\n"
                        "b,gemm,fwd,64,64,64,fp16,," +
                        b + ",act\n");
}

std::string laid(const ProgramBench& bench, const std::string& a, const std::string& b) {
  return " --layout " + bench.file("l.yaml", "layouts:\n  - {id: a, layout: {" + a +
                                                 "}}\n  - {id: b, layout: {" + b + "}}\n");
}

std::string dense_parts(unsigned columns, unsigned rows, unsigned contraction) {
  return "planner.dense_columns: " + std::to_string(columns) +
         ", planner.dense_rows: " + std::to_string(rows) +
         ", planner.dense_contraction: " + std::to_string(contraction);
}

const char* const kDense = "dense,1,,";

/// The result folder's texts of a run.
std::string told(const ProgramBench& bench, const std::string& more, const std::string& file) {
  EXPECT_EQ(run_real(kIpu + more + " --out " + bench.path("out")).status, 0);
  return file_text(bench.path("out/" + file));
}

// One part of rows and of the contraction: tile f has the columns of part f of Y and of X alike.
// In eight parts each nothing moves and nothing is paid. If b is cut in four, column c is on tile
// c / 8 and goes to tile c / 16: it stays for the eight columns of tile 0 alone, so that 56 columns
// of 64 elements move.
TEST(IpuMoves, WhatLiesAsItIsTakenStaysAndTheRestIsPaidFor) {
  const ProgramBench bench;
  const std::string trace = two_products(bench, kDense, kDense);
  const std::string eight = dense_parts(8, 1, 1);
  const std::string free = " --set planner.operand_moves=false";
  const IpuCycles alike = ipu_cycles_of(trace + laid(bench, eight, eight));
  EXPECT_EQ(alike, ipu_cycles_of(trace + laid(bench, eight, eight) + free));
  const std::string four = laid(bench, eight, dense_parts(4, 1, 1));
  const IpuCycles paid = ipu_cycles_of(trace + four);
  const std::string moved = "moves 3584 elements, from where the row before left them";
  EXPECT_THAT(run_real(kIpu + trace + four).out,
              HasSubstr("b: " + moved + ", and pays for it as layouts are chosen"));
  EXPECT_THAT(run_real(kIpu + trace + four + free).out, Not(HasSubstr(moved)));
  const IpuCycles unpaid = ipu_cycles_of(trace + four + free);
  EXPECT_EQ(paid.at("a"), unpaid.at("a"));
  EXPECT_EQ(paid.at("act"), unpaid.at("act"));
  EXPECT_GT(paid.at("b"), unpaid.at("b"));
}

// Static products of equal blocks have operand and result in order over all tiles: Y of a lies as X
// of b does, whatever their parts and bands.
TEST(IpuMoves, StaticProductsOfEqualBlocksPayNothing) {
  const ProgramBench bench;
  const std::string trace = two_products(bench, "block,0.25,static,16", "block,0.25,static,16");
  const std::string file = laid(bench, "planner.static_parts: 2", "");
  EXPECT_EQ(ipu_cycles_of(trace + file),
            ipu_cycles_of(trace + file + " --set planner.operand_moves=false"));
}

// Whatever kernels and cuts they are of: operands come to where the product takes them, or its
// result is wrong; and both engines count alike.
TEST(IpuMoves, CarryValuesAndBothEnginesCountAlike) {
  const ProgramBench bench;
  const std::vector<std::string> kinds = {kDense, "unstructured,0.25,static,",
                                          "block,0.25,static,4", "block,0.25,static,16",
                                          "block,0.25,dynamic,4"};
  const std::vector<std::string> cuts = {dense_parts(3, 2, 4), dense_parts(8, 4, 1)};
  const auto layout = [&](const std::string& kind, const std::string& cut) {
    if (kind == kDense) return cut;
    return std::string(kind == kinds.back() ? "planner.dynamic_rows: 2" : "");
  };
  for (const std::string& a : kinds) {
    for (const std::string& b : kinds) {
      const std::string trace = two_products(bench, a, b);
      for (const std::string& cut : cuts) {
        const std::string file = laid(bench, layout(a, cut), layout(b, cut));
        SCOPED_TRACE(a + " " + b + " " + cut);
        const IpuCycles event = ipu_cycles_of(trace + file + " --values");
        EXPECT_EQ(event, ipu_cycles_of(trace + file + " --values --engine clocked"));
        if (a != kDense && b != kDense) break;
      }
    }
  }
}

// A file that names no word, or the parts that the planner takes, is the planned run. Cut otherwise
// on one side alone, the operand is not where it is taken.
TEST(IpuMoves, WhatLiesAsPlannedIsWhereItIsTaken) {
  const ProgramBench bench;
  const std::string trace = two_products(bench, kDense, "block,0.25,dynamic,4");
  const IpuCycles planned = ipu_cycles_of(trace);
  EXPECT_EQ(ipu_cycles_of(trace + laid(bench, "", "")), planned);
  EXPECT_EQ(ipu_cycles_of(trace + laid(bench, "", "planner.bucket_oversize: 0.3")), planned);
  const std::string other = laid(bench, dense_parts(8, 1, 1), "");
  EXPECT_GT(ipu_cycles_of(trace + other).at("b"), planned.at("b"));
}

// Steps over rows and columns leave and take parts one after the other.
TEST(IpuMoves, OfSerialStepsCarryValues) {
  const ProgramBench bench;
  const std::string trace = two_products(bench, kDense, kDense);
  const std::string steps =
      dense_parts(2, 2, 2) + ", planner.dense_row_steps: 2, planner.dense_column_steps: 2";
  ipu_cycles_of(trace + laid(bench, steps, dense_parts(2, 4, 2)) + " --values");
  ipu_cycles_of(trace + laid(bench, dense_parts(2, 4, 2), steps) + " --values");
}

// Planned is among what is chosen from, with its moves; a file says what was found again.
TEST(IpuMoves, RowsTogetherAreNoSlowerThanPlanned) {
  const ProgramBench bench;
  const std::string trace = two_products(bench, kDense, kDense);
  const std::string found = told(bench, trace + " --layout best --no-cache", "layouts.yaml");
  const IpuCycles best = ipu_cycles_of(trace + " --layout best --no-cache");
  EXPECT_LE(best.at("TOTAL"), ipu_cycles_of(trace).at("TOTAL"));
  EXPECT_EQ(ipu_cycles_of(trace + " --layout " + bench.file("found.yaml", found)), best);
}

}  // namespace
}  // namespace lacuna::test
