// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/pattern_spec.hpp"
#include "sim/machines/plans_layouts.hpp"

namespace lacuna {

struct Mask;

/// The choices of a machine's space for an operation: keys with values, in the order of the space.
/// A key that is left out is as the machine has it.
using Layout = Pairs;

/// "ws.groups=5 ws.k_partition=balanced"; "as planned" if nothing was chosen.
std::string layout_text(const Layout& layout);

/// The words of the rest of such a text.
Layout read_layout(std::istream& text);

/// The word of a row that is a key beside the parameters of a machine.
inline constexpr const char* kResidencyKey = "residency";

/// A copy of `machine` that lays `op` out so, and tells `op` what is said by words of a row.
/// ParameterError, beginning with `origin`, if a value is none of its parameter's, or parameters do
/// not go together.
std::unique_ptr<Machine> laid_out(const Machine& machine, const Layout& layout, LayerOp& op,
                                  const std::string& origin);

/// The same of a row whose result others take.
std::unique_ptr<Machine> laid_out_row(const Machine& machine, const Layout& layout, LayerOp& op,
                                      const Mask* mask, const std::string& origin);

/// Whether an operation of a space has a layout of its own among rows that follow each other.
bool has_own_choice(const LayoutSpace& space);

/// The part of a layout that rows which follow each other share.
Layout shared_words(const PlansLayouts& machine, const Layout& layout);

/// What the rows around an operation see of its layout: where it has its operands and leaves its
/// result. If two texts are equal, operands move alike.
std::string lies_as(const Machine& machine, const LayoutSpace& space, const Layout& layout);

}  // namespace lacuna
