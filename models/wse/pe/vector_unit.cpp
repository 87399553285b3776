// SPDX-License-Identifier: Apache-2.0
#include "models/wse/pe/vector_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "models/common/fp16.hpp"
#include "models/wse/pe/datapath.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

/// Read or written in memory beat by beat; an element that stays the same is in a register.
bool streams(const Operand& operand) {
  return operand.kind == Kind::memory && (operand.stride != 0 || operand.inner != 0);
}

bool is_special(VectorOp op) { return op >= VectorOp::divide && op <= VectorOp::erf; }

std::uint32_t simd_width(const Instruction& instruction, const SimdParams& simd) {
  const VectorOp op = instruction.op;
  if (op == VectorOp::work || is_special(op)) return 1;
  switch (instruction.element) {
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
      break;
  }
  if (op == VectorOp::fma || op == VectorOp::mul) return simd.fma32;
  return op == VectorOp::max ? simd.max32 : simd.add32;
}

/// CSL language reference, appendix SIMD mode; of stride 4 modulo 8 the lower of its two figures.
std::uint32_t stride_limit(const Operand& operand) {
  constexpr std::uint32_t kFull = ~0U;
  if (!streams(operand)) return kFull;
  const auto stride = static_cast<std::uint32_t>(std::abs(operand.stride));
  if (stride <= 1) return kFull;
  switch (stride % 8) {
    case 0:
      return 1;
    case 1:
    case 4:
    case 7:
      return 2;
    default:
      return kFull;
  }
}

/// An operation of two vectors one of which is also the result.
bool reads_what_it_writes(const Instruction& instruction) {
  const auto same = [&](const Operand& o) {
    const Operand& to = instruction.to;
    return o.kind == Kind::memory && o.address == to.address && o.stride == to.stride &&
           o.inner == to.inner && o.outer == to.outer;
  };
  return same(instruction.a);
}

/// Stalls in 16 elements of a multiply-accumulate in place that no bank explains.
std::uint32_t residual_of(const Instruction& instruction, const MemoryParams& mem) {
  if (mem.ports().conflict_bytes != 8 && instruction.to.inner != 0) return 0;
  if (instruction.element == Element::fp32) return mem.fma32_stalls;
  const bool halves = source_bytes(instruction.element) == 2 && !is_integer(instruction.element);
  return halves ? mem.fma16_stalls : 0U;
}

}  // namespace

std::uint32_t elements_per_beat(const Instruction& instruction, const SimdParams& simd,
                                unsigned fabric_words, bool rows) {
  std::uint32_t width = simd_width(instruction, simd);
  const auto operands = {&instruction.to, &instruction.a, &instruction.b};
  for (const Operand* operand : operands) {
    if (!rows || operand == &instruction.to) width = std::min(width, stride_limit(*operand));
  }
  for (const Operand* operand : operands) {
    if (!operand->is_stream()) continue;
    const unsigned bytes = operand == &instruction.to ? result_bytes(instruction.element)
                                                      : source_bytes(instruction.element);
    const std::uint32_t packed = bytes == 2 ? 2 : 1;
    // Halves come and go two in a word, which takes one slot if only one element could be done.
    width = std::min(std::max(width, packed), fabric_words * packed);
  }
  return std::max(width, 1U);
}

