// SPDX-License-Identifier: Apache-2.0
#include "models/system/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <systemc>

#include "models/system/carrier.hpp"
#include "models/system/chip_node.hpp"
#include "models/system/conductor.hpp"
#include "models/system/event_kinds.hpp"
#include "models/system/plant.hpp"
#include "models/system/wiring.hpp"
#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

std::uint64_t end_ns(const SystemParams& params, unsigned chips) {
  constexpr std::uint64_t kLeast = 3;  // a token there, the step of the conductor, one back
  return std::max(params.sync_ns(chips), kLeast);
}

/// The modules of a segment, bound to each other.
class LinkedPlant : private Plant<Chunk> {
 public:
  LinkedPlant(const SystemParams& params, const Fabric& fabric, const Segment& segment,
              const SystemExecution& execution)
      : Plant(execution),
        wiring_(fabric, params, segment),
        arrived_(segment.transfers.size()),
        conductor_("conductor", clock_, segment.barriers, fabric.chips(),
                   end_ns(params, segment.synced == 0 ? fabric.chips() : segment.synced)) {
    add_chips(fabric, segment);
    add_carriers(fabric);
    add_wires(fabric);
    clock_.add(conductor_, "conductor");
  }

  SegmentResult run() {
    SegmentResult result;
    result.ns = clock_.run_until_done();
    for (const auto& chip : chips_) result.chips.push_back(checked_time(*chip, result.ns));
    for (const auto& carrier : carriers_) {
      result.bytes.push_back(carrier ? carrier->bytes() : 0);
      result.busy_ns.push_back(carrier ? carrier->busy_ns() : 0);
    }
    result.events = log_.sorted();
    result.steps = clock_.steps();
    return result;
  }

 private:
  void add_chips(const Fabric& fabric, const Segment& segment) {
    for (unsigned i = 0; i < fabric.chips(); ++i) {
      ChipNode& chip = add(chips_, fmt::format("chip{}", i), clock_, segment.chips[i], wiring_, i,
                           arrived_, log_);
      arrivals_.push_back(std::make_unique<Channel<Arrival>>(clock_, 1));
      releases_.push_back(std::make_unique<Channel<Release>>(clock_, 1));
      chip.arrive.bind(*arrivals_[i]);
      conductor_.arrive.bind(*arrivals_[i]);
      conductor_.release.bind(*releases_[i]);
      chip.release.bind(*releases_[i]);
    }
  }

  void add_carriers(const Fabric& fabric) {
    carriers_.resize(fabric.resources().size());
    for (const Wire& wire : wiring_.wires()) {
      if (wire.to < fabric.chips()) continue;
      const std::size_t id = wire.to - fabric.chips();
      if (carriers_[id] != nullptr) continue;
      const Resource& resource = fabric.resources()[id];
      std::string name = resource.name;
      std::replace(name.begin(), name.end(), '.', '_');
      carriers_[id] =
          std::make_unique<Carrier>(name.c_str(), clock_, resource, wiring_, wire.to, log_);
      clock_.add(*carriers_[id], resource.name);
    }
  }

  void add_wires(const Fabric& fabric) {
    for (const Wire& wire : wiring_.wires()) {
      const bool from_chip = wire.from < fabric.chips();
      const std::size_t id = wire.from - (from_chip ? 0 : fabric.chips());
      const Cycle latency = from_chip ? 1 : fabric.resources()[id].latency_ns;
      Channel<Chunk>& channel = this->wire(wire.chunks, latency);
      (from_chip ? chips_[id]->out : carriers_[id]->out).bind(channel);
      const bool to_chip = wire.to < fabric.chips();
      const std::size_t to = wire.to - (to_chip ? 0 : fabric.chips());
      (to_chip ? chips_[to]->in : carriers_[to]->in).bind(channel);
    }
  }

  Wiring wiring_;
  std::vector<std::uint64_t> arrived_;
  Conductor conductor_;
  std::vector<std::unique_ptr<ChipNode>> chips_;
  std::vector<std::unique_ptr<Carrier>> carriers_;  // null: nothing passes this resource
  std::vector<std::unique_ptr<Channel<Arrival>>> arrivals_;
  std::vector<std::unique_ptr<Channel<Release>>> releases_;
};

Carried carried_of(const Fabric& fabric, const std::vector<std::uint64_t>& bytes) {
  Carried carried;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool memory = fabric.resources()[i].kind == ResourceKind::ddr;
    (memory ? carried.memory : carried.links) += static_cast<double>(bytes[i]);
  }
  return carried;
}

void add(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& part,
         const Repeat& repeat) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] * repeat.times / repeat.every;
}

/// The parts of a chip's time, rounded so that they still add up to the whole.
void add(TimeStack& sum, const TimeStack& part, const Repeat& repeat) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kUses; ++i) {
    const std::uint64_t before = all * repeat.times / repeat.every;
    all += part.at(i);
    sum.at(i) += all * repeat.times / repeat.every - before;
  }
}

}  // namespace

SegmentResult run_segment(const SystemParams& params, const Fabric& fabric, const Segment& segment,
                          const SystemExecution& execution) {
  if (segment.chips.size() != fabric.chips()) {
    throw InternalError(
        fmt::format("a segment of {} chips for {}", segment.chips.size(), fabric.chips()));
  }
  SegmentResult result = run_plant<LinkedPlant>(params, fabric, segment, execution);
  result.carried = carried_of(fabric, result.bytes);
  return result;
}

ProgramResult run_program(const SystemParams& params, const Fabric& fabric, const Program& program,
                          const SystemExecution& execution) {
  ProgramResult result;
  result.chips.resize(fabric.chips());
  result.bytes.resize(fabric.resources().size());
  result.busy_ns.resize(fabric.resources().size());
  for (const Segment& segment : program.segments) {
    result.segments.push_back(run_segment(params, fabric, segment, execution));
  }
  for (const Repeat& repeat : program.order) {
    const SegmentResult& part = result.segments[repeat.segment];
    result.ns += part.ns * repeat.times / repeat.every;
    for (std::size_t c = 0; c < result.chips.size(); ++c) {
      add(result.chips[c], part.chips[c], repeat);
    }
    add(result.bytes, part.bytes, repeat);
    add(result.busy_ns, part.busy_ns, repeat);
  }
  result.carried = carried_of(fabric, result.bytes);
  for (std::size_t c = program.used; program.used != 0 && c < result.chips.size(); ++c) {
    result.chips[c] = {};
    result.chips[c][Use::unused] = result.ns;
  }
  return result;
}

}  // namespace lacuna::system
