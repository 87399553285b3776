// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// What is seen in the figure of this name, in a sentence or two.
std::string figure_caption(const std::string& name);

/// Where it stands on a page: figures that answer come first. Equal ones follow each other by name.
unsigned figure_rank(const std::string& name);

}  // namespace lacuna