BeatCost::BeatCost(const Instruction& instruction, const SimdParams& simd, const MemoryParams& mem,
                   unsigned fabric_words, std::uint32_t word)
    : ports_(mem.ports()),
      width_(elements_per_beat(instruction, simd, fabric_words, mem.row_bytes != 0)),
      word_(word) {
  const unsigned source = source_bytes(instruction.element);
  const unsigned result = result_bytes(instruction.element);
  const auto read = [&](const Operand& operand, unsigned bytes) {
    if (!streams(operand)) return;
    (sources_ == 0 ? first_ : second_) = operand;
    (sources_ == 0 ? first_bytes_ : second_bytes_) = bytes;
    ++sources_;
    read_bytes_ += bytes;
    // with a row, all that lies between its elements too
    const auto apart = static_cast<std::uint32_t>(std::max(1, std::abs(operand.stride)));
    port_bytes_ += mem.row_bytes == 0U ? bytes : std::min(apart * bytes, mem.row_bytes.value());
  };
  const bool in_place = instruction.op == VectorOp::fma;
  if (in_place) read(instruction.to, result);
  read(instruction.a, source);
  read(instruction.b, source);
  writes_ = streams(instruction.to);
  write_bytes_ = writes_ ? result : 0;
  if (in_place && writes_) residual_ = residual_of(instruction, mem);
  in_place_ = in_place || reads_what_it_writes(instruction);
  if (is_special(instruction.op)) special_ = simd.special_cycles - 1;
  if (sources_ == 1 && !writes_ && instruction.to.kind == Kind::memory && simd.to_register != 0) {
    width_ = 1;
    if (instruction.op != VectorOp::move) register_ = simd.to_register - 1;
  }
  if (!simd.by_rows || width_ == 1) return;
  for (const Operand* operand : {&instruction.to, &instruction.a, &instruction.b}) {
    if (streams(*operand) && operand->inner != 0) row_ = operand->inner;
  }
}

std::uint32_t BeatCost::beats(std::uint32_t first, std::uint32_t end) const {
  if (even()) return (end - first + width_ - 1) / width_;
  std::uint32_t beats = 0;
  for (; first < end; first += elements(first, end)) ++beats;
  return beats;
}

/// Every beat costs the same as the first.
bool BeatCost::constant() const {
  if ((ports_.write_share != 0 && writes_) || !even()) return false;  // parts of a cycle add up
  if (in_place_ && write_meets_read(ports_.write_lag * width_)) {
    return false;  // the first beats meet no write
  }
  if (sources_ != 2) return true;
  return first_.inner == 0 && second_.inner == 0 &&
         first_.stride * static_cast<std::int32_t>(first_bytes_) ==
             second_.stride * static_cast<std::int32_t>(second_bytes_);
}

/// Two sources that ask for the same banks in the beat of elements [first, first + count) are read
/// one after the other.
bool BeatCost::reads_meet(std::uint32_t first, std::uint32_t count) const {
  if (sources_ != 2) return false;
  const std::uint32_t a = address_of(first_, first_bytes_, first, word_);
  const std::uint32_t b = address_of(second_, second_bytes_, first, word_);
  const bool halves = first_bytes_ == 2 && second_bytes_ == 2;
  if (ports_.conflict_bytes == 8 || halves) return (a - b) % 8 != 4;
  if (first_bytes_ != second_bytes_) {
    // two rows of banks, of which one begins within the other
    const std::uint32_t period = ports_.conflict_bytes;
    const std::uint32_t apart = (b % period + period - a % period) % period;
    return apart < first_bytes_ * count || period - apart < second_bytes_ * count;
  }
  // the banks of a beat of contiguous elements lie side by side; those of other strides are taken
  // element by element
  const bool row = first_.stride == 1 && second_.stride == 1;
  const std::uint32_t bytes = 4 * (row ? count : 1);
  const std::uint32_t offset = (a - b) % ports_.conflict_bytes;
  return offset < bytes || ports_.conflict_bytes - offset < bytes;
}

/// Whether the write of what an operation in place read `write_lag` beats before needs the bank of
/// its present read.
bool BeatCost::write_meets_read(std::uint32_t first) const {
  if (ports_.write_lag == 0 || !in_place_ || !writes_ || first_.inner != 0) return false;
  const std::uint32_t lag = ports_.write_lag * width_;
  if (first < lag) return false;
  const std::uint32_t apart = address_of(first_, first_bytes_, first, word_) -
                              address_of(first_, first_bytes_, first - lag, word_);
  constexpr std::uint32_t kBanks = 16;  // bytes: eight banks of halves
  const std::uint32_t bytes = std::min(first_bytes_ * width_, kBanks);
  const std::uint32_t offset = apart % kBanks;
  return offset < bytes || kBanks - offset < bytes;
}

