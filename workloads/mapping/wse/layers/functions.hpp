// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::wse {

/// Where a core holds what an element-wise function works on: elements side by side.
struct ElementSpace {
  Element element = Element::fp16;          // of the result, and of the operands unless it casts
  std::array<std::uint32_t, 3> operands{};  // addresses
  std::array<std::uint32_t, 2> results{};
  std::array<std::uint32_t, 3> scratch{};
  Operand shared;         // the number of each element of a vector that all rows share
  std::uint32_t run = 1;  // elements of one feature, side by side
  std::uint64_t length = 0;
};

/// The instructions of an element-wise function, forward and backward.
///
/// All are tensor instructions over the whole vector: a sum, product or maximum is one; a function
/// of the table of special ones (exp, tanh, sigmoid, 1/x, 1/sqrt) is one that takes
/// simd.special_cycles for each element. A function overwrites scratch and nothing else.
struct ElementCode {
  const char* fn;
  Phase phase;
  unsigned scratch;     // vectors it needs beside operands and results
  const char* formula;  // as write_formula() has it; none: what follows
  void (*other)(const ElementSpace& space, CoreCode& code) = nullptr;

  void write(const ElementSpace& space, CoreCode& code) const;
};

/// Instructions over whole vectors, such as "t = tanh a; y = t * 0.5": operands are a, b and c,
/// results y and z, scratch t, u and v, and s is the shared vector.
void write_formula(const ElementSpace& space, const char* formula, CoreCode& code);

/// Null if there is none.
const ElementCode* find_element_code(const std::string& fn, Phase phase);

}  // namespace lacuna::wse
