// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/kernels/collective_trees.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

/// A vector in the memory of each core that takes part, and of what it consists.
struct VectorPart {
  std::uint32_t address = 0;  // bytes
  std::uint32_t elements = 0;
  Element element = Element::fp32;
};

/// Below, `line` is a path of neighbouring cores, the root first, and `scripts` theirs: what they
/// do is appended; null: somebody else has written it. Each returns how many colors it uses.

/// How a core adds several vectors. With `rounds` it does so in tasks, each activated by the one
/// before, the root in its main thread. With `pairs` the vector that it passes on while it adds
/// uses the 64-bit mode of the fabric, if the core has it: two words in an issue slot.
struct TreeStyle {
  bool rounds = false;
  bool pairs = false;
};

/// Adds vectors up along a tree; see ReduceTree. The root's own vector becomes the sum.
unsigned add_tree(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const ReduceTree& tree,
                  const TreeStyle& style, unsigned first_color, const VectorPart& part);

/// All-reduce along a ring that is laid into the line, even places out and odd places back.
unsigned add_ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const VectorPart& part);

/// Gives `color` an input or output queue of its own, as far as there are queues.
void use_in_queue(Script& script, Color color);
void use_out_queue(Script& script, Color color);

}  // namespace lacuna::wse
