// SPDX-License-Identifier: Apache-2.0
#include "sim/base/error.hpp"
#include "sim/driver/verbs.hpp"

namespace lacuna {

int trace_verb(const Options& options, const Streams& streams) {
  static_cast<void>(streams);
  throw RequestError("lacuna trace " + options.subverb + " cannot read traces yet");
}

}  // namespace lacuna
