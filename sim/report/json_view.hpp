// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What the page says of a run beside its numbers.
struct ViewFacts {
  std::string title;
  Cycle cycles = 0;  // of the execution that is shown
  double clock_ghz = 0;
  std::uint64_t units = 0;
  bool exact = true;
  std::string tick = "cycle";  // what time is counted in
};

/// Numbers over time of a data set, at most: see coarsen().
inline constexpr std::size_t kMostViewNumbers = 12U << 20U;

/// A data set of the page: its head, in JSON, and its numbers, as a zlib stream in base64. Of a
/// channel all lowest bytes come first, then the next. A function of its arguments.
struct ViewData {
  std::string head;
  std::string numbers;

  bool empty() const { return head.empty(); }
};
ViewData view_data(const ViewFacts& facts, const UnitSeries& series);

/// The same as one text, and back.
std::string pack(const ViewData& data);
ViewData unpack_view(const std::string& text);

/// The same data under a title that begins with `origin`.
ViewData of_origin(const ViewData& data, const std::string& origin);

}  // namespace lacuna
