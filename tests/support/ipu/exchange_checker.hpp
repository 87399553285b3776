// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "models/ipu/exchange/plan.hpp"

namespace lacuna::ipu::test {

/// Holds if `plan` moves every word of `list` to each of its destinations, and nothing else, with
/// ports that carry one word in a cycle. It is checked word by word, knowing nothing of how
/// plans are made.
::testing::AssertionResult carries(const ChipParams& params, const TransferList& list,
                                   const ExchangePlan& plan);

}  // namespace lacuna::ipu::test
