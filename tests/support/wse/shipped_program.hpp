// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/wse/program/yaml_program.hpp"
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
  return shipped_program(name, texts, params);
}

/// A stencil with these costs.
inline TaskKernel plan_stencil(const StencilJob& job, const CodeCosts& costs) {
  WseParams params;
  static_cast<ScalarParams&>(params.scalar) = costs.scalar;
  static_cast<VectorParams&>(params.vec) = costs.vec;
  return stencil_kernel(job, params);
}

}  // namespace lacuna::wse
