// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "models/sparsity/mask.hpp"

namespace lacuna {

/// Two hashes of all that a mask says, as text.
std::string digest(const Mask& mask);

/// While it lives, a mask that a program has made itself can be named wherever a file of a pattern
/// or of activations may be named. The name is `given:` and a hash of what the mask keeps: equal
/// masks have equal names in every process, and a result says of which mask it is.
class GivenMask {
 public:
  explicit GivenMask(std::shared_ptr<const Mask> mask);
  ~GivenMask();
  GivenMask(const GivenMask&) = delete;
  GivenMask& operator=(const GivenMask&) = delete;

  const std::string& name() const { return name_; }
  const Mask& mask() const { return *mask_; }

 private:
  std::string name_;
  std::shared_ptr<const Mask> mask_;
};

/// The mask of that name; null if `path` is the path of a file. TraceError if it has the form of
/// such a name and the mask is no more.
std::shared_ptr<const Mask> find_given_mask(const std::string& path);

}  // namespace lacuna
