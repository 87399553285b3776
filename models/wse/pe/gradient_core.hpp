// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/params.hpp"
#include "models/wse/pe/gradient_control.hpp"
#include "models/wse/pe/lane_cores.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"
#include "sim/base/event_log.hpp"

namespace lacuna::wse {

class GradientCores;

/// A core that runs a GradientKernel.
struct GradientUnit : CoreUnit {
  const GradientControl<std::int64_t, GradientCores>* control = nullptr;
  GradientState<std::int64_t> state;
  LinkId from_ring = kNoLink;
  LinkId from_north = kNoLink;
  const CorePort* to_ring = nullptr;
  const CorePort* to_south = nullptr;
  std::uint32_t next_column = 0;  // on the ring
  GradientTurns turns;
  std::uint64_t chained = 0;  // dot products

  bool lends_router() const { return weights == kNoLink; }
};

/// Cores that run a GradientKernel, one by one, with their words and numbers. In each cycle a core
/// puts a word of an output queue on the ramp, the queues in turn; the rest is GradientControl's,
/// of one lane. Rows of dY are counted from the first.
class GradientCores final : public ControlledCores<GradientCores, GradientUnit> {
 public:
  GradientCores(const HardwareParams& params, const StreamingKernel& stream,
                const GradientKernel& kernel, LinkArray& links, EventLog& log);

  void add(const CorePorts& ports) override;
  std::string blocked(std::size_t index) const override;

 private:
  using State = GradientState<Number>;
  using Control = GradientControl<Number, GradientCores>;
  friend Control;
  friend ControlledCores;
  using Core = GradientUnit;

  Cycle control(Core& core, std::size_t index, const LaneIssue<Number>& slot);

  /// What a core remembers of numbers.
  struct Values {
    std::vector<float> x;
    std::vector<float> own;       // dY of the rows of its column
    std::vector<float> received;  // dY vectors of other columns' rows
    std::vector<float> results;   // dot products not yet in the chain, oldest first
    std::vector<std::uint32_t> place_of_step;
  };

  // What GradientControl asks for; a place is a core.
  Lane take_word(std::size_t place, const Lane& lanes) { return take_task(cores_[place], lanes); }
  void start(std::size_t place, const Lane& lanes);
  void advance(State& state, std::size_t place, const Lane& take, const Lane& sent,
               const Lane& close);
  Lane has_ring(std::size_t place, const Lane& need) const;
  Lane ring_room(std::size_t place, const Lane& need) const;
  Lane has_chain(std::size_t place) const;
  Lane chain_room(std::size_t place) const {
    return flag(links_.can_push(cores_[place].to_south->queue, now_));
  }
  Lane ring_left(std::size_t place) const;
  void streamed(std::size_t /*place*/, const Lane& /*lanes*/) {}
  void move(std::size_t place, const Lane& take, const Lane& words_in, const Lane& send,
            const Lane& words_out, const Lane& chain);
  void progress(std::size_t place, const Lane& lanes);
  void ended(std::size_t /*place*/, const Lane& /*lanes*/) { ++finished_; }

  bool owns(const Core& core, std::uint32_t step) const {
    return stream_.keeper(step, core.ports.column) == core.ports.column;
  }
  void take_words(Core& core, std::size_t index, Number words);
  void send_words(Core& core, std::size_t index, Number words);
  void chain_word(Core& core, std::size_t index);
  float dot(const Core& core, const Values& values, std::uint32_t feature) const;
  std::uint32_t tokens(const Core& core) const { return stream_.tokens[core.ports.row]; }

  const StreamingKernel& stream_;
  const GradientKernel& kernel_;
  std::deque<std::pair<std::uint32_t, Control>> controls_;  // by tokens of a core
  std::vector<Values> values_;                              // only if values are carried
};

}  // namespace lacuna::wse
