// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/router.hpp"

#include <algorithm>

#include "models/wse/program/event_kinds.hpp"

namespace lacuna::wse::oracle {
namespace {

unsigned number(Color color) { return static_cast<unsigned>(color); }

bool has(PortSet ports, unsigned port) { return (ports >> port & 1U) != 0; }

bool is_several(PortSet ports) { return (ports & (ports - 1U)) != 0; }

}  // namespace

void Router::cycle(Cycle now, std::vector<Event>& log) {
  const std::vector<Buffer*> heads = find_heads(now, log);
  switch (params_.multicast.value()) {
    case Multicast::independent:
      grant_ports(heads, now, log);
      break;
    case Multicast::lockstep:
      grant_heads(heads, now, log);
      break;
  }
  // Words that have made all their copies leave; their commands hold from the next cycle on.
  std::vector<Command> commands;
  for (Buffer* const head : heads) {
    if (head->left != 0) {
      ++counters.stalls[number(head->color)];
      continue;
    }
    const Wavelet word = head->words->take();
    head->closed = false;
    const bool meant = (word.switches & kOwnRouterOnly) == 0 || head->from == kRamp;
    if (meant) commands.push_back({head->color, command_of(word.switches)});
  }
  for (const Command& command : commands) obey(command, now);
}

/// The buffers whose head has a way. A head takes the way of its color's switch in the first cycle
/// in which it is at the head, the color is open and there is a way; the switch may move later.
std::vector<Buffer*> Router::find_heads(Cycle now, std::vector<Event>& log) {
  std::vector<Buffer*> heads;
  for (Buffer& buffer : buffers) {
    if (!buffer.words->has_words(now)) continue;
    const ColorState& color = colors.at(buffer.color);
    const PortSet way = buffer.to.at(color.position);
    if (buffer.left == 0 && color.opens <= now) buffer.left = way;
    if (buffer.left == 0) {
      ++counters.stalls[number(buffer.color)];
      continue;
    }
    const auto no_room = [&](unsigned port) {
      return has(buffer.left, port) && !can_go(buffer, port, now);
    };
    const bool closed = is_several(way) && (no_room(kSouth) || (counts_north && no_room(kNorth)));
    if (closed) ++counters.closures;
    if (closed && !buffer.closed) log.push_back({now, unit_, kClosure, number(buffer.color)});
    buffer.closed = closed;
    heads.push_back(&buffer);
  }
  return heads;
}

/// Each output port chooses one of the heads that need it, if its link is open for them.
void Router::grant_ports(const std::vector<Buffer*>& heads, Cycle now, std::vector<Event>& log) {
  for (unsigned port = 0; port < kPorts; ++port) {
    std::vector<Buffer*> candidates;
    for (Buffer* const head : heads) {
      if (has(head->left, port) && can_go(*head, port, now)) candidates.push_back(head);
    }
    if (candidates.empty()) continue;
    Buffer& winner = *candidates[choose(candidates, turn_.at(port))];
    send(winner, port, now, log);
    if (moves_turn()) turn_.at(port) = number(winner.color) + 1;
  }
}

/// Heads are tried one after the other, in the order in which they would be chosen; one goes if
/// its links are open and its ports not used by one before.
void Router::grant_heads(std::vector<Buffer*> heads, Cycle now, std::vector<Event>& log) {
  PortSet used = 0;
  const unsigned turn = turn_of_heads_;
  bool first = true;
  while (!heads.empty()) {
    const std::size_t chosen = choose(heads, turn);
    Buffer& head = *heads[chosen];
    heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(chosen));
    bool open = (used & head.left) == 0;
    for (unsigned port = 0; port < kPorts; ++port) {
      if (has(head.left, port) && !can_go(head, port, now)) open = false;
    }
    if (!open) continue;
    used = static_cast<PortSet>(used | head.left);
    for (unsigned port = 0; port < kPorts; ++port) {
      if (has(head.left, port)) send(head, port, now, log);
    }
    if (first && moves_turn()) turn_of_heads_ = number(head.color) + 1;
    first = false;
  }
}

