// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/gradient_rings.hpp"

namespace lacuna::wse {

GradientLanes::GradientLanes(const HardwareParams& hardware, const Program& what)
    : params(hardware), program(what), after(what.columns), streams(what) {
  const std::vector<std::uint32_t>& ring = program.kernel.ring;
  const std::size_t width = ring.size() / program.kernel.groups.count;
  for (std::size_t p = 0; p < ring.size(); ++p) {
    after[ring[p]] = ring[(p + 1) % width == 0 ? p + 1 - width : p + 1];
  }
}

template <class Number>
GradientRings<Number>::GradientRings(const GradientLanes& shared)
    : shapes_(shared.params.router, shared.params.queue),
      streams_(shared.params.router, shapes_.link, shared.streams, shared.program.columns),
      colors_(streams_.blocks(), Vector{}) {
  for (std::size_t lane = 0; lane < shared.program.columns; ++lane) {
    colors_[lane / kWidth][lane % kWidth] =
        static_cast<Number>(shared.program.kernel.ring_in[lane]);
  }
}

template <class Number>
void GradientRings<Number>::begin_cycle(std::size_t i) {
  for_each_part(i, [](Part& part) { begin_cycles(part.in, part.up); });
}

template <class Number>
Lanes<Number> GradientRings<Number>::at_core(std::size_t i) const {
  Vector there{};
  for_each_part(i, [&](const Part& part) { there |= part.in.has() & part.to_core; });
  return there;
}

template <class Number>
void GradientRings<Number>::take(std::size_t i, const Vector& lanes) {
  for_each_part(i, [&](Part& part) { part.taken = lanes & part.to_core; });
}

template <class Number>
Lanes<Number> GradientRings<Number>::room(std::size_t i) const {
  Vector room{};
  for_each_part(i, [&](const Part& part) { room |= part.sends & part.up.room(shapes_.up); });
  return room;
}

template <class Number>
void GradientRings<Number>::send(std::size_t i, const Vector& lanes) {
  for_each_part(i, [&](Part& part) { part.up.push(lanes & part.sends, shapes_.up); });
}

/// All columns decide by what there was before the cycle; then the words arrive.
template <class Number>
void GradientRings<Number>::end_cycle() {
  NothingBeside<Number> beside;
  const std::uint32_t all = streams_.all();
  for (std::size_t i = 0; i < colors_.size(); ++i) {
    streams_.pass(i, all, streams_.open(i), beside);
  }
  for (std::size_t i = 0; i < colors_.size(); ++i) {
    streams_.arrive(i, all, [](unsigned /*s*/, const Vector& /*sent*/) {});
  }
}

template <class Number>
void GradientRings<Number>::flush(std::vector<GradientLaneCounts>& counts) {
  streams_.take_stalls([&](std::size_t s, std::size_t lane, std::uint64_t in, std::uint64_t up) {
    if (lane >= counts.size()) return;
    std::vector<std::uint64_t>& over = counts[lane].stall_over;
    over.resize(streams_.count());
    over[s] += in;
    counts[lane].stall_out += up;
  });
}

template class GradientRings<std::int8_t>;
template class GradientRings<std::int16_t>;

}  // namespace lacuna::wse
