// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/energy_range.hpp"
#include "sim/base/enum_array.hpp"
#include "sim/base/statistics.hpp"

namespace lacuna::system {

/// What a chip spends its time on: the parts of the time stack. Chips joined by links have the
/// first ones, wafers that share a store those from `work` on.
enum class Use : std::uint8_t {
  forward,
  recompute,
  backward,
  optimizer,
  exchange,    // between the tiles of a chip, during any of these
  links,       // waits for words of other chips
  streaming,   // waits for streaming memory
  all_reduce,  // waits in a collective over replicas
  host,        // waits for the host
  sync,        // waits for the barrier after the last chip has come to it
  imbalance,   // waits for chips that have more to do
  bubble,      // waits in a step of a pipeline in which it has nothing to do
  unused,      // takes part in nothing
  work,        // passes, as the model of the wafer times them
  weights,     // waits for weights of the store
  gradients,   // waits for room for gradients
  sums,        // waits for sums over all wafers
  idle,        // has nothing left to do
};
inline constexpr std::size_t kUses = 18;

/// The uses of one kind of systems.
struct Uses {
  std::size_t first = 0;
  std::size_t end = 0;
};
inline constexpr Uses kUsesOfLinks{0, 13};
inline constexpr Uses kUsesOfStores{13, kUses};

/// What results say of a use.
struct UseText {
  const char* name;
  Layer layer;
  const char* doc;
};
const UseText& text_of(Use use);
inline const char* use_name(Use use) { return text_of(use).name; }

/// Nanoseconds of a chip in each Use.
using TimeStack = EnumArray<Use, std::uint64_t, kUses>;

/// The way of a transfer.
enum class Way : std::uint8_t {
  links,      // from chip to chip
  load,       // from the streaming memory of a machine to a chip
  store,      // the other way
  from_host,  // from the host to a chip
  to_host,
};

/// Bytes on their way from one chip to another. Loads, stores and the host's have one chip.
struct Transfer {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
  Way way = Way::links;

  auto all() const { return std::tie(from, to, bytes, way); }
};

/// One thing a lane of a chip does. A lane does them one after the other.
struct Step {
  enum class Kind : std::uint8_t {
    work,     // for `ns`
    send,     // starts `transfer`, and goes on at once
    receive,  // waits until all of `transfer` is there
    await,    // waits until the other lane has done `transfer` of its steps
    barrier,  // waits until all chips of barrier `transfer` have come to it, and its latency
  };
  Kind kind = Kind::work;
  Use use = Use::forward;      // of the time it takes, or waits
  std::uint32_t transfer = 0;  // the number of a Transfer, of a Barrier, or of steps
  std::uint64_t ns = 0;

  auto all() const { return std::tie(kind, use, transfer, ns); }
};

/// The lanes of a chip: its tiles, and those set apart for transfers in the background.
inline constexpr std::size_t kLanes = 2;
inline constexpr std::size_t kMain = 0;
inline constexpr std::size_t kBackground = 1;

/// What a chip does in a segment, lane by lane, in order.
struct ChipSteps {
  std::array<std::vector<Step>, kLanes> lanes;

  /// Of its waits for other chips (Use::bubble and the barrier at the end) so many ns are bubble:
  /// what it lacks of the turns that fill a step of the pipeline. The rest is imbalance. A chip
  /// without work waits in the bubble.
  std::uint64_t bubble_ns = 0;

  bool empty() const { return lanes[kMain].empty() && lanes[kBackground].empty(); }
  auto all() const { return std::tie(bubble_ns, lanes); }
};

/// A barrier of some chips within a segment, which each of them comes to once.
struct Barrier {
  std::uint32_t chips = 0;
  std::uint64_t ns = 2;  // from the last arrival to the release, at least 2

  auto all() const { return std::tie(chips, ns); }
};

/// What lies in a memory.
enum class Held : std::uint8_t {
  weights,
  gradients,
  state,        // of the optimizer
  activations,  // kept for the backward pass of micro-batches under way
  working,      // of the blocks at work
  code,
  buffers,
  cache,  // keys and values
};
inline constexpr std::size_t kHeld = 8;

inline constexpr EnumArray<Held, const char*, kHeld> kHeldNames = {
    {"weights", "gradients", "state", "activations", "working", "code", "buffers", "cache"}};

/// Bytes of memory that an entry of the ledger takes; negative ones are given back. They are of
/// each chip at one place of a replica, or what that chip has in streaming memory.
struct Holding {
  enum class Space : std::uint8_t { chip, streaming };
  std::uint32_t place = 0;
  Held what = Held::weights;
  std::int64_t bytes = 0;
  Space space = Space::chip;

