// SPDX-License-Identifier: Apache-2.0
#include "sim/base/share.hpp"

#include <chrono>
#include <utility>

namespace lacuna {

namespace {

struct Shares {
  std::function<void(double)> listener;
  std::chrono::steady_clock::time_point next;
  double first = 0;  // of the part under way, among all
  double length = 1;
};

Shares& shares() {
  static Shares all;
  return all;
}

}  // namespace

void listen_to_shares(std::function<void(double share)> listener) {
  shares().listener = std::move(listener);
}

void say_share(double share) {
  constexpr auto kPause = std::chrono::milliseconds(300);
  Shares& all = shares();
  if (!all.listener) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < all.next) return;
  all.next = now + kPause;
  all.listener(all.first + all.length * share);
}

SharePart::SharePart(double done, double all) : first_(shares().first), length_(shares().length) {
  shares().first = first_ + length_ * done / all;
  shares().length = length_ / all;
}

SharePart::~SharePart() {
  shares().first = first_;
  shares().length = length_;
}

}  // namespace lacuna
