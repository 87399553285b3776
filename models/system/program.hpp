// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lacuna::system {

/// What a chip spends its time on: the parts of the time stack.
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
};
inline constexpr std::size_t kUses = 12;

/// "forward", "recompute", ...
const char* use_name(Use use);

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
};

/// The lanes of a chip: its tiles, and those set apart for transfers in the background.
inline constexpr std::size_t kLanes = 2;
inline constexpr std::size_t kMain = 0;
inline constexpr std::size_t kBackground = 1;

struct ChipSteps {
  std::array<std::vector<Step>, kLanes> lanes;

  bool empty() const { return lanes[kMain].empty() && lanes[kBackground].empty(); }
};

/// A barrier of some chips within a segment, which each of them comes to once.
struct Barrier {
  std::uint32_t chips = 0;
  std::uint64_t ns = 2;  // from the last arrival to the release, at least 2
};

/// What the chips do between two barriers of all of them. Nothing is under way at either, so a
/// segment takes the same time whenever it is run.
struct Segment {
  std::string name;
  std::vector<ChipSteps> chips;
  std::uint32_t synced = 0;  // chips whose barrier ends it, the others being idle; 0: all
  std::vector<Transfer> transfers;
  std::vector<Barrier> barriers;

  void work(std::uint32_t chip, Use use, std::uint64_t ns, std::size_t lane = kMain) {
    if (ns != 0) chips[chip].lanes[lane].push_back({Step::Kind::work, use, 0, ns});
  }

  /// Starts a transfer from its chip, or to it if it comes from elsewhere; gives its number.
  std::uint32_t send(const Transfer& transfer, std::size_t lane = kMain);

  void receive(std::uint32_t chip, std::uint32_t transfer, Use use, std::size_t lane = kMain) {
    chips[chip].lanes[lane].push_back({Step::Kind::receive, use, transfer, 0});
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
};

/// A program of a system: segments, and the order in which they are run.
struct Program {
  std::vector<Segment> segments;
  std::vector<Repeat> order;

  /// Appends `segment`, run `times` times; one that is equal to an earlier one is kept once.
  void add(Segment segment, std::uint64_t times = 1);
};

bool operator==(const Step& a, const Step& b);
bool operator==(const Transfer& a, const Transfer& b);
bool operator==(const Barrier& a, const Barrier& b);
bool operator==(const Segment& a, const Segment& b);

}  // namespace lacuna::system
