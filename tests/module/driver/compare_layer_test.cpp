// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

using Row = std::map<std::string, std::string>;

/// The rows of --json by run: a member stands on a line, `"name": value,`.
std::map<std::string, std::vector<Row>> rows_of(const std::string& json) {
  std::istringstream text(json);
  std::map<std::string, std::vector<Row>> runs;
  Row row;
  for (std::string line; std::getline(text, line);) {
    const std::size_t name = line.find('"');
    const std::size_t colon = line.find("\": ");
    if (name != std::string::npos && colon != std::string::npos) {
      const std::size_t end = line.find_last_not_of(',');
      row[line.substr(name + 1, colon - name - 1)] = line.substr(colon + 3, end - colon - 2);
    } else if (line.find('}') != std::string::npos) {
      runs[row["run"]].push_back(row);
      row.clear();
    }
  }
  return runs;
}

// Two machines and three patterns; 16 operations of a layer, and their total.
TEST(CompareLayer, HasARowForEachOperationAndTotalsThatAddUp) {
  const ProgramBench bench;
  const std::string trace = bench.path("layer.csv");
  ASSERT_EQ(run_real("trace make bert-tiny --layers 1 --tokens 16 --out " + trace).status, 0);
  const Ran ran = run_real(
      "compare --quiet --json --machine bow --machine wse2 --set ipu.tiles=32 --set "
      "wafer.columns=16 --set wafer.rows=16 --pattern dense --pattern unstructured:0.1 --pattern "
      "block16:0.1 --trace " +
      trace);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto runs = rows_of(ran.out);
  ASSERT_EQ(runs.size(), 6U);
  for (const auto& [run, rows] : runs) {
    ASSERT_EQ(rows.size(), 17U);
    const Row& total = rows.back();
    EXPECT_EQ(total.at("op_id"), "\"TOTAL\"");
    for (const char* column : {"cycles", "useful_flop", "sram_read_bytes", "sram_write_bytes",
                               "fabric_bytes", "io_bytes", "energy_j"}) {
      double sum = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        EXPECT_EQ(rows[i].at("status"), "\"ok\"") << rows[i].at("op_id");
        sum += std::strtod(rows[i].at(column).c_str(), nullptr);
      }
      const double all = std::strtod(total.at(column).c_str(), nullptr);
      EXPECT_NEAR(sum, all, std::abs(all) * 1e-12) << run << ' ' << column;
    }
  }
}

}  // namespace
}  // namespace lacuna::test
