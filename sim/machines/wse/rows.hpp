// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/machines/wse/request.hpp"

namespace lacuna {

/// A kind of rows: which they are, what these settings cannot do of one, and what runs it.
struct WaferRows {
  const char* name;
  bool (*takes)(const WseParams& params, const LayerOp& op);
  void (*require)(const WaferRequest& request);  // UnsupportedError if it cannot be run
  OpResult (*run)(const WaferRequest& request);
};

/// From a row of a trace to what runs it: the first of these that takes it does.
const std::vector<WaferRows>& wafer_rows();

/// Runs a row. UnsupportedError says what of it a wafer cannot do.
OpResult run_wafer_row(const WaferRequest& request);

}  // namespace lacuna
