// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/serving.hpp"

#include <algorithm>
#include <cmath>

namespace lacuna {

namespace {

/// A sequence in a slot.
struct Sequence {
  std::size_t request = 0;
  std::uint32_t positions = 0;  // that the next step has, its own included
  std::uint32_t left = 0;       // tokens to come
};

class Server {
 public:
  Server(const std::vector<ServingRequest>& requests, std::uint32_t slots, ServedModel& model)
      : requests_(requests), slots_(slots), model_(model) {}

  ServingResult run() {
    for (const ServingRequest& request : requests_) {
      ServedRequest served;
      served.arrival = request.arrival_ns;
      result_.requests.push_back(served);
      result_.prompt_tokens += request.prompt;
      result_.output_tokens += request.output;
    }
    if (!requests_.empty()) now_ = requests_.front().arrival_ns;
    result_.begin_ns = now_;
    while (next_ < requests_.size() || !active_.empty()) {
      if (waits() && active_.size() < slots_) {
        admit();
      } else if (!active_.empty()) {
        step();
      } else {
        now_ = requests_[next_].arrival_ns;
      }
    }
    result_.end_ns = now_;
    result_.joules.add(model_.idle_watts(), static_cast<double>(result_.idle_ns()) * 1e-9);
    return std::move(result_);
  }

 private:
  bool waits() const { return next_ < requests_.size() && requests_[next_].arrival_ns <= now_; }

  void admit() {
    const ServingRequest& request = requests_[next_];
    ServedRequest& served = result_.requests[next_];
    served.admitted = now_;
    const PassCost cost = model_.prompt(request.prompt);
    now_ += cost.ns;
    result_.prompt_ns += cost.ns;
    result_.joules.add(cost.joules);
    served.first_token = now_;
    if (request.output == 1) {
      served.done = now_;
    } else {
      active_.push_back({next_, request.prompt + 1, request.output - 1});
    }
    ++next_;
  }

  void step() {
    std::uint32_t longest = 0;
    for (const Sequence& each : active_) longest = std::max(longest, each.positions);
    const PassCost cost = model_.step(longest);
    now_ += cost.ns;
    result_.step_ns += cost.ns;
    result_.joules.add(cost.joules);
    ++result_.steps;
    result_.taken_slots += active_.size();
    for (Sequence& each : active_) {
      ++each.positions;
      if (--each.left == 0) result_.requests[each.request].done = now_;
    }
    active_.erase(std::remove_if(active_.begin(), active_.end(),
                                 [](const Sequence& each) { return each.left == 0; }),
                  active_.end());
  }

  const std::vector<ServingRequest>& requests_;
  const std::uint32_t slots_;
  ServedModel& model_;
  std::uint64_t now_ = 0;
  std::size_t next_ = 0;
  std::vector<Sequence> active_;
  ServingResult result_;
};

}  // namespace

ServingResult serve(const std::vector<ServingRequest>& requests, std::uint32_t slots,
                    ServedModel& model) {
  return Server(requests, slots, model).run();
}

std::uint64_t percentile(std::vector<std::uint64_t> values, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  const auto place = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace lacuna
