// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/collective_parts.hpp"

#include <algorithm>

#include "models/wse/pe/vector_unit.hpp"

namespace lacuna::wse {
namespace {

/// The color on which each core's children send to it: those whose cores overlap on the line
/// differ. `used` counts them.
std::vector<unsigned> tree_colors(const ReduceTree& tree, unsigned& used) {
  std::vector<unsigned> colors(tree.size(), 0);
  std::vector<std::size_t> free_from;  // by color: the first place its latest user leaves free
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].empty()) continue;
    unsigned c = 0;
    while (c < free_from.size() && free_from[c] > i) ++c;
    if (c == free_from.size()) free_from.push_back(0);
    colors[i] = c;
    free_from[c] = tree[i].back() + std::size_t{1};
  }
  used = static_cast<unsigned>(free_from.size());
  return colors;
}

/// The children of core `parent` send on one color, the nearest first: the router of a child lets
/// out the words of its own core, then, when its switch has advanced, those of farther ones.
void route_children(TaskBuilder& builder, const std::vector<std::size_t>& line,
                    const std::vector<std::uint32_t>& children, std::size_t parent, Color color) {
  builder.route(line[parent], color, builder.towards(line[parent], line[parent + 1]), bit(kRamp));
  std::size_t next = 0;
  for (std::size_t x = parent + 1; x <= children.back(); ++x) {
    const Port near = builder.towards(line[x], line[x - 1]);
    const bool child = children[next] == x;
    if (child) builder.route(line[x], color, kRamp, bit(near), 0);
    if (child) ++next;
    if (x == children.back()) break;
    builder.route(line[x], color, builder.towards(line[x], line[x + 1]), bit(near), child ? 1 : 0);
  }
}

bool is_used(const std::vector<QueueUse>& uses, Color color) {
  return std::any_of(uses.begin(), uses.end(),
                     [&](const QueueUse& use) { return use.color == color; });
}

/// By core, which one it sends to.
std::vector<std::size_t> parents_of(const ReduceTree& tree) {
  std::vector<std::size_t> parent(tree.size(), 0);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const std::uint32_t child : tree[i]) parent[child] = i;
  }
  return parent;
}

}  // namespace

void use_in_queue(Script& script, Color color) {
  // 2 to 6 words deep: the first two are the deepest
  auto& uses = script.program().in;
  if (is_used(uses, color)) return;
  uses.push_back({color, static_cast<std::uint8_t>(uses.size() % kMicrothreads)});
}

void use_out_queue(Script& script, Color color) {
  auto& uses = script.program().out;
  if (is_used(uses, color)) return;
  uses.push_back({color, static_cast<std::uint8_t>(2 + uses.size() % 2)});
}

unsigned add_tree(TaskBuilder& builder, const std::vector<std::size_t>& line,
                  const std::vector<Script*>& scripts, const ReduceTree& tree,
                  const TreeStyle& style, unsigned first_color, const VectorPart& part) {
  unsigned used = 0;
  const std::vector<unsigned> colors = tree_colors(tree, used);
  if (first_color + used > kColors) return used;  // the caller refuses
  const std::vector<std::size_t> parent = parents_of(tree);
  const auto color_of = [&](std::size_t i) { return static_cast<Color>(first_color + colors[i]); };
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!tree[i].empty()) route_children(builder, line, tree[i], i, color_of(i));
    if (scripts[i] == nullptr) continue;
    Script& script = *scripts[i];
    const bool root = i == 0;
    const Operand own = in_memory(part.address);
    Instruction step = move(part.element, Operand(), own, part.elements);
    if (!tree[i].empty()) {
      use_in_queue(script, color_of(i));
      step =
          instruction(VectorOp::add, part.element, own, on_fabric(color_of(i)), own, part.elements);
    }
    const std::size_t count = std::max<std::size_t>(tree[i].size(), 1);
    for (std::size_t k = 0; k < count; ++k) {
      if (k + 1 == count && !root) {
        step.to = on_fabric(color_of(parent[i]));
        step.switches = first_command(SwitchCommand::advance) | kOwnRouterOnly;
        step.simd64 = style.pairs && !tree[i].empty();
        use_out_queue(script, color_of(parent[i]));
      }
      // the root waits for its last vector: what follows needs no task
      if (style.rounds && count > 1 && !(root && k + 1 == count)) {
        script.round(step, root ? kMainThread : kMicrothreads);
      } else {
        script.then(step);
      }
    }
  }
  return used;
}

}  // namespace lacuna::wse
