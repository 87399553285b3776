// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/values.hpp"

#include <algorithm>

#include "models/common/fp16.hpp"
#include "models/common/fp8.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/static/codelets.hpp"

namespace lacuna::ipu {

float read_element(const TileMemory& memory, DType type, std::uint64_t index) {
  if (type == DType::fp8) return from_quarter(memory.byte(index));
  return type == DType::fp32 ? memory.real(index) : to_float(memory.half(index));
}

void write_element(TileMemory& memory, DType type, std::uint64_t index, float value) {
  if (type == DType::fp32) {
    memory.set_real(index, value);
  } else if (type == DType::fp8) {
    memory.set_byte(index, to_quarter(value));
  } else {
    memory.set_half(index, memory.rounding()(value));
  }
}

std::vector<std::uint32_t> pack_words(const std::vector<float>& values, DType type) {
  TileMemory memory((values.size() * bytes_of(type) + 3) / 4);
  for (std::size_t i = 0; i < values.size(); ++i) write_element(memory, type, i, values[i]);
  std::vector<std::uint32_t> words((values.size() * bytes_of(type) + 3) / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = memory.word(i);
  return words;
}

// The codelet of elements sums a row in the accumulators of the vector unit and stores it once;
// that of blocks reads and writes the partials with every block.
void SparseProduct::operator()(TileMemory& memory) const {
  block == 1 ? multiply_elements(memory) : multiply_blocks(memory);
}

void SparseProduct::multiply_elements(TileMemory& memory) const {
  std::vector<std::size_t> first;  // the first non-zero of each row, one more at the end
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) first.push_back(i);
  }
  first.push_back(rows.size());
  for (std::size_t r = 0; r + 1 < first.size(); ++r) {
    counts.push_back(static_cast<std::uint32_t>(first[r + 1] - first[r]));
  }
  const std::vector<RowRange> shares =
      divide_rows({counts.data(), counts.data() + counts.size()}, memory.rounding().workers());
  for (unsigned worker = 0; worker < shares.size(); ++worker) {
    memory.rounding().use_worker(worker);
    for (std::uint32_t r = shares[worker].first; r < shares[worker].last; ++r) {
      sum_row(memory, first[r], first[r + 1]);
    }
  }
}

void SparseProduct::sum_row(TileMemory& memory, std::size_t begin, std::size_t end) const {
  for (std::uint64_t column = 0; column < width; ++column) {
    const std::uint64_t to = partials + rows[begin] * width + column;
    float sum = accumulate ? read_element(memory, partial_type, to) : 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += read_element(memory, type, nonzeros + i) *
             read_element(memory, type, dense + columns[i] * width + column);
    }
    write_element(memory, partial_type, to, sum);
  }
}

void SparseProduct::multiply_blocks(TileMemory& memory) const {
  const std::uint64_t share = ceil_div(width, memory.rounding().workers());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = !accumulate && (i == 0 || rows[i] != rows[i - 1]);
    for (std::uint64_t column = 0; column < width; ++column) {
      memory.rounding().use_worker(static_cast<unsigned>(column / share));
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
  const std::uint64_t share = ceil_div(field, memory.rounding().workers());
  for (std::uint64_t begin = 0; begin < in; begin += group) {
    for (std::uint64_t f = 0; f < field; ++f) {
      memory.rounding().use_worker(static_cast<unsigned>(f / share));
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
  const std::uint64_t share = ceil_div(elements, memory.rounding().workers());
  for (std::uint64_t i = 0; i < elements; ++i) {
    memory.rounding().use_worker(static_cast<unsigned>(i / share));
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
