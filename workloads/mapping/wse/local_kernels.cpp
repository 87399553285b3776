// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/wse/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/collective_parts.hpp"
#include "workloads/mapping/wse/task_builder.hpp"
#include "workloads/mapping/wse/task_kernels.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t aligned(std::uint32_t bytes) { return (bytes + 7) / 8 * 8; }

/// Where an operand lies that is read together with one at a multiple of 8 bytes.
std::uint32_t beside(std::uint32_t bytes, Alignment align) {
  return aligned(bytes) + (align == Alignment::good ? 4U : 0U);
}

/// The matrix-vector product of one column of cores.
class Gemv {
 public:
  Gemv(std::uint32_t m, std::uint32_t k, std::uint32_t cores, GemvReduce reduce, Alignment align,
       const ScalarParams& scalar, unsigned ramp)
      : outputs_((m + cores - 1) / cores),
        inputs_((k + cores - 1) / cores),
        cores_(cores),
        reduce_(reduce),
        align_(align),
        scalar_(scalar),
        ramp_(ramp),
        builder_(1, cores),
        scripts_(cores) {}

  TaskKernel plan() {
    for (Script& script : scripts_) multiply(script);
    const std::uint32_t root = reduce_ == GemvReduce::mesh ? (cores_ - 1) / 2 : 0;
    if (cores_ > 1) sum(root);
    if (cores_ > 1) spread(root);
    for (std::uint32_t r = 0; r < cores_; ++r) {
      builder_.core(r, builder_.add(std::move(scripts_[r]).finish()));
    }
    TaskKernel kernel;
    kernel.program = std::move(builder_).finish();
    kernel.copies = cores_;
    kernel.useful = std::uint64_t{cores_} * inputs_ * outputs_;
    kernel.bytes = sums_at() + aligned(2 * outputs_) + 2 * inputs_;
    kernel.notes.emplace_back(
        "tiles", fmt::format("{} outputs x {} inputs in each of {} x {} cores", outputs_, inputs_,
                             cores_, cores_));
    kernel.notes.emplace_back("fold", "one column simulated, the others repeat it");
    return kernel;
  }

 private:
  std::uint32_t pitch() const { return aligned(2 * outputs_); }  // of a column of W
  std::uint32_t sums_at() const { return beside(pitch() * inputs_, align_); }

  /// psum += W[:, j] x[j], a loop over the inputs.
  void multiply(Script& script) const {
    for (std::uint32_t j = 0; j < inputs_; ++j) {
      script.then(work(scalar_.loop + scalar_.load + scalar_.dsr_write + scalar_.vec_issue));
      Instruction axpy;
      axpy.op = j == 0 ? VectorOp::mul : VectorOp::fma;
      axpy.element = Element::fp16;
      axpy.to = in_memory(sums_at());
      axpy.a = in_memory(j * pitch());
      axpy.b = number(1);
      axpy.length = outputs_;
      script.then(axpy);
    }
  }

  VectorPart sums() const { return {sums_at(), outputs_, Element::fp16}; }

  /// Both sides of the root stream towards it.
  void sum(std::uint32_t root) {
    unsigned color = 0;
    for (const bool south : {false, true}) {
      std::vector<std::size_t> line = {root};
      for (std::uint32_t r = root; south ? r + 1 < cores_ : r > 0;) {
        r = south ? r + 1 : r - 1;
        line.push_back(r);
      }
      if (line.size() == 1) continue;
      std::vector<Script*> scripts;
      for (const std::size_t place : line) scripts.push_back(&scripts_[place]);
      const auto length = static_cast<std::uint32_t>(line.size());
      const ReduceTree tree = reduce_ == GemvReduce::chain
                                  ? chain_tree(length)
                                  : two_phase_tree(length, (outputs_ + 1) / 2, ramp_);
      color += add_tree(builder_, line, scripts, tree, reduce_ == GemvReduce::mesh, color, sums());
    }
    next_color_ = color;
  }

  void spread(std::uint32_t root) {
    const auto color = static_cast<Color>(next_color_);
    for (std::uint32_t r = 0; r < cores_; ++r) {
      PortSet to = r == root ? PortSet{0} : bit(kRamp);
      if (r <= root && r > 0) to = static_cast<PortSet>(to | bit(kNorth));
      if (r >= root && r + 1 < cores_) to = static_cast<PortSet>(to | bit(kSouth));
      builder_.route(r, color, r == root ? kRamp : r < root ? kSouth : kNorth, to);
      Instruction move;
      move.element = Element::fp16;
      move.length = outputs_;
      move.to = r == root ? on_fabric(color) : in_memory(sums_at());
      move.a = r == root ? in_memory(sums_at()) : on_fabric(color);
      scripts_[r].then(move);
      r == root ? use_out_queue(scripts_[r], color) : use_in_queue(scripts_[r], color);
    }
  }

