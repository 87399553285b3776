// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/run/options.hpp"

namespace lacuna {

/// The options among the arguments of a request, as `--name`, in the order given.
std::vector<std::string> given_options(const Options& options);

/// RequestError for an option that was given and is none of `allowed`; {} in `why` is its name.
void allow_options(const Options& options, const std::vector<std::string>& allowed,
                   const std::string& why);

}  // namespace lacuna
