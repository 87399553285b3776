// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "sim/driver/validate/points.hpp"

namespace lacuna {

/// The parameters of a point (`key=value;...`) and its metric, as those read them who run it. What
/// is missing or has another form is Unsupported, with the key and what was found.
class PointWords {
 public:
  /// Keeps a reference to `point`.
  explicit PointWords(const ValidationPoint& point) : point_(point) {}

  bool has(const char* key) const;
  const std::string& text(const char* key) const;

  /// A whole number from 1 on; `otherwise` where the point does not have the key.
  std::uint32_t number(const char* key) const;
  std::uint32_t number(const char* key, std::uint32_t otherwise) const;
  /// The same from 0 on.
  std::uint32_t count(const char* key) const;
  /// A decimal number above 0.
  double rate(const char* key) const;
  /// "16x9".
  std::pair<std::uint32_t, std::uint32_t> sides(const char* key) const;
  /// "1..8", or one number twice.
  std::pair<std::uint32_t, std::uint32_t> span(const char* key) const;

  /// The metric is one of `metrics`.
  void require(std::initializer_list<const char*> metrics) const;
  [[noreturn]] void metric() const;
  /// The value of `key` is none that is known.
  [[noreturn]] void unknown(const char* key) const;

  /// "'a', 'b'": keys of the point that nobody has asked for; empty if there are none.
  std::string unread() const;

 private:
  std::uint32_t parse(const std::string& word, const char* key, std::uint32_t least) const;

  const ValidationPoint& point_;
  mutable std::set<std::string> read_;
};

}  // namespace lacuna
