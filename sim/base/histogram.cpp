// SPDX-License-Identifier: Apache-2.0
#include "sim/base/histogram.hpp"

#include <fmt/format.h>

#include <boost/histogram.hpp>
#include <cassert>
#include <tuple>
#include <utility>

namespace lacuna {
namespace {

namespace bh = boost::histogram;
using Axis = bh::axis::integer<int>;
using Counts = bh::histogram<std::tuple<Axis>, bh::dense_storage<std::uint64_t>>;

}  // namespace

struct Histogram::Body {
  Counts counts;
};

Histogram::Histogram(StatGroup* group, const char* name, const char* unit, const char* doc,
                     Bins bins)
    : Statistic(group, name, unit, doc),
      bins_(bins),
      body_(std::make_unique<Body>(
          Body{Counts(std::make_tuple(Axis(0, static_cast<int>(bins.count))))})) {
  assert(bins.width >= 1 && bins.count >= 1);
}

Histogram::~Histogram() = default;

// The bin is found in integers, because a division of reals may err at the edge of a bin.
void Histogram::fill(std::uint64_t value, std::uint64_t times) {
  std::uint64_t bin = value < bins_.first ? 0 : (value - bins_.first) / bins_.width;
  if (bin > bins_.count) bin = bins_.count;
  const int index = value < bins_.first ? -1 : static_cast<int>(bin);
  body_->counts.at(index) += times;
  sum_ += value * times;
  filled_ += times;
}

std::uint64_t Histogram::at(int i) const { return body_->counts.at(i); }

std::string Histogram::range(int i) const {
  const std::uint64_t end = bins_.first + bins_.width * bins_.count;
  if (i < 0) return fmt::format("[0,{})", bins_.first);
  if (static_cast<std::uint32_t>(i) == bins_.count) return fmt::format("[{},)", end);
  const std::uint64_t low = bins_.first + bins_.width * static_cast<std::uint64_t>(i);
  return fmt::format("[{},{})", low, low + bins_.width);
}

void Histogram::add_to(std::vector<StatEntry>& entries, const std::string& path) const {
  StatEntry mean = entry(path, ".mean");
  mean.is_real = true;
  mean.value = sum_;
  mean.over = filled_;
  mean.real = filled_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(filled_);
  merge(entries, std::move(mean));
  for (int i = -1; i <= static_cast<int>(bins_.count); ++i) {
    if (at(i) == 0) continue;
    StatEntry bin = entry(path, range(i));
    bin.unit = "times";
    bin.value = at(i);
    merge(entries, std::move(bin));
  }
}

}  // namespace lacuna
