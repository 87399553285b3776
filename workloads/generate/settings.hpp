// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

/// Reads the key=value settings of a generator. RequestError says which key is wrong, what was
/// found, what is allowed and the nearest word.
class Settings {
 public:
  explicit Settings(const Pairs& pairs) : pairs_(pairs) {}

  /// Sets `value` to an integer in [least, 2^31 - 1] if the key is there.
  void integer(const std::string& key, std::uint64_t least, std::uint32_t& value) const;

  /// The same of a key that must be there; `what` says what it means.
  std::uint32_t required(const std::string& key, std::uint64_t least,
                         const std::string& what) const;

  void flag(const std::string& key, bool& value) const;

  /// The place of the value in `words`, or `otherwise`.
  std::size_t choice(const std::string& key, const std::vector<std::string>& words,
                     std::size_t otherwise) const;

  /// The value, or null.
  const std::string* text(const std::string& key) const;

  /// All values of a key that may be repeated, in their order.
  std::vector<std::string> all(const std::string& key) const;

  /// dtype and mode.
  void types(DType& dtype, Mode& mode) const;

  /// Gives the products with weights of a whole trace what the request says of them: `residency`,
  /// and, where none of them is sparse and so has it, `mode`.
  void settle_weights(WorkloadTrace& trace) const;

  /// The pattern of pattern, density, block and nm; dense if none is there.
  PatternSpec pattern() const;

 private:
  const Pairs& pairs_;
};

/// Throws RequestError: "KEY=FOUND: found 'FOUND'; allowed: ALLOWED; did you mean 'HINT'?"
[[noreturn]] void refuse_setting(const std::string& key, const std::string& found,
                                 const std::string& allowed, const std::string& hint = "");

}  // namespace lacuna
