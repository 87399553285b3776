// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/driver/system/tables.hpp"
#include "sim/report/figures/figure.hpp"

namespace lacuna {

/// The figures that all systems have, whatever joins their chips.

/// A word and its colour.
using Coloured = std::pair<std::string, std::string>;

/// What was done when, a row of bars for each track.
struct SpanPicture {
  struct Bar {
    std::size_t track = 0;
    std::size_t kind = 0;
    Cycle from = 0;  // ns
    Cycle to = 0;
  };
  std::vector<std::string> title;
  std::string track;  // what a track is: first column of the data
  std::vector<std::string> tracks;
  std::vector<Coloured> kinds;
  std::vector<Bar> bars;
  double left = 0.62;  // inches for the names of the tracks
};

/// The figure `pipeline`. Kinds without a bar are left out.
Figure span_figure(const SpanPicture& picture);

/// The figure `time_stack`: where the time of chips goes, `ns` by chip, and of a chip by use.
Figure time_figure(const std::vector<std::string>& title, const std::vector<Coloured>& uses,
                   const std::vector<std::vector<std::uint64_t>>& ns);

/// The figure `memory` likewise: a bar for each place, with a label in place of its name.
Figure places_figure(const std::vector<std::string>& title, const std::vector<Coloured>& parts,
                     const std::vector<std::pair<std::string, MemoryOfPlace>>& places);

}  // namespace lacuna
