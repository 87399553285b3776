// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// What stands between the separators of `text`, one more than there are of them; a part may be
/// empty.
std::vector<std::string> split(const std::string& text, char separator);

/// The same with the letters of ASCII in lower case.
std::string lower_case(std::string_view text);

}  // namespace lacuna
