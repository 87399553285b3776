// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/counters.hpp"
#include "models/wse/fabric/link.hpp"
#include "models/wse/fabric/link_rule.hpp"
#include "models/wse/fabric/ramp.hpp"
#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/params.hpp"
#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/wavelet.hpp"
#include "models/wse/program/wavelet_filter.hpp"

namespace lacuna::wse {

/// One buffer of a router: the words of a color that come in at one port, and where they go.
struct RouterInput {
  LinkId link = kNoLink;
  Color color{};
  Port from = kRamp;
  PortSet to = 0;
  PortWays need;  // copies the head has to make; none if it has not been looked at
  HeadCopies<PortWays> copies;
  BufferCounts<Lanes<std::int64_t>> counts;
  bool waiting = false;  // a head was there in the cycle accounted for last, and stayed
  bool closed = false;   // and its copy to another row found the link closed
  std::array<LinkId, kPorts> out{kNoLink, kNoLink, kNoLink, kNoLink, kNoLink};

  ColorSwitch color_switch;                 // the same in all buffers of the color
  std::array<PortSet, kPositions> to_at{};  // `to` by position, if there are several; 0: nothing
  WaveletFilter filter;                     // of the color; that of its first buffer counts

  /// The head has still to go there.
  bool wants(unsigned port) const { return copies.wants(need).has(port); }
};

/// The routers of a wafer: in each cycle every output port passes at most one word on, chosen
/// among the heads of the buffers by color in turn. A word leaves its buffer when all its copies
/// are made; then its command, if it has one, moves the switch of its color, from the next cycle.
class RouterArray {
 public:
  RouterArray(const RouterParams& params, LinkArray& links, EventLog& log)
      : params_(params),
        shapes_(params),
        rule_(params),
        link_rule_(params),
        links_(links),
        log_(log) {}

  /// Adds a router, which is unit `unit`, with its buffers in the order of color and port.
  void add(UnitId unit, const std::vector<RouterInput>& inputs);

  /// Performs cycle `now`. Returns `now + 1` if something moved and a word is there then, else
  /// kNever: its links wake it.
  Cycle step(std::size_t index, Cycle now);

  /// Accounts for the cycles before `now`, in which nothing moved.
  void account(std::size_t index, Cycle now);

  /// Words that run to the north are copied too: they close as those to the south do.
  void watch_north() { ways_ = static_cast<PortSet>(bit(kNorth) | bit(kSouth)); }

  const RouterCounters& counters(std::size_t router) const { return routers_[router].counters; }
  const std::vector<RouterInput>& inputs() const { return inputs_; }

  /// The buffers of a router as [first, last) of inputs().
  std::pair<std::size_t, std::size_t> inputs_of(std::size_t router) const {
    const Router& r = routers_[router];
    return {r.first, std::size_t{r.first} + r.count};
  }
  UnitId unit(std::size_t router) const { return routers_[router].unit; }

  /// The heads that wait in a router, which is called `name`, and the ports they wait for, a line
  /// each; empty if there are none.
  std::string blocked(std::size_t index, const std::string& name) const;

 private:
  struct Router {
    UnitId unit = 0;
    std::uint32_t first = 0;
    std::uint32_t set = 0;  // of the links of its buffers
    std::uint32_t count = 0;
    std::array<std::uint8_t, kPorts> next{};  // per port: color one past the last granted
    std::uint8_t next_head = 0;               // lockstep: the same for whole heads
    std::array<LinkMeter, 4> meters{};        // of the links, by port
    Cycle reopen = 0;                         // the last teardown is over then
    Cycle accounted = 0;
    RouterCounters counters;
  };

  /// The buffers with words, as bits; that words have come does not say that they can leave.
  std::uint32_t filled(const Router& router) const {
    return links_.held(router.set) &
           static_cast<std::uint32_t>((std::uint64_t{1} << router.count) - 1);
  }
  bool has_words(const Router& router, Cycle at) const;
  std::uint32_t find_heads(Router& router, Cycle now);
  bool grant_ports(Router& router, std::uint32_t heads, Cycle now);
  bool grant_heads(Router& router, std::uint32_t heads, Cycle now);
  void send(Router& router, RouterInput& input, unsigned port, Cycle now);
  WaveletFilter& filter_of(const Router& router, Color color);
  void obey(Router& router, const RouterInput& from, const Wavelet& word, Cycle now);
  void count(Router& router, RouterInput& input, bool leaves, Cycle now, Cycle cycles = 1);
  bool finish(Router& router, std::uint32_t heads, Cycle now);
  std::uint32_t pick(const Router& router, std::uint32_t candidates, std::uint8_t next) const;

  bool finds_closed(const Router& router, const RouterInput& input, Cycle now) const;
  static bool is_open(const Router& router, unsigned port, Cycle now) {
    return port == kRamp ? RampRule::down(now) == now : router.meters[port].open(now);
  }
  bool can_send(const Router& router, const RouterInput& input, unsigned port, Cycle now) const {
    return is_open(router, port, now) && links_.can_push(input.out[port], now);
  }
  Cycle next_opening(const Router& router, std::uint32_t heads, Cycle now) const;
  Cycle next_reopening(const Router& router, Cycle now) const;

  const RouterParams params_;
  const QueueShapes shapes_;
  const ArbiterRule rule_;
  const LinkRule link_rule_;
  LinkArray& links_;
  EventLog& log_;
  PortSet ways_ = bit(kSouth);  // of copies to other rows
  std::vector<Router> routers_;
  std::vector<RouterInput> inputs_;
};

}  // namespace lacuna::wse
