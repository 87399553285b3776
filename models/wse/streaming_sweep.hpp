// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "models/wse/params.hpp"
#include "models/wse/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Runs a weight-streaming program as one row of lanes for each class of equal rows, without the
/// rows between. Rows of a class repeat the first, a hop later each, because nothing flows
/// upwards while no copy to the south meets a closed link; doc/model/wse_folding.md has the proof.
class StreamingSweep {
 public:
  StreamingSweep() = default;
  StreamingSweep(const StreamingSweep&) = delete;
  StreamingSweep& operator=(const StreamingSweep&) = delete;
  virtual ~StreamingSweep() = default;

  /// The outcome of `program`, equal to simulate()'s in everything but the event log; nothing if
  /// a link to a slower class would have closed, or if nothing moves any more.
  virtual std::optional<WaferOutcome> run() = 0;
};

/// Null if the program or the hardware is not of the kind that can be swept.
std::unique_ptr<StreamingSweep> make_streaming_sweep(const HardwareParams& params,
                                                     const Program& program);

}  // namespace lacuna::wse
