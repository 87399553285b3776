// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lacuna::wse {

/// How many elements each core (row-major) holds of each of its features, of cores that hold only
/// those that are not zero. A whole wafer has some 750,000 cores with 16 features: they lie in one
/// piece of memory.
class HeldElements {
 public:
  /// Those of one core, by feature.
  template <typename Number>
  class Core {
   public:
    Core(Number* first, std::size_t size) : first_(first), size_(size) {}
    Number* begin() const { return first_; }
    Number* end() const { return first_ + size_; }
    std::size_t size() const { return size_; }
    Number& operator[](std::size_t feature) const { return first_[feature]; }

   private:
    Number* first_;
    std::size_t size_;
  };

  bool empty() const { return ends_.empty(); }
  /// Cores.
  std::size_t size() const { return ends_.size(); }

  Core<const std::uint16_t> operator[](std::size_t core) const {
    return {counts_.data() + begin(core), ends_[core] - begin(core)};
  }
  Core<std::uint16_t> operator[](std::size_t core) {
    return {counts_.data() + begin(core), ends_[core] - begin(core)};
  }

  /// The most that a core holds of a feature: what one word of a stream starts.
  std::uint16_t most() const {
    return counts_.empty() ? std::uint16_t{0} : *std::max_element(counts_.begin(), counts_.end());
  }

  /// Has room for that many cores with so many features in all.
  void reserve(std::size_t cores, std::size_t features) {
    ends_.reserve(cores);
    counts_.reserve(features);
  }
  /// One more core, with none of so many features yet.
  void push_zeros(std::size_t features) {
    counts_.resize(counts_.size() + features, 0);
    ends_.push_back(counts_.size());
  }
  void push_back(const std::vector<std::uint16_t>& counts) {
    counts_.insert(counts_.end(), counts.begin(), counts.end());
    ends_.push_back(counts_.size());
  }
  /// So many cores of another from `first` on.
  void append(const HeldElements& from, std::size_t first, std::size_t cores) {
    for (std::size_t core = first; core < first + cores; ++core) {
      const Core<const std::uint16_t> one = from[core];
      counts_.insert(counts_.end(), one.begin(), one.end());
      ends_.push_back(counts_.size());
    }
  }
  void clear() {
    ends_.clear();
    counts_.clear();
  }

 private:
  std::size_t begin(std::size_t core) const { return core == 0 ? 0 : ends_[core - 1]; }

  std::vector<std::size_t> ends_;  // of each core in counts_
  std::vector<std::uint16_t> counts_;
};

}  // namespace lacuna::wse
