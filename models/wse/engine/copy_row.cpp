// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/copy_row.hpp"

#include <limits>

namespace lacuna::wse {
namespace {

/// The ways of the one route of a router of the row.
const Route& route_of(const Program& program, std::size_t column) {
  return program.router(0, column).routes.front();
}

}  // namespace

const char* reason_against_copy_row(const Program& program) {
  if (program.distribution_rows == 0) return "";
  if (!program.from_north) return "words come from the west edge";
  if (program.distribution_rows > 1) return "several rows bring words to columns";
  return program.kernel.column_colors.empty() ? "" : "columns have colors of their own";
}

template <class Number>
CopyRow<Number>::CopyRow(const RouterParams& router, const Program& program)
    : rule_(router),
      link_(QueueShapes(router).link()),
      entries_(all_lanes<Number>(QueueShapes(router).entries())),
      blocks_((program.columns + kWidth - 1) / kWidth),
      source_(blocks_.size() * kWidth, 0),
      open_(source_),
      south_(source_),
      eastward_(source_.size(), 1),
      westward_(source_.size(), 1),
      counted_(program.columns) {
  for (std::size_t c = 0; c < program.columns; ++c) {
    const Route& route = route_of(program, c);
    Block& b = blocks_[c / kWidth];
    const std::size_t lane = c % kWidth;
    const auto flag = [](bool set) { return static_cast<Number>(set ? -1 : 0); };
    source_[c] = flag(program.has_stream(c));
    b.ways.way[kDown][lane] = flag((route.to & bit(kSouth)) != 0);
    b.ways.way[kToEast][lane] = flag((route.to & bit(kEast)) != 0);
    b.ways.way[kToWest][lane] = flag((route.to & bit(kWest)) != 0);
    b.from_east[lane] = flag(route.from == kEast);
    b.several[lane] = flag((route.to & (route.to - 1U)) != 0);
  }
}

template <class Number>
inline Lanes<Number> CopyRow<Number>::room(std::size_t i, Way way,
                                           const std::vector<Number>& takes) const {
  if (way == kDown) return load(&takes[i * kWidth]);
  return way == kToEast ? eastward_.room_after(i * kWidth, 1)
                        : westward_.room_before(i * kWidth, 1);
}

/// Each copy of a head goes when it can; the head leaves with the last.
template <class Number>
void CopyRow<Number>::step_block(std::size_t i, const std::vector<Number>& takes) {
  Block& b = blocks_[i];
  b.in.begin_cycle();
  const Vector source = load(&source_[i * kWidth]);
  const Vector head = (b.edge > 0) | b.in.has();
  store(&open_[i * kWidth], source & (b.edge < entries_));
  std::array<Vector, kWays> go{};
  for (const Way way : {kDown, kToEast, kToWest}) {
    const Vector wants = b.copies.wants(way, head & b.ways.way[way]);
    go[way] = b.links[way].send(rule_, wants, room(i, way, takes));
    if (way == kDown) b.closures -= found_closed(b.several, wants, go[way]);
    b.copies.make(way, go[way]);
  }
  const Vector left = b.copies.leave(head, b.ways);
  store(&south_[i * kWidth], go[kDown]);
  eastward_.send(i * kWidth, go[kToEast]);
  westward_.send(i * kWidth, go[kToWest]);
  b.counts.cycle(head, left, [&] { return b.edge + b.in.seen; });
  b.edge += left & source;
  b.in.pop(left & ~source);
  moved_ = moved_ || any(go[kDown] | go[kToEast] | go[kToWest]);
}

template <class Number>
void CopyRow<Number>::step(const std::vector<Number>& takes) {
  moved_ = false;
  for (std::size_t i = 0; i < blocks_.size(); ++i) step_block(i, takes);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    Block& b = blocks_[i];
    const Vector east = eastward_.sent_before(i * kWidth, 1);
    const Vector west = westward_.sent_after(i * kWidth, 1);
    b.in.push(select(b.from_east, west, east), link_);
    for (LaneBorder<Number>* const to : {&eastward_, &westward_}) {
      to->show(i * kWidth, b.in.room(link_));
    }
  }
  if (++unflushed_ == static_cast<unsigned>(std::numeric_limits<Number>::max())) flush();
}

template <class Number>
void CopyRow<Number>::arrive(const std::vector<Number>& lanes) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].edge -= load(&lanes[i * kWidth]);
}

template <class Number>
void CopyRow<Number>::flush() {
  unflushed_ = 0;
  for (std::size_t lane = 0; lane < counted_.size(); ++lane) {
    const Block& b = blocks_[lane / kWidth];
    add_lane<Number>(counted_[lane].heads, b.counts, lane % kWidth);
    counted_[lane].closures += static_cast<std::uint64_t>(b.closures[lane % kWidth]);
  }
  for (Block& b : blocks_) {
    forget(b.counts);
    b.closures = Vector{};
  }
}

template <class Number>
void CopyRow<Number>::add_counters(const std::vector<std::uint64_t>& words,
                                   RouterCounters* routers) {
  flush();
  for (std::size_t lane = 0; lane < counted_.size(); ++lane) {
    const Block& b = blocks_[lane / kWidth];
    RouterCounters& router = routers[lane];
    if (b.ways.way[kDown][lane % kWidth] != 0) router.sent[kSouth] += words[lane];
    if (b.ways.way[kToEast][lane % kWidth] != 0) router.sent[kEast] += words[lane];
    if (b.ways.way[kToWest][lane % kWidth] != 0) router.sent[kWest] += words[lane];
    router.add_buffer(Color{}, counted_[lane].heads);
    router.closures += counted_[lane].closures;
  }
}

template class CopyRow<std::int8_t>;
template class CopyRow<std::int16_t>;

}  // namespace lacuna::wse
