// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/bulk_chooser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "sim/base/bits.hpp"
#include "sim/base/bulk_random.hpp"

namespace lacuna {
namespace {

constexpr unsigned kWords = BulkRandom::kBlock / 64;

/// A bit for each number of a block, number i at bit i % 64 of word i / 64.
using Bits = std::array<std::uint64_t, kWords>;

/// Three bounds, ascending; numbers are compared after a shift.
struct Bounds {
  unsigned shift = 0;
  std::array<std::uint64_t, 3> below{};
};

// Eight numbers, signed: fewer than 64 bits are left of them, and vectors compare these sooner.
using Vec = std::int64_t __attribute__((vector_size(64)));
using Bytes = std::uint8_t __attribute__((vector_size(8)));

/// Sets bit b of flags[i] where number i in memory is below bound b.
LACUNA_WIDE void compare(const std::uint64_t* numbers, const Bounds& bounds, std::uint8_t* flags) {
  const Vec zero{};
  const Vec a = zero + static_cast<std::int64_t>(bounds.below[0]);
  const Vec b = zero + static_cast<std::int64_t>(bounds.below[1]);
  const Vec c = zero + static_cast<std::int64_t>(bounds.below[2]);
  const Vec low = zero + static_cast<std::int64_t>(~std::uint64_t{0} >> bounds.shift);
  for (unsigned i = 0; i < BulkRandom::kBlock; i += 8) {
    Vec n;
    std::memcpy(&n, numbers + i, sizeof(n));
    n = (n >> bounds.shift) & low;
    const Vec all = ((n < a) & 1) | ((n < b) & 2) | ((n < c) & 4);
    const Bytes narrow = __builtin_convertvector(all, Bytes);
    std::memcpy(flags + i, &narrow, sizeof(narrow));
  }
}

/// The transpose of 8 x 8 bits, row by row in the bytes.
std::uint64_t transposed_bits(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7U)) & 0x00aa00aa00aa00aaU;
  x ^= t ^ (t << 7U);
  t = (x ^ (x >> 14U)) & 0x0000cccc0000ccccU;
  x ^= t ^ (t << 14U);
  t = (x ^ (x >> 28U)) & 0x00000000f0f0f0f0U;
  return x ^ t ^ (t << 28U);
}

/// Bit `bit` of all flags, in the order of the numbers.
void gather(const std::uint8_t* flags, unsigned bit, Bits& bits) {
  static_assert(BulkRandom::kLanes == 8, "a byte has a bit of each lane");
  constexpr unsigned kLaneWords = BulkRandom::kStretch / 64;
  bits.fill(0);
  for (unsigned i = 0; i < BulkRandom::kStretch; i += 8) {
    std::uint64_t rows = 0;  // numbers i to i + 7, a byte for each with a bit for each lane
    for (unsigned row = 0; row < 8; ++row) {
      std::uint64_t lanes = 0;
      std::memcpy(&lanes, flags + std::size_t{i + row} * BulkRandom::kLanes, sizeof(lanes));
      lanes = (lanes >> bit) & 0x0101010101010101U;
      rows |= (lanes * 0x0102040810204080U) >> 56U << (8 * row);
    }
    rows = transposed_bits(rows);
    for (unsigned lane = 0; lane < BulkRandom::kLanes; ++lane) {
      bits[lane * kLaneWords + i / 64] |= (rows >> (8 * lane) & 0xffU) << (i % 64);
    }
  }
}

/// If any number is below the second bound and not below the first.
bool any_between(const std::uint8_t* flags) {
  std::uint64_t any = 0;
  for (unsigned i = 0; i < BulkRandom::kBlock; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, flags + i, sizeof(eight));
    any |= (eight >> 1U) & ~eight;
  }
  return (any & 0x0101010101010101U) != 0;
}

/// Writes kept positions, ascending and counted over all rows, into a mask.
class MaskWriter {
 public:
  explicit MaskWriter(Mask& mask) : mask_(mask), width_(mask.grid_cols()), row_end_(width_) {}

  void keep(std::uint64_t position) {
    while (position >= row_end_) end_row();
    mask_.columns.push_back(static_cast<std::uint32_t>(position - (row_end_ - width_)));
  }

  void finish() {
    while (mask_.offsets.size() <= mask_.grid_rows()) end_row();
  }

 private:
  void end_row() {
    mask_.offsets.push_back(mask_.columns.size());
    row_end_ += width_;
  }

