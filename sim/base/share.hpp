// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace lacuna {

/// Has `listener` called with the share of a simulation that is done, 0 to 1, at most a few times
/// a second. Of the whole process; an empty one ends it.
void listen_to_shares(std::function<void(double share)> listener);

/// Says how much of the simulation under way is done, to whoever listens. Cheap: to be called every
/// few thousand steps. It changes nothing that is simulated.
void say_share(double share);

/// Of `all` parts that follow each other the one that is under way: shares are said within it.
class SharePart {
 public:
  SharePart(double done, double all);
  ~SharePart();
  SharePart(const SharePart&) = delete;
  SharePart& operator=(const SharePart&) = delete;

 private:
  double first_;
  double length_;
};

}  // namespace lacuna
