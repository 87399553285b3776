// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/fabric/buffer_counts.hpp"
#include "models/wse/lanes/table.hpp"

// What routers and cores of a program have at all: the compile-time side of the lane engine. This
// file is part of what is compiled for several widths, so it has no code that a linker could merge.

namespace lacuna::wse::lanes {

inline constexpr int kMostSlots = 12;
inline constexpr int kMostPaths = 24;
inline constexpr int kMostClasses = 4;
inline constexpr int kMostContexts = 9;
inline constexpr int kMostUses = 20;
inline constexpr int kRampPort = 4;
inline constexpr int kNone = -1;

/// A buffer of a router: the words of a class of colors that come in at a port. Colors of a class
/// never meet in a buffer or a queue, so a lane holds which of them it has.
struct Slot {
  std::uint8_t port = 0;
  std::uint8_t cls = 0;
  bool switched = false;  // its color has several positions, and words carry commands
  bool several = false;   // heads make several copies
};

/// Where heads of a slot go in some router.
struct Path {
  std::uint8_t slot = 0;
  std::uint8_t port = 0;
};

/// A context, 0 is the main thread, takes words of a class or sends them.
struct Use {
  std::uint8_t context = 0;
  std::uint8_t cls = 0;
  bool out = false;
};

/// Lanes differ by masks of paths; what is in no lane is not in the code.
struct Shape {
  int slots = 0;
  int paths = 0;
  int classes = 0;
  int contexts = 1;
  int uses = 0;
  unsigned contested = 0;  // output ports for which heads of a router can compete, as bits
  unsigned triggers = 0;   // classes whose words may start tasks, as bits
  Table<Slot, kMostSlots> slot = {};
  Table<Path, kMostPaths> path = {};
  Table<Use, kMostUses> use = {};
};

constexpr bool is_trigger(const Shape& shape, int cls) { return (shape.triggers >> cls & 1U) != 0; }

constexpr int slot_at(const Shape& shape, int port, int cls) {
  for (int s = 0; s < shape.slots; ++s) {
    if (shape.slot[s].port == port && shape.slot[s].cls == cls) return s;
  }
  return kNone;
}

/// The fields of a block, each a small integer for every lane.
struct Layout {
  Table<int, kMostSlots> count = {}, seen = {}, flight = {};
  Table<int, kMostSlots> counts = {}, color = {};            // counts: a BufferCounts
  Table<int, kMostSlots> tags = {}, tail = {}, looked = {};  // of switched ones
  Table<int, kMostSlots> many = {};             // heads make several copies, see `closed`
  Table<int, kMostPaths> mask = {}, made = {};  // of switched ones: still to be made
  Table<int, kMostPaths> gone = {};             // words
  Table<int, kRampPort + 1> next = {};
  Table<int, kRampPort> passed = {}, shut = {};  // of links, see LinkMeter
  Table<int, kMostClasses> in_count = {}, in_seen = {}, in_flight = {};
  Table<int, kMostClasses> in_room = {}, out_room = {};  // words of the core's queues
  Table<int, kMostClasses> words = {}, out_tags = {}, number = {};
  Table<int, kMostClasses> told = {}, until = {};  // see Event::reads
  Table<int, kMostContexts> left = {};
  Table<int, kMostUses> need = {};
  int next_queue = 0, next_context = 0, extra = 0, kept = 0;
  int ask = 0, full = 0, delay = 0, no_task = 0, picks = 0, begun = 0;
  int wait_in = 0, wait_out = 0, dispatch = 0, beside = 0, closed = 0;
  int still_main = 0, still_in = 0, still_out = 0, still_dispatch = 0;  // while a block sleeps
  int fields = 0;

  Table<int, kMostPaths> to_slot = {};      // of the neighbour; kNone: to the core
  Table<int, kMostClasses> ramp_slot = {};  // kNone: no core sends words of the class
  Table<bool, kMostClasses> to_core = {};   // words of the class come down the ramp
  Table<int, kMostSlots> paths_of = {};     // how many
  Table<int, kRampPort + 1> rivals = {};    // paths to a port

