// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

/// Where an operand lies that is read together with one at a multiple of 8 bytes.
std::uint32_t beside(std::uint32_t bytes, Alignment align) {
  return aligned(bytes) + (align == Alignment::good ? 4U : 0U);
}

/// The matrix-vector product of one column of cores.
class Gemv {
 public:
  Gemv(const GemvJob& job, const CodeCosts& costs)
      : job_(job),
        outputs_((job.m + job.cores - 1) / job.cores),
        inputs_((job.k + job.cores - 1) / job.cores),
        cores_(job.cores),
        reduce_(job.reduce),
        align_(job.align),
        costs_(costs),
        ramp_(job.ramp),
        builder_(1, job.cores),
        scripts_(job.cores) {}

  TaskKernel plan() {
    for (std::uint32_t i = 0; i < job_.repeats; ++i) product();
    for (std::uint32_t r = 0; r < cores_; ++r) {
      builder_.core(r, std::move(scripts_[r]).finish());
    }
    TaskKernel kernel;
    kernel.program = std::move(builder_).finish();
    kernel.copies = cores_;
    kernel.repeats = job_.repeats;
    const std::uint64_t formed = std::uint64_t{cores_} * cores_ * inputs_ * column();
    kernel.edge = (formed - std::uint64_t{job_.m} * job_.k) * job_.repeats;
    kernel.bytes = bytes();
    if (job_.values) fill_memory(kernel.program);
    kernel.notes.emplace_back(
        "tiles", fmt::format("{} outputs x {} inputs in each of {} x {} cores", outputs_, inputs_,
                             cores_, cores_));
    if (reduce_ == GemvReduce::mesh) {
      kernel.notes.emplace_back("sums", fmt::format("{} groups of cores along y", groups_));
    }
    kernel.notes.emplace_back("fold", "one column simulated, the others repeat it");
    return kernel;
  }

  std::uint32_t sums_at() const { return beside(pitch() * inputs_, align_); }
  std::uint32_t outputs() const { return outputs_; }

  /// Of the first column of cores, that is planned; 0 outside the matrices.
  float w_value(std::uint32_t i, std::uint32_t j) const {
    return i < job_.m && j < job_.k ? small_value(job_.seed, i, j) : 0;
  }
  float x_value(std::uint32_t j) const { return j < job_.k ? small_value(~job_.seed, j, 0) : 0; }

 private:
  std::uint32_t pitch() const { return aligned(2 * outputs_); }  // of a column of W
  /// Elements of a column that an instruction multiplies: padding too, if its end is to be where
  /// the next column begins.
  std::uint32_t column() const { return job_.walk == GemvWalk::saved ? pitch() / 2 : outputs_; }
  std::uint32_t x_at() const { return sums_at() + aligned(2 * outputs_); }
  std::uint32_t bytes() const { return x_at() + 2 * inputs_; }

  /// The product within each core, its sums, and their way back to all.
  void product() {
    for (Script& script : scripts_) multiply(script);
    std::uint32_t root = 0;
    if (reduce_ == GemvReduce::mesh) {
      root = sum_groups();
    } else {
      add_sides(0, 0, cores_ - 1, 0);
    }
    if (cores_ > 1) spread(root);
  }

  /// psum += W[:, j] x[j], a loop over the inputs. Descriptors stay in their registers; that of W
  /// goes on by itself, or is written.
  void multiply(Script& script) const {
    const bool saved = job_.walk == GemvWalk::saved;
    for (std::uint32_t j = 0; j < inputs_; ++j) {
      const ScalarParams& scalar = costs_.scalar;
      const std::uint32_t address = saved && j != 0 ? 0U : scalar.dsr_write;
      script.then(work(scalar.loop + scalar.load + address + costs_.from_registers()));
      Instruction axpy =
          instruction(j == 0 ? VectorOp::mul : VectorOp::fma, Element::fp16, in_memory(sums_at()),
                      in_memory(j * pitch()), cell(x_at() + 2 * j), column());
      axpy.starts_sum = j == 0;
      script.then(axpy);
    }
  }

  VectorPart sums() const { return {sums_at(), outputs_, Element::fp16}; }

  /// From a core to `last`, its neighbour first.
  static std::vector<std::size_t> line_to(std::uint32_t from, std::uint32_t last) {
    std::vector<std::size_t> line = {from};
    while (line.back() != last) line.push_back(last > from ? line.back() + 1 : line.back() - 1);
    return line;
  }

  /// Adds up along a line, by two colors of its own.
  void add(const std::vector<std::size_t>& line, const ReduceTree& tree, unsigned color) {
    std::vector<Script*> scripts(line.size(), nullptr);
    scripts[0] = &scripts_[line[0]];
    for (const std::vector<std::uint32_t>& children : tree) {
      for (const std::uint32_t child : children) scripts[child] = &scripts_[line[child]];
    }
    add_tree(builder_, line, scripts, tree, TreeStyle(), color, sums());
    next_color_ = std::max(next_color_, color + 2);
  }

  /// Both sides of `root` stream towards it, up to these cores.
  void add_sides(std::uint32_t north, std::uint32_t root, std::uint32_t south, unsigned color) {
    for (const std::uint32_t end : {north, south}) {
      const std::vector<std::size_t> line = line_to(root, end);
      if (line.size() > 1) add(line, chain_tree(static_cast<std::uint32_t>(line.size())), color);
      color += 2;
    }
  }

