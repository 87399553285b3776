// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/collective.hpp"
#include "workloads/mapping/wse/task_builder.hpp"

namespace lacuna::wse {

/// A vector in the memory of each core that takes part, and of what it consists.
struct VectorPart {
  std::uint32_t address = 0;  // bytes
  std::uint32_t elements = 0;
  Element element = Element::fp32;
};

/// Below, `line` is a path of neighbouring cores, the root first, and `scripts` theirs: what they
/// do is appended; null: somebody else has written it. Each returns how many colors it uses.

/// Adds vectors up along a tree; see ReduceTree. The root's own vector becomes the sum. With
/// `rounds` a core that adds several vectors does so in tasks, each activated by the one before.
unsigned add_tree(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const ReduceTree& tree, bool rounds,
                  unsigned first_color, const VectorPart& part);

/// All-reduce along a ring that is laid into the line, even places out and odd places back.
unsigned add_ring(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const VectorPart& part);

/// Gives `color` an input or output queue of its own, as far as there are queues.
void use_in_queue(Script& script, Color color);
void use_out_queue(Script& script, Color color);

}  // namespace lacuna::wse
