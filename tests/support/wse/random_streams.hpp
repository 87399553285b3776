// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/wse/params.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// A streamed product or a weight gradient on random hardware.
struct StreamCase {
  HardwareParams params;
  Program program;
};

/// Kernels of every form, reduction and way in: rows of sums around a ring or over random plans,
/// words from the top, a middle row or the west edge, one stream or many, what cores hold, other
/// streams beside it.
StreamCase random_streams(std::uint64_t seed);

/// Gradients as they are planned for random masks with random settings.
StreamCase random_gradient(std::uint64_t seed);

/// A case in a few lines.
std::string print(const StreamCase& made);

/// As compare_tasks(): "" if the oracle, both engines and every way of `event` that takes the case
/// agree, "waits" if none ends, else who differs and where. `faster` is increased by the ways of
/// `event` beside the plain one that took the case.
std::string compare_streams(const StreamCase& made, std::uint64_t seed, unsigned& faster);

/// What is left of a case that differs when parameters are as declared wherever it still does.
std::string reduce_streams(StreamCase made, std::uint64_t seed);

}  // namespace lacuna::wse
