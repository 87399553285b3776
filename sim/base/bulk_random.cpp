// SPDX-License-Identifier: Apache-2.0
#include "sim/base/bulk_random.hpp"

#include <cstring>

namespace lacuna {
namespace {

using State = std::array<std::uint64_t, 4>;
using Lanes = std::array<std::array<std::uint64_t, BulkRandom::kLanes>, 4>;

/// A number of each lane.
using Vec = std::uint64_t __attribute__((vector_size(8 * BulkRandom::kLanes)));

/// Random::next() of all lanes, kStretch times.
LACUNA_WIDE void step_lanes(Lanes& lanes, std::uint64_t* out) {
  Vec s0;
  Vec s1;
  Vec s2;
  Vec s3;
  std::memcpy(&s0, lanes[0].data(), sizeof(s0));
  std::memcpy(&s1, lanes[1].data(), sizeof(s1));
  std::memcpy(&s2, lanes[2].data(), sizeof(s2));
  std::memcpy(&s3, lanes[3].data(), sizeof(s3));
  for (unsigned i = 0; i < BulkRandom::kStretch; ++i) {
    const Vec five = (s1 << 2U) + s1;
    const Vec turned = (five << 7U) | (five >> 57U);
    const Vec result = (turned << 3U) + turned;
    std::memcpy(out + std::size_t{i} * BulkRandom::kLanes, &result, sizeof(result));
    const Vec t = s1 << 17U;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = (s3 << 45U) | (s3 >> 19U);
  }
  std::memcpy(lanes[0].data(), &s0, sizeof(s0));
  std::memcpy(lanes[1].data(), &s1, sizeof(s1));
  std::memcpy(lanes[2].data(), &s2, sizeof(s2));
  std::memcpy(lanes[3].data(), &s3, sizeof(s3));
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
    for (std::size_t group = 0; group < kGroups; ++group) {
      const std::uint64_t value = state[group / 16] >> (group % 16 * 4) & (kValues - 1);
      const State& sum = sums_[group * kValues + value];
      for (unsigned p = 0; p < 4; ++p) result[p] ^= sum[p];
    }
    return result;
  }

 private:
  static constexpr unsigned kBits = 256;
  static constexpr std::size_t kGroups = kBits / 4;
  static constexpr std::size_t kValues = 16;

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
