// SPDX-License-Identifier: Apache-2.0
// What has one name has one number: in the terminal, report.html, summary.csv, result.json,
// seeds.csv and the data of figures; and so have the winner and the largest part of a stack.
// Results are drawn and read again from the files that users read; what is expected is worked out
// here from the rows.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/driver/result/result_json.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/figures/figure.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/layers.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"
#include "tests/support/agreement/request.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// A run of one product, all of its numbers drawn.
RunRecord drawn_run(Random& random, std::uint64_t index, const std::string& machine,
                    const std::string& pattern, std::uint64_t seed, double dense_s) {
  RunRecord run;
  run.run = index;
  run.machine = machine;
  run.kind = "ipu";
  run.extent = "8 tiles";
  run.engine = "event";
  run.seed = seed;
  run.workload = "8x8x8";
  run.pattern = pattern;
  run.silicon = UnitSilicon{0.6, {0.5, 0.5, 0.5}};
  SummaryRow row;
  row.run = index;
  row.machine = machine;
  row.engine = "event";
  row.workload = run.workload;
  row.op_id = "gemm";
  row.op = "gemm";
  row.m = row.k = row.n = 8;
  row.dtype = "fp16";
  row.pattern = pattern.substr(0, pattern.find_first_of("0123456789:"));
  row.density = pattern == "dense" ? 1 : 0.25;
  row.block = row.pattern == "block" ? "4" : "";
  row.mode = "static";
  row.residency = "resident";
  row.seed = seed;
  row.cycles = 1000 + random.bounded(9000);
  row.time_s = static_cast<double>(*row.cycles) * 1e-9;
  row.useful_flop = 2 * 8 * 8 * 8;
  row.useful_tflops = static_cast<double>(*row.useful_flop) / *row.time_s * 1e-12;
  row.speedup_vs_dense = pattern == "dense" ? 1 : dense_s / *row.time_s;
  const double joules = static_cast<double>(1 + random.bounded(1000)) * 1e-6;
  row.energy_j = JouleRange{joules / 2, joules, joules * 2};
  row.energy_vs_dense = JouleRange{0.4, 0.5, static_cast<double>(5 + random.bounded(5)) / 10};
  row.pj_per_useful_flop = joules * 1e12 / static_cast<double>(*row.useful_flop);
  row.silicon_mm2 = 4;
  row.gflops_per_mm2 = *row.useful_tflops * 1e3 / 4;
  OpRecord op;
  op.row = row;
  op.result.cycles = *row.cycles;
  op.result.units = 8;
  op.result.clock_ghz = 1;
  std::uint64_t left = 8 * *row.cycles;
  const std::vector<std::pair<Layer, const char*>> kinds = {
      {Layer::compute, "amp"}, {Layer::compute, "worker"}, {Layer::exchange, "words"},
      {Layer::sync, "sync"},   {Layer::stall, "bank"},     {Layer::imbalance, "barrier"}};
  for (const auto& [layer, kind] : kinds) {
    const std::uint64_t part = random.bounded(left + 1);
    op.result.stack.push_back({layer, kind, part});
    left -= part;
  }
  op.result.stack.push_back({Layer::idle, "idle", left});
  run.ops = {op};
  run.total = row;
  run.total.op_id = kTotal;
  return run;
}

/// One to three machines, up to three patterns, the sparse ones of one to three seeds.
std::vector<RunRecord> drawn_records(Random& random) {
  std::vector<RunRecord> records;
  const std::uint64_t machines = 1 + random.bounded(3);
  const std::uint64_t seeds = 1 + random.bounded(3);
  for (std::uint64_t m = 0; m < machines; ++m) {
    const std::string machine = "chip" + std::to_string(m);
    const double dense_s = static_cast<double>(1000 + random.bounded(9000)) * 1e-9;
    for (const char* const pattern : {"dense", "block4:0.25", "unstructured:0.25"}) {
      const bool dense = pattern == std::string("dense");
      for (std::uint64_t seed = 1; seed <= (dense ? 1 : seeds); ++seed) {
        records.push_back(drawn_run(random, records.size(), machine, pattern, seed, dense_s));
      }
    }
  }
  return records;
}

