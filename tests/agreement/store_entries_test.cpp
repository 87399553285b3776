// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "sim/base/error.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "tests/support/agreement/request.hpp"
#include "tests/support/agreement/store_step.hpp"
#include "tests/support/driver/random_operation.hpp"

namespace lacuna::test {
namespace {

using system::Held;

std::uint64_t held(const WaferSystemRun& run, std::size_t place, Held what) {
  return run.memory.at(place).use.of(what);
}

// The operands of a dense gradient are on the wafer already.
TEST(StoreEntries, ALinkCarriesAtLeastWhatItsWaferTakesIn) {
  for_each_draw([](Random& random) {
    const StoreStep step(random);
    RunRecord record;
    const WaferSystemRun run = step.run(random.bounded(2) == 0 ? "fp16" : "fp32", {}, &record);
    ASSERT_EQ(run.passes.size(), record.ops.size());
    for (std::size_t i = 0; i < (step.density.empty() ? 1 : run.passes.size()); ++i) {
      EXPECT_GE(run.passes[i].down_bytes, edge_bytes(record.ops[i].result));
    }
  });
}

// Places of kept weights have their own bytes, whatever the type; results and what goes up have
// not.
TEST(StoreEntries, TwiceTheBytesOfATypeAreTwiceTheBytes) {
  for_each_draw([](Random& random) {
    const StoreStep step(random);
    const WaferSystemRun half = step.run("fp16");
    const WaferSystemRun whole = step.run("fp32");
    EXPECT_EQ(held(whole, 0, Held::gradients), 2 * held(half, 0, Held::gradients));
    EXPECT_EQ(held(whole, 1, Held::activations), 2 * held(half, 1, Held::activations));
    EXPECT_EQ(whole.passes.at(1).up_bytes, 2 * half.passes.at(1).up_bytes);
    const std::uint64_t values = held(whole, 0, Held::weights) - held(half, 0, Held::weights);
    const std::uint64_t places = held(half, 0, Held::weights) - values;
    EXPECT_EQ(values, half.passes.at(1).up_bytes);
    EXPECT_EQ(places, step.density.empty() ? 0 : values);
  });
}

/// Why a store of so many bytes does not hold a step; empty if it does. Nothing is simulated.
std::string store_refusal(const StoreStep& step, std::uint64_t bytes) {
  const std::vector<std::string> settings = {
      fmt::format("memoryx.capacity_tb={:.18f}", static_cast<double>(bytes) * 1e-12)};
  const auto machines = make_machines(standard_machines(), {step.machine}, settings);
  const WorkloadTrace rows = step.rows("fp16");
  const double density = step.density.empty() ? 1 : std::stod(step.density);
  try {
    check_wafer_accounts(*machines[0], rows, std::vector<double>(rows.ops.size(), density));
    return "";
  } catch (const OutOfMemoryError& error) {
    return error.what();
  }
}

// A store with as much room as is said to be needed is enough; one with a byte less is not.
TEST(StoreEntries, WhatIsSaidToBeNeededIsEnoughAndAByteLessIsNot) {
  for_each_draw([](Random& random) {
    StoreStep step(random);
    step.m = 800 + 8 * upto(random, 400);
    step.k = 800 + 8 * upto(random, 400);
    std::smatch found;
    const std::string refused = store_refusal(step, 1'000'000);
    ASSERT_TRUE(std::regex_search(refused, found, std::regex("needs ([0-9]+) B"))) << refused;
    const std::uint64_t needs = std::stoull(found[1]);
    EXPECT_EQ(store_refusal(step, needs), "");
    EXPECT_NE(store_refusal(step, needs - 1), "");
  });
}

}  // namespace
}  // namespace lacuna::test
