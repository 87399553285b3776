// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/lane_width.hpp"

#include <algorithm>

#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"

namespace lacuna::wse {

std::uint64_t largest_in_lanes(const HardwareParams& params, const Program& program) {
  const StreamingKernel& kernel = program.kernel;
  const std::uint32_t tokens = *std::max_element(kernel.tokens.begin(), kernel.tokens.end());
  const std::uint32_t count =
      kernel.counts.empty() ? 0 : *std::max_element(kernel.counts.begin(), kernel.counts.end());
  const QueueShapes shapes(params.router);
  const QueueParams& queue = params.queue;
  const Dispatch dispatch(params.core);
  // Lanes compare the numbers of a round's packets, which may wrap around, and count their words.
  std::uint32_t senders = 0;
  for (const ExchangePlan::Bus& bus : kernel.exchange.buses) {
    senders = std::max(senders, bus.senders);
  }
  return std::max<std::uint64_t>(
      {count, kernel.held.most(),
       (tokens / kernel.simd + 1) * std::uint64_t{kernel.weights_per_word()},
       tokens / kernel.ring_elements + 2, senders > 256 ? senders : 0, kernel.lookahead,
       dispatch.longest(), shapes.ramp_down(queue.stream()).capacity + 1U,
       shapes.ramp_down(queue.sums_in()).capacity + 1U,
       QueueShapes::output(queue.sums_out()).capacity + 2U, program.column_fifo,
       shapes.ramp_up().capacity + 1U,
       kernel.most_cycles() + kernel.stalls * (kernel.simd / 16U + 1U),
       shapes.link().capacity + 1U});
}

}  // namespace lacuna::wse
