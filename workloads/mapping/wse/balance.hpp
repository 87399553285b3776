// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// How evenly the rows of a stream load the columns: the mean column's weights over the heaviest
/// column's, over disjoint blocks of `rows` rows in the order of the stream. What a wafer would
/// reach whose columns meet after every block and wait for nothing else. 1 if there are none.
double column_balance(const StreamingKernel& kernel, std::uint32_t rows);

}  // namespace lacuna::wse
