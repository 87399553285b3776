// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

/// Cores that run a GradientKernel: the main thread forms a dot product for each index that
/// arrives; of the microthreads one adds the dot products to the chain down the column, one takes
/// dY from the ring and one sends it on. If dot products are kept, the chain waits until the core
/// is done with its stream and its ring, and the ring's output queue is empty. In each cycle a
/// core, in this order: puts a word of an output queue on the ramp, the queues in turn; frees
/// vectors that were done with in the cycle before; begins to take dY of the next row; lets the
/// handler in the task register come into effect and takes the next word; issues one beat.
class GradientCores final : public CoreArray {
 public:
  GradientCores(const HardwareParams& params, const StreamingKernel& stream,
                const GradientKernel& kernel, LinkArray& links, EventLog& log);

  void add(const CorePorts& ports) override;
  Cycle step(std::size_t index, Cycle now) override;
  void account(std::size_t index, Cycle now) override;
  void settle(std::size_t index, Cycle now) override;
  std::size_t size() const override { return cores_.size(); }
  std::size_t finished() const override { return finished_; }
  const CoreCounters& counters(std::size_t core) const override { return cores_[core].counters; }
  std::string blocked(std::size_t index) const override;
  std::vector<float> result(std::size_t /*core*/) const override { return {}; }

 private:
  using Context = unsigned;
  static constexpr Context kMain = 0;
  static constexpr Context kChain = 1;
  static constexpr Context kTake = 2;
  static constexpr Context kSend = 3;

  struct Core {
    CorePorts ports;
    LinkId from_ring = kNoLink;
    LinkId from_north = kNoLink;
    const CorePort* to_ring = nullptr;
    const CorePort* to_south = nullptr;
    std::uint32_t next_column = 0;  // on the ring
    std::size_t next_queue = 0;     // of the output queues, the first to be looked at
    LinkMeter ramp;
    Cycle accounted = 0;
    Cycle task_ready = 0;
    Cycle slot_free = 0;
    Cycle vector_end = 0;
    Wavelet task;
    bool task_full = false;
    bool started = false;            // sends and takes dY
    std::uint32_t vector_left = 0;   // beats
    std::uint32_t free_vectors = 0;  // of dY, for rows of other columns
    std::uint32_t releasing = 0;
    std::uint32_t closed = 0;    // rows whose positions are done
    std::uint32_t taken = 0;     // rows whose dY is here
    std::uint32_t sent = 0;      // rows whose dY has been sent on, or needs not be
    std::uint32_t released = 0;  // rows closed and sent on
    bool taking = false;
    std::uint32_t words_taken = 0;  // of the row being taken
    std::uint32_t words_sent = 0;   // of the row being sent
    std::uint32_t results = 0;      // dot products that wait for the chain
    std::uint64_t expected = 0;     // of all rows
    std::uint64_t chained = 0;
    std::uint8_t turn = 0;  // of the contexts
    bool done = false;
    CoreCycle waiting_for = kWaitWeights;
    Cycle run_begin = 0;
    std::uint32_t run_length = 0;
    Context run_of = kNobody;
    CoreCounters counters;
  };

  /// What a core remembers of numbers.
  struct Values {
    std::vector<float> x;
    std::vector<float> own;       // dY of the rows of its column
    std::vector<float> received;  // dY vectors of other columns' rows
    std::vector<float> results;   // dot products not yet in the chain, oldest first
    std::vector<std::uint32_t> place_of_step;
  };

  bool owns(const Core& core, std::uint32_t step) const {
    return stream_.final_column[step] == core.ports.column;
  }
  bool send_output(Core& core, Cycle now);
  bool load(Core& core, Cycle now);
  bool main_thread(Core& core, std::size_t index, Cycle now);
  bool can_take_effect(const Core& core) const;
  std::uint32_t words(const Core& core) const;
  unsigned words_of_beat(const Core& core, std::uint32_t done) const;
  bool sends(const Core& core, std::uint32_t step) const;
  bool can_take(const Core& core, Cycle now) const;
  bool can_send(const Core& core, Cycle now) const;
  bool can_chain(const Core& core, Cycle now) const;
  bool may_chain(const Core& core) const;
  Context choose(Core& core, Cycle now) const;
  bool issue(Core& core, std::size_t index, Cycle now);
  void main_beat(Core& core, Cycle now) const;
  void take_beat(Core& core, std::size_t index, Cycle now);
  void send_beat(Core& core, std::size_t index, Cycle now);
  void chain_beat(Core& core, std::size_t index, Cycle now);
  void release(Core& core) const;
  void note_progress(Core& core, Cycle now);
  CoreCycle cause(const Core& core, Cycle now) const;
  void extend_run(Core& core, Context context, Cycle now);
  float dot(const Core& core, const Values& values, std::uint32_t feature) const;
  std::uint32_t tokens(const Core& core) const { return stream_.tokens[core.ports.row]; }

  const CoreParams params_;
  const LinkRule link_rule_;
  const Dispatch dispatch_;
  const IssueRule issue_;
  const StreamingKernel& stream_;
  const GradientKernel& kernel_;
  LinkArray& links_;
  EventLog& log_;
  std::vector<Core> cores_;
  std::vector<Values> values_;  // only if values are carried
  std::size_t finished_ = 0;
};

}  // namespace lacuna::wse
