// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/sparsity/pattern_spec.hpp"

namespace lacuna {

/// Beyond these a mask is refused, instead of running for minutes or out of memory.
constexpr std::uint64_t kMostPositions = std::uint64_t{1} << 34U;
constexpr std::uint64_t kMostKept = std::uint64_t{1} << 29U;

/// Makes the mask of a request that was found right.
using MaskBuilder = std::function<Mask(std::uint64_t seed)>;

/// A pattern to be built, read key by key. Every mistake is noted and reading goes on with a
/// value that is allowed, so that all mistakes are found at once.
class PatternRequest {
 public:
  PatternRequest(const PatternSpec& pattern, std::uint32_t mask_rows, std::uint32_t mask_cols)
      : spec(pattern), rows(mask_rows), cols(mask_cols) {}

  /// The value of `key`, or `otherwise` where it is absent; without one the key is required.
  std::uint64_t integer(const std::string& key, std::optional<std::uint64_t> otherwise,
                        std::uint64_t least, std::uint64_t most);
  double real(const std::string& key, double otherwise, double least, double most);

  /// The place of the value among `words`; the first where the key is absent.
  std::size_t choice(const std::string& key, const std::vector<std::string>& words);

  bool has(const std::string& key) const { return find(key) != nullptr; }
  bool flag(const std::string& key) { return integer(key, 0, 0, 1) == 1; }
  Rounding rounding();

  /// Kept ones of so many positions, after the density and `round`.
  std::uint64_t kept(std::uint64_t positions);

  /// Demands whole blocks, unless `padded`.
  void check_blocks(std::uint64_t block_rows, std::uint64_t block_cols, bool padded);

  /// Demands a mask that can be held: of so many positions, of which so many are written down.
  void check_size(std::uint64_t positions, std::uint64_t written);

  void fail(std::string code, std::string cell, std::string found, std::string allowed,
            std::string hint = "");

  /// An empty mask of the request's shape in blocks of this size, with its first offset.
  Mask empty_mask(std::uint32_t block_rows, std::uint32_t block_cols) const;

  const PatternSpec& spec;
  const std::uint32_t rows;
  const std::uint32_t cols;
  std::vector<PatternDiagnostic> diagnostics;

 private:
  const std::string* find(const std::string& key) const;
};

MaskBuilder prepare_dense(PatternRequest& request);
MaskBuilder prepare_unstructured(PatternRequest& request);
MaskBuilder prepare_block(PatternRequest& request);
MaskBuilder prepare_bernoulli(PatternRequest& request);
MaskBuilder prepare_n_of_m(PatternRequest& request);
MaskBuilder prepare_rows(PatternRequest& request);
MaskBuilder prepare_magnitude(PatternRequest& request);

MaskBuilder prepare_banded(PatternRequest& request);
MaskBuilder prepare_block_diagonal(PatternRequest& request);
MaskBuilder prepare_butterfly(PatternRequest& request);
MaskBuilder prepare_causal(PatternRequest& request);
MaskBuilder prepare_window(PatternRequest& request);
MaskBuilder prepare_longformer(PatternRequest& request);
MaskBuilder prepare_big_bird(PatternRequest& request);
MaskBuilder prepare_fixed(PatternRequest& request);
MaskBuilder prepare_strided(PatternRequest& request);

}  // namespace lacuna