  auto all() const { return std::tie(place, what, bytes, space); }
};

/// Appends an entry that takes or gives back so many bytes, if they are any.
void take(std::vector<Holding>& to, std::uint32_t place, Held what, std::uint64_t bytes,
          Holding::Space space = Holding::Space::chip);
void give(std::vector<Holding>& to, std::uint32_t place, Held what, std::uint64_t bytes,
          Holding::Space space = Holding::Space::chip);

/// Chips, and the transfers that they are to wait for.
using Receives = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// What the chips do between two barriers of all of them. Nothing is under way at either, so a
/// segment takes the same time whenever it is run.
struct Segment {
  std::string name;
  std::vector<ChipSteps> chips;
  std::uint32_t synced = 0;  // chips whose barrier ends it, the others being idle; 0: all
  std::vector<Transfer> transfers;
  std::vector<Barrier> barriers;

  std::vector<Holding> memory;  // in the order of the work
  EnergyRange joules;           // of the operations of all chips
  std::uint64_t flop = 0;       // useful ones

  auto all() const {
    return std::tie(name, synced, transfers, barriers, memory, flop, joules.nominal, chips);
  }

  void work(std::uint32_t chip, Use use, std::uint64_t ns, std::size_t lane = kMain) {
    if (ns != 0) chips[chip].lanes[lane].push_back({Step::Kind::work, use, 0, ns});
  }

  /// Starts a transfer from its chip, or to it if it comes from elsewhere; gives its number.
  std::uint32_t send(const Transfer& transfer, std::size_t lane = kMain);

  void receive(std::uint32_t chip, std::uint32_t transfer, Use use, std::size_t lane = kMain) {
    chips[chip].lanes[lane].push_back({Step::Kind::receive, use, transfer, 0});
  }

  void receive(const Receives& all, Use use) {
    for (const auto& [chip, transfer] : all) receive(chip, transfer, use);
  }

  /// Sends and receives where that is one chip: a load or store, waited for.
  void transfer_and_wait(const Transfer& transfer, Use use, std::size_t lane = kMain);

  /// All of `members` wait for each other, and `ns` longer.
  void barrier(const std::vector<std::uint32_t>& members, std::uint64_t ns, Use use);

  /// The main lane waits until the background lane has come as far as it is now.
  void await_background(std::uint32_t chip, Use use) {
    const auto done = static_cast<std::uint32_t>(chips[chip].lanes[kBackground].size());
    chips[chip].lanes[kMain].push_back({Step::Kind::await, use, done, 0});
  }
};

/// A segment that is run so many times in a row.
struct Repeat {
  std::size_t segment = 0;
  std::uint64_t times = 1;
  std::uint64_t every = 1;           // programs of which one has it
  std::size_t phase = 0;             // of execution
  std::vector<Holding> before = {};  // taken and given back once, before the first of these runs
};

/// A program of a system: segments, and the order in which they are run. It is the ledger of a
/// step: time, memory, traffic and energy are all read off it (ledger.hpp, simulation.hpp).
struct Program {
  std::vector<Segment> segments;
  std::vector<Repeat> order;
  std::uint32_t used = 0;  // chips that take part, the first ones; 0: all

  /// Appends `segment`, run `times` times; one that is equal to an earlier one is kept once.
  void add(Segment segment, std::uint64_t times = 1);
};

/// Bytes that are priced by the bit.
struct Carried {
  double links = 0;  // and gateways
  double memory = 0;
};

/// What a run came to, whatever joins the chips.
struct RunResult {
  Cycle ns = 0;
  std::vector<TimeStack> chips;  // each sums to ns
  Carried carried;

  /// The sum over the first `count` chips, or all; it is chips x ns.
  TimeStack stack(std::size_t count = ~std::size_t{0}) const;
};

/// The uses that have a part of the time of a stack, and how much, in per cent.
std::vector<std::pair<Use, double>> shares_of(const TimeStack& stack);

/// Parts of a program are equal if all that they say is.
template <typename Piece>
auto operator==(const Piece& a, const Piece& b) -> decltype(a.all() == b.all()) {
  return a.all() == b.all();
}

}  // namespace lacuna::system
