// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/layer_op.hpp"

#include <array>
#include <cstddef>

namespace lacuna {

LayerOp::LayerOp() = default;
LayerOp::LayerOp(const LayerOp&) = default;
LayerOp::LayerOp(LayerOp&&) noexcept = default;
LayerOp& LayerOp::operator=(const LayerOp&) = default;
LayerOp& LayerOp::operator=(LayerOp&&) noexcept = default;
LayerOp::~LayerOp() = default;

unsigned bytes_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return 4;
    case DType::fp16:
    case DType::bf16:
      return 2;
    case DType::fp8:
    case DType::int8:
      return 1;
  }
  return 0;
}

namespace {

template <class Enum, std::size_t kCount>
const char* word_at(Enum value, const std::array<const char*, kCount>& words) {
  return words.at(static_cast<std::size_t>(value));
}

}  // namespace

const char* word(DType dtype) {
  return word_at(dtype, std::array{"fp32", "fp16", "bf16", "fp8", "int8"});
}

const char* word(Partials partials) {
  return word_at(partials, std::array{"auto", "fp16", "fp32", "int32"});
}

const char* word(Mode mode) {
  return word_at(mode, std::array{"auto", "dense", "static", "dynamic", "streamed"});
}

const char* word(Residency residency) {
  return word_at(residency, std::array{"auto", "streamed", "resident"});
}

const char* word(Phase phase) { return word_at(phase, std::array{"fwd", "bwd", "upd"}); }

}  // namespace lacuna