  Mask& mask_;
  const std::uint64_t width_;
  std::uint64_t row_end_;
};

/// See Chooser: a draw below what is left of the positions is a hit, and one below what is left to
/// keep is kept.
class Choice {
 public:
  Choice(const Random& random, std::uint64_t keep, Mask& mask)
      : random_(random),
        writer_(mask),
        positions_(std::uint64_t{mask.grid_rows()} * mask.grid_cols()),
        left_(positions_),
        keep_(keep),
        flags_(BulkRandom::kBlock) {}

  void run() {
    while (keep_ != 0 && left_ > 1) {
      numbers_ = random_.draw();
      const unsigned width = std::max(1U, bit_width(left_ - 1));
      // Draws of a block have one width and most are clearly hits or not: what is left of the
      // positions is far from a power of two, and large.
      const bool steady = left_ > std::uint64_t{1} << 20U && keep_ > BulkRandom::kBlock &&
                          left_ - BulkRandom::kBlock > std::uint64_t{1} << (width - 1);
      if (steady) {
        walk_steady(64 - width);
      } else {
        walk(0, BulkRandom::kBlock);
      }
    }
    if (keep_ != 0 && left_ == 1) writer_.keep(positions_ - 1);  // without a draw
    writer_.finish();
  }

 private:
  void walk(unsigned begin, unsigned end) {
    for (unsigned i = begin; i < end && keep_ != 0 && left_ > 1; ++i) {
      const std::uint64_t number = numbers_[BulkRandom::place(i)] >> (64 - bit_width(left_ - 1));
      if (number >= left_) continue;
      if (number < keep_) {
        writer_.keep(positions_ - left_);
        --keep_;
      }
      --left_;
    }
  }

  void walk_steady(unsigned shift) {
    compare(numbers_, {shift, {left_ - BulkRandom::kBlock, left_, keep_}}, flags_.data());
    gather(flags_.data(), 0, surely_hit_);
    if (any_between(flags_.data())) {
      gather(flags_.data(), 1, perhaps_hit_);
    } else {
      perhaps_hit_ = surely_hit_;
    }
    gather(flags_.data(), 2, perhaps_kept_);
    for (unsigned word = 0; word < kWords; ++word) {
      const std::uint64_t hits = surely_hit_[word];
      if (hits != perhaps_hit_[word]) {
        walk(64 * word, 64 * word + 64);
        continue;
      }
      const std::uint64_t first = positions_ - left_;
      for (std::uint64_t kept = perhaps_kept_[word]; kept != 0; kept &= kept - 1) {
        const std::uint64_t below = (kept & (~kept + 1)) - 1;
        const unsigned i = 64 * word + bit_count(below);
        if (numbers_[BulkRandom::place(i)] >> shift >= keep_) continue;
        writer_.keep(first + bit_count(hits & below));
        --keep_;
      }
      left_ -= bit_count(hits);
    }
  }

  BulkRandom random_;
  MaskWriter writer_;
  const std::uint64_t positions_;
  std::uint64_t left_;  // of them
  std::uint64_t keep_;
  const std::uint64_t* numbers_ = nullptr;
  std::vector<std::uint8_t> flags_;
  Bits surely_hit_{};
  Bits perhaps_hit_{};
  Bits perhaps_kept_{};
};

}  // namespace

void choose_in_bulk(const Random& random, std::uint64_t keep, Mask& mask) {
  mask.columns.reserve(keep);
  Choice(random, keep, mask).run();
}

void threshold_in_bulk(const Random& random, std::uint64_t threshold, Mask& mask) {
  const std::uint64_t positions = std::uint64_t{mask.grid_rows()} * mask.grid_cols();
  BulkRandom bulk(random);
  MaskWriter writer(mask);
  std::vector<std::uint8_t> flags(BulkRandom::kBlock);
  Bits kept{};
  for (std::uint64_t first = 0; first < positions; first += BulkRandom::kBlock) {
    compare(bulk.draw(), {11, {threshold, threshold, threshold}}, flags.data());
    gather(flags.data(), 0, kept);
    for (unsigned word = 0; word < kWords; ++word) {
      for (std::uint64_t bits = kept[word]; bits != 0; bits &= bits - 1) {
        const std::uint64_t position =
            first + std::uint64_t{64} * word + bit_count((bits & (~bits + 1)) - 1);
        if (position < positions) writer.keep(position);
      }
    }
  }
  writer.finish();
}

}  // namespace lacuna