  /// The first core of a group; that of group `groups` is past the end.
  std::uint32_t group_begin(std::uint32_t group, std::uint32_t groups) const {
    return static_cast<std::uint32_t>(std::uint64_t{group} * cores_ / groups);
  }
  std::uint32_t group_root(std::uint32_t group, std::uint32_t groups) const {
    return (group_begin(group, groups) + group_begin(group + 1, groups) - 1) / 2;
  }

  /// Cycles of the sums in so many groups, about: chains of half a group, two streams at its root;
  /// steps from group to group, two streams at the root of all.
  std::uint64_t expected(std::uint32_t groups) const {
    const std::uint64_t step = 2UL * ramp_ + 1;
    const std::uint64_t size = (cores_ + groups - 1) / groups;
    const std::uint64_t words = (outputs_ + 1) / 2;
    return (step + 1) * (size / 2) + (size > 2 ? 2 : size - 1) * words +
           (step + size) * (groups / 2) + std::min(groups - 1, 2U) * words;
  }

  /// In two levels: within each group towards its middle, then from group to group towards the
  /// middle one. Returns the root of all.
  std::uint32_t sum_groups() {
    std::uint32_t groups = 1;
    for (std::uint32_t g = 2; g <= cores_; ++g) {
      if (expected(g) < expected(groups)) groups = g;
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
      add_sides(group_begin(g, groups), group_root(g, groups), group_begin(g + 1, groups) - 1, 0);
    }
    const std::uint32_t middle = (groups - 1) / 2;
    const std::uint32_t root = group_root(middle, groups);
    for (const bool south : {false, true}) {
      const std::uint32_t others = south ? groups - 1 - middle : middle;
      if (others == 0) continue;
      const std::vector<std::size_t> line =
          line_to(root, group_root(south ? groups - 1 : 0, groups));
      ReduceTree tree(line.size());
      std::uint32_t at = 0;
      for (std::uint32_t i = 1; i <= others; ++i) {
        const std::uint32_t next = group_root(south ? middle + i : middle - i, groups);
        const std::uint32_t child = next > root ? next - root : root - next;
        tree[at] = {child};
        at = child;
      }
      add(line, tree, south ? 6 : 4);
    }
    groups_ = groups;
    return root;
  }

  void spread(std::uint32_t root) {
    const auto color = static_cast<Color>(next_color_);
    for (std::uint32_t r = 0; r < cores_; ++r) {
      PortSet to = r == root ? PortSet{0} : bit(kRamp);
      if (r <= root && r > 0) to = static_cast<PortSet>(to | bit(kNorth));
      if (r >= root && r + 1 < cores_) to = static_cast<PortSet>(to | bit(kSouth));
      builder_.route(r, color, r == root ? kRamp : r < root ? kSouth : kNorth, to);
      const Operand there = on_fabric(color);
      const Operand own = in_memory(sums_at());
      const Instruction what =
          move(Element::fp16, r == root ? there : own, r == root ? own : there, outputs_);
      scripts_[r].then(work(costs_.start(what)));
      scripts_[r].then(what);
      r == root ? use_out_queue(scripts_[r], color) : use_in_queue(scripts_[r], color);
    }
  }

  void fill_memory(TaskProgram& program) const {
    for (std::uint32_t r = 0; r < cores_; ++r) {
      MemoryImage image(bytes());
      for (std::uint32_t j = 0; j < inputs_; ++j) {
        for (std::uint32_t i = 0; i < outputs_; ++i) {
          image.put(j * pitch() + 2 * i, Element::fp16, w_value(i, r * inputs_ + j));
        }
        image.put(x_at() + 2 * j, Element::fp16, x_value(r * inputs_ + j));
      }
      program.memory.push_back(std::move(image).take());
    }
  }

  const GemvJob job_;
  const std::uint32_t outputs_;
  const std::uint32_t inputs_;
  const std::uint32_t cores_;
  const GemvReduce reduce_;
  const Alignment align_;
  const CodeCosts& costs_;
  const unsigned ramp_;
  TaskBuilder builder_;
  std::vector<Script> scripts_;
  unsigned next_color_ = 0;   // that is free
  std::uint32_t groups_ = 1;  // of the first level of sums
};

}  // namespace

float small_value(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(mix(seed ^ mix(row * 1000003 + column)) % 3) - 1.0F;
}

namespace {

/// Elements of y in all cores of the column.
LayerComparison compare_gemv(const GemvJob& job, const WaferMemory& memory) {
  const CodeCosts costs;
  const Gemv layout(job, costs);
  LayerComparison comparison;
  for (std::uint32_t i = 0; i < std::min(layout.outputs(), job.m); ++i) {
    float expected = 0;
    for (std::uint32_t j = 0; j < job.k; ++j) expected += layout.w_value(i, j) * layout.x_value(j);
    for (const auto& core : memory) {
      comparison.add_exact(load_element(core, layout.sums_at() + 2 * i, false, false), expected);
    }
  }
  return comparison;
}

}  // namespace

TaskKernel plan_gemv(const GemvJob& job, const CodeCosts& costs) {
  TaskKernel kernel = Gemv(job, costs).plan();
  kernel.compare = [job](const WaferMemory& memory) { return compare_gemv(job, memory); };
  return kernel;
}

std::uint64_t gemv_bytes(const GemvJob& job) {
  const std::uint64_t outputs = (std::uint64_t{job.m} + job.cores - 1) / job.cores;
  const std::uint64_t inputs = (std::uint64_t{job.k} + job.cores - 1) / job.cores;
  const std::uint64_t column = (2 * outputs + 7) / 8 * 8;
  return column * (inputs + 1) + (job.align == Alignment::good ? 4 : 0) + 2 * inputs;
}

}  // namespace lacuna::wse
