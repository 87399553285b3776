// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace lacuna {

/// A simulation passed the limit of cycles that it was handed and was given up: what was simulated
/// takes longer, and nothing is wrong with it.
struct CycleLimitPassed : std::runtime_error {
  using std::runtime_error::runtime_error;

  /// It was given up before that: to find out whether it passes the limit is too much work.
  bool unknown = false;
};

}  // namespace lacuna
