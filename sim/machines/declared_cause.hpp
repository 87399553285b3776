// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lacuna {

/// Something that may be why a run takes as long as it does: a whole resource, and the settings
/// that take its cost away, or lay work out otherwise. Each machine declares a few.
struct DeclaredCause {
  enum class Kind { layout, cost };

  /// Whether costs follow each other, so that what they gain adds up, or hide behind each other, so
  /// that taking one away may gain nothing.
  enum class Law { adds, hides };

  std::string name;  // as a sentence has it: "barriers", "the exchange between tiles"
  Kind kind = Kind::cost;
  std::vector<std::string> settings;  // PATH=VALUE; of a layout none: its rule, nothing given
  Law law = Law::hides;

  /// Parts of the cycle stack, "layer.kind", one of which must not be 0; empty: it is always tried.
  std::vector<std::string> shows_as = {};
};

}  // namespace lacuna
