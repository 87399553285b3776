// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/residency.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::wse {

Residency residency_of(const LayerOp& op) {
  const Residency meant = residency_of_kernel(op.mode);
  if (meant == Residency::automatic || op.residency == Residency::automatic ||
      op.residency == meant) {
    return meant == Residency::automatic ? op.residency : meant;
  }
  throw UnsupportedError(
      fmt::format("mode '{}' with residency '{}': on a wafer this kernel has its weights {}",
                  word(op.mode), word(op.residency),
                  meant == Residency::resident ? "in the cores" : "streamed in from outside"));
}

Mode kernel_of(bool sparse, Residency residency) {
  if (!sparse) return Mode::dense;
  return residency == Residency::resident ? Mode::static_ : Mode::streamed;
}

}  // namespace lacuna::wse