using Row = std::map<std::string, std::string>;

/// The rows of a CSV text without quotes, by the names of their columns.
std::vector<Row> rows_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::vector<std::string> head;
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    cells.resize(std::max(cells.size(), head.size()));
    if (head.empty()) {
      head = cells;
      continue;
    }
    rows.emplace_back();
    for (std::size_t i = 0; i < head.size(); ++i) rows.back()[head[i]] = cells[i];
  }
  return rows;
}

/// What is expected of runs that differ in their seed: from the cells of summary.csv alone.
struct Expected {
  std::string name;
  std::vector<Row> rows;

  double mean(const std::string& column) const {
    double sum = 0;
    for (const Row& row : rows) sum += std::stod(row.at(column));
    return sum / static_cast<double>(rows.size());
  }
};

std::vector<Expected> expected_of(const std::vector<RunRecord>& records) {
  std::vector<Expected> all;
  for (const Row& row : rows_of(summary_csv(records))) {
    if (row.at("op_id") != "TOTAL") continue;
    const std::string name = row.at("machine") + ", " +
                             (row.at("pattern") == "dense"
                                  ? "dense"
                                  : row.at("pattern") + row.at("block") + ":" + row.at("density"));
    if (all.empty() || all.back().name != name) all.push_back({name, {}});
    all.back().rows.push_back(row);
  }
  return all;
}

Json answer_in(const std::vector<RunRecord>& records) {
  return Json::parse(result_text({}, records)).at("answer");
}

std::string terminal(const std::vector<RunRecord>& records) {
  TextTable::fit(0);
  return points_screen(answer_of(records), {screen_title(records), true, "", ""});
}

TEST(OneAnswer, MeansAreThoseOfTheRowsInJsonAndSeeds) {
  for_each_draw([](Random& random) {
    const std::vector<RunRecord> records = drawn_records(random);
    const std::vector<Expected> expected = expected_of(records);
    const Json answer = answer_in(records);
    const std::vector<Row> seeds = rows_of(seeds_csv(answer_of(records)));
    ASSERT_EQ(answer.at("points").size(), expected.size());
    ASSERT_EQ(seeds.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Json& point = answer.at("points").at(i);
      EXPECT_EQ(point.at("name"), expected[i].name);
      for (const char* const column : {"cycles", "time_s", "useful_tflops", "speedup_vs_dense",
                                       "energy_j", "energy_vs_dense", "pj_per_useful_flop"}) {
        const double mean = expected[i].mean(column);
        EXPECT_NEAR(point.at(column).at("mean"), mean, 1e-12 * mean) << column;
        EXPECT_EQ(std::stod(seeds[i].at(std::string(column) + "_mean")),
                  point.at(column).at("mean"))
            << column;
      }
    }
  });
}

TEST(OneAnswer, TheWinnersAreTheSameEverywhere) {
  for_each_draw([](Random& random) {
    const std::vector<RunRecord> records = drawn_records(random);
    const std::vector<Expected> expected = expected_of(records);
    std::size_t fastest = 0;
    std::size_t most = 1;  // of sparse ones: each machine's dense point is its first
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i].mean("time_s") < expected[fastest].mean("time_s")) fastest = i;
      const bool sparse = expected[i].rows[0].at("pattern") != "dense";
      const double own = expected[i].mean("speedup_vs_dense");
      if (sparse && own > expected[most].mean("speedup_vs_dense")) most = i;
    }
    const Json answer = answer_in(records);
    EXPECT_EQ(answer.at("fastest"), fastest);
    EXPECT_EQ(answer.at("most_from_zeros"), most);
    const std::string first = "Fastest: " + expected[fastest].name + ",";
    const std::string second = ": " + expected[most].name + ", ";
    for (const std::string& text : {terminal(records), html_report({}, records)}) {
      EXPECT_THAT(text, HasSubstr(first));
      EXPECT_THAT(text, HasSubstr(second));
    }
    EXPECT_THAT(answer.at("sentences").at(0).get<std::string>(), HasSubstr(first));
  });
}