  constexpr explicit Layout(const Shape& shape) {
    int f = 0;
    for (int s = 0; s < shape.slots; ++s) {
      count[s] = f++, seen[s] = f++, flight[s] = f++, color[s] = f++;
      counts[s] = f, f += sizeof(BufferCounts<std::int8_t>);
      if (shape.slot[s].switched) tags[s] = f++, tail[s] = f++, looked[s] = f++;
      if (shape.slot[s].switched || shape.slot[s].several) many[s] = f++;
    }
    for (int c = 0; c < kMostClasses; ++c) ramp_slot[c] = slot_at(shape, kRampPort, c);
    for (int p = 0; p < shape.paths; ++p) {
      const Slot& from = shape.slot[shape.path[p].slot];
      const int port = shape.path[p].port;
      mask[p] = f++, made[p] = f++, gone[p] = f++;
      to_slot[p] = port == kRampPort ? kNone : slot_at(shape, (port + 2) % 4, from.cls);
      if (port == kRampPort) to_core[from.cls] = true;
      ++paths_of[shape.path[p].slot];
      ++rivals[port];
    }
    for (int& port : next) port = f++;
    for (int port = 0; port < kRampPort; ++port) passed[port] = f++, shut[port] = f++;
    for (int c = 0; c < shape.classes; ++c) {
      if (to_core[c]) in_count[c] = f++, in_seen[c] = f++, in_flight[c] = f++, in_room[c] = f++;
      if (is_trigger(shape, c)) told[c] = f++, until[c] = f++;
      if (ramp_slot[c] != kNone)
        words[c] = f++, out_tags[c] = f++, number[c] = f++, out_room[c] = f++;
    }
    for (int k = 0; k < shape.contexts; ++k) left[k] = f++;
    for (int u = 0; u < shape.uses; ++u) need[u] = f++;
    next_queue = f++, next_context = f++, extra = f++, kept = f++;
    ask = f++, full = f++, delay = f++, no_task = f++, picks = f++, begun = f++;
    wait_in = f++, wait_out = f++, dispatch = f++, beside = f++, closed = f++;
    still_main = f++, still_in = f++, still_out = f++, still_dispatch = f++;
    fields = f;
  }
};

/// What happens in few lanes at a time, and is left to the owner of a machine.
enum class Event : std::uint8_t {
  control,  // the main thread takes its next step
  begins,   // the first beat of a core is issued
  over,     // the beats that a context's lane knows of have been issued
  goes_up,  // a word that carries commands or is one goes up the ramp,
  passes,   // on along a path,
  leaves,   // and out of its slot;
  reads,    // a beat has taken it, of a class that starts tasks: `until` words were before it
};

/// A block in which only beats of main threads happen sleeps until one of them is the last, or a
/// word comes.
struct Sleep {
  std::uint64_t since = 0;
  std::uint64_t until = 0;  // 0: it is awake
};
inline constexpr std::uint64_t kForGood = ~std::uint64_t{0};

/// What a step is told, and what it tells: lanes as a field of -1 and 0.
struct Machine {
  std::int8_t* fields = nullptr;  // [block][field][lane]
  std::uint32_t blocks = 0;
  std::uint32_t blocks_of_row = 0;
  std::uint8_t* awake = nullptr;  // by block: words are in it, or were in the cycle before
  std::uint8_t* comes = nullptr;  // [cycle % 2][block]: some come from another block
  Sleep* sleeps = nullptr;        // by block

  // What neighbours know: [cycle % 2][slot][row][column], with a frame of one row and `kFrame`
  // columns. A slot's room is shown by its router, what is sent to it by the router that sends.
  std::int8_t* room = nullptr;
  std::int8_t* sent = nullptr;
  std::int8_t* sent_tags = nullptr;
  std::uint64_t plane = 0;   // bytes of one
  std::uint64_t stride = 0;  // of a row

  std::int8_t link_room = 1, ramp_room = 1;              // words of a slot behind a link, or a ramp
  std::int8_t link_words = 1, link_shut = 0;             // see LinkRule; 0: links do not pause
  std::int8_t link_bit = 1, ramp_bit = 1, core_bit = 1;  // see LaneQueue: latencies
  bool turns = true;       // ports go round, else the lowest color goes first
  std::uint8_t first = 1;  // context that is asked first
  bool context_turns = false;
  bool two = false;  // slots: one is the main thread's

  void* owner = nullptr;
  void (*tell)(void* owner, std::uint32_t block, Event what, int of,
               const std::int8_t* lanes) = nullptr;
  void (*wake)(void* owner, std::uint32_t block) = nullptr;  // it has slept
};
inline constexpr std::uint64_t kFrame = 64;

/// Performs a cycle; returns what happened in it.
struct Happened {
  bool moved = false;    // a word, a beat, or a thread's task
  bool stepped = false;  // a block was awake; else nothing happens before `next`
  std::uint64_t next = kForGood;
};
using StepFunction = Happened (*)(const Machine& machine, std::uint64_t now);

/// By shape, each file compiled for what its width needs.
StepFunction step_of_16(unsigned shape);
StepFunction step_of_32(unsigned shape);
StepFunction step_of_64(unsigned shape);

}  // namespace lacuna::wse::lanes
