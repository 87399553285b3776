// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/engine/fold.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Of a program whose cores hold elements one by one, about `most` rows that stand for all: half of
/// them at equal distances, which stand for the rows behind them that have as many tokens, and half
/// those with the heaviest cores, for themselves. That is no fold: rows differ.
FoldPlan sample_rows(const Program& program, std::uint32_t most);

/// One row whose cores hold of each feature as much as that of any row holds. Alike rows hold each
/// other up only if links are shut, so that a wafer of them takes a hop longer for each.
Program fullest_row(const Program& program);

/// Whether rows of the program, which holds elements one by one, run in lanes: others are too slow
/// for a sample of a few rows to answer soon.
bool samples_rows(const HardwareParams& params, const Program& program);

/// What is known of all rows from a few of them. Both are near and no bounds: a core that is busy
/// longer may meet a sum on its way at a better moment, so that more work can end a little sooner.
struct SampledRows {
  FoldPlan sample;
  WaferOutcome outcome;  // of the sample
  Cycle cycles = 0;      // of all rows, if they are like it
  Cycle fullest = 0;     // if all are the fullest row
};

/// Runs the sample and the fullest row. The program is one of which samples_rows() says so.
SampledRows run_sampled(const HardwareParams& params, const Program& program, std::uint32_t most,
                        const RunOptions& options);

}  // namespace lacuna::wse
