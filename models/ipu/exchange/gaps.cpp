// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/exchange/gaps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace lacuna::ipu {
namespace {

/// One part in so many above the bound is left as it is.
constexpr Cycle kWorthwhile = 8;

/// For each of some ports, the cycles in which it is busy.
class BusyCycles {
 public:
  BusyCycles(std::size_t ports, std::uint32_t cycles)
      : words_(cycles / 64 + 2), bits_(ports * words_, 0) {}

  void set(std::size_t port, std::uint32_t from, std::uint32_t cycles) {
    for (std::uint32_t at = from; at < from + cycles;) at = mask(port, at, from + cycles, true);
  }
  void clear(std::size_t port, std::uint32_t from, std::uint32_t cycles) {
    for (std::uint32_t at = from; at < from + cycles;) at = mask(port, at, from + cycles, false);
  }

  /// The 64 cycles from `at` on; cycles behind the end are not busy.
  std::uint64_t from(std::size_t port, std::uint32_t at) const {
    const std::size_t word = at / 64;
    if (word + 1 >= words_) return word < words_ ? bits_[port * words_ + word] >> (at % 64) : 0;
    const std::uint64_t* const bits = bits_.data() + port * words_ + word;
    const unsigned shift = at % 64;
    return shift == 0 ? bits[0] : bits[0] >> shift | bits[1] << (64 - shift);
  }

 private:
  /// Marks what of [at, end) is in the word of `at`; returns where it ends.
  std::uint32_t mask(std::size_t port, std::uint32_t at, std::uint32_t end, bool busy) {
    const std::uint32_t stop = std::min(end, (at / 64 + 1) * 64);
    const std::uint64_t ones =
        stop - at == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << (stop - at)) - 1) << (at % 64);
    std::uint64_t& word = bits_[port * words_ + at / 64];
    word = busy ? word | ones : word & ~ones;
    return stop;
  }

  std::size_t words_;  // of a port
  std::vector<std::uint64_t> bits_;
};

/// A train on its way to one tile or, at double width, one pair: a part of an emission.
struct Delivery {
  std::uint32_t emission;
  std::uint32_t first;  // of its receivers
  std::uint32_t count;
  std::uint32_t start;
  std::uint32_t end;
  std::array<TileId, 2> tiles;
  std::array<std::uint32_t, 2> latencies;
};

class GapCloser {
 public:
  GapCloser(const ChipParams& params, const LatencyTable& latencies, const StreamList& streams,
            Cycle bound, Schedule& schedule)
      : latencies_(latencies),
        streams_(streams),
        bound_(bound),
        schedule_(schedule),
        sends_(params.ipu.tiles + 1U, static_cast<std::uint32_t>(schedule.length)),
        receives_(params.ipu.tiles + 1U, static_cast<std::uint32_t>(schedule.length)),
        moved_(schedule.receivers.size(), false) {}

  void close() {
    for (std::uint32_t e = 0; e < schedule_.emissions.size(); ++e) book(e);
    std::sort(late_.begin(), late_.end(), [](const Delivery& a, const Delivery& b) {
      return a.end != b.end ? a.end > b.end : a.first > b.first;
    });
    // The schedule is as long as the first delivery that can not move earlier.
    length_ = bound_;
    for (Delivery& delivery : late_) {
      if (delivery.end <= length_) break;
      const std::uint32_t end = delivery.end;
      move(delivery);
      length_ = std::max<Cycle>(length_, delivery.end);
      if (delivery.end == end) break;
    }
    write();
  }

 private:
  const Train& train_of(const Delivery& d) const {
    return streams_.trains[schedule_.emissions[d.emission].train];
  }

  /// Notes when ports are busy with an emission, and what of it comes after the bound.
  void book(std::uint32_t e) {
    const Emission& emission = schedule_.emissions[e];
    const Train& train = streams_.trains[emission.train];
    occupy_sender(train, emission.start, true);
    users_.push_back(0);
    const std::uint32_t end = emission.first + emission.count;
    for (std::uint32_t i = emission.first; i < end;) {
      const TileId tile = schedule_.receivers[i].tile;
      const bool pair = train.wide && i + 1 < end && schedule_.receivers[i + 1].tile == (tile ^ 1U);
      Delivery d{e, i, pair ? 2U : 1U, emission.start, 0, {tile, tile ^ 1U}, {}};
      for (std::uint32_t r = 0; r < d.count; ++r) {
        d.latencies.at(r) = train_latency(latencies_, train, d.tiles.at(r));
        d.end = std::max(d.end, d.start + d.latencies.at(r) + train.held);
      }
      occupy_receivers(d, true);
      ++users_.back();
      // The tiles of a pair receive at double width together or not at all.
      if (d.end > bound_ && pair == train.wide) late_.push_back(d);
      i += d.count;
    }
  }

