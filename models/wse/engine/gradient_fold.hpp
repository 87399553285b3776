// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// What a run of a weight gradient gave.
struct SweptGradient {
  WaferOutcome outcome;
  std::uint32_t streamed = 0;  // rows whose stream and ring stood for all; 0: none did
};

/// Runs a weight gradient whose dot products are kept, one row for all that do the same: while the
/// stream runs, rows of equal tokens repeat each other, a hop later each, as in weight streaming;
/// when words of the chain pass a row follows from when they leave the wafer. `Number` holds every
/// count. Nothing if rows part in another way than can be followed, or if nothing moves any more;
/// then all rows have to be simulated. The program is one that run_gradient_rows() takes.
template <class Number>
std::optional<SweptGradient> fold_gradient_as(const HardwareParams& params, const Program& program);

}  // namespace lacuna::wse
