// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/report/figures/figure_runs.hpp"
#include "sim/report/tables/summary.hpp"

namespace lacuna {

/// A way that bytes take: how it is called and drawn, and where it stands in what is known of runs,
/// phases and intervals.
struct ByteWay {
  const char* name;
  const char* column;  // what names of columns begin with
  SeriesStyle style;
  std::optional<double> SummaryRow::*gbps;
  double PeakRates::*peak_gbps;
  std::uint64_t PhaseTraffic::*bytes;
  double Peaks::*peak;  // bytes per cycle
  std::uint64_t Interval::*in_interval;
  double PowerInterval::*power_gbps;
  std::optional<double> PowerInterval::*share;
};

inline const std::array<ByteWay, 3>& byte_ways() {
  using Power = PowerInterval;
  static const std::array<ByteWay, 3> ways{{{"tile or core memory",
                                             "sram",
                                             {"#0072B2", 7},
                                             &SummaryRow::sram_gbps,
                                             &PeakRates::sram_gbps,
                                             &PhaseTraffic::sram_bytes,
                                             &Peaks::sram_bytes_per_cycle,
                                             &Interval::sram_bytes,
                                             &Power::sram_gbps,
                                             &Power::sram_share},
                                            {"fabric",
                                             "fabric",
                                             {"#D55E00", 9},
                                             &SummaryRow::fabric_gbps,
                                             &PeakRates::fabric_gbps,
                                             &PhaseTraffic::fabric_bytes,
                                             &Peaks::fabric_bytes_per_cycle,
                                             &Interval::fabric_bytes,
                                             &Power::fabric_gbps,
                                             &Power::fabric_share},
                                            {"edge of the chip",
                                             "io",
                                             {"#009E73", 13},
                                             &SummaryRow::io_gbps,
                                             &PeakRates::io_gbps,
                                             &PhaseTraffic::io_bytes,
                                             &Peaks::io_bytes_per_cycle,
                                             &Interval::io_bytes,
                                             &Power::io_gbps,
                                             &Power::io_share}}};
  return ways;
}

}  // namespace lacuna
