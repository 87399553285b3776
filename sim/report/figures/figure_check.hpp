// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// The colours of figures by name, as they usually are.
const std::vector<std::pair<std::string, std::string>>& figure_colours();

/// The same in shades of grey that printing keeps apart.
const std::vector<std::pair<std::string, std::string>>& grey_colours();

/// The variable of a script that has a colour, "#RRGGBB" or its name; one that none has, quoted.
std::string colour_variable(const std::string& colour);

/// svg, pdf, png and eps.
const std::vector<std::string>& figure_formats();

/// True if a script is not as Lacuna wrote it, by the check in its first lines.
bool is_edited(const std::string& script);

/// The formats that a script draws, as its variable says.
std::vector<std::string> formats_of(const std::string& script);

/// A script with its check, which is that of all that follows the line of the check.
std::string with_check(const std::string& name, const std::string& text);

}  // namespace lacuna
