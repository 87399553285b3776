// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <cstdint>

#include "models/wse/lanes/table.hpp"

// Vectors of small integers, and loops whose indices are constants; see step.hpp.

namespace lacuna::wse::lanes {

template <int N>
struct Int {
  static constexpr int value = N;
};

/// Calls `visit` with Int<0>, Int<1>, ...: every index is a constant of the code.
template <int N, class Visit>
[[gnu::always_inline]] inline void each(const Visit& visit) {
  if constexpr (N > 0) {
    each<N - 1>(visit);
    visit(Int<N - 1>());
  }
}

template <unsigned W>
struct Vec {
  typedef std::int8_t Type __attribute__((vector_size(W)));  // NOLINT(modernize-use-using)
};

template <class V>
[[gnu::always_inline]] inline bool any(const V& v) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(V) == 64) {
    return _mm512_test_epi8_mask((__m512i)v, (__m512i)v) != 0;
  } else
#endif
#if defined(__AVX2__)
      if constexpr (sizeof(V) == 32) {
    return _mm256_testz_si256((__m256i)v, (__m256i)v) == 0;
  } else
#endif
  {
    Table<std::uint64_t, sizeof(V) / 8> words = {};
    __builtin_memcpy(&words, &v, sizeof v);
    std::uint64_t bits = 0;
    for (const std::uint64_t word : words) bits |= word;
    return bits != 0;
  }
}

}  // namespace lacuna::wse::lanes
