// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/collective.hpp"

#include <fmt/format.h>

#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {
namespace {

/// The value a core starts with: small, so that every sum is exact in either type.
float start_value(const Collective& collective, std::size_t place, std::uint32_t i) {
  return static_cast<float>(mix(collective.seed ^ mix(place * 131071 + i)) % 5) - 2.0F;
}

class CollectivePlanner {
 public:
  CollectivePlanner(const Collective& collective, ReducePattern pattern)
      : what_(collective),
        pattern_(pattern),
        builder_(collective.columns, collective.rows),
        scripts_(pattern == ReducePattern::snake
                     ? std::size_t{collective.columns} * collective.rows
                     : std::size_t{collective.columns} + collective.rows) {}

  TaskProgram plan() {
    if (what_.op != CollectiveOp::broadcast) reduce();
    const bool spread = what_.op == CollectiveOp::broadcast ||
                        (what_.op == CollectiveOp::allreduce && pattern_ != ReducePattern::ring);
    if (spread) broadcast();
    if (colors_ > kColors) {
      throw UnsupportedError(fmt::format("a {} over {} x {} cores needs {} colors, a router has {}",
                                         word(pattern_), what_.columns, what_.rows, colors_,
                                         kColors));
    }
    std::vector<std::uint32_t> programs;
    for (Script& script : scripts_) programs.push_back(builder_.share(std::move(script).finish()));
    const std::size_t cores = std::size_t{what_.columns} * what_.rows;
    for (std::size_t place = 0; place < cores; ++place) {
      builder_.core(place, programs[share(place)]);
    }
    TaskProgram program = std::move(builder_).finish();
    if (what_.values) fill_memory(program);
    return program;
  }

 private:
  bool snake() const { return pattern_ == ReducePattern::snake; }

  /// Cores with the same share do the same: those of a column but the first, unless a snake
  /// passes through them.
  std::size_t share(std::size_t place) const {
    const std::size_t column = place % what_.columns;
    if (snake()) return place;
    return column != 0 ? column : what_.columns + place / what_.columns;
  }
  Script& script(std::size_t place) { return scripts_[share(place)]; }

  void reduce() {
    const VectorPart whole{0, what_.elements, what_.element};
    std::vector<std::size_t> line;
    if (pattern_ == ReducePattern::ring) {
      for (std::uint32_t c = 0; c < what_.columns; ++c) line.push_back(c);
      colors_ = add_ring(builder_, line, scripts_of(line, true), whole);
      return;
    }
    if (snake()) {
      for (std::uint32_t r = 0; r < what_.rows; ++r) {
        for (std::uint32_t i = 0; i < what_.columns; ++i) {
          line.push_back(builder_.place(r, r % 2 == 0 ? i : what_.columns - 1 - i));
        }
      }
      colors_ = add_line(line, 0, true, whole);
      return;
    }
    for (std::uint32_t r = 0; r < what_.rows; ++r) {
      line.clear();
      for (std::uint32_t c = 0; c < what_.columns; ++c) line.push_back(builder_.place(r, c));
      colors_ = add_line(line, 0, r == 0, whole);
    }
    line.clear();
    for (std::uint32_t r = 0; r < what_.rows; ++r) line.push_back(builder_.place(r, 0));
    if (line.size() > 1) colors_ += add_line(line, colors_, true, whole);
  }

  /// The scripts of the cores of a line. Those that cores of other rows share are written once.
  std::vector<Script*> scripts_of(const std::vector<std::size_t>& line, bool all) {
    std::vector<Script*> scripts;
    for (const std::size_t place : line) {
      const bool shared = share(place) < what_.columns && !snake();
      scripts.push_back(all || !shared ? &script(place) : nullptr);
    }
    return scripts;
  }

