// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"

namespace lacuna {

/// Equal bins of `width` from `first` on. What lies beyond them is counted apart.
struct Bins {
  std::uint64_t first;
  std::uint64_t width;
  std::uint32_t count;
};

/// How often a quantity had which value. Results list its mean, and each bin that is not empty.
class Histogram final : public Statistic {
 public:
  Histogram(StatGroup* group, const char* name, const char* unit, const char* doc, Bins bins);
  ~Histogram() override;

  void fill(std::uint64_t value, std::uint64_t times = 1);

  /// How many values fell into bin `i`; bin -1 is below the first, bin `count` above the last.
  std::uint64_t at(int i) const;

  void add_to(std::vector<StatEntry>& entries, const std::string& path) const override;

 private:
  struct Body;  // hides Boost.Histogram, which is slow to compile

  std::string range(int i) const;

  Bins bins_;
  std::uint64_t sum_ = 0;
  std::uint64_t filled_ = 0;
  std::unique_ptr<Body> body_;
};

}  // namespace lacuna
