// SPDX-License-Identifier: Apache-2.0
#include "models/systolic/array.hpp"

#include <utility>

namespace lacuna::systolic {

SystolicArray::SystolicArray(const sc_core::sc_module_name& name, const ArrayParams& /*array*/,
                             const BufferParams& buffer, std::vector<Pass> passes,
                             ClockDomain& clock)
    : sc_module(name), buffer_(buffer), passes_(std::move(passes)), clock_(clock) {}

Cycle SystolicArray::cycles_of(std::uint32_t elements) const {
  return (std::uint64_t{elements} * 2 + buffer_.read_bytes - 1) / buffer_.read_bytes;
}

Cycle SystolicArray::length(Phase phase) const {
  const Pass& pass = passes_[at_];
  if (phase == Phase::load) return pass.inputs * cycles_of(pass.outputs);
  if (phase == Phase::stream) return pass.tokens * cycles_of(pass.inputs);
  return pass.inputs + pass.outputs - 1;
}

Cycle SystolicArray::step(Cycle now) {
  if (at_ == passes_.size()) return kNever;
  book(1);
  if (done_ < length(phase_)) {
    const Cycle last = now + length(phase_) - done_;  // the phase's last cycle
    clock_.moved(last);
    return last;
  }
  done_ = 0;
  if (phase_ == Phase::drain) {
    count(passes_[at_++]);
    phase_ = Phase::load;
  } else {
    phase_ = phase_ == Phase::load ? Phase::stream : Phase::drain;
  }
  clock_.moved(now);
  if (at_ < passes_.size()) return now + 1;
  clock_.stop(now);
  return kNever;
}

/// The next `cycles` of a phase, none of which is in another one.
void SystolicArray::book(Cycle cycles) {
  if (at_ == passes_.size()) return;
  if (phase_ == Phase::load) stats_.load += cycles;
  if (phase_ == Phase::drain) stats_.drain += cycles;
  if (phase_ == Phase::stream) {
    // A token enters when its last inputs have been read.
    const Cycle each = cycles_of(passes_[at_].inputs);
    const Cycle entered = (done_ + cycles) / each - done_ / each;
    stats_.stream += entered;
    stats_.starved += cycles - entered;
  }
  done_ += cycles;
}

void SystolicArray::count(const Pass& pass) {
  const auto words = [](std::uint64_t bytes) { return (bytes + 7) / 8; };
  const std::uint64_t sums = words(std::uint64_t{pass.outputs} * 4) * pass.tokens;
  stats_.macs += std::uint64_t{pass.inputs} * pass.outputs * pass.tokens;
  stats_.reads += words(std::uint64_t{pass.outputs} * 2) * pass.inputs +
                  words(std::uint64_t{pass.inputs} * 2) * pass.tokens + (pass.adds ? sums : 0);
  stats_.writes += sums;
}

}  // namespace lacuna::systolic
