// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"

namespace lacuna::wse {

/// Where the features of a product lie: places of a group of columns, the same in all.
struct StreamPlaces {
  const std::vector<std::uint32_t>& owner;          // of each feature
  const std::vector<std::uint32_t>& index;          // of each feature, of those of its owner
  const std::vector<std::uint32_t>& inputs;         // of each place, features
  const std::vector<std::uint32_t>& first_element;  // of each row of cores, of one group
  std::uint32_t element_shares;
  const std::vector<std::uint32_t>& row_of_step;  // by step and group, or kNoRow
};

/// The words of each column: values if they are carried, and indices; `filters`: without zeros.
void fill_stream(const StreamingJob& job, const StreamOperands& operands, bool filters,
                 const StreamPlaces& places, Program& program);

/// What each core holds, feature after feature.
void fill_held(const StreamingJob& job, const StreamOperands& operands, const StreamPlaces& places,
               Program& program);

}  // namespace lacuna::wse
