// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/report/json_view.hpp"

namespace lacuna {

/// One page that needs nothing but itself, offline: the die as a map over time, to walk in. It
/// shows `data`, at least one; two runs beside each other, or their difference.
std::string view_page(const std::string& title, const std::vector<ViewData>& data);

/// The same of the first of `packed`, as pack() made them, that 48 MB hold, which its title says;
/// of one at least.
std::string view_page_of_first(std::string title, const std::vector<const std::string*>& packed);

/// The data sets of such a page. RequestError, which names `path`, if it is none.
std::vector<ViewData> read_views(const std::string& path, const std::string& page);

}  // namespace lacuna
