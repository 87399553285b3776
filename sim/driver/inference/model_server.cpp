// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/model_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/counted.hpp"
#include "sim/driver/inference/serving_report.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna {

namespace {

std::uint32_t next_multiple(std::uint32_t value, std::uint32_t of) {
  return (value + of - 1) / of * of;
}

std::uint32_t longest_of(const std::vector<ServingRequest>& requests) {
  std::uint32_t longest = 1;
  for (const ServingRequest& each : requests) longest = std::max(longest, each.positions());
  return longest;
}

std::uint64_t to_ns(double seconds) {
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

class PodServer : public ServedModel {
 public:
  PodServer(PodModel& pod, std::uint32_t slots, std::uint32_t most)
      : pod_(pod), slots_(slots), every_(pod.setup().params.context_step), most_(most) {
    longest_ = pod.pass(request(true, most_));
    pod.keep(longest_.cut);
  }

  PassCost step(std::uint32_t context) override { return pass(true, context); }
  PassCost prompt(std::uint32_t tokens) override { return pass(false, tokens); }
  EnergyRange idle_watts() const override { return pod_.idle_watts(); }

  const PodPass& longest() const { return longest_; }
  std::uint32_t capacity() const { return most_; }
  std::size_t programs() const { return known_.size(); }

 private:
  PassRequest request(bool decode, std::uint32_t positions) const {
    PassRequest made;
    made.decode = decode;
    made.batch = decode ? slots_ : 1;
    made.slots = slots_;
    made.tokens = decode ? 1 : positions;
    made.context = positions;
    made.capacity = most_;
    made.weights = pod_.setup().weights;
    made.inputs = pod_.setup().inputs;
    return made;
  }

  PassCost pass(bool decode, std::uint32_t positions) {
    const std::uint32_t rounded = std::min(next_multiple(positions, every_), most_);
    const auto [known, is_new] = known_.try_emplace({decode, rounded});
    if (is_new) {
      const PodPass made = pod_.pass(request(decode, rounded));
      known->second = {to_ns(made.seconds()), made.energy.total()};
    }
    return known->second;
  }

  PodModel& pod_;
  std::uint32_t slots_;
  std::uint32_t every_;
  std::uint32_t most_;
  PodPass longest_;
  std::map<std::pair<bool, std::uint32_t>, PassCost> known_;
};

class WaferServer : public ServedModel {
 public:
  WaferServer(WaferModel& wafer, std::uint32_t every, std::uint32_t capacity)
      : wafer_(wafer), every_(next_multiple(every, wafer.placement().rows)), capacity_(capacity) {}

  PassCost step(std::uint32_t context) override { return simulated(context).step; }

  PassCost prompt(std::uint32_t tokens) override {
    // the last token of the prompt is a step; those before follow each other
    PassCost cost = step(tokens);
    double cycles = 0;
    for (std::uint32_t from = 1; from < tokens;) {
      const std::uint32_t to = std::min(next_multiple(from, every_), tokens - 1);
      const Bounds& made = simulated(from);
      const double count = to - from + 1;
      cycles += count * made.forced_cycles;
      for (const Corner corner : kCorners) {
        cost.joules.at(corner) += count * made.forced_joules.at(corner);
      }
      from = to + 1;
    }
    cost.ns += to_ns(cycles / hertz());
    return cost;
  }

  EnergyRange idle_watts() const override {
    constexpr double kCycles = 1e6;
    EnergyRange watts = wafer_.joules({}, cores_, kCycles);
    for (const Corner corner : kCorners) watts.at(corner) /= kCycles / hertz();
    return watts;
  }

  /// The slowest of steps that fill the first row of cores: the new position comes to the last row,
  /// to the first, or to that whose sum has the longest way.
  struct Bounds {
    PassCost step;             // by itself
    double forced_cycles = 0;  // of tokens that follow each other
    EnergyRange forced_joules;
  };
  const Bounds& simulated(std::uint32_t context) {
    const std::uint32_t rounded = next_multiple(context, every_);
    const auto known = known_.find(rounded);
    if (known != known_.end()) return known->second;
    const std::uint32_t rows = wafer_.placement().rows;
    const std::uint32_t first = rounded - rows + 1;
    const wse::LineSums sums(rows, wse::LineSums::groups_of(wafer_.params().llm, rows), 0);
    DecodeStep step = wafer_.step(rounded, capacity_);
    DecodeStep forced = step;
    for (const std::uint32_t at : std::set<std::uint32_t>{first, first + sums.farthest()}) {
      const DecodeStep other = wafer_.step(at, capacity_);
      if (other.cycles > step.cycles) step = other;
      if (other.slowest_stage > forced.slowest_stage) forced = other;
    }
    cores_ = step.cores;
    const Bounds bounds = {
        {to_ns(step.cycles / hertz()), wafer_.joules(step.totals, step.cores, step.cycles)},
        forced.slowest_stage,
        wafer_.joules(forced.forced, forced.cores, forced.slowest_stage)};
    return known_.emplace(rounded, bounds).first->second;
  }

  std::uint32_t every() const { return every_; }
  std::uint32_t capacity() const { return capacity_; }
  std::size_t contexts() const { return known_.size(); }

 private:
  double hertz() const { return wafer_.params().clock * 1e9; }

  WaferModel& wafer_;
  std::uint32_t every_;
  std::uint32_t capacity_;
  std::uint64_t cores_ = 0;
  std::map<std::uint32_t, Bounds> known_;
};

constexpr const char* kScheduling =
    "Continuous batching: {} slots, prompts before steps, in the order of arrival; a step takes "
    "the time of all slots.\n";

}  // namespace

std::uint32_t longest_step(const PodModel& pod, const std::vector<ServingRequest>& requests) {
  const std::uint32_t longest = longest_of(requests);
  return std::min(next_multiple(longest, pod.setup().params.context_step),
                  std::max(longest, pod.setup().model.positions));
}

std::uint32_t longest_step(const WaferModel& wafer, const std::vector<ServingRequest>& requests,
                           std::uint32_t context_step) {
  return next_multiple(longest_of(requests), next_multiple(context_step, wafer.placement().rows));
}

ModelReport serve_on_pod(PodModel& pod, const std::vector<ServingRequest>& requests,
                         std::uint32_t slots, std::string& csv) {
  PodServer server(pod, slots, longest_step(pod, requests));
  const ServingResult result = serve(requests, slots, server);
  const PodSetup& setup = pod.setup();
  ModelReport report{setup.alone ? setup.system.params.chip : setup.system.name, "ipu",
                     setup.model.name, "requests"};
  report.words(false, true);
  report.title =
      fmt::format("{}, {} on {}: {}", setup.model.name, counted(requests.size(), "request"),
                  report.machine, server.longest().cut.text());
  report.remark = fmt::format(
      "{}Composed: passes are of {} programs, for prompts and contexts of multiples of {} up to {} "
      "positions, each simulated; what is shorter is padded.",
      fmt::format(kScheduling, slots), server.programs(), setup.params.context_step.value(),
      server.capacity());
  if (setup.weights.name != "dense") {
    report.remark += "\nZeros: weights: " + pattern_label(setup.weights);
  }
  add_serving(requests, result, slots, report);
  csv = serving_csv(requests, result);
  return report;
}

ModelReport serve_on_wafer(WaferModel& wafer, const std::vector<ServingRequest>& requests,
                           std::uint32_t context_step, std::string& csv) {
  const std::uint32_t slots = wafer.placement().batch;
  WaferServer server(wafer, context_step, longest_step(wafer, requests, context_step));
  server.simulated(longest_of(requests));  // what does not fit is refused before all else
  const ServingResult result = serve(requests, slots, server);
  ModelReport report{wafer.name(), "wse", wafer.model().name, "requests"};
  report.words(true, true);
  const DecodePlacement& placement = wafer.placement();
  report.title = fmt::format("{}, {} on {} x {} blocks of {} x {} cores", wafer.model().name,
                             counted(requests.size(), "request"), placement.blocks_x,
                             placement.blocks_y, placement.columns, placement.rows);
  report.remark = fmt::format(
      "{}Composed: a step takes the longest of those that have as many positions in the first row "
      "of cores as the next multiple of {}: no less than its own time. Steps at {} such multiples "
      "are simulated.\nA prompt's tokens follow each other through the blocks.\n"
      "Folded: of the tail's product one column, of a hand-over one row of cores.",
      fmt::format(kScheduling, slots), server.every(), server.contexts());
  add_serving(requests, result, slots, report);
  csv = serving_csv(requests, result);
  return report;
}

}  // namespace lacuna
