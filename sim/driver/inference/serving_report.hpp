// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/inference/serving.hpp"

namespace lacuna {

/// Adds to `report` what became of requests: throughput, latencies as percentiles, where the
/// machine's time went, how full its slots were, energy.
void add_serving(const std::vector<ServingRequest>& requests, const ServingResult& result,
                 std::uint32_t slots, ModelReport& report);

/// A line for each request: when it arrived, took a slot, had its first token and was done.
std::string serving_csv(const std::vector<ServingRequest>& requests, const ServingResult& result);

}  // namespace lacuna
