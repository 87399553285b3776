// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "models/wse/program/wavelet.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// The writer's end of a link between modules.
class WordPushIf : public virtual sc_core::sc_interface {
 public:
  virtual bool can_push(Cycle now, unsigned words) const = 0;
  /// Returns the cycle in which the word can be popped, see LinkArray.
  virtual Cycle push(Cycle now, Wavelet word, Cycle more) = 0;
};

/// The reader's end.
class WordPopIf : public virtual sc_core::sc_interface {
 public:
  /// When the first word can be popped; kNever if there is none.
  virtual Cycle front_ready() const = 0;
  virtual bool has(Cycle now, unsigned words) const = 0;
  virtual const Wavelet& front() const = 0;
  virtual Wavelet pop(Cycle now) = 0;
};

}  // namespace lacuna::wse