  const std::uint32_t outputs_;
  const std::uint32_t inputs_;
  const std::uint32_t cores_;
  const GemvReduce reduce_;
  const Alignment align_;
  const ScalarParams& scalar_;
  const unsigned ramp_;
  TaskBuilder builder_;
  std::vector<Script> scripts_;
  unsigned next_color_ = 0;
};

}  // namespace

TaskKernel plan_gemv(std::uint32_t m, std::uint32_t k, std::uint32_t cores, GemvReduce reduce,
                     Alignment align, const ScalarParams& scalar, unsigned ramp) {
  return Gemv(m, k, cores, reduce, align, scalar, ramp).plan();
}

TaskKernel plan_local(const std::string& operation, Element element, std::uint32_t elements,
                      Alignment align, const ScalarParams& scalar) {
  const unsigned bytes = source_bytes(element);
  const std::uint32_t second = beside(elements * bytes, align);
  Instruction instruction;
  instruction.element = element;
  instruction.length = elements;
  instruction.op = operation == "mul" ? VectorOp::mul : VectorOp::fma;
  instruction.a = in_memory(0);
  instruction.to = in_memory(second);
  instruction.b = number(1);
  TaskKernel kernel;
  kernel.bytes = second + elements * bytes;
  if (operation != "axpy") instruction.b = in_memory(second);
  if (operation == "dot") {
    instruction.to = in_memory(kernel.bytes, 0);
    kernel.bytes += 4;
  }
  Script script;
  script.then(work(scalar.vec_issue));
  script.then(instruction);
  TaskBuilder builder(1, 1);
  builder.core(0, builder.add(std::move(script).finish()));
  kernel.program = std::move(builder).finish();
  kernel.useful = operation == "mul" ? 0 : elements;
  return kernel;
}

TaskKernel plan_stencil(std::uint32_t points, Element element, std::uint32_t columns,
                        std::uint32_t rows, const ScalarParams& scalar) {
  constexpr std::array<Port, 4> kSides = {kNorth, kEast, kSouth, kWest};
  TaskBuilder builder(columns, rows);
  const unsigned bytes = source_bytes(element);
  const std::uint32_t grid = 8;  // one point of margin below and above the column of points
  const std::uint32_t result = beside(grid + (points + 2) * bytes, Alignment::good);
  TaskKernel kernel;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::size_t place = builder.place(r, c);
      const std::array<bool, 4> there = {r > 0, c + 1 < columns, r + 1 < rows, c > 0};
      Script script;
      Instruction step;
      step.element = element;
      step.length = points;
      for (std::size_t side = 0; side < 4; ++side) {
        if (!there[side]) continue;
        const auto color = static_cast<Color>(side);
        builder.route(place, color, kRamp, bit(kSides[side]));
        step.to = on_fabric(color);
        step.a = in_memory(grid + bytes);
        script.program().out.push_back({color, static_cast<std::uint8_t>(2 + side % 4)});
        script.beside(step, static_cast<std::uint8_t>(1 + side));
      }
      // the point itself and its neighbours below and above, then those of the four sides
      for (std::uint32_t k = 0; k < 3; ++k) {
        step.op = k == 0 ? VectorOp::mul : VectorOp::fma;
        step.to = in_memory(result);
        step.a = in_memory(grid + (k == 0 ? 1 : k == 1 ? 0 : 2) * bytes);
        step.b = number(0.25F);
        script.then(work(scalar.vec_issue));
        script.then(step);
        kernel.useful += k == 0 ? 0 : points;
      }
      for (std::size_t side = 0; side < 4; ++side) {
        if (!there[side]) continue;
        // the neighbour in the north sends south
        const auto color = static_cast<Color>((side + 2) % 4);
        builder.route(place, color, kSides[side], bit(kRamp));
        use_in_queue(script, color);
        step.op = VectorOp::fma;
        step.a = on_fabric(color);
        script.then(work(scalar.vec_issue));
        script.then(step);
        kernel.useful += points;
      }
      builder.core(place, builder.add(std::move(script).finish()));
    }
  }
  kernel.program = std::move(builder).finish();
  kernel.bytes = result + points * bytes;
  return kernel;
}

}  // namespace lacuna::wse
