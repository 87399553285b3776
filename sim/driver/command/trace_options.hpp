// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/driver/run/options.hpp"

namespace CLI {
class App;
}

namespace lacuna {

/// Adds the verb `trace` with make, import, show and check to `app`; they fill in `options`.
void add_trace_options(CLI::App& app, Options& options);

}  // namespace lacuna
