// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/tensor.hpp"

#include <fmt/format.h>

#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {

void store(std::vector<std::uint8_t>& memory, std::uint32_t address, std::uint64_t index,
           DType type, double value) {
  const unsigned bytes = bytes_of(type);
  store_element(memory, static_cast<std::uint32_t>(address + index * bytes), bytes == 4, false,
                static_cast<float>(value));
}

double load(const std::vector<std::uint8_t>& memory, std::uint32_t address, std::uint64_t index,
            DType type) {
  const unsigned bytes = bytes_of(type);
  return load_element(memory, static_cast<std::uint32_t>(address + index * bytes), bytes == 4,
                      false);
}

void check_layer_type(const LayerOp& op) {
  if (op.dtype == DType::fp16 || op.dtype == DType::fp32) return;
  throw UnsupportedError(
      fmt::format("a wafer computes {} in fp16 or fp32, not in {}", op.op, word(op.dtype)));
}

}  // namespace lacuna::wse
