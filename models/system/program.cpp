// SPDX-License-Identifier: Apache-2.0
#include "models/system/program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/ranges.hpp"

namespace lacuna::system {

namespace {

constexpr EnumArray<Use, UseText, kUses> kUseTexts = {
    {{{"forward", Layer::compute, "Forward pass."},
      {"recompute", Layer::compute, "Forward pass done again."},
      {"backward", Layer::compute, "Backward pass."},
      {"optimizer", Layer::compute, "Update of the weights."},
      {"exchange", Layer::exchange, "Exchange between tiles."},
      {"links", Layer::exchange, "Waits for words of other chips."},
      {"streaming", Layer::exchange, "Waits for streaming memory."},
      {"all_reduce", Layer::exchange, "Collectives over replicas."},
      {"host", Layer::stall, "Waits for the host."},
      {"sync", Layer::sync, "Barriers after the last chip came."},
      {"imbalance", Layer::imbalance, "Waits for chips with more work."},
      {"bubble", Layer::idle, "Has no work in a step of the pipeline."},
      {"unused", Layer::idle, "Takes part in nothing."},
      {"work", Layer::compute, "Passes, as the model of the wafer times them."},
      {"weights", Layer::exchange, "Waits for weights."},
      {"gradients", Layer::stall, "Waits for room for gradients."},
      {"sums", Layer::exchange, "Waits for sums over all wafers."},
      {"idle", Layer::idle, "Has nothing left to do."}}}};

/// The chip that starts a transfer: loads are started by the chip they go to.
std::uint32_t starter(const Transfer& transfer) {
  const bool inwards = transfer.way == Way::load || transfer.way == Way::from_host;
  return inwards ? transfer.to : transfer.from;
}

}  // namespace

const UseText& text_of(Use use) { return kUseTexts[use]; }

void take(std::vector<Holding>& to, std::uint32_t place, Held what, std::uint64_t bytes,
          Holding::Space space) {
  if (bytes != 0) to.push_back({place, what, static_cast<std::int64_t>(bytes), space});
}

void give(std::vector<Holding>& to, std::uint32_t place, Held what, std::uint64_t bytes,
          Holding::Space space) {
  if (bytes != 0) to.push_back({place, what, -static_cast<std::int64_t>(bytes), space});
}

std::uint32_t Segment::send(const Transfer& transfer, std::size_t lane) {
  const auto number = static_cast<std::uint32_t>(transfers.size());
  transfers.push_back(transfer);
  chips[starter(transfer)].lanes[lane].push_back({Step::Kind::send, Use::links, number, 0});
  return number;
}

void Segment::transfer_and_wait(const Transfer& transfer, Use use, std::size_t lane) {
  const std::uint32_t number = send(transfer, lane);
  receive(starter(transfer), number, use, lane);
}

void Segment::barrier(const std::vector<std::uint32_t>& members, std::uint64_t ns, Use use) {
  const auto number = static_cast<std::uint32_t>(barriers.size());
  barriers.push_back({static_cast<std::uint32_t>(members.size()), std::max<std::uint64_t>(ns, 2)});
  for (const std::uint32_t chip : members) {
    chips[chip].lanes[kMain].push_back({Step::Kind::barrier, use, number, 0});
  }
}

TimeStack RunResult::stack(std::size_t count) const {
  TimeStack sum{};
  for (std::size_t chip = 0; chip < std::min(count, chips.size()); ++chip) {
    for (std::size_t i = 0; i < kUses; ++i) sum[i] += chips[chip][i];
  }
  return sum;
}

std::vector<std::pair<Use, double>> shares_of(const TimeStack& stack) {
  const double all = std::accumulate(stack.begin(), stack.end(), 0.0);
  std::vector<std::pair<Use, double>> shares;
  for (std::size_t i = 0; i < kUses; ++i) {
    const double percent = 100 * static_cast<double>(stack[i]) / all;
    if (stack[i] != 0) shares.emplace_back(static_cast<Use>(i), percent);
  }
  return shares;
}

void Program::add(Segment segment, std::uint64_t times) {
  if (times == 0) return;
  Repeat repeat;
  repeat.times = times;
  repeat.segment = place_or_add(segments, segment);
  order.push_back(std::move(repeat));
}

}  // namespace lacuna::system
