// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/report/json_view.hpp"

namespace lacuna::test {

/// The bytes of the numbers of a view, as a page inflates them.
std::string bytes_of(const ViewData& data);

}  // namespace lacuna::test
