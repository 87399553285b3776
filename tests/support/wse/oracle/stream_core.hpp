// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/wse/oracle/kernel_core.hpp"

namespace lacuna::wse::oracle {

/// A core of a streamed product (doc/model/wafer_core.md, wafer_streams.md, wafer_streams.md,
/// wafer_groups.md).
class StreamCore final : public KernelCore {
 public:
  StreamCore(const CoreParams& params, const StreamingKernel& kernel, std::uint32_t unit,
             std::uint32_t row, std::uint32_t column);

  void cycle(Cycle now, std::vector<Event>& log) override;
  bool is_finished() const override { return reduced_ == kernel_.steps && has_exchanged(); }
  std::vector<float> result() const override { return result_; }
  std::vector<std::uint32_t> taken() const override { return taken_words_; }

 private:
  /// An issue slot, which a beat keeps until it is free.
  struct Slot {
    Cycle free = 0;
    Cycle stalled_from = 0;  // the rest of the beat is a residual stall
    CoreCycle kind = kConflict;
  };

  /// A vector of partial sums.
  struct Sums {
    std::vector<float> values;
    bool touched = false;  // something was added since the reduction before
  };
  /// An instruction of the main thread: over the tokens of one feature, or over what a core holds.
  struct Vector {
    std::uint32_t beats = 0;  // left
    bool adds = false;        // reads sums
    std::uint32_t begun = 0;  // elements
    std::uint32_t done = 0;   // the same, with those that the last beat leaves out
  };
  /// An instruction of the microthread.
  struct Reduction {
    std::uint32_t words = 0;  // left
    Queue* from = nullptr;
    Queue* to = nullptr;  // null: the sums are kept
    Color out{};
    bool keeps = false;
    std::uint32_t next = 0;    // the input after this one,
    std::uint32_t others = 0;  // and how many
  };

  /// An instruction that sends a packet to other groups, or takes one.
  struct Packet {
    std::uint32_t words = 0;  // left
    Queue* queue = nullptr;
    Color color{};
    SwitchCommands control = 0;
    std::uint32_t row = 0;  // of those that are kept
  };

  std::uint32_t group_of(std::uint32_t column) const;
  std::uint32_t place_of(std::uint32_t column) const;
  Color shifted(Color color) const;
  bool must_send() const;
  bool must_take() const;
  bool has_exchanged() const;
  void load_packets();
  void send_beat(Cycle now);
  void take_beat(Cycle now, std::vector<Event>& log);
  std::uint32_t words_of(const Packet& packet) const;
  void load_reduction(Cycle now, std::vector<Event>& log);
  void load_input();
  void run_main_thread(Cycle now, std::vector<Event>& log);
  void open();
  bool is_complete(Cycle now) const;
  void begin_weight(Cycle now, std::vector<Event>& log);
  void begin_vector(std::uint32_t feature, float value);
  void issue(Cycle now, std::vector<Event>& log);
  void keep_slot(Cycle now, Cycle cycles);
  void main_beat(Cycle now);
  std::uint32_t cycles_of_beat();
  std::uint32_t stalls_of_beat();
  std::uint32_t words_of_beat() const;
  bool is_starved(Cycle now) const;
  bool can_reduce(Cycle now) const;
  void reduction_beat(Cycle now, std::vector<Event>& log);
  std::uint32_t reduce_word(Cycle now, std::vector<Event>& log);
  CoreCycle why_nothing(Cycle now) const;
  std::uint32_t tokens() const { return kernel_.tokens[row_]; }
  std::uint32_t all_words() const;
  bool has_values() const { return !kernel_.activations.empty(); }

  const StreamingKernel& kernel_;
  std::vector<Sums> sums_;      // used in turn
  std::uint32_t free_ = 0;      // of them
  bool holding_ = false;        // the main thread has one,
  bool fresh_ = true;           // in which nothing is yet
  bool releasing_ = false;      // the microthread gives one back
  bool waits_ = false;          // a handler for one
  std::uint32_t closed_ = 0;    // rows of sums, by commands
  std::uint32_t loaded_ = 0;    // rows whose reduction has begun,
  std::uint32_t reduced_ = 0;   // and ended
  std::uint32_t position_ = 0;  // weights of the row so far

  Vector vector_;
  std::uint32_t follow_ = 0;  // instructions of the same wavelet
  Reduction reduction_;

  std::array<Slot, 2> slots_;  // the second of microthreads, if there are two
  Cycle vector_over_ = 0;      // the last beat of the main thread
  std::vector<float> result_;

  const ExchangePlan::Column* exchange_ = nullptr;  // null: there is none
  Packet sending_, taking_;
  std::uint32_t kept_ = 0;                              // rows
  std::uint32_t packets_sent_ = 0, packets_taken_ = 0;  // begun
  std::vector<std::uint32_t> kept_words_, taken_words_;
};

}  // namespace lacuna::wse::oracle
