// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ipu/exchange_checker.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace lacuna::ipu::test {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

/// What leaves a tile in a cycle: the first address, and how many words.
struct Outgoing {
  std::uint32_t address;
  std::uint32_t words;
};

using Key = std::pair<TileId, std::uint64_t>;  // a tile and a cycle, or an address

class Checker {
 public:
  Checker(const ChipParams& params, const ExchangePlan& plan) : params_(params), plan_(plan) {}

  AssertionResult run(const TransferList& list) {
    AssertionResult sends = play_sends();
    if (!sends) return sends;
    for (TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
      AssertionResult receives = play_receives(tile, list);
      if (!receives) return receives;
    }
    return compare(list);
  }

 private:
  AssertionResult play_sends() {
    for (TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
      for (std::uint32_t i = plan_.send_first[tile]; i < plan_.send_first[tile + 1]; ++i) {
        const Send& send = plan_.sends[i];
        for (std::uint32_t w = 0; w < send.words; w += send.wide ? 2 : 1) {
          const std::uint64_t cycle = send.start + (send.wide ? w / 2 : w);
          const std::uint32_t words = send.wide ? std::min(2U, send.words - w) : 1;
          if (!out_.insert({{tile, cycle}, {send.address + w, words}}).second) {
            return AssertionFailure() << "tile " << tile << " sends twice in cycle " << cycle;
          }
          if (send.wide) lent_.insert({tile ^ 1U, cycle});
        }
      }
    }
    for (const Key& key : lent_) {
      if (out_.count(key) != 0) {
        return AssertionFailure() << "tile " << key.first << " sends in cycle " << key.second
                                  << ", in which its partner sends at double width";
      }
    }
    return AssertionSuccess();
  }

  AssertionResult play_receives(TileId tile, const TransferList& list) {
    std::uint64_t free = 0;
    for (std::uint32_t i = plan_.receive_first[tile]; i < plan_.receive_first[tile + 1]; ++i) {
      const Receive& receive = plan_.receives[i];
      if (receive.start < free) {
        return AssertionFailure() << "tile " << tile << " receives a fragment in cycle "
                                  << receive.start << ", but is free in " << free;
      }
      free = receive.start +
             std::max<std::uint64_t>(receive.cycles(), params_.exchange.control_events);
      if (receive.latency != expected_latency(receive, tile)) {
        return AssertionFailure() << "latency of a fragment to tile " << tile;
      }
      // What a tile stores in scratch memory is for its partner; it may come again and again.
      const bool kept = !list.scratch.has_value() || receive.address != *list.scratch;
      AssertionResult words = play_words(tile, receive, kept);
      if (!words) return words;
    }
    return AssertionSuccess();
  }

  unsigned expected_latency(const Receive& receive, TileId tile) const {
    const unsigned own = exchange_latency(params_, receive.source, tile);
    return receive.wide ? std::max(own, exchange_latency(params_, receive.source, tile ^ 1U)) : own;
  }

  AssertionResult play_words(TileId tile, const Receive& receive, bool kept) {
    std::uint32_t stored = 0;
    for (std::uint64_t cycle = receive.start; stored < receive.words; ++cycle) {
      last_ = std::max(last_, cycle + 1);
      const auto sent = out_.find({receive.source, cycle - receive.latency});
      if (sent == out_.end() || cycle < receive.latency) {
        return AssertionFailure() << "tile " << tile << " listens in cycle " << cycle << " to tile "
                                  << receive.source << ", which is silent";
      }
      heard_.insert(sent->first);
      if (receive.wide) wide_.insert({tile, cycle});
      for (std::uint32_t w = 0; w < sent->second.words; ++w, ++stored) {
        const Key to{tile, receive.address + stored};
        if (kept && !arrived_.insert({to, {receive.source, sent->second.address + w}}).second) {
          return AssertionFailure()
                 << "word " << to.second << " of tile " << tile << " comes twice";
        }
      }
      if (!receive.wide && sent->second.words != 1) {
        return AssertionFailure() << "tile " << tile << " hears half of a stream";
      }
    }
    return AssertionSuccess();
  }

  AssertionResult compare(const TransferList& list) const {
    std::map<Key, std::pair<TileId, std::uint32_t>> expected;
    for (const Transfer& transfer : list.transfers) {
      for (std::uint32_t d = transfer.first; d < transfer.first + transfer.count; ++d) {
        const Place& to = list.destinations[d];
        for (std::uint32_t w = 0; w < transfer.words; ++w) {
          expected[{to.tile, to.address + w}] = {transfer.source.tile, transfer.source.address + w};
        }
      }
    }
    if (expected != arrived_) return AssertionFailure() << "other words arrive than were asked for";
    if (heard_.size() != out_.size()) return AssertionFailure() << "a word is sent to nobody";
    for (const Key& key : wide_) {
      if (wide_.count({key.first ^ 1U, key.second}) == 0) {
        return AssertionFailure() << "tile " << key.first << " receives at double width alone";
      }
    }
    if (plan_.length != last_)
      return AssertionFailure() << "length " << plan_.length << ", not " << last_;
    if (plan_.length < plan_.bound) return AssertionFailure() << "shorter than is possible";
    return AssertionSuccess();
  }

  const ChipParams& params_;
  const ExchangePlan& plan_;
  std::map<Key, Outgoing> out_;
  std::set<Key> lent_;
  std::set<Key> heard_;
  std::set<Key> wide_;
  std::map<Key, std::pair<TileId, std::uint32_t>> arrived_;
  std::uint64_t last_ = 0;
};

}  // namespace

AssertionResult carries(const ChipParams& params, const TransferList& list,
                        const ExchangePlan& plan) {
  return Checker(params, plan).run(list);
}

}  // namespace lacuna::ipu::test
