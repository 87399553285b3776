// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/energy_range.hpp"
#include "workloads/import/request_file.hpp"

namespace lacuna {

/// What a machine takes for one pass of a model.
struct PassCost {
  std::uint64_t ns = 0;
  EnergyRange joules;
};

/// A model on a machine, with programs for a fixed number of sequences.
class ServedModel {
 public:
  virtual ~ServedModel() = default;

  /// The prompt of one sequence, to the choice of its first token.
  virtual PassCost prompt(std::uint32_t tokens) = 0;

  /// One token more of all sequences, of which the longest has so many positions, the new one
  /// included.
  virtual PassCost step(std::uint32_t context) = 0;

  /// Of doing nothing, in watts.
  virtual EnergyRange idle_watts() const = 0;
};

/// When what happened to a request.
struct ServedRequest {
  std::uint64_t arrival = 0;  // all ns from the start
  std::uint64_t admitted = 0;
  std::uint64_t first_token = 0;
  std::uint64_t done = 0;
};

/// What serving all requests came to.
struct ServingResult {
  std::vector<ServedRequest> requests;  // as they arrived
  std::uint64_t begin_ns = 0;           // the first arrival
  std::uint64_t end_ns = 0;
  std::uint64_t prompt_ns = 0;  // of the machine, in prompts
  std::uint64_t step_ns = 0;    // in steps; else, from the first arrival on, it did nothing
  std::uint64_t steps = 0;
  std::uint64_t taken_slots = 0;    // over all steps: sequences in them
  std::uint64_t prompt_tokens = 0;  // of all requests
  std::uint64_t output_tokens = 0;
  EnergyRange joules;

  std::uint64_t idle_ns() const { return end_ns - begin_ns - prompt_ns - step_ns; }
};

/// Continuous batching of a fixed size: the machine does one thing at a time. A request that has
/// arrived takes the first free one of `slots` slots, in the order of arrival. Its prompt is done
/// at once, before the next step, and gives its first token. A step gives one token to each
/// sequence in a slot. It takes the time of `slots` sequences as long as the longest, even if slots
/// are empty. A request leaves its slot with its last token.
ServingResult serve(const std::vector<ServingRequest>& requests, std::uint32_t slots,
                    ServedModel& model);

/// The value that `percent` of `values` do not exceed, the smallest such of them (nearest rank).
/// `values` may be in any order and are not empty.
std::uint64_t percentile(std::vector<std::uint64_t> values, double percent);

}  // namespace lacuna
