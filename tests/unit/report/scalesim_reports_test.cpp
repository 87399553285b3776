// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/scalesim_reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/csv_table.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

void add(OpResult& result, const std::string& path, const std::string& name, std::uint64_t value) {
  StatEntry entry;
  entry.path = path;
  entry.name = name;
  entry.value = value;
  result.statistics.push_back(entry);
}

// 4 units for 110 cycles, of which the first 10 move operands; 8 x 10 weights, 40 of them kept.
OpRecord an_op() {
  OpRecord op;
  op.row.op = "gemm";
  op.row.m = 8;
  op.row.k = 10;
  op.row.n = 5;
  op.row.dtype = "fp16";
  op.row.pattern = "nm";
  op.row.density = 0.5;
  op.request = {{"pattern", "nm:2:4:pad=1"}};
  op.result.cycles = 110;
  op.result.units = 4;
  op.result.peaks.flop_per_cycle = 16;  // 2 MAC for each unit and cycle
  op.result.stack = {{Layer::compute, "worker", 200},
                     {Layer::exchange, "exchange", 130},
                     {Layer::idle, "idle", 110}};
  add(op.result, "tile", "mac_actual", 200);
  add(op.result, "tile", "sram_reads_input", 50);
  add(op.result, "tile", "sram_reads_weight", 10);
  add(op.result, "tile", "sram_reads_metadata", 5);
  add(op.result, "tile", "sram_writes_output", 15);
  add(op.result, "tile", "sram_writes_partial", 10);
  ExplainSection& phases = op.result.explanation.section("phases, as simulated");
  phases.tables.push_back({"",
                           {{"superstep", ""}, {"phase", ""}, {"cycles", ""}},
                           {{"0", "copy of local shares", "2"},
                            {"0", "sync", "1"},
                            {"0", "exchange of operands", "7"},
                            {"1", "multiply", "90"},
                            {"1", "exchange of partials", "10"}}});
  return op;
}

std::map<std::string, std::string> reports(const std::vector<OpRecord>& ops) {
  RunRecord run;
  run.ops = ops;
  std::map<std::string, std::string> files;
  for (const auto& [name, text] : scalesim_reports(run)) files[name] = text;
  return files;
}

/// First cycle, last cycle and words of a memory's accesses.
std::vector<std::string> window(const test::CsvTable& row, const std::string& memory) {
  const bool result = memory.find("OFMAP") != std::string::npos;
  return {row.cell(memory + " Start Cycle"), row.cell(memory + " Stop Cycle"),
          row.cell(memory + (result ? " Writes" : " Reads"))};
}

// Total 110, 100 of them from the first that computes; 50 cycles of the mean unit compute, so 50
// stall. 200 of 100 * 8 MACs are 25 %; one of four units has no work; in 200 unit-cycles of
// computing 200 of 400 MACs are formed.
TEST(ScaleSimReports, ComputeReportCountsFromTheFirstCycleThatComputes) {
  EXPECT_EQ(reports({an_op()}).at("COMPUTE_REPORT.csv"),
            "LayerID, Total Cycles (incl. prefetch), Total Cycles, Stall Cycles, Overall Util %, "
            "Mapping Efficiency %, Compute Util %,\n"
            "0, 110, 100, 50, 25.0, 75.0, 50.0,\n");
}

// An access is 64 bits, four words of fp16: 200 + 40 + 20 read and 100 written in 100 cycles.
TEST(ScaleSimReports, BandwidthIsInWordsPerCycle) {
  EXPECT_EQ(reports({an_op()}).at("BANDWIDTH_REPORT.csv"),
            "LayerID, Avg IFMAP SRAM BW, Avg FILTER SRAM BW, Avg FILTER Metadata SRAM BW, Avg "
            "OFMAP SRAM BW, Avg IFMAP DRAM BW, Avg FILTER DRAM BW, Avg OFMAP DRAM BW,\n"
            "0, 2.0, 0.4, 0.2, 1.0, 0.0, 0.0, 0.0,\n");
  OpRecord dense = an_op();
  dense.row.pattern = "dense";
  const auto files = reports({dense});
  EXPECT_EQ(files.count("SPARSE_REPORT.csv"), 0U);
  EXPECT_THAT(files.at("BANDWIDTH_REPORT.csv"),
              StartsWith("LayerID, Avg IFMAP SRAM BW, Avg FILTER SRAM BW, Avg OFMAP SRAM BW,"));
}

