// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/sweep/local_search.hpp"
#include "sim/driver/sweep/sweep_condition.hpp"
#include "sim/machines/machine.hpp"

namespace lacuna {

struct Mask;

/// What was chosen of a machine's space for an operation: keys with values, in the order of the
/// space. What is not there is as the machine has it.
using Layout = std::vector<std::pair<std::string, std::string>>;

/// "ws.groups=5 ws.k_partition=balanced"; "as planned" if nothing was chosen.
std::string layout_text(const Layout& layout);

/// The word of a row that is a key beside the parameters of a machine.
inline constexpr const char* kResidencyKey = "residency";

/// The space of the kind that a machine calls `kind`, or null.
const LayoutSpace* layout_space(const Machine& machine, const std::string& kind);

/// A copy of `machine` that lays `op` out so, and tells `op` what is said by words of a row.
/// ParameterError, beginning with `origin`, if a value is none of its parameter's, or parameters do
/// not go together.
std::unique_ptr<Machine> laid_out(const Machine& machine, const Layout& layout, LayerOp& op,
                                  const std::string& origin);

/// The same of a row whose result others take.
std::unique_ptr<Machine> laid_out_row(const Machine& machine, const Layout& layout, LayerOp& op,
                                      const Mask* mask, const std::string& origin);

/// The layouts that an operation may have on a machine. Place 0 of each choice is the machine's
/// own value.
class LayoutPoints {
 public:
  LayoutPoints(const Machine& machine, const LayerOp& op, const Mask* mask,
               const LayoutSpace& space);

  /// Of each choice, how many values.
  std::vector<std::uint32_t> values() const;

  /// With choices that make no difference at their own value; nothing if a condition of the space
  /// does not hold.
  std::optional<SpacePlace> settle(const SpacePlace& place) const;

  Layout layout(const SpacePlace& place) const;

  /// Whether it has a value that is tried after all others, other than the machine's own.
  bool tried_last(const SpacePlace& place) const;

  /// Where a place has the weights, as `residency` says it, "" if it says nothing of them; and the
  /// place that leaves this as the row has it.
  std::string residency(const SpacePlace& place) const;
  SpacePlace left_open(const SpacePlace& place) const;

  /// The place of a layout with values of this space.
  SpacePlace place(const Layout& layout) const;

 private:
  struct Choice {
    std::string key;
    std::vector<std::string> values;  // the machine's own first
    std::optional<SweepCondition> when;
    std::string tried_last;
  };

  std::optional<std::string> value(const SpacePlace& place, const std::string& name) const;

  const Machine& machine_;
  std::map<std::string, std::string> facts_;  // of the operation
  std::vector<Choice> choices_;
  std::vector<SweepCondition> where_;
};

/// What the rows around an operation see of its layout: where it has its operands and leaves its
/// result. Of equal texts nothing moves differently.
std::string lies_as(const Machine& machine, const LayoutSpace& space, const Layout& layout);

}  // namespace lacuna
