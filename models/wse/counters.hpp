// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/wse/fabric/buffer_counts.hpp"
#include "models/wse/program/wavelet.hpp"
#include "models/wse/unit_count.hpp"
#include "sim/base/cycle.hpp"

namespace lacuna::wse {

/// How a core spends a cycle; in the order in which causes take precedence.
enum CoreCycle : std::uint8_t {
  kFma,
  kScalar,
  kConflict,
  kResidual,
  kReduce,
  kDispatch,
  kWaitWeights,
  kWaitRingIn,
  kWaitRingOut,
  kWaitBuffer,
  kDone,
};
inline constexpr unsigned kCoreCycles = 11;

/// The statistics of stream_tallies.hpp, in the order of its rows. Only the files that count or
/// publish them know the rows, so that one more compiles few.
using StreamCounts = std::array<std::uint64_t, 8>;

/// What one core counts. Sums over cores are sums of these.
struct CoreCounters {
  std::array<std::uint64_t, kCoreCycles> cycles{};
  std::uint64_t beside = 0;         // beats of microthreads in cycles of the main thread's slot
  std::uint64_t words = 0;          // handlers of data that took effect
  std::uint64_t weights = 0;        // weights they brought
  std::uint64_t first_weights = 0;  // of them, those that overwrite the sums
  std::uint64_t products = 0;
  std::uint64_t commands = 0;
  std::uint64_t reductions = 0;
  std::uint64_t summed = 0;       // instructions of reductions that read partial sums
  std::uint64_t added = 0;        // of them, those that add them to what came in
  std::uint64_t gathered = 0;     // instructions of them that write sums back
  std::uint64_t kept = 0;         // reductions that write results
  std::uint64_t rows_sent = 0;    // packets of results to other groups of columns,
  std::uint64_t rows_copied = 0;  // times the groups that each goes to
  std::uint64_t rows_taken = 0;
  std::uint64_t sent = 0;            // words put on the ramp
  std::uint64_t received = 0;        // words taken out of queues
  std::uint64_t stream_words = 0;    // of them, of the stream of a streamed product,
  std::uint64_t sum_words = 0;       // and words that its reductions passed on or took in
  std::uint64_t buffers_in_use = 0;  // buffers times cycles
  StreamCounts tallies{};
  Cycle end = 0;  // first cycle after its last event

  CoreCounters& add(const CoreCounters& other, std::uint64_t times);
};

/// What one router counts, each in the statistic it is declared with.
template <class Field>
struct RouterCounts : Field::Home {
  using Home = typename Field::Home;
  using Home::Home;
  typename Field::Silent closures{this};  // copies to the south that found their link closed
  typename Field::Silent filtered{this};  // words dropped between the ramp and a queue
};

using ByColor = std::array<std::uint64_t, kColors>;

struct RouterCounters : RouterCounts<UnitCount>, BufferCounts<ByColor> {
  using Declared = RouterCounts<UnitCount>;
  std::array<std::uint64_t, kPorts> sent{};  // by output port
  Cycle end = 0;  // first cycle after its last word; lanes know that of a row, and only of buses

  RouterCounters& add(const RouterCounters& other, std::uint64_t times);
  /// Adds what was counted of a buffer.
  void add_buffer(Color color, const BufferCounts<std::uint64_t>& counts);
};

bool operator==(const CoreCounters& a, const CoreCounters& b);
bool operator==(const RouterCounters& a, const RouterCounters& b);

/// What an injector counts, likewise.
template <class Field>
struct InjectorCounts : Field::Home {
  using Home = typename Field::Home;
  using Home::Home;
  Field words{this, "wavelets", "wavelets", "Weights and commands sent into the wafer."};
  typename Field::Silent zeros{this};  // of them, that the receivers drop
  typename Field::OfAll collected{this, "wavelets_collected", "wavelets",
                                  "Results that left the wafer."};
  typename Field::OfAll bits{this, "io_bits", "bits", "Payload through the edge.", "io_bit"};
  Field no_token{this, "io_limited", "cycles", "Injector-cycles held back by the I/O rate."};
  Field closed{this, "back_pressure", "cycles", "Injector-cycles held back by the column."};
  Field scanning{this, "filter_limited", "cycles",
                 "Injector-cycles in which the sender's filter looked for the next word."};
  Field done{this, "stream_ended", "cycles", "Injector-cycles after the end of the stream."};
};

struct InjectorCounters : InjectorCounts<UnitCount> {
  using Declared = InjectorCounts<UnitCount>;
};

bool operator==(const InjectorCounters& a, const InjectorCounters& b);

}  // namespace lacuna::wse
