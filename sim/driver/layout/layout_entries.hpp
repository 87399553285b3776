// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/files/yaml_layouts.hpp"
#include "sim/driver/layout/layout.hpp"

namespace lacuna {

struct Point;

/// The entry of an operation on a machine; null if it has one layout only, or none that is its own.
/// RequestError if a file has none, or two that differ.
const LayoutEntry* layout_entry(const std::vector<LayoutEntry>& entries, const std::string& file,
                                const Machine& machine, const LayerOp& op);

/// RequestError if an entry says something that is no choice of the operation.
void check_choices(const LayoutEntry& entry, const Machine& machine, const LayerOp& op,
                   const Mask* mask);

/// A line on the layouts of a file that are of no row of `points`; empty if there are none, or the
/// machines are systems.
std::string unused_layouts(const std::vector<LayoutEntry>& entries, const std::string& file,
                           const std::vector<Point>& points);

}  // namespace lacuna
