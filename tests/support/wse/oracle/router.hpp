// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/wavelet.hpp"
#include "models/wse/program/wavelet_filter.hpp"
#include "sim/base/event_log.hpp"
#include "tests/support/wse/oracle/queue.hpp"
#include "tests/support/wse/oracle/traffic.hpp"

namespace lacuna::wse::oracle {

/// Where the words of a color go, by the position of its switch.
using Routes = std::array<PortSet, 4>;

/// What a router keeps for the words of a color that come in at one port.
struct Buffer {
  Color color{};
  Port from = kRamp;
  Queue* words = nullptr;
  Routes to{};
  std::array<Queue*, kPorts> out{};
  PortSet left = 0;     // copies that the head has still to make; 0: it has no way yet
  bool closed = false;  // the head's copy to the south found no room in the cycle before
};

/// What a router knows of a color.
struct ColorState {
  unsigned positions = 1;
  bool ring = false;
  bool pop = false;
  unsigned position = 0;
  Cycle opens = 0;         // a teardown is over then
  WaveletFilter settings;  // of its filter
  std::uint32_t seen = 0;  // wavelets, or groups of them, that the filter has counted
};

/// Whether a word that comes in at one port and goes on at another changes its direction.
bool turns(unsigned from, unsigned to);

/// A router (doc/model/wafer_router.md).
class Router {
 public:
  Router(const RouterParams& params, std::uint32_t unit) : params_(params), unit_(unit) {}

  /// In the order of color and port.
  std::vector<Buffer> buffers;
  std::map<Color, ColorState> colors;
  RouterCounters counters;

  /// Copies to the north are looked at as those to the south are.
  bool counts_north = false;

  void cycle(Cycle now, std::vector<Event>& log);

 private:
  struct Command {
    Color color;
    SwitchCommand what;
  };

  std::vector<Buffer*> find_heads(Cycle now, std::vector<Event>& log);
  void grant_ports(const std::vector<Buffer*>& heads, Cycle now, std::vector<Event>& log);
  void grant_heads(std::vector<Buffer*> heads, Cycle now, std::vector<Event>& log);
  std::size_t choose(const std::vector<Buffer*>& candidates, unsigned turn) const;
  bool moves_turn() const;
  void send(Buffer& head, unsigned port, Cycle now, std::vector<Event>& log);
  static bool passes(ColorState& color, const Wavelet& word);
  void obey(const Command& command, Cycle now);
  bool can_go(const Buffer& head, unsigned port, Cycle now) const;

  const RouterParams& params_;
  std::uint32_t unit_;
  std::array<unsigned, kPorts> turn_{};  // the color that goes first at a port
  unsigned turn_of_heads_ = 0;           // lockstep
  std::array<Traffic, kPorts> traffic_{};
};

}  // namespace lacuna::wse::oracle
