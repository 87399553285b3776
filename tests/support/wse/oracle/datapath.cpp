// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/datapath.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "models/common/fp16.hpp"

namespace lacuna::wse::oracle {
namespace {

using Kind = Operand::Kind;

/// Read or written beat by beat; a single element that stays is in a register.
bool walks_memory(const Operand& operand) {
  return operand.kind == Kind::memory && (operand.stride != 0 || operand.inner != 0);
}

bool is_stream(const Operand& operand) {
  return operand.kind == Kind::fabric || operand.kind == Kind::fifo;
}

bool is_special(VectorOp op) {
  switch (op) {
    case VectorOp::divide:
    case VectorOp::exp:
    case VectorOp::rsqrt:
    case VectorOp::tanh:
    case VectorOp::sigmoid:
    case VectorOp::erf:
      return true;
    case VectorOp::move:
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::mul:
    case VectorOp::fma:
    case VectorOp::max:
    case VectorOp::abs:
    case VectorOp::work:
      return false;
  }
  return false;
}

/// The vendor's table, by operation and type.
std::uint32_t table_width(VectorOp op, Element element, const SimdParams& simd) {
  const bool multiplies = op == VectorOp::fma || op == VectorOp::mul;
  switch (element) {
    case Element::fp16:
      return op == VectorOp::max ? simd.max16 : simd.fma16;
    case Element::fp16_32:
      return op == VectorOp::move ? simd.convert : simd.fma16_32;
    case Element::fp32_16:
      return simd.convert;
    case Element::int16:
      return simd.fma16;
    case Element::int32:
      return simd.add32;
    case Element::fp32:
      if (multiplies) return simd.fma32;
      return op == VectorOp::max ? simd.max32 : simd.add32;
  }
  return 1;
}

/// What a stride allows.
std::uint32_t stride_width(const Operand& operand, std::uint32_t width) {
  const int stride = std::abs(operand.stride);
  if (!walks_memory(operand) || stride <= 1) return width;
  switch (stride % 8) {
    case 0:
      return 1;
    case 1:
    case 4:
    case 7:
      return std::min(width, 2U);
    default:
      return width;
  }
}

struct Access {
  const Operand* operand;
  bool half;
};

/// What a beat reads from memory: of sums in place the old sum first.
std::vector<Access> reads_of(const Instruction& what) {
  std::vector<Access> reads;
  if (what.op == VectorOp::fma) reads.push_back({&what.to, is_half_result(what.element)});
  reads.push_back({&what.a, is_half(what.element)});
  reads.push_back({&what.b, is_half(what.element)});
  const auto none = [](const Access& access) { return !walks_memory(*access.operand); };
  reads.erase(std::remove_if(reads.begin(), reads.end(), none), reads.end());
  return reads;
}

std::uint32_t bytes(bool half) { return half ? 2 : 4; }

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Stalls among the first `elements` elements of an instruction that stalls `rate` times in 16: the
/// last of them after 15, the others as evenly before it as whole elements allow.
std::uint32_t stalls_among(std::uint32_t elements, std::uint32_t rate) {
  std::uint32_t stalls = 0;
  for (std::uint32_t group = 0; group < elements; group += 16) {
    for (std::uint32_t s = 1; s <= rate; ++s) {
      if (group + s * 15 / rate <= elements) ++stalls;
    }
  }
  return stalls;
}

/// Whether `bytes` at two places that are `apart` share a bank, of banks that repeat after
/// `period`.
bool overlap(std::uint32_t apart, std::uint32_t bytes, std::uint32_t period) {
  const std::uint32_t offset = apart % period;
  return offset < bytes || period - offset < bytes;
}

/// An operation of one vector in memory whose result stays in a register, where that has a price.
bool sums_into_register(const Instruction& what, const SimdParams& simd) {
  return simd.to_register != 0U && what.to.kind == Kind::memory && !walks_memory(what.to) &&
         reads_of(what).size() == 1;
}

float rounded(float value, Element element) {
  return is_half_result(element) && !is_integer_type(element) ? to_float(to_half(value)) : value;
}

}  // namespace

bool is_half(Element element) {
  switch (element) {
    case Element::fp16:
    case Element::fp16_32:
    case Element::int16:
      return true;
    case Element::fp32:
    case Element::fp32_16:
    case Element::int32:
      return false;
  }
  return false;
}

bool is_half_result(Element element) {
  switch (element) {
    case Element::fp16:
    case Element::fp32_16:
    case Element::int16:
      return true;
    case Element::fp32:
    case Element::fp16_32:
    case Element::int32:
      return false;
  }
  return false;
}

bool is_integer_type(Element element) {
  return element == Element::int16 || element == Element::int32;
}

std::uint32_t words_for(bool half, std::uint32_t elements) {
  return half ? (elements + 1) / 2 : elements;
}

std::uint32_t beat_width(const Instruction& what, const TaskParams& params, unsigned fabric_words) {
  std::uint32_t width = 1;
  if (what.op != VectorOp::work && !is_special(what.op)) {
    width = table_width(what.op, what.element, params.simd);
  }
  for (const Operand* operand : {&what.to, &what.a, &what.b}) {
    // Rows that the read port takes at once do instead for what is read.
    const bool strides_limit = operand == &what.to || params.mem.row_bytes == 0U;
    if (strides_limit) width = stride_width(*operand, width);
  }
  // A word has both of its halves, whatever memory allows.
  for (const Operand* operand : {&what.to, &what.a, &what.b}) {
    if (!is_stream(*operand)) continue;
    const bool half = operand == &what.to ? is_half_result(what.element) : is_half(what.element);
    const std::uint32_t in_word = half ? 2 : 1;
    width = std::min(std::max(width, in_word), fabric_words * in_word);
  }
  return sums_into_register(what, params.simd) ? 1 : width;
}

/// A beat ends where a row does, if rows end beats and it is of several elements.
std::uint32_t beat_elements(const Instruction& what, const TaskParams& params,
                            unsigned fabric_words, std::uint32_t first) {
  const std::uint32_t width = beat_width(what, params, fabric_words);
  std::uint32_t elements = std::min(width, what.length - first);
  if (!params.simd.by_rows || width == 1) return elements;
  std::uint32_t row = 0;
  for (const Operand* operand : {&what.to, &what.a, &what.b}) {
    if (walks_memory(*operand) && operand->inner != 0) row = operand->inner;
  }
  if (row != 0) elements = std::min(elements, row - first % row);
  return elements;
}

namespace {

/// Whether two reads of a beat of `count` elements ask for the same banks.
bool reads_meet(const std::vector<Access>& reads, const MemoryParams& mem, std::uint32_t word,
                std::uint32_t first, std::uint32_t count) {
  if (reads.size() != 2) return false;
  const std::uint32_t one = address(*reads[0].operand, reads[0].half, first, word);
  const std::uint32_t other = address(*reads[1].operand, reads[1].half, first, word);
  const bool halves = reads[0].half && reads[1].half;
  if (mem.conflict_bytes == 8U || halves) return (one - other) % 8 != 4;
  if (reads[0].half != reads[1].half) {
    // byte by byte: does the beat of one read have any place of the other's, modulo the banks
    for (std::uint32_t i = 0; i < bytes(reads[0].half) * count; ++i) {
      for (std::uint32_t j = 0; j < bytes(reads[1].half) * count; ++j) {
        if ((one + i) % mem.conflict_bytes == (other + j) % mem.conflict_bytes) return true;
      }
    }
    return false;
  }
  const bool contiguous = reads[0].operand->stride == 1 && reads[1].operand->stride == 1;
  return overlap(one - other, contiguous ? 4 * count : 4, mem.conflict_bytes);
}

/// Whether the write of what was read `write_lag` beats before asks for the banks of this beat's
/// read.
bool write_meets(const Instruction& what, const std::vector<Access>& reads, const MemoryParams& mem,
                 std::uint32_t first, std::uint32_t width) {
  const Operand& to = what.to;
  const bool same = what.a.kind == Kind::memory && what.a.address == to.address &&
                    what.a.stride == to.stride && what.a.inner == to.inner &&
                    what.a.outer == to.outer;
  if (mem.write_lag == 0U || !(what.op == VectorOp::fma || same)) return false;
  if (!walks_memory(to) || reads.empty() || reads[0].operand->inner != 0) return false;
  const std::uint32_t lag = mem.write_lag * width;
  if (first < lag) return false;  // nothing is written yet
  const std::int64_t apart = std::int64_t{reads[0].operand->stride} * lag * bytes(reads[0].half);
  constexpr std::uint32_t kBanks = 16;
  return overlap(static_cast<std::uint32_t>(apart), std::min(kBanks, bytes(reads[0].half) * width),
                 kBanks);
}

/// Bits that the read port is taken for, for each element.
std::uint64_t bits_read(const std::vector<Access>& reads, const MemoryParams& mem) {
  std::uint64_t bits = 0;
  for (const Access& read : reads) {
    std::uint64_t each = bytes(read.half);
    if (mem.row_bytes != 0U) {
      const auto stride = static_cast<std::uint64_t>(std::abs(read.operand->stride));
      each = std::min<std::uint64_t>(each * std::max<std::uint64_t>(1, stride), mem.row_bytes);
    }
    bits += 8 * each;
  }
  return bits;
}

std::uint32_t stall_rate(const Instruction& what, const MemoryParams& mem) {
  if (mem.conflict_bytes != 8U && what.to.inner != 0) return 0;
  switch (what.element) {
    case Element::fp16:
    case Element::fp16_32:
      return mem.fma16_stalls;
    case Element::fp32:
      return mem.fma32_stalls;
    case Element::fp32_16:
    case Element::int16:
    case Element::int32:
      break;
  }
  return 0;
}

}  // namespace

std::uint64_t port_cycles(std::uint64_t read, std::uint64_t write, const MemoryPorts& ports,
                          std::uint32_t first, std::uint32_t end) {
  const std::uint64_t slow = ports.port_cycles;
  const std::uint64_t count = end - first;
  std::uint64_t cycles = std::max(divide_up(read * count * slow, ports.read_bits),
                                  divide_up(write * count * slow, ports.write_bits));
  // Shares are thirds and thousandths.
  const std::uint64_t share = ports.write_share;
  if (share == 0 || read == 0 || write == 0) return cycles;
  const auto until = [&](std::uint64_t elements) {
    return divide_up((read * 3000 + write * share) * elements * slow, ports.read_bits * 3000ULL);
  };
  return std::max(cycles, until(end) - until(first));
}

Extra extra_cycles(const Instruction& what, const TaskParams& params, std::uint32_t word,
                   std::uint32_t first, std::uint32_t count, std::uint32_t width) {
  Extra extra;
  if (is_special(what.op)) extra.special = (params.simd.special_cycles - 1) * count;
  if (sums_into_register(what, params.simd) && what.op != VectorOp::move) {
    extra.special += (params.simd.to_register - 1) * count;
  }
  switch (params.mem.model.value()) {
    case MemoryModel::none:
      return extra;
    case MemoryModel::rule:
      break;
  }
  const std::vector<Access> reads = reads_of(what);
  const bool writes = walks_memory(what.to);
  if (reads.empty() && !writes) return extra;
  const bool meet = reads_meet(reads, params.mem, word, first, count);
  const bool behind = write_meets(what, reads, params.mem, first, width);
  std::uint64_t cycles = reads.size() > 2 || meet || behind ? 2 : 1;
  const std::uint64_t write = writes ? 8ULL * bytes(is_half_result(what.element)) : 0;
  cycles = std::max(cycles, port_cycles(bits_read(reads, params.mem), write, params.mem.ports(),
                                        first, first + count));
  extra.conflict = static_cast<std::uint32_t>(cycles - 1);
  if (what.op != VectorOp::fma || !writes) return extra;
  // A longer beat leaves time for the write that would have met a read, unless it is the write
  // itself that makes it longer.
  if (extra.conflict != 0 && (meet || !behind)) return extra;
  const std::uint32_t rate = stall_rate(what, params.mem);
  extra.residual = stalls_among(first + count, rate) - stalls_among(first, rate);
  return extra;
}

void count_beat(const Instruction& what, std::uint32_t count, TaskCounters& counters) {
  const bool half = what.element == Element::fp16;
  switch (what.starts_sum ? VectorOp::fma : what.op) {
    case VectorOp::fma:
      if (half) {
        counters.mac16 += count;
      } else if (what.element == Element::fp16_32) {
        counters.mac16_32 += count;
      } else {
        counters.mac32 += count;
      }
      break;
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::max:
      (half ? counters.add16 : counters.add32) += count;
      break;
    case VectorOp::mul:
      (half ? counters.mul16 : counters.mul32) += count;
      break;
    case VectorOp::divide:
    case VectorOp::exp:
    case VectorOp::rsqrt:
    case VectorOp::tanh:
    case VectorOp::sigmoid:
    case VectorOp::erf:
      (half ? counters.special16 : counters.special32) += count;
      break;
    case VectorOp::move:
    case VectorOp::abs:
    case VectorOp::work:
      break;
  }
  for (const Access& read : reads_of(what)) {
    counters.reads += divide_up(std::uint64_t{bytes(read.half)} * count, 8);
    counters.read_bytes += std::uint64_t{bytes(read.half)} * count;
  }
  if (!walks_memory(what.to)) return;
  const std::uint64_t written = std::uint64_t{bytes(is_half_result(what.element))} * count;
  counters.writes += divide_up(written, 8);
  counters.write_bytes += written;
}

std::uint32_t address(const Operand& operand, bool half, std::uint32_t i, std::uint32_t word) {
  std::int64_t element = std::int64_t{i} * operand.stride;
  if (operand.inner != 0) {
    element = std::int64_t{i % operand.inner} * operand.stride +
              std::int64_t{i / operand.inner} * operand.outer;
  }
  return static_cast<std::uint32_t>(
      operand.address + std::int64_t{operand.index_bytes} * (word >> 16U) +
      std::int64_t{operand.offset_bytes} * (word & 0xFFFFU) + element * bytes(half));
}

float result_of(const Instruction& what, float old, float a, float b) {
  const auto exact = [&]() -> float {
    switch (what.op) {
      case VectorOp::move:
        return a;
      case VectorOp::add:
        return a + b;
      case VectorOp::sub:
        return a - b;
      case VectorOp::mul:
        return a * b;
      case VectorOp::fma:
        return std::fmaf(a, b, old);
      case VectorOp::max:
        return std::max(a, b);
      case VectorOp::abs:
        return std::fabs(a);
      case VectorOp::divide:
        return a / b;
      case VectorOp::exp:
        return std::exp(a);
      case VectorOp::rsqrt:
        return 1.0F / std::sqrt(a);
      case VectorOp::tanh:
        return std::tanh(a);
      case VectorOp::sigmoid:
        return 1.0F / (1.0F + std::exp(-a));
      case VectorOp::erf:
        return std::erf(a);
      case VectorOp::work:
        return 0;
    }
    return 0;
  };
  return rounded(exact(), what.element);
}

float from_bits(std::uint32_t word, unsigned place, bool half, bool integer) {
  if (half) {
    const auto bits = static_cast<std::uint16_t>(word >> (16U * place));
    return integer ? static_cast<float>(static_cast<std::int16_t>(bits)) : to_float(bits);
  }
  if (integer) return static_cast<float>(static_cast<std::int32_t>(word));
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

std::uint32_t to_bits(float value, bool half, bool integer) {
  if (half) {
    return integer ? static_cast<std::uint16_t>(static_cast<std::int16_t>(value)) : to_half(value);
  }
  if (integer) return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace lacuna::wse::oracle