std::uint32_t BeatCost::bank_stalls(std::uint32_t first, std::uint32_t count) const {
  if (ports_.model == MemoryModel::none || (sources_ == 0 && !writes_)) return 0;
  std::uint32_t cycles = 1;
  if (sources_ > 2) cycles = 2;  // three reads, two ports
  if (reads_meet(first, count) || write_meets_read(first)) cycles = 2;
  return std::max(cycles, ports_.cycles(first, count, std::uint64_t{8} * port_bytes_,
                                        std::uint64_t{8} * write_bytes_)) -
         1;
}

BeatStalls BeatCost::stalls(std::uint32_t first, std::uint32_t count) const {
  BeatStalls stalls;
  stalls.bank = bank_stalls(first, count);
  stalls.special = special_ * count + register_ * count;
  // A conflict of reads leaves time for the write that would have met one.
  const bool time_left = stalls.bank != 0 && (reads_meet(first, count) || !write_meets_read(first));
  if (residual_ != 0 && !time_left && ports_.model == MemoryModel::rule) {
    stalls.residual = residual_stalls(first + count, residual_) - residual_stalls(first, residual_);
  }
  return stalls;
}

BeatStalls BeatCost::stalls_from(std::uint32_t first, std::uint32_t length) const {
  BeatStalls sum;
  const std::uint32_t beats = (length - first) / width_;
  if (constant() && beats != 0) {
    const BeatStalls one = stalls(first, width_);
    sum.bank = one.bank * beats;
    sum.special = one.special * beats;
    const std::uint32_t end = first + beats * width_;
    if (one.bank == 0 && ports_.model == MemoryModel::rule) {
      sum.residual = residual_stalls(end, residual_) - residual_stalls(first, residual_);
    }
    first = end;
  }
  for (std::uint32_t count = 0; first < length; first += count) {
    count = elements(first, length);
    const BeatStalls one = stalls(first, count);
    sum.bank += one.bank;
    sum.residual += one.residual;
    sum.special += one.special;
  }
  return sum;
}

std::uint32_t BeatCost::reads(std::uint32_t count) const {
  std::uint32_t reads = 0;
  if (sources_ > 0) reads += (first_bytes_ * count + 7) / 8;
  if (sources_ > 1) reads += (second_bytes_ * count + 7) / 8;
  if (sources_ > 2) reads += ((read_bytes_ - first_bytes_ - second_bytes_) * count + 7) / 8;
  return reads;
}

std::uint32_t BeatCost::writes(std::uint32_t count) const { return (write_bytes_ * count + 7) / 8; }

void count_elements(const Instruction& instruction, const BeatCost& cost, std::uint32_t elements,
                    std::uint64_t beats, TaskCounters& counters) {
  const std::uint64_t all = elements * beats;
  const bool half = instruction.element == Element::fp16;
  switch (instruction.starts_sum ? VectorOp::fma : instruction.op) {
    case VectorOp::fma:
      (half                                      ? counters.mac16
       : instruction.element == Element::fp16_32 ? counters.mac16_32
                                                 : counters.mac32) += all;
      break;
    case VectorOp::add:
    case VectorOp::sub:
    case VectorOp::max:
      (half ? counters.add16 : counters.add32) += all;
      break;
    case VectorOp::mul:
      (half ? counters.mul16 : counters.mul32) += all;
      break;
    case VectorOp::move:
    case VectorOp::abs:
    case VectorOp::work:
      break;
    case VectorOp::divide:
    case VectorOp::exp:
    case VectorOp::rsqrt:
    case VectorOp::tanh:
    case VectorOp::sigmoid:
    case VectorOp::erf:
      (half ? counters.special16 : counters.special32) += all;
      break;
  }
  counters.reads += cost.reads(elements) * beats;
  counters.writes += cost.writes(elements) * beats;
  counters.read_bytes += cost.read_bytes() * all;
  counters.write_bytes += cost.write_bytes() * all;
}

