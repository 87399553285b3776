// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/system/params.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna {

/// A line for each of `settings` ("path=value") that is of a part of a system of chips joined by
/// links over which nothing went; `bytes` are those of each resource of its fabric.
std::string idle_parts(const system::SystemParams& params, const std::vector<std::uint64_t>& bytes,
                       const std::vector<std::string>& settings);

/// The same of a language model on such a system, whose passes stream nothing unless
/// inference.weights or inference.cache says so.
std::string idle_parts_of_model(const std::vector<std::string>& settings);

/// A line for each word of a description that changes nothing where chips share a store of
/// weights, which keeps `state_bytes` for a non-zero.
std::string idle_words_on_tree(const system::TrainingParams& training, unsigned state_bytes);

}  // namespace lacuna
