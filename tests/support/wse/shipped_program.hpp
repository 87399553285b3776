// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/wse/program/own_program.hpp"
#include "sim/machines/wse/tasks.hpp"

namespace lacuna::wse {

/// The constants of a program, which are words or numbers.
struct Constant {
  Constant(const char* word) : text(word) {}
  template <class Number>
  Constant(Number number) : text(std::to_string(number)) {}
  std::string text;
};

/// A program of traces/programs with the costs of these parameters.
inline TaskProgram shipped(const std::string& name,
                           const std::vector<std::pair<const char*, Constant>>& constants,
                           const WseParams& params = {}) {
  Pairs texts;
  for (const auto& [key, value] : constants) texts.emplace_back(key, value.text);
  return shipped_program(name, texts, params).program;
}

/// A vector operation in the memory of a core: "axpy", "dot" or "mul", and whether its operands lie
/// in banks of their own.
inline TaskKernel plan_local(const char* kind, Element element, std::uint32_t length,
                             bool apart = true, bool values = false) {
  return kernel_of(shipped_program("local",
                                   {{"kind", kind},
                                    {"type", element == Element::fp16 ? "fp16" : "fp32"},
                                    {"length", std::to_string(length)},
                                    {"apart", apart ? "4" : "0"}},
                                   WseParams(), values));
}

/// A stencil with these costs.
inline TaskKernel plan_stencil(const StencilJob& job, const CodeCosts& costs) {
  WseParams params;
  static_cast<ScalarParams&>(params.scalar) = costs.scalar;
  static_cast<VectorParams&>(params.vec) = costs.vec;
  return stencil_kernel(job, params);
}

}  // namespace lacuna::wse
