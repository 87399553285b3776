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
#include "models/wse/pe/core_values.hpp"
#include "models/wse/pe/lane_cores.hpp"
#include "models/wse/pe/stream_control.hpp"
#include "models/wse/pe/stream_turns.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

class StreamingCores;

/// A core that runs a StreamingKernel.
struct StreamingUnit : CoreUnit {
  const StreamControl<std::int64_t, StreamingCores, true>* control = nullptr;
  StreamState<std::int64_t> state;
  std::uint32_t position = 0;  // weights of this row so far
  std::uint32_t closed = 0;    // steps: rows of sums completed by the main thread
  std::uint32_t loaded = 0;    // reductions begun by the microthread
  std::uint32_t reduced = 0;   // and completed
  std::uint32_t words_left = 0;
  // The instruction of the reduction that is loaded.
  LinkId source = kNoLink;  // what it takes in, if anything
  LinkId target = kNoLink;  // where its total goes, unless it is written
  SumTurns sums;
  // The exchange among groups, and its instructions under way.
  PacketTurns packets;
  LinkId packet_to = kNoLink;
  LinkId packet_from = kNoLink;
  std::uint32_t packet_row = 0;
  SwitchCommands packet_end = 0;
  Color packet_color{};
};

/// Cores that run a StreamingKernel, one by one, with their words and numbers. In each cycle a
/// core puts a word of its output queue on the ramp; the rest is StreamControl's, of one lane.
class StreamingCores final : public ControlledCores<StreamingCores, StreamingUnit> {
 public:
  StreamingCores(const HardwareParams& params, const StreamingKernel& kernel, LinkArray& links,
                 EventLog& log);

  void add(const CorePorts& ports) override;
  std::string blocked(std::size_t index) const override;

  /// Y of a core: by the rows of weights it keeps, in their order, its tokens.
  std::vector<float> result(std::size_t core) const override { return values_[core].result(); }
  /// The words that it took from other groups.
  std::vector<std::uint32_t> taken(std::size_t core) const override {
    return taken_words_.empty() ? std::vector<std::uint32_t>{} : taken_words_[core];
  }

 private:
  using Control = StreamControl<Number, StreamingCores, true>;
  friend Control;
  friend ControlledCores;
  using Core = StreamingUnit;

  Cycle control(Core& core, std::size_t index, const LaneIssue<Number>& slot);
  static void slept(Core& core, Cycle cycles);

  // What StreamControl asks for; a place is a core.
  Lane take_word(std::size_t place, const Lane& lanes) {
    if (lanes[0] != 0) ++cores_[place].counters.stream_words;
    return take_task(cores_[place], lanes);
  }
  void take_value(std::size_t place, const Lane& lanes);
  Lane start(std::size_t place, const Lane& lanes);
  void look_up(StreamState<Number>& state, std::size_t place, const Lane& load, const Lane& close);
  Lane fed(std::size_t place, const Lane& need) const;
  Lane room(std::size_t place, const Lane& need) const;
  Lane gathers(std::size_t place) const { return flag(cores_[place].sums.gathers()); }
  void take_sums(std::size_t place, const Lane& words, const Lane& lanes);
  Lane finish(std::size_t place, const Lane& lanes);
  void begin_packets(StreamState<Number>& state, std::size_t place, const Lane& send,
                     const Lane& take);
  Lane packet_room(std::size_t place, const Lane& need) const {
    return flag(links_.can_push(cores_[place].packet_to, now_, static_cast<unsigned>(need[0])));
  }
  Lane packet_fed(std::size_t place, const Lane& need) const {
    return flag(links_.has(cores_[place].packet_from, now_, static_cast<unsigned>(need[0])));
  }
  void send_packet(std::size_t place, const Lane& words, const Lane& lanes);
  void take_packet(std::size_t place, const Lane& words, const Lane& lanes);
  void kept(StreamState<Number>& state, std::size_t place, const Lane& lanes);

  void load_sums(Core& core, std::uint32_t keeper) const;
  void next_instruction(Core& core) const;
  std::uint32_t begin_vectors(Core& core, std::size_t index, std::uint32_t payload);
  std::uint32_t begin_vector(Core& core, std::size_t index, std::uint32_t feature, float value);
  Wavelet reduce_word(Core& core, std::size_t index);
  std::uint8_t& filled(const Core& core, std::size_t index) {
    return filled_[index * kernel_.lookahead + core.reduced % kernel_.lookahead];
  }
  /// The words of a row of sums.
  std::uint32_t words_of(const Core& core) const {
    return kernel_.packed_words(kernel_.tokens[core.ports.row]);
  }
  bool idle(const Core& core) const {
    return core.reduced == kernel_.steps && (!kernel_.exchange.on() || exchanged(core));
  }
  const ExchangePlan::Column& exchange_of(const Core& core) const {
    return kernel_.exchange.columns[core.ports.column];
  }
  /// All its packets are sent and taken.
  static bool exchanged(const Core& core);
  void set_exchange(Core& core) const {
    core.packets.look_up(core.state, 0, kernel_.exchange, core.ports.column);
  }
  void finish_exchange(Core& core);
  unsigned stream_color(const Core& core) const {
    return static_cast<unsigned>(kernel_.stream_color(core.ports.column));
  }

  const StreamingKernel& kernel_;
  std::deque<std::pair<std::uint32_t, Control>> controls_;  // by tokens of a core
  std::vector<std::uint8_t> filled_;  // per core and buffer: whether a weight was added
  std::vector<CoreValues> values_;    // only if values are carried
  std::vector<std::vector<std::uint32_t>> kept_words_, taken_words_;  // then, of an exchange
};

}  // namespace lacuna::wse