TEST(OneAnswer, TheLargestPartOfAStackIsTheSameEverywhere) {
  for_each_draw([](Random& random) {
    const std::vector<RunRecord> records = drawn_records(random);
    const Json answer = answer_in(records);
    const std::string page = html_report({}, records);
    for (const Json& point : answer.at("points")) {
      std::map<std::pair<std::string, std::string>, double> parts;
      double all = 0;
      for (const Row& row : rows_of(cycle_stack_csv(records))) {
        const Json& runs = point.at("runs");
        if (std::count(runs.begin(), runs.end(), std::stoul(row.at("run"))) == 0) continue;
        parts[{row.at("layer"), row.at("kind")}] += std::stod(row.at("unit_cycles"));
        all += std::stod(row.at("unit_cycles"));
      }
      double most = 0;
      for (const auto& [name, cycles] : parts) most = std::max(most, cycles);
      const Json& largest = point.at("largest_part");
      EXPECT_EQ((parts[{largest.at("layer"), largest.at("kind")}]), most);
      EXPECT_NEAR(largest.at("share"), most / all, 1e-12);
      EXPECT_THAT(page,
                  HasSubstr(fmt::format("{} ({}), {:.0f} %", largest.at("layer").get<std::string>(),
                                        largest.at("kind").get<std::string>(), 100 * most / all)));
      double layers = 0;
      for (const auto& [name, share] : point.at("where_cores_waited").items()) {
        layers += share.get<double>();
        double own = 0;
        for (const auto& [part, cycles] : parts) own += part.first == name ? cycles : 0;
        EXPECT_NEAR(share, own / all, 1e-12) << name;
      }
      EXPECT_NEAR(layers, 1, 1e-12);
    }
  });
}

TEST(OneAnswer, TerminalAndPageShowTheSameCells) {
  for_each_draw([](Random& random) {
    const std::vector<RunRecord> records = drawn_records(random);
    const std::string page = html_report({}, records);
    const std::string text = terminal(records);
    for (const Json& point : answer_in(records).at("points")) {
      for (const auto& [column, scale] :
           {std::pair("time_s", 1e6), std::pair("speedup_vs_dense", 1.0),
            std::pair("energy_j", 1e6), std::pair("energy_vs_dense", 1.0)}) {
        const Json& mean = point.at(column);
        std::string cell = four_digits(mean.at("mean").get<double>() * scale);
        if (!mean.at("half95").is_null()) {
          cell += " +- " + four_digits(mean.at("half95").get<double>() * scale);
        }
        EXPECT_THAT(text, HasSubstr("  " + cell));
        EXPECT_THAT(page, HasSubstr(">" + cell + "<"));
      }
    }
  });
}

TEST(OneAnswer, TheSpeedUpFigureHasTheMeans) {
  for_each_draw([](Random& random) {
    const std::vector<RunRecord> records = drawn_records(random);
    std::string csv;
    for (const Figure& figure : make_figures(records)) {
      if (figure.name == "speedup") csv = figure.csv;
    }
    const std::vector<Row> drawn = rows_of(csv);
    for (const Json& point : answer_in(records).at("points")) {
      const double mean = point.at("speedup_vs_dense").at("mean");
      const bool found = std::any_of(drawn.begin(), drawn.end(), [&](const Row& row) {
        const double y = std::stod(row.at("Speed-up over dense"));
        return row.at("series").rfind(point.at("machine").get<std::string>(), 0) == 0 &&
               std::fabs(y - mean) <= 1e-12 * mean;
      });
      EXPECT_TRUE(found) << point.at("name") << '\n' << csv;
    }
  });
}

}  // namespace
}  // namespace lacuna::test
