// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "models/wse/lanes/shape.hpp"

// The declared shapes. Adding one is ten lines here; a program takes the tightest that has all of
// its buffers, ways and streams.

namespace lacuna::wse::lanes {

/// A class of colors: what comes in at ports, and from there goes to others.
struct ClassOf {
  const char* ways = "";  // pairs of ports "from to", of n, e, s, w and r, the ramp
  bool switched = false;
  bool several = false;  // some heads make copies
};

constexpr int port_of(char name) {
  return name == 'n' ? 0 : name == 'e' ? 1 : name == 's' ? 2 : name == 'w' ? 3 : kRampPort;
}

constexpr void add_class(Shape& shape, const ClassOf& what) {
  const int cls = shape.classes++;
  for (int port = 0; port <= kRampPort; ++port) {
    bool comes = false;
    for (const char* way = what.ways; *way != 0; way += 2) comes = comes || port_of(way[0]) == port;
    if (!comes) continue;
    const int slot = shape.slots++;
    shape.slot[slot] = {static_cast<std::uint8_t>(port), static_cast<std::uint8_t>(cls),
                        what.switched, what.several};
    for (const char* way = what.ways; *way != 0; way += 2) {
      if (port_of(way[0]) != port) continue;
      shape.path[shape.paths++] = {static_cast<std::uint8_t>(slot),
                                   static_cast<std::uint8_t>(port_of(way[1]))};
    }
  }
}
constexpr void add_use(Shape& shape, int context, int cls, bool out) {
  shape.use[shape.uses++] = {static_cast<std::uint8_t>(context), static_cast<std::uint8_t>(cls),
                             out};
  if (shape.contexts <= context) shape.contexts = context + 1;
}

/// Streams of microthreads along rows and columns: one sends and one takes for each, in this order,
/// or both take and then both send.
constexpr void add_lines(Shape& s, bool in_pairs = false) {
  for (int axis = 0; axis < 2; ++axis) {
    add_use(s, in_pairs ? 2 + 2 * axis : 1 + axis, axis, false);
    add_use(s, in_pairs ? 1 + 2 * axis : 3 + axis, axis, true);
  }
  s.contested = 1U << kRampPort;
}
/// All words of a class may be taken, and sent, by a context.
constexpr void add_both(Shape& s, int context) {
  for (int cls = 0; cls < s.classes; ++cls) {
    add_use(s, context, cls, false);
    add_use(s, context, cls, true);
  }
}

/// The main threads of a line hand words on; it may wind from row to row.
constexpr Shape line_shape() {
  Shape s;
  add_class(s, {"errewrrwnrrs"});
  add_both(s, 0);
  return s;
}
/// Tiles go to the next core on lines, and from their ends back to the other.
constexpr Shape shift_shape() {
  Shape s;
  add_class(s, {"ewerwrrerw"});
  add_class(s, {"nrsnsrrnrs"});
  add_lines(s);
  return s;
}
/// Tiles go round rings, at most two hops at a time.
constexpr Shape ring_shape(bool in_pairs) {
  Shape s;
  add_class(s, {"ewerwewrrerw"});
  add_class(s, {"nsnrsnsrrnrs"});
  add_lines(s, in_pairs);
  return s;
}
/// One after the other, the cores of a line send to all others.
constexpr Shape broadcasts_shape() {
  Shape s;
  add_class(s, {"ewerwewrrerw", true, true});
  add_class(s, {"nsnrsnsrrnrs", true, true});
  add_lines(s);
  return s;
}
/// The same, where each word of a column starts a task.
constexpr Shape calls_shape() {
  Shape s;
  add_class(s, {"ewerwewrrerw", true, true});
  add_class(s, {"nsnrsnsrrnrsrr", true, true});
  add_use(s, 1, 0, false);
  add_use(s, 2, 0, true);
  add_use(s, 3, 1, true);
  add_use(s, 0, 1, false);
  s.contested = 1U << kRampPort;
  s.triggers = 1U << 1;
  return s;
}
/// Sums along rows and up a column, in turn or not, and back to all.
constexpr Shape reduction_shape(bool in_turn) {
  Shape s;
  add_class(s, {in_turn ? "ewerrw" : "errw", in_turn});
  add_class(s, {in_turn ? "snsrrn" : "srrn", in_turn});
  add_class(s, {"nensnrwewrrers", false, true});
  add_both(s, 0);
  if (in_turn) {
    for (int axis = 0; axis < 2; ++axis) {
      add_use(s, 1, axis, false);
      add_use(s, 1, axis, true);
    }
  }
  s.contested = 1U << kRampPort;
  return s;
}
/// Each core sends to its four neighbours, and takes from them in its main thread.
constexpr Shape neighbours_shape(bool far) {
  Shape s;
  add_class(s, {far ? "snsrrn" : "srrn", far, far});
  add_class(s, {far ? "wewrre" : "wrre", far, far});
  add_class(s, {far ? "nsnrrs" : "nrrs", far, far});
  add_class(s, {far ? "ewerrw" : "errw", far, far});
  for (int side = 0; side < 4; ++side) {
    add_use(s, 0, side, false);
    add_use(s, 1 + side, side, true);
  }
  s.contested = 1U << kRampPort;
  return s;
}

inline constexpr Shape kLine = line_shape();
inline constexpr Shape kShift = shift_shape();
inline constexpr Shape kRings = ring_shape(false);
inline constexpr Shape kRingsInPairs = ring_shape(true);
inline constexpr Shape kBroadcasts = broadcasts_shape();
inline constexpr Shape kCalls = calls_shape();
inline constexpr Shape kChains = reduction_shape(false);
inline constexpr Shape kGroups = reduction_shape(true);
inline constexpr Shape kNeighbours = neighbours_shape(false);
inline constexpr Shape kFar = neighbours_shape(true);

struct NamedShape {
  const Shape* shape = nullptr;
  const char* name = nullptr;
};
inline constexpr int kShapeCount = 10;
inline constexpr Table<NamedShape, kShapeCount> kShapes = {{{&kLine, "kLine"},
                                                            {&kShift, "kShift"},
                                                            {&kRings, "kRings"},
                                                            {&kRingsInPairs, "kRingsInPairs"},
                                                            {&kBroadcasts, "kBroadcasts"},
                                                            {&kCalls, "kCalls"},
                                                            {&kChains, "kChains"},
                                                            {&kGroups, "kGroups"},
                                                            {&kNeighbours, "kNeighbours"},
                                                            {&kFar, "kFar"}}};

}  // namespace lacuna::wse::lanes