bool Router::can_go(const Buffer& head, unsigned port, Cycle now) const {
  return head.out.at(port)->has_room() && traffic_.at(port).is_open(now);
}

/// Which of the candidates, given in the order of color and port, goes first.
std::size_t Router::choose(const std::vector<Buffer*>& candidates, unsigned turn) const {
  switch (params_.arbiter.value()) {
    case Arbiter::round_robin:
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (number(candidates[i]->color) >= turn) return i;
      }
      return 0;
    case Arbiter::fixed:
      return 0;
    case Arbiter::oldest: {
      std::size_t first = 0;
      for (std::size_t i = 1; i < candidates.size(); ++i) {
        if (candidates[i]->words->head_arrived() < candidates[first]->words->head_arrived()) {
          first = i;
        }
      }
      return first;
    }
  }
  return 0;
}

bool Router::moves_turn() const {
  switch (params_.arbiter.value()) {
    case Arbiter::round_robin:
      return true;
    case Arbiter::fixed:
    case Arbiter::oldest:
      return false;
  }
  return false;
}

void Router::send(Buffer& head, unsigned port, Cycle now, std::vector<Event>& log) {
  Wavelet word = head.words->head();
  ColorState& color = colors.at(head.color);
  if (color.pop) word.switches = without_first(word.switches);
  head.left = static_cast<PortSet>(head.left & ~bit(port));
  ++counters.sent.at(port);
  if (port != kRamp && limits_links(params_)) traffic_.at(port).pass(params_, now);
  log.push_back({now, unit_, kWordOut, number(head.color) << 8U | port});
  if (port == kRamp && !passes(color, word)) {
    ++counters.filtered;
    return;
  }
  const Cycle more = turns(head.from, port) ? params_.turn.value() : 0;
  const Cycle ready = head.out.at(port)->put(now, word, more);
  if (port == kRamp) log.push_back({ready, unit_ + 1, kQueuePush, number(head.color)});
}

bool turns(unsigned from, unsigned to) {
  const auto vertical = [](unsigned port) { return port == kNorth || port == kSouth; };
  const auto horizontal = [](unsigned port) { return port == kEast || port == kWest; };
  return (vertical(from) && horizontal(to)) || (horizontal(from) && vertical(to));
}

/// Whether the core wants a word that is on its ramp.
bool Router::passes(ColorState& color, const Wavelet& word) {
  const WaveletFilter& set = color.settings;
  const auto wanted = [&] {
    return (color.seen + set.period() - set.offset() % set.period()) % set.period() < set.pass();
  };
  bool pass = true;
  switch (set.kind()) {
    case WaveletFilter::Kind::none:
      break;
    case WaveletFilter::Kind::counter:
      pass = wanted();
      ++color.seen;
      break;
    case WaveletFilter::Kind::sparse_counter:
      pass = wanted();
      if (word.control) ++color.seen;
      break;
    case WaveletFilter::Kind::range:
      pass = word.payload >> 16U >= set.low() && word.payload >> 16U <= set.high();
      break;
    case WaveletFilter::Kind::zeros:
      pass = !word.zero;
      break;
  }
  return pass;
}

void Router::obey(const Command& command, Cycle now) {
  ColorState& color = colors.at(command.color);
  switch (command.what) {
    case SwitchCommand::none:
      break;
    case SwitchCommand::advance:
      if (color.position + 1 < color.positions) {
        ++color.position;
      } else if (color.ring) {
        color.position = 0;
      }
      break;
    case SwitchCommand::reset:
      color.position = 0;
      break;
    case SwitchCommand::teardown:
      color.position = 0;
      color.opens = now + 1 + params_.reconfig;
      break;
  }
}

}  // namespace lacuna::wse::oracle