void count_accesses(const Instruction& instruction, const BeatCost& cost, std::uint32_t first,
                    std::uint32_t end, TaskCounters& counters) {
  if (instruction.op == VectorOp::work) return;
  if (first < end && cost.even()) {
    const std::uint32_t width = cost.elements(first, end);
    const std::uint32_t whole = (end - first) / width;
    count_elements(instruction, cost, width, whole, counters);
    first += whole * width;
  }
  while (first < end) {
    const std::uint32_t beat = cost.elements(first, end);
    count_elements(instruction, cost, beat, counters);
    first += beat;
  }
}

std::uint32_t address_of(const Operand& operand, unsigned bytes, std::uint32_t i,
                         std::uint32_t word) {
  std::int64_t element = std::int64_t{i} * operand.stride;
  if (operand.inner != 0) {
    element = std::int64_t{i % operand.inner} * operand.stride +
              std::int64_t{i / operand.inner} * operand.outer;
  }
  return static_cast<std::uint32_t>(
      operand.address + std::int64_t{operand.index_bytes} * (word >> 16U) +
      std::int64_t{operand.offset_bytes} * (word & 0xFFFFU) + element * bytes);
}

float compute(VectorOp op, Element element, float old, float a, float b) {
  const auto round = [element](float value) {
    return result_bytes(element) == 2 && !is_integer(element) ? to_float(to_half(value)) : value;
  };
  switch (op) {
    case VectorOp::move:
      return round(a);
    case VectorOp::add:
      return round(a + b);
    case VectorOp::sub:
      return round(a - b);
    case VectorOp::mul:
      return round(a * b);
    case VectorOp::fma:
      return round(std::fmaf(a, b, old));
    case VectorOp::max:
      return round(std::max(a, b));
    case VectorOp::abs:
      return round(std::fabs(a));
    case VectorOp::divide:
      return round(a / b);
    case VectorOp::exp:
      return round(std::exp(a));
    case VectorOp::rsqrt:
      return round(1.0F / std::sqrt(a));
    case VectorOp::tanh:
      return round(std::tanh(a));
    case VectorOp::sigmoid:
      return round(1.0F / (1.0F + std::exp(-a)));
    case VectorOp::erf:
      return round(std::erf(a));
    case VectorOp::work:
      break;
  }
  return 0;
}

float unpack(std::uint32_t word, unsigned place, bool wide, bool integer) {
  if (!wide) {
    const auto half = static_cast<std::uint16_t>(word >> (16U * place));
    return integer ? static_cast<float>(static_cast<std::int16_t>(half)) : to_float(half);
  }
  if (integer) return static_cast<float>(static_cast<std::int32_t>(word));
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

std::uint32_t pack(std::uint32_t word, unsigned place, bool wide, bool integer, float value) {
  if (!wide) {
    const std::uint32_t half = integer
                                   ? static_cast<std::uint16_t>(static_cast<std::int16_t>(value))
                                   : std::uint32_t{to_half(value)};
    return place == 0 ? half : (word & 0xFFFFU) | half << 16U;
  }
  if (integer) return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

namespace {

/// An index in a word may lead anywhere.
void check_inside(const std::vector<std::uint8_t>& memory, std::size_t address, std::size_t bytes) {
  if (address + bytes <= memory.size()) return;
  throw SimulationError(fmt::format("a core reads or writes at byte {} of the {} that it uses",
                                    address, memory.size()));
}

}  // namespace

float load_element(const std::vector<std::uint8_t>& memory, std::uint32_t address, bool wide,
                   bool integer) {
  const std::size_t bytes = wide ? 4 : 2;
  check_inside(memory, address, bytes);
  std::uint32_t word = 0;
  std::memcpy(&word, memory.data() + address, bytes);
  return unpack(word, 0, wide, integer);
}

void store_element(std::vector<std::uint8_t>& memory, std::uint32_t address, bool wide,
                   bool integer, float value) {
  const std::size_t bytes = wide ? 4 : 2;
  check_inside(memory, address, bytes);
  const std::uint32_t word = pack(0, 0, wide, integer, value);
  std::memcpy(memory.data() + address, &word, bytes);
}

}  // namespace lacuna::wse
