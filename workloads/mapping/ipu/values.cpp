// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/values.hpp"

#include "models/common/fp16.hpp"

namespace lacuna::ipu {

float read_element(const TileMemory& memory, DType type, std::uint64_t index) {
  return type == DType::fp32 ? memory.real(index) : to_float(memory.half(index));
}

void write_element(TileMemory& memory, DType type, std::uint64_t index, float value) {
  if (type == DType::fp32) {
    memory.set_real(index, value);
  } else {
    memory.set_half(index, to_half(value));
  }
}

std::vector<std::uint32_t> pack_words(const std::vector<float>& values, DType type) {
  TileMemory memory(type == DType::fp32 ? values.size() : (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) write_element(memory, type, i, values[i]);
  std::vector<std::uint32_t> words((values.size() * bytes_of(type) + 3) / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = memory.word(i);
  return words;
}

void SparseProduct::operator()(TileMemory& memory) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = !accumulate && (i == 0 || rows[i] != rows[i - 1]);
    for (std::uint64_t column = 0; column < width; ++column) {
      const std::uint64_t from = dense + (columns[i] * width + column) * block;
      const std::uint64_t to = partials + (rows[i] * width + column) * block;
      for (std::uint64_t r = 0; r < block; ++r) {
        float sum = first ? 0 : read_element(memory, partial_type, to + r);
        for (std::uint64_t c = 0; c < block; ++c) {
          sum += read_element(memory, type, nonzeros + (i * block + r) * block + c) *
                 read_element(memory, type, from + c);
        }
        write_element(memory, partial_type, to + r, sum);
      }
    }
  }
}

void DenseProduct::operator()(TileMemory& memory) const {
  for (std::uint64_t begin = 0; begin < in; begin += group) {
    for (std::uint64_t f = 0; f < field; ++f) {
      for (std::uint64_t o = 0; o < out; ++o) {
        const std::uint64_t to = partials + f * out + o;
        float sum = begin == 0 ? 0 : read_element(memory, partial_type, to);
        for (std::uint64_t i = begin; i < begin + group && i < in; ++i) {
          sum += read_element(memory, type, input + f * in + i) *
                 read_element(memory, type, weights + o * in + i);
        }
        write_element(memory, partial_type, to, sum);
      }
    }
  }
}

void Reduction::operator()(TileMemory& memory) const {
  for (std::uint64_t i = 0; i < elements; ++i) {
    float sum = 0;
    for (const std::uint64_t source : sources) {
      sum += read_element(memory, partial_type, source + i);
    }
    write_element(memory, type, output + i, sum);
  }
}

void BlockTranspose::operator()(TileMemory& memory) const {
  for (std::uint64_t b = 0; b < count; ++b) {
    const std::uint64_t base = first + b * block * block;
    for (std::uint64_t r = 0; r < block; ++r) {
      for (std::uint64_t c = 0; c < r; ++c) {
        const float above = read_element(memory, type, base + c * block + r);
        const float below = read_element(memory, type, base + r * block + c);
        write_element(memory, type, base + c * block + r, below);
        write_element(memory, type, base + r * block + c, above);
      }
    }
  }
}

void LocalCopy::operator()(TileMemory& memory) const {
  for (std::uint32_t i = 0; i < words; ++i) memory.set_word(to + i, memory.word(from + i));
}

}  // namespace lacuna::ipu
