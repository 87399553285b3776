// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/driver/validate/kernels.hpp"
#include "tests/support/driver/real_program.hpp"

namespace lacuna::test {
namespace {

std::optional<double> measure(const char* system, const char* workload, const char* dtype,
                              const char* mode, const char* metric, const char* unit) {
  ValidationPoint point;
  point.system = system;
  point.workload = workload;
  point.dtype = dtype;
  point.mode = mode;
  point.metric = metric;
  point.unit = unit;
  run_real("describe machines");  // sets the presets in place
  return simulate_point(point, standard_machines(), {}, Engine::event);
}

// 6 bundles a turn of 12 B for each of six workers: 2 B a clock, less the entry of 12 bundles.
TEST(ValidateKernels, TheNaiveTriadMovesTwoBytesAClockOfEachTile) {
  const auto found = measure("GC2x1@1.6GHz", "STREAM triad naive C++", "FP32", "compute-only",
                             "bandwidth", "GB/s");
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 2.0 * 1216 * 1.6, 5);
}

TEST(ValidateKernels, ADependentLoadTakesSixCycles) {
  const auto found = measure("GC2x1@1.6GHz", "Citadel microbenchmark", "", "micro",
                             "local_memory_latency", "cycles");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, 6.0);
}

TEST(ValidateKernels, ParametersGivePeaks) {
  // 64 MAC x 2 x 1472 tiles x 1.85 GHz
  EXPECT_NEAR(*measure("Bow", "hardware parameter", "", "", "peak_fp16", "TFLOP/s"), 348.6, 0.1);
  EXPECT_EQ(*measure("Mk2", "hardware parameter", "", "", "onchip_sync", "cycles"), 150.0);
}

TEST(ValidateKernels, WhatNoRuleKnowsIsNotMeasured) {
  EXPECT_FALSE(measure("V100", "STREAM triad naive C++", "FP32", "", "bandwidth", "GB/s"));
  EXPECT_FALSE(measure("GC2", "hardware parameter", "", "", "tdp_per_ipu", "W"));
  EXPECT_FALSE(measure("GC2", "STREAM triad by hand", "FP32", "", "bandwidth", "GB/s"));
}

}  // namespace
}  // namespace lacuna::test
