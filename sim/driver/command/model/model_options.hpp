// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/driver/run/options.hpp"

namespace CLI {
class App;
}

namespace lacuna {

/// Adds the options of language models to `verb`; they fill in `options`.
void add_model_options(CLI::App& verb, Options& options);

}  // namespace lacuna
