// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lacuna {

/// The name of the format of `text`, never from the name of its file. RequestError if it is none,
/// if it fits several, or if it is a known file that holds no workload, with the reason.
std::string detect_format(std::string_view text, const std::string& path);

}  // namespace lacuna
