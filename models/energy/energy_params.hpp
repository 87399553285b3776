// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/parameter.hpp"

namespace lacuna {

/// Process nodes that the energy table has prices of, in nm.
enum class Node { n16, n7, n5 };

/// What pricing needs to know of a chip; models never see it.
struct EnergyParams : ParameterSet {
  Param<Node> node = param(this, "node", Node::n7,
                           Choices<Node>{{"n16", Node::n16}, {"n7", Node::n7}, {"n5", Node::n5}},
                           "Column of the energy table.");
  Param<double> vdd_squared = param(this, "vdd_squared", 1.0, range(0.1, 4.0), "",
                                    "Square of the supply voltage relative to the node's.");
  Param<double> chip_units = param(this, "chip_units", 1472.0, range(1.0, 1e7), "units",
                                   "Tiles or cores of the whole chip; leakage is shared by them.");
  Param<double> area_calibration = param(
      this, "area_calibration", 1.0, range(0.1, 10.0), "",
      "Factor on the modelled area: what is published of this chip over what its kind's model "
      "has for it; leakage follows.");
  Param<double> distance_mm =
      param(this, "distance_mm", 17.2, range(0.0, 1000.0), "mm",
            "Mean way of a word: across the exchange of an IPU, or one hop of a wafer.");
  Param<double> peak_macs =
      param(this, "peak_macs", 64.0, range(0.0, 1e6), "MAC/cycle",
            "fp16 multiply-accumulates of one unit in its busiest cycle; prices idle clocking.");
  Param<double> calibration = param(this, "calibration", 1.0, range(0.01, 100.0), "",
                                    "Factor on all on-chip energy; a fit to published power.");
};

}  // namespace lacuna
