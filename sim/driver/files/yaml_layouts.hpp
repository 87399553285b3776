// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"

namespace lacuna {

/// A layout of a file: of which operations it is, and what was chosen.
struct LayoutEntry {
  std::map<std::string, std::string> of;  // layout_words() with what an operation must have
  Pairs layout;                           // keys with values,
  std::vector<std::string> places;        // and where in the file each is
  std::string place;                      // "layouts.yaml:4:3"
  std::string extent;  // of the machine that it was found for, Machine::extent(); empty: not said
};

/// The words by which a file says of which operations a layout is: machine, id, op, m, k, n, ...
const std::vector<std::string>& layout_words();

/// Reads a file of layouts: a list `layouts:` of maps of layout_words(), each with a map `layout:`,
/// and maybe `extent:`. What `found:` says is for readers. RequestError with file, line and column
/// if it is none.
std::vector<LayoutEntry> read_layouts(const std::string& path);

/// Such a file. `found` of each entry is said beside it, if there is any.
std::string layouts_yaml(const std::vector<LayoutEntry>& entries,
                         const std::vector<std::string>& found);

}  // namespace lacuna
