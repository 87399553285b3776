// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/wse/lanes/shapes.hpp"
#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse::lanes {
namespace {

using Classes = std::array<int, kMostClasses>;

int path_at(const Shape& shape, int slot, int port) {
  for (int p = 0; p < shape.paths; ++p) {
    if (shape.path[p].slot == slot && shape.path[p].port == port) return p;
  }
  return kNone;
}

bool has_use(const Shape& shape, const Use& use, int cls) {
  return std::any_of(shape.use.begin(), shape.use.begin() + shape.uses, [&](const Use& other) {
    return other.context == use.context && other.cls == cls && other.out == use.out;
  });
}

/// What of `needs` is not in `shape`; empty if all is.
std::string lacks(const Shape& shape, const Shape& needs, const Classes& class_of) {
  const auto of = [&](int cls) { return class_of.at(static_cast<std::size_t>(cls)); };
  if (needs.contexts > shape.contexts) return fmt::format("{} threads", needs.contexts);
  if ((needs.contested & ~shape.contested) != 0) return "heads that compete for a port";
  for (int c = 0; c < needs.classes; ++c) {
    if (is_trigger(needs, c) && !is_trigger(shape, of(c))) return "tasks that words start";
  }
  for (int s = 0; s < needs.slots; ++s) {
    const Slot& slot = needs.slot[s];
    const int there = slot_at(shape, slot.port, of(slot.cls));
    if (there == kNone) return fmt::format("a buffer from the {}", port_name(slot.port));
    if (slot.switched && !shape.slot[there].switched) return "switches";
    if (slot.several && !shape.slot[there].several && !shape.slot[there].switched) return "copies";
  }
  for (int p = 0; p < needs.paths; ++p) {
    const Slot& slot = needs.slot[needs.path[p].slot];
    const int there = slot_at(shape, slot.port, of(slot.cls));
    if (path_at(shape, there, needs.path[p].port) != kNone) continue;
    return fmt::format("a way from the {} to the {}", port_name(slot.port),
                       port_name(needs.path[p].port));
  }
  for (int u = 0; u < needs.uses; ++u) {
    if (!has_use(shape, needs.use[u], of(needs.use[u].cls))) return "a stream of a thread";
  }
  return "";
}

}  // namespace

Fit tightest_shape(const Shape& needs) {
  Fit best;
  best.why = "no shape is declared";
  for (unsigned number = 0; number < kShapeCount; ++number) {
    const Shape& shape = *kShapes[number].shape;
    if (shape.classes < needs.classes) continue;
    const bool tighter =
        best.shape == nullptr || shape.slots + shape.paths < best.shape->slots + best.shape->paths;
    if (!tighter) continue;
    Classes order{};
    std::iota(order.begin(), order.end(), 0);
    auto* const end = order.begin() + shape.classes;
    do {
      const std::string why = lacks(shape, needs, order);
      if (why.empty()) {
        best = {&shape, number, order, ""};
        break;
      }
      if (best.shape == nullptr) best.why = fmt::format("{} has not {}", kShapes[number].name, why);
    } while (std::next_permutation(order.begin(), end));
  }
  return best;
}

}  // namespace lacuna::wse::lanes
