// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"

#include <algorithm>

#include "sim/base/bits.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// Elements of one 64-bit access.
unsigned vector_width(DType type) { return 8 / bytes_of(type); }

}  // namespace

std::uint64_t reduce_worker_bundles(const Target& target, std::uint64_t outputs,
                                    std::uint64_t depth, DType partials, DType out) {
  const bool single = partials == DType::fp32;
  const unsigned width = single ? 4 : 8;
  const std::uint64_t tail = outputs % width;
  const std::uint64_t loops = outputs / width + bit_count(tail);
  std::uint64_t share = loops / target.workers;
  std::uint64_t rest = 0;
  if (loops % target.workers != 0) {
    if (tail != 0) {
      rest = 2 * depth + (single ? 13 : 11);
    } else {
      ++share;
    }
  }
  const std::uint64_t store = single ? (out == DType::fp32 ? 7 : 6) : (out == DType::fp32 ? 9 : 8);
  return 32 + rest + share * (3 * depth + store);
}

Cycle reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                    DType partials, DType out) {
  return target.worker_clocks(reduce_worker_bundles(target, outputs, depth, partials, out));
}

std::uint64_t contiguous_reduce_bundles(const Target& target, std::uint64_t outputs,
                                        std::uint64_t depth, DType partials, DType out) {
  const bool single = partials == DType::fp32;
  const std::uint64_t store = (single ? 7U : 9U) + (out == DType::fp32 ? 1U : 0U);
  const std::uint64_t share = ceil_div(outputs / (single ? 4 : 8), target.workers);
  return 20 + share * (depth * (target.fast_reduce ? 1 : 2) + store);
}

bool sums_contiguously(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                       DType partials) {
  const unsigned width = partials == DType::fp32 ? 4 : 8;
  const std::uint64_t received = (depth - 1) * outputs * bytes_of(partials);
  return outputs % width == 0 && received < target.tile_bytes / 16;
}

Cycle dense_reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t depth,
                          DType partials, DType out) {
  if (!sums_contiguously(target, outputs, depth, partials)) {
    return reduce_clocks(target, outputs, depth, partials, out);
  }
  return kContiguousReduceEntry +
         target.worker_clocks(contiguous_reduce_bundles(target, outputs, depth - 1, partials, out));
}

Cycle static_reduce_clocks(const Target& target, std::uint64_t outputs, std::uint64_t factor,
                           const Types& types) {
  const unsigned width = types.half_partials() ? 8 : 4;
  const std::uint64_t base = types.half_partials() ? (types.half() ? 8 : 7) : 5;
  const std::uint64_t loops = ceil_div(ceil_div(outputs, target.workers), width);
  return target.worker_clocks(16 + loops * (base + 6 + factor - 1));
}

std::uint64_t strided_reduce_bundles(const Target& target, std::uint64_t loops, std::uint64_t depth,
                                     DType partials, DType out) {
  std::uint64_t store = 3 + 2;
  if (partials != DType::fp32) store = out == DType::fp32 ? 1 + 6 : 1 + 7;
  const bool counted = !target.long_sums && partials != DType::fp32;
  return (counted ? 10 : 16) + loops * (3 + store + 3 + (depth - 1) - (counted ? 2 : 0));
}

Cycle cast_clocks(const Target& target, std::uint64_t outputs, DType from, DType to) {
  const std::uint64_t share = ceil_div(outputs, target.workers);
  const std::uint64_t reads = ceil_div(share, vector_width(from));
  const std::uint64_t writes = ceil_div(share, vector_width(to));
  return target.worker_clocks(std::max(reads, writes) + 26);
}

}  // namespace lacuna::ipu