// Cycle 0 is the 11th: the copy in cycles 0 to 1 reads X from -10 on, W is read in the 90 cycles of
// the product, and nothing computes in the last 10, so that Y is written in those 90 too.
TEST(ScaleSimReports, AccessesHaveTheirWindowsAndUnusedMemoryAnEmptyOne) {
  const std::string text = reports({an_op()}).at("DETAILED_ACCESS_REPORT.csv");
  EXPECT_THAT(text, StartsWith("LayerID, SRAM IFMAP Start Cycle, SRAM IFMAP Stop Cycle, SRAM IFMAP "
                               "Reads, SRAM Filter Start Cycle,"));
  const test::CsvTable row(text);
  EXPECT_THAT(window(row, "SRAM IFMAP"), ElementsAre("-10.0", "89.0", "200"));
  EXPECT_THAT(window(row, "SRAM Filter"), ElementsAre("0.0", "89.0", "40"));
  EXPECT_THAT(window(row, "SRAM OFMAP"), ElementsAre("0.0", "89.0", "100"));
  for (const char* const unused : {"DRAM IFMAP", "DRAM Filter", "DRAM OFMAP"}) {
    EXPECT_THAT(window(row, unused), ElementsAre("0.0", "0.0", "0")) << unused;
  }
}

TEST(ScaleSimReports, SumsAreWrittenUntilTheLastPhaseThatComputes) {
  OpRecord op = an_op();
  op.result.cycles = 130;
  op.result.explanation.sections.front().tables.front().rows.push_back({"2", "reduce", "20"});
  const test::CsvTable row(reports({op}).at("DETAILED_ACCESS_REPORT.csv"));
  EXPECT_THAT(window(row, "SRAM IFMAP"), ElementsAre("-10.0", "89.0", "200"));
  EXPECT_THAT(window(row, "SRAM Filter"), ElementsAre("0.0", "89.0", "40"));
  EXPECT_THAT(window(row, "SRAM OFMAP"), ElementsAre("0.0", "119.0", "100"));
}

// 2:4: an index of 2 bits for each of 40 values is 40 * 2 / 32 = 2.5 words. CSR: 40 columns and 9
// row offsets.
TEST(ScaleSimReports, StorageIsThatOfTheRepresentation) {
  const std::string header =
      "LayerID, Sparsity Representation, Original Filter Storage, New Storage (Filter+Metadata), "
      "Filter Metadata Storage, Avg FILTER Metadata SRAM BW, \n";
  EXPECT_EQ(reports({an_op()}).at("SPARSE_REPORT.csv"),
            header + "0, ellpack_block, 80, 42.5, 3, 0.2,\n");
  OpRecord csr = an_op();
  csr.row.pattern = "unstructured";
  csr.request = {{"pattern", "unstructured:0.5"}};
  EXPECT_EQ(reports({csr}).at("SPARSE_REPORT.csv"), header + "0, csr, 80, 89.0, 49, 0.2,\n");
}

// What streams into a wafer and out of it is DRAM: words over their own window, and from the first
// of them to the last are all cycles.
TEST(ScaleSimReports, StreamsThroughTheEdgeOfAWaferAreDram) {
  OpRecord op = an_op();
  op.result.explanation = {};
  add(op.result, "wafer.edge", "wavelets", 44);
  add(op.result, "wafer.edge", "wavelets_collected", 111);
  const auto files = reports({op});
  const test::CsvTable compute(files.at("COMPUTE_REPORT.csv"));
  EXPECT_EQ(compute.cell("Total Cycles (incl. prefetch)"), "110");
  EXPECT_EQ(compute.cell("Total Cycles"), "110");
  const test::CsvTable accesses(files.at("DETAILED_ACCESS_REPORT.csv"));
  EXPECT_THAT(window(accesses, "DRAM Filter"), ElementsAre("0.0", "109.0", "44"));
  EXPECT_THAT(window(accesses, "DRAM OFMAP"), ElementsAre("0.0", "110.0", "111"));
  const test::CsvTable rates(files.at("BANDWIDTH_REPORT.csv"));
  EXPECT_EQ(rates.cell("Avg IFMAP DRAM BW"), "0.0");
  EXPECT_EQ(rates.cell("Avg FILTER DRAM BW"), "0.4");
  EXPECT_EQ(rates.cell("Avg OFMAP DRAM BW"), "1.0");
}

}  // namespace
}  // namespace lacuna