  void occupy_sender(const Train& train, std::uint32_t start, bool busy) {
    for (const TileId tile : {train.source, train.source ^ 1U}) {
      if (tile != train.source && !train.wide) continue;
      if (busy) {
        sends_.set(tile, start, train.cycles);
      } else {
        sends_.clear(tile, start, train.cycles);
      }
    }
  }

  void occupy_receivers(const Delivery& d, bool busy) {
    for (std::uint32_t r = 0; r < d.count; ++r) {
      const std::uint32_t from = d.start + d.latencies.at(r);
      if (busy) {
        receives_.set(d.tiles.at(r), from, train_of(d).held);
      } else {
        receives_.clear(d.tiles.at(r), from, train_of(d).held);
      }
    }
  }

  /// Of the 64 starts from `at` on, those whose next `cycles` cycles are not all free.
  static std::uint64_t busy_starts(const BusyCycles& ports, TileId port, std::uint32_t at,
                                   std::uint32_t cycles) {
    std::uint64_t busy = 0;
    for (std::uint32_t done = 0; done < cycles; ++done) {
      busy |= ports.from(port, at + done);
      if (busy == ~std::uint64_t{0}) break;
    }
    return busy;
  }

  /// The starts from `at` on that do not suit sender or receivers.
  std::uint64_t busy_starts(const Delivery& d, std::uint32_t at) const {
    const Train& train = train_of(d);
    std::uint64_t busy = busy_starts(sends_, train.source, at, train.cycles);
    if (train.wide) busy |= busy_starts(sends_, train.source ^ 1U, at, train.cycles);
    for (std::uint32_t r = 0; r < d.count && ~busy != 0; ++r) {
      busy |= busy_starts(receives_, d.tiles.at(r), at + d.latencies.at(r), train.held);
    }
    return busy;
  }

  /// To the earliest start in which all are free, if it is before the present one.
  void move(Delivery& d) {
    const Train& train = train_of(d);
    const bool alone = users_[d.emission] == 1;
    occupy_receivers(d, false);
    if (alone) occupy_sender(train, d.start, false);
    const std::uint32_t before = d.start;
    for (std::uint32_t at = 0; at < before; at += 64) {
      const std::uint64_t busy = busy_starts(d, at);
      if (~busy == 0) continue;
      const std::uint32_t start = at + static_cast<std::uint32_t>(__builtin_ctzll(~busy));
      if (start < before) d.start = start;
      break;
    }
    if (d.start != before) {
      d.end -= before - d.start;
      --users_[d.emission];
      for (std::uint32_t r = 0; r < d.count; ++r) moved_[d.first + r] = true;
      early_.push_back(d);
    }
    occupy_receivers(d, true);
    if (alone || d.start != before) occupy_sender(train, d.start, true);
  }

  void write() {
    Schedule result;
    result.length = length_;
    result.receivers.reserve(schedule_.receivers.size());
    const auto begin = [&](std::uint32_t train, std::uint32_t start) {
      const auto first = static_cast<std::uint32_t>(result.receivers.size());
      result.emissions.push_back({train, start, first, 0});
    };
    const auto add = [&](std::uint32_t receiver) {
      result.receivers.push_back(schedule_.receivers[receiver]);
      ++result.emissions.back().count;
    };
    for (std::uint32_t e = 0; e < schedule_.emissions.size(); ++e) {
      if (users_[e] == 0) continue;
      const Emission& emission = schedule_.emissions[e];
      begin(emission.train, emission.start);
      for (std::uint32_t i = emission.first; i < emission.first + emission.count; ++i) {
        if (!moved_[i]) add(i);
      }
    }
    for (const Delivery& d : early_) {
      begin(schedule_.emissions[d.emission].train, d.start);
      for (std::uint32_t r = 0; r < d.count; ++r) add(d.first + r);
    }
    schedule_ = std::move(result);
  }

  const LatencyTable& latencies_;
  const StreamList& streams_;
  Cycle bound_;
  Schedule& schedule_;
  BusyCycles sends_;
  BusyCycles receives_;
  std::vector<std::uint32_t> users_;  // deliveries of an emission
  std::vector<Delivery> late_;
  std::vector<Delivery> early_;  // those that moved
  std::vector<bool> moved_;      // of the schedule's receivers
  Cycle length_ = 0;
};

}  // namespace

void close_gaps(const ChipParams& params, const LatencyTable& latencies, const StreamList& streams,
                Cycle bound, Schedule& schedule) {
  if (schedule.length <= bound + bound / kWorthwhile) return;
  GapCloser(params, latencies, streams, bound, schedule).close();
}

}  // namespace lacuna::ipu
