// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "sim/base/split.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"

namespace lacuna::test {
namespace {

using Arguments = std::vector<std::string>;

/// The rows TOTAL of what `verb` prints for these machines and this workload.
std::vector<Numbers> ask(const std::string& verb, const Arguments& machines,
                         const Arguments& workload, const Request& request) {
  Arguments words = {verb};
  for (const std::string& machine : machines) words.insert(words.end(), {"--machine", machine});
  const Arguments options = request.options();
  words.insert(words.end(), workload.begin(), workload.end());
  words.insert(words.end(), options.begin(), options.end());
  return numbers_of(words);
}

Numbers run_alone(const Request& request) {
  const auto rows = ask("run", {request.machine}, request.product(), request);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? Numbers{} : rows.front();
}

/// A trace of that product alone.
std::string trace_of(const Request& request) {
  return "# lacuna-trace v1\nid,op,m,k,n,dtype\ngemm,gemm," + std::to_string(request.m) + "," +
         std::to_string(request.k) + "," + std::to_string(request.n) + "," + request.dtype + "\n";
}

/// An experiment of that product alone.
std::string experiment_of(const Request& request) {
  std::string set;
  for (const std::string& setting : request.settings) {
    const std::size_t at = setting.find('=');
    set += (set.empty() ? "" : ", ") + setting.substr(0, at) + ": " + setting.substr(at + 1);
  }
  return "machine: " + request.machine + "\ngemm: " + request.shape() +
         "\npattern: " + request.pattern + "\ndtype: " + request.dtype +
         "\nseed: " + std::to_string(request.seed) + "\nset: {" + set + "}\n";
}

TEST(WaysOfAsking, ARowOfATraceIsTheProduct) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const TempFile trace(trace_of(request));
    const auto rows = ask("run", {request.machine}, {"--trace", trace.path()}, request);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front(), run_alone(request));
  });
}

TEST(WaysOfAsking, ComparedMachinesDoNotSeeEachOther) {
  for_each_draw([](Random& random) {
    Request request = small_product(random);
    request.settings = {"ipu.tiles=32", "wafer.columns=7", "wafer.rows=5"};
    const auto both = ask("compare", {"gc200", "wse2"}, request.product(), request);
    ASSERT_EQ(both.size(), 2U);
    request.machine = "gc200";
    request.settings = {"ipu.tiles=32"};
    EXPECT_EQ(both.front(), run_alone(request));
    request.machine = "wse2";
    request.settings = {"wafer.columns=7", "wafer.rows=5"};
    EXPECT_EQ(both.back(), run_alone(request));
  });
}

TEST(WaysOfAsking, APointOfASweepIsTheRun) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const TempFile file(experiment_of(request), ".yaml");
    const auto rows = numbers_of({"sweep", file.path()});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front(), run_alone(request));
  });
}

// A step of training has gradients at the places of its weights' masks. With all weights they are
// products of two activations, as they are of a layer that never had zeros.
TEST(WaysOfAsking, ADenseStepOfTrainingIsOne) {
  for_each_draw([](Random& random) {
    const Request request = small_product(random);
    const auto size = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      return std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c) + ",";
    };
    const std::string up = "up,gemm," + size(request.m, request.k, request.n) + "fwd,";
    const std::string dx = "\ndx,gemm," + size(request.k, request.m, request.n) + "bwd,";
    const std::string sides = size(request.m, request.n, request.k) + "bwd,";
    const std::string head = "id,op,m,k,n,phase,pattern,density,pattern_args\n";
    const TempFile sparse(head + up + "unstructured,0.2," + dx +
                          "ref,,of=up;transpose=1\ndw,sddmm," + sides + "ref,,of=up\n");
    const TempFile dense(head + up + ",," + dx + ",,\ndw,bmm," + sides + ",,\n");
    Request plain = request;
    plain.pattern.clear();
    const auto total = [&](const TempFile& trace, const Arguments& more) {
      Arguments workload = {"--trace", trace.path()};
      workload.insert(workload.end(), more.begin(), more.end());
      return ask("run", {request.machine}, workload, plain).front();
    };
    const Numbers own = total(dense, {});
    const Numbers again = total(sparse, {"--pattern", "dense"});
    EXPECT_EQ(again.status, own.status);
    EXPECT_EQ(again.values.at("cycles"), own.values.at("cycles"));
    EXPECT_EQ(again.values.at("energy_j"), own.values.at("energy_j"));
  });
}

// A step of a schedule is laid out as it is for whoever runs the trace that was written of it.
TEST(WaysOfAsking, AStepOfAScheduleIsItsTrace) {
  const std::string folder = testing::TempDir() + "lacuna_schedule_step";
  const Arguments wafer = {"--machine",        "wse2",  "--set",
                           "wafer.columns=24", "--set", "wafer.rows=24"};
  Arguments words = {"trace", "schedule", "dynamic",   "--model", "bert-tiny", "--tokens", "16",
                     "--out", folder,     "--samples", "1",       "--block",   "16"};
  words.insert(words.end(), wafer.begin(), wafer.end());
  ASSERT_EQ(run_real(words).status, 0);
  std::ifstream results(folder + "/results.csv");
  std::string names;
  std::string step;
  std::getline(results, names);
  std::getline(results, step);
  const std::vector<std::string> columns = split(names, ',');
  const auto cycles = std::find(columns.begin(), columns.end(), "cycles") - columns.begin();
  Arguments run = {"run", "--trace", folder + "/u0079.csv"};
  run.insert(run.end(), wafer.begin(), wafer.end());
  EXPECT_EQ(std::stod(split(step, ',').at(static_cast<std::size_t>(cycles))),
            numbers_of(run).front().values.at("cycles"));
}

}  // namespace
}  // namespace lacuna::test
