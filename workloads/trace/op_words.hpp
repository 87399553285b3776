// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// What a cell or an option may say, in the order of messages.
inline constexpr std::array kDTypes = {DType::fp32, DType::fp16, DType::bf16, DType::fp8,
                                       DType::int8};
inline constexpr std::array kPartials = {Partials::automatic, Partials::fp16, Partials::fp32,
                                         Partials::int32};
inline constexpr std::array kModes = {Mode::automatic, Mode::static_, Mode::dynamic,
                                      Mode::streamed};
inline constexpr std::array kResidencies = {Residency::automatic, Residency::streamed,
                                            Residency::resident};

template <class Enum, std::size_t kCount>
std::vector<std::string> words_of(const std::array<Enum, kCount>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(word(value));
  return words;
}

}  // namespace lacuna
