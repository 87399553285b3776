// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/dense/conv_cost.hpp"

namespace lacuna::ipu {

/// Writes ConvPartial1x1Out vertices into a program; equal shapes are one vertex.
class ConvCodelets {
 public:
  ConvCodelets(ProgramBuilder& builder, const Target& target, const Types& types);

  std::uint32_t vertex(const ConvVertexShape& shape);

 private:
  /// One kind of AMP bundle, in the first pass and in others, and its number for an element.
  struct AmpKind {
    std::uint32_t first;
    std::uint32_t other;
    unsigned per_element;
  };

  std::uint32_t worker(std::uint64_t elements, bool first);
  std::uint32_t supervisor(const ConvSupervisor& parts);

  ProgramBuilder& builder_;
  const Target target_;
  const Types types_;
  std::uint32_t overhead_ = 0;
  std::uint32_t weights_ = 0;  // 64 or 128 bits from memory to the AMP unit
  std::vector<AmpKind> amp_;
  std::map<Cycle, std::uint32_t> supervisors_;  // codelets by the clocks of the entry
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint32_t> vertices_;
};

}  // namespace lacuna::ipu
