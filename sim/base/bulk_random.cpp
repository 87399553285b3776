// SPDX-License-Identifier: Apache-2.0
#include "sim/base/bulk_random.hpp"

#include <cstring>

namespace lacuna {
namespace {

using State = std::array<std::uint64_t, 4>;
using Lanes = std::array<std::array<std::uint64_t, BulkRandom::kLanes>, 4>;

/// A number of each lane.
using Vec = std::uint64_t __attribute__((vector_size(8 * BulkRandom::kLanes)));

/// Random::next() of all lanes, kStretch times. Writes the numbers if there is where to.
LACUNA_WIDE void step_lanes(Lanes& lanes, std::uint64_t* out) {
  Vec s[4];
  std::memcpy(s, lanes.data(), sizeof(s));
  for (unsigned i = 0; i < BulkRandom::kStretch; ++i) {
    const Vec five = (s[1] << 2U) + s[1];
    const Vec turned = (five << 7U) | (five >> 57U);
    const Vec result = (turned << 3U) + turned;
    std::memcpy(out + std::size_t{i} * BulkRandom::kLanes, &result, sizeof(result));
    const Vec t = s[1] << 17U;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45U) | (s[3] >> 19U);
  }
  std::memcpy(lanes.data(), s, sizeof(s));
}

/// What a state becomes in the steps of all other lanes: the sum of what each of its 64 groups of
/// four bits becomes.
class Leap {
 public:
  Leap() : sums_(kGroups * kValues) {
    std::vector<std::uint64_t> unused(BulkRandom::kBlock);
    for (unsigned first = 0; first < kBits; first += BulkRandom::kLanes) {
      Lanes lanes{};
      for (unsigned l = 0; l < BulkRandom::kLanes; ++l) {
        lanes[(first + l) / 64][l] = std::uint64_t{1} << ((first + l) % 64);
      }
      for (unsigned times = 1; times < BulkRandom::kLanes; ++times) {
        step_lanes(lanes, unused.data());
      }
      for (unsigned l = 0; l < BulkRandom::kLanes; ++l) add_bit(first + l, lanes, l);
    }
  }

  State operator()(const State& state) const {
    State result{};
    for (unsigned group = 0; group < kGroups; ++group) {
      const std::uint64_t value = state[group / 16] >> (group % 16 * 4) & (kValues - 1);
      const State& sum = sums_[group * kValues + value];
      for (unsigned p = 0; p < 4; ++p) result[p] ^= sum[p];
    }
    return result;
  }

 private:
  static constexpr unsigned kBits = 256;
  static constexpr unsigned kGroups = kBits / 4;
  static constexpr unsigned kValues = 16;

  void add_bit(unsigned bit, const Lanes& lanes, unsigned lane) {
    for (unsigned value = 0; value < kValues; ++value) {
      if ((value >> (bit % 4) & 1U) == 0) continue;
      for (unsigned p = 0; p < 4; ++p) sums_[bit / 4 * kValues + value][p] ^= lanes[p][lane];
    }
  }

  std::vector<State> sums_;  // by group and value
};

}  // namespace

BulkRandom::BulkRandom(const Random& random) : state_{}, numbers_(kBlock) {
  Random at = random;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned p = 0; p < 4; ++p) state_[p][lane] = at.state()[p];
    for (unsigned i = 0; i < kStretch; ++i) at.next();
  }
}

const std::uint64_t* BulkRandom::draw() {
  static const Leap kLeap;
  // The constructor's states are the beginnings of the first block.
  step_lanes(state_, numbers_.data());
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const State next = kLeap({state_[0][lane], state_[1][lane], state_[2][lane], state_[3][lane]});
    for (unsigned p = 0; p < 4; ++p) state_[p][lane] = next[p];
  }
  return numbers_.data();
}

}  // namespace lacuna
