// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/fp16.hpp"

namespace lacuna::wse {

/// The numbers in a core's memory during a weight-streaming product, apart from time: its
/// activations, its partial-sum vectors and its results. Each operation rounds as the datapath
/// does: FP16 or FP32 sums, FP16 or FP32 on the ring, results of the operands' type. All numbers
/// are floats that the type can hold.
class CoreValues {
 public:
  struct Format {
    bool fp32 = false;  // operands and results
    bool psum_fp32 = false;
    bool ring_fp32 = false;
    bool integer = false;  // words of the ring are INT32, of sums that a float holds exactly
  };

  CoreValues(Format format, std::uint32_t tokens, std::uint32_t buffers,
             std::vector<float> activations);

  /// psum[buffer] += X[index] * weight over all tokens, or = if `overwrite`.
  void multiply_add(std::uint32_t buffer, std::uint32_t index, float weight, bool overwrite);

  /// A buffer that no weight came to counts as zero.
  void clear(std::uint32_t buffer);

  /// The word of the ring at elements [first, first + count): what came in plus the sums here.
  std::uint32_t add(std::uint32_t buffer, std::uint32_t incoming, std::uint32_t first,
                    std::uint32_t count) const;

  /// The same, but the sums here take it.
  void gather(std::uint32_t buffer, std::uint32_t incoming, std::uint32_t first,
              std::uint32_t count);

  /// Appends the elements of such a word to the results.
  void keep(std::uint32_t word, std::uint32_t count);

  const std::vector<float>& result() const { return result_; }

 private:
  std::uint32_t word_of(float sum) const;
  float sum_of(std::uint32_t word) const;

  Format format_;
  std::uint32_t tokens_;
  std::vector<float> activations_;
  std::vector<float> psums_;  // FP16 sums are floats that a half can hold
  std::vector<float> result_;
};

}  // namespace lacuna::wse
