// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/pe/core_values.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "models/wse/pe/issue.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// Cores that run a StreamingKernel. In each cycle a core, in this order: puts a word of its
/// output queue on the ramp; frees the buffer of a reduction that ended in the cycle before;
/// loads the next reduction into the microthread; lets the handler in the task register come
/// into effect and takes the next wavelet; issues one beat of main thread or microthread.
class StreamingCores final : public CoreArray {
 public:
  StreamingCores(const HardwareParams& params, const StreamingKernel& kernel, LinkArray& links,
                 EventLog& log);

  void add(const CorePorts& ports) override;

  Cycle step(std::size_t index, Cycle now) override;
  void account(std::size_t index, Cycle now) override;
  void settle(std::size_t index, Cycle now) override;
  std::size_t size() const override { return cores_.size(); }
  std::size_t finished() const override { return finished_; }
  const CoreCounters& counters(std::size_t core) const override { return cores_[core].counters; }
  std::string blocked(std::size_t index) const override;

  /// Y of a core: by the rows of weights it keeps, in their order, its tokens.
  std::vector<float> result(std::size_t core) const override { return values_[core].result(); }

 private:
  using Context = unsigned;
  static constexpr Context kMain = 0;
  static constexpr Context kMicrothread = 1;

  struct Core {
    CorePorts ports;
    Cycle accounted = 0;
    Cycle task_ready = 0;
    Cycle slot_free = 0;              // the issue slot is taken until then
    CoreCycle slot_kind = kConflict;  // after the first cycle of a beat
    Cycle stalled_from = 0;           // from then on by a residual stall
    Cycle vector_end = 0;             // and by the vector instruction until then
    std::uint32_t beat_cycles = 1;    // of a beat of it
    Wavelet task;
    std::uint32_t position = 0;  // weights of this row so far
    std::uint32_t follows = 0;   // instructions of the same handler after this one
    std::uint32_t element = 0;   // the next one of this instruction, if that matters
    bool adds = false;           // this instruction reads sums
    bool task_full = false;
    bool holding = false;  // the main thread has a buffer
    bool fresh = true;     // and nothing is in it yet
    bool releasing = false;
    bool blocked = false;   // a handler waits for a buffer
    std::uint8_t turn = 0;  // of the issue slot
    CoreCycle waiting_for = kWaitWeights;
    std::uint32_t vector_left = 0;  // beats
    std::uint32_t free_buffers = 0;
    std::uint32_t opened = 0;   // steps: rows of sums begun by the main thread
    std::uint32_t closed = 0;   // and completed
    std::uint32_t loaded = 0;   // reductions begun by the microthread
    std::uint32_t reduced = 0;  // and completed
    std::uint32_t words_left = 0;
    // The instruction of the reduction that is loaded: after it `inputs_left` others follow.
    LinkId source = kNoLink;  // what it takes in, if anything
    LinkId target = kNoLink;  // where its total goes, unless it is written
    std::uint32_t next_input = 0;
    std::uint32_t inputs_left = 0;
    bool keeps = false;
    std::size_t next_out = 0;  // output queue that comes first
    LinkMeter ramp;
    Cycle run_begin = 0;
    std::uint32_t run_length = 0;
    Context run_of = kNobody;
    CoreCounters counters;
  };

  bool send_output(Core& core, Cycle now);
  static void take_buffer(Core& core);
  bool load_reduction(Core& core, Cycle now);
  void load_ring(Core& core, std::uint32_t keeper) const;
  void load_part(Core& core, std::uint32_t keeper) const;
  void next_instruction(Core& core) const;
  bool main_thread(Core& core, std::size_t index, Cycle now);
  bool can_start(const Core& core, Cycle now) const;
  void weight(Core& core, std::size_t index, Cycle now);
  void begin_vectors(Core& core, std::size_t index, std::uint32_t payload);
  void begin_vector(Core& core, std::size_t index, std::uint32_t feature, float value);
  void main_beat(Core& core, Cycle now);
  std::uint32_t residual_stalls(Core& core) const;
  void command(Core& core, Cycle now);
  unsigned words_of_beat(const Core& core) const;
  bool reduction_can_issue(const Core& core, Cycle now) const;
  Context choose(Core& core, Cycle now) const;
  bool issue(Core& core, std::size_t index, Cycle now);
  void reduction_beat(Core& core, std::size_t index, Cycle now);
  Wavelet reduce_word(Core& core, std::size_t index, std::uint32_t buffer, Cycle now);
  Color out_color(const Core& core) const;
  bool starved(const Core& core, Cycle now) const;
  void end_reduction(Core& core, Cycle now);
  void extend_run(Core& core, Context context, Cycle now);
  CoreCycle cause(const Core& core, Cycle now) const;
  static bool vector_active(const Core& core, Cycle now) {
    return core.vector_left != 0 || core.vector_end > now;
  }
  bool idle(const Core& core) const { return core.reduced == kernel_.steps; }
  unsigned stream_color(const Core& core) const {
    return static_cast<unsigned>(kernel_.stream_color(core.ports.column));
  }

  const CoreParams params_;
  const LinkRule link_rule_;
  const Dispatch dispatch_;
  const IssueRule issue_;
  const StreamingKernel& kernel_;
  LinkArray& links_;
  EventLog& log_;
  std::vector<std::uint32_t> successor_;  // of each column on the ring
  std::vector<Core> cores_;
  std::vector<std::uint8_t> filled_;  // per core and buffer: whether a weight was added
  std::vector<CoreValues> values_;    // only if values are carried
  std::size_t finished_ = 0;
};

}  // namespace lacuna::wse