  unsigned add_line(const std::vector<std::size_t>& line, unsigned first_color, bool first,
                    const VectorPart& part) {
    if (line.size() == 1) return 0;
    const std::vector<Script*> scripts = scripts_of(line, first);
    const auto cores = static_cast<std::uint32_t>(line.size());
    const std::uint32_t words = wse::words_of(what_);
    ReduceTree tree = chain_tree(cores);
    if (pattern_ == ReducePattern::star) tree = star_tree(cores);
    if (pattern_ == ReducePattern::tree) tree = binomial_tree(cores);
    if (pattern_ == ReducePattern::two_phase) tree = two_phase_tree(cores, words, what_.ramp);
    if (pattern_ == ReducePattern::generated) tree = generated_tree(cores, words, what_.ramp);
    TreeStyle style;
    style.rounds = pattern_ == ReducePattern::tree || pattern_ == ReducePattern::two_phase;
    style.pairs = pattern_ == ReducePattern::tree;
    return add_tree(builder_, line, scripts, tree, style, first_color, part);
  }

  /// Along the first column, and from each of its cores along the row.
  void broadcast() {
    const auto color = static_cast<Color>(colors_++);
    route_broadcast(color);
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      const bool root = i == (snake() ? 0 : what_.columns);
      if (root && what_.columns * what_.rows == 1) return;
      const Operand there = on_fabric(color);
      scripts_[i].then(move(what_.element, root ? there : in_memory(0), root ? in_memory(0) : there,
                            what_.elements));
      if (!root) use_in_queue(scripts_[i], color);
    }
  }

  void route_broadcast(Color color) {
    for (std::uint32_t r = 0; r < what_.rows; ++r) {
      for (std::uint32_t c = 0; c < what_.columns; ++c) {
        const bool root = r == 0 && c == 0;
        PortSet to = root ? PortSet{0} : bit(kRamp);
        if (c + 1 < what_.columns) to = static_cast<PortSet>(to | bit(kEast));
        if (c == 0 && r + 1 < what_.rows) to = static_cast<PortSet>(to | bit(kSouth));
        if (to == 0) continue;
        builder_.route(builder_.place(r, c), color, root ? kRamp : c == 0 ? kNorth : kWest, to);
      }
    }
  }

  void fill_memory(TaskProgram& program) const {
    const std::uint32_t bytes = what_.elements * source_bytes(what_.element);
    for (std::size_t place = 0; place < program.core_of.size(); ++place) {
      MemoryImage image(bytes);
      for (std::uint32_t i = 0; i < what_.elements; ++i) {
        image.put(i * source_bytes(what_.element), what_.element, start_value(what_, place, i));
      }
      program.memory.push_back(std::move(image).take());
    }
  }

  const Collective what_;
  const ReducePattern pattern_;
  TaskBuilder builder_;
  std::vector<Script> scripts_;  // by share
  unsigned colors_ = 0;          // in use
};

}  // namespace

std::uint32_t words_of(const Collective& collective) {
  return words_of(source_bytes(collective.element), collective.elements);
}

TaskProgram plan_collective(const Collective& collective, std::uint32_t memory_bytes) {
  const ReducePattern pattern = collective.pattern == ReducePattern::automatic
                                    ? best_pattern(collective)
                                    : collective.pattern;
  const std::uint64_t bytes = std::uint64_t{collective.elements} * source_bytes(collective.element);
  if (bytes > memory_bytes) {
    throw OutOfMemoryError(fmt::format("a vector of {} bytes does not fit the {} bytes of a core",
                                       bytes, memory_bytes));
  }
  if (pattern == ReducePattern::ring &&
      (collective.op != CollectiveOp::allreduce || collective.rows > 1 || collective.columns < 3)) {
    throw UnsupportedError("a ring is an all-reduce over a line of at least three cores");
  }
  return CollectivePlanner(collective, pattern).plan();
}

LayerComparison compare_collective(const Collective& collective, const WaferMemory& memory) {
  const bool wide = source_bytes(collective.element) == 4;
  const bool sums = collective.op != CollectiveOp::broadcast;
  const std::size_t checked = collective.op == CollectiveOp::reduce ? 1 : memory.size();
  LayerComparison comparison;
  for (std::uint32_t i = 0; i < collective.elements; ++i) {
    float expected = 0;
    for (std::size_t place = 0; place < (sums ? memory.size() : 1); ++place) {
      expected += start_value(collective, place, i);
    }
    for (std::size_t place = 0; place < checked; ++place) {
      comparison.add_exact(
          load_element(memory[place], i * source_bytes(collective.element), wide, false), expected);
    }
  }
  return comparison;
}

}  // namespace lacuna::wse
