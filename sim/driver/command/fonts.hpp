// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lacuna {

/// The family that PDF, PNG and EPS are drawn with if `font` is not on this machine. Empty if it
/// is, if a free font of the same measures stands for it, or if nothing here can tell (fontconfig's
/// fc-match).
std::string font_in_place_of(const std::string& font);

}  // namespace lacuna
