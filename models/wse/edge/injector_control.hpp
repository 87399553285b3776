// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lacuna::wse {

/// What injectors do in a cycle, before it is known who can pay: which columns ask for a token, and
/// what the others wait for. A flag is -1 or 0, or a Lanes of such. Those that ask are asked in
/// turn (tokens.hpp); who gets no token waits for one.
template <class Flags>
struct InjectorControl {
  Flags asks;
  Flags scanning;  // the filter has not found the next word
  Flags closed;    // there is no room below, or the link is shut
  Flags no_token;  // of these so far

  /// Columns that each have a stream: of those with words `left`, in which the next is `found`, and
  /// whose link is `open`.
  static InjectorControl of_streams(const Flags& left, const Flags& found, const Flags& open) {
    const Flags has = left & found;
    return {has & open, left & ~found, has & ~open, Flags{}};
  }

  /// Columns with a FIFO that one stream for all fills, and pays for: one of its words is `there`.
  static InjectorControl of_fifos(const Flags& left, const Flags& there, const Flags& open) {
    const Flags has = left & there;
    return {has & open, Flags{}, has & ~open, left & ~there};
  }
};

}  // namespace lacuna::wse
