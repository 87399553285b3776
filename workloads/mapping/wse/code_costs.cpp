// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/code_costs.hpp"

namespace lacuna::wse {
namespace {

using Kind = Operand::Kind;

bool same_place(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.kind == Kind::memory && a.address == b.address &&
         a.stride == b.stride && a.inner == b.inner && a.outer == b.outer;
}

bool has_descriptor(const Operand& operand) {
  return operand.is_fabric() || (operand.kind == Kind::memory && operand.stride != 0);
}

std::uint32_t descriptors_of(const Instruction& what) {
  std::uint32_t descriptors = has_descriptor(what.to) ? 1 : 0;
  for (const Operand* const source : {&what.a, &what.b}) {
    if (has_descriptor(*source) && !same_place(*source, what.to)) ++descriptors;
  }
  return descriptors;
}

/// A number, from the code or from memory.
bool is_scalar(const Operand& operand) {
  return operand.kind == Kind::number || operand.kind == Kind::cell;
}

}  // namespace

std::uint32_t CodeCosts::start(const Instruction& what, bool stands) const {
  const bool loads =
      !stands && what.op != VectorOp::move && (is_scalar(what.a) || is_scalar(what.b));
  return next(descriptors_of(what)) + (loads ? vec.setup_scalar.value() : 0U);
}

std::uint32_t CodeCosts::start_beside(const Instruction& what) const {
  return dispatch(descriptors_of(what));
}

}  // namespace lacuna::wse
