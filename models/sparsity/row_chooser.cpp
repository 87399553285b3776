// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/row_chooser.hpp"

#include <array>
#include <cstring>

#include "sim/base/bits.hpp"

namespace lacuna {
namespace {

constexpr std::uint32_t kChunk = 64;

using Vec = std::int64_t __attribute__((vector_size(64)));
using Bytes = std::uint8_t __attribute__((vector_size(8)));

/// A bit of each of 64 numbers, number i at bit i.
struct Classes {
  std::uint64_t hits = 0;     // below the first bound
  std::uint64_t perhaps = 0;  // below the second
  std::uint64_t kept = 0;     // below the third
};

/// Bit `bit` of eight bytes, byte i at bit i.
std::uint64_t eight_bits(std::uint64_t bytes, unsigned bit) {
  return ((bytes >> bit) & 0x0101010101010101U) * 0x0102040810204080U >> 56U;
}

/// Classifies 64 numbers after a shift of at least one bit.
LACUNA_WIDE void classify(const std::uint64_t* numbers, unsigned shift,
                          const std::array<std::uint64_t, 3>& below, Classes* classes) {
  const Vec zero{};
  const Vec a = zero + static_cast<std::int64_t>(below[0]);
  const Vec b = zero + static_cast<std::int64_t>(below[1]);
  const Vec c = zero + static_cast<std::int64_t>(below[2]);
  const Vec low = zero + static_cast<std::int64_t>(~std::uint64_t{0} >> shift);
  *classes = {};
  for (unsigned i = 0; i < kChunk; i += 8) {
    Vec n;
    std::memcpy(&n, numbers + i, sizeof(n));
    n = (n >> shift) & low;
    const Vec all = ((n < a) & 1) | ((n < b) & 2) | ((n < c) & 4);
    const Bytes narrow = __builtin_convertvector(all, Bytes);
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, &narrow, sizeof(bytes));
    classes->hits |= eight_bits(bytes, 0) << i;
    classes->perhaps |= eight_bits(bytes, 1) << i;
    classes->kept |= eight_bits(bytes, 2) << i;
  }
}

}  // namespace

RowChooser::RowChooser(const Random& random)
    : random_(random), numbers_(BulkRandom::kBlock), next_(BulkRandom::kBlock) {}

void RowChooser::refill() {
  const std::uint64_t* const drawn = random_.draw();
  for (unsigned lane = 0; lane < BulkRandom::kLanes; ++lane) {
    std::uint64_t* const to = numbers_.data() + std::size_t{lane} * BulkRandom::kStretch;
    for (unsigned i = 0; i < BulkRandom::kStretch; ++i) {
      to[i] = drawn[std::size_t{i} * BulkRandom::kLanes + lane];
    }
  }
  next_ = 0;
}

std::uint32_t* RowChooser::walk(std::uint32_t width, std::uint64_t keep, std::uint32_t* out) {
  left_ = width;
  keep_ = keep;
  while (keep_ != 0 && left_ > 1) {
    if (next_ == BulkRandom::kBlock) refill();
    // Numbers of a chunk have one width, and few are neither clearly hits nor clearly none.
    const unsigned bits = bit_width(left_ - 1);
    const bool steady = left_ > std::uint64_t{16} * kChunk &&
                        next_ + kChunk <= BulkRandom::kBlock &&
                        left_ - kChunk > std::uint64_t{1} << (bits - 1);
    if (steady) {
      walk_chunk(width, 64 - bits, out);
    } else {
      walk_one(width, out);
    }
  }
  if (keep_ != 0) *out++ = width - 1;  // the last one, without a draw
  return out;
}

void RowChooser::walk_one(std::uint32_t width, std::uint32_t*& out) {
  const std::uint64_t number = numbers_[next_++] >> (64 - bit_width(left_ - 1));
  if (number >= left_) return;
  if (number < keep_) {
    *out++ = static_cast<std::uint32_t>(width - left_);
    --keep_;
  }
  --left_;
}

void RowChooser::walk_chunk(std::uint32_t width, unsigned shift, std::uint32_t*& out) {
  Classes classes;
  const std::uint64_t* const numbers = numbers_.data() + next_;
  classify(numbers, shift, {left_ - kChunk, left_, keep_}, &classes);
  if (classes.hits != classes.perhaps) {
    for (std::uint32_t i = 0; i < kChunk && keep_ != 0; ++i) walk_one(width, out);
    return;
  }
  const std::uint64_t first = width - left_;
  for (std::uint64_t kept = classes.kept; kept != 0; kept &= kept - 1) {
    const std::uint64_t below = (kept & (~kept + 1)) - 1;
    const unsigned i = bit_count(below);
    if (numbers[i] >> shift >= keep_) continue;
    *out++ = static_cast<std::uint32_t>(first + bit_count(classes.hits & below));
    if (--keep_ != 0) continue;
    next_ += i + 1;  // the row ends here
    return;
  }
  left_ -= bit_count(classes.hits);
  next_ += kChunk;
}

}  // namespace lacuna
