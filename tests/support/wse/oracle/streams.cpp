// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/streams.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/wse/oracle/gradient_core.hpp"
#include "tests/support/wse/oracle/injectors.hpp"
#include "tests/support/wse/oracle/mesh.hpp"
#include "tests/support/wse/oracle/stream_core.hpp"

namespace lacuna::wse::oracle {
namespace {

class WholeWafer : public Mesh {
 public:
  WholeWafer(const HardwareParams& params, const Program& program)
      : Mesh(params.router, program),
        params_(params),
        program_(program),
        links_(program.columns + program.background.size(), nullptr),
        exits_(program.outlets.size(), nullptr) {
    for (std::size_t place = 0; place < program.size(); ++place) cores_.push_back(make_core(place));
    build();
    for (Router& router : routers_) router.counts_north = program.both_ways();
    injectors_ = std::make_unique<Injectors>(
        params.router, program, static_cast<std::uint32_t>(2 * program.size()), links_, exits_);
  }

  std::optional<WaferOutcome> run(Cycle patience) {
    const auto finished = [](const auto& core) { return core->is_finished(); };
    Cycle now = 0;
    if (!std::all_of(cores_.begin(), cores_.end(), finished) ||
        !injectors_->have_sent_words_beside()) {
      do {
        if (now == patience) return std::nullopt;
        injectors_->cycle(now, events_);
        route(now);
        for (auto& core : cores_) core->cycle(now, events_);
        end_cycle();
        ++now;
      } while (!is_over());
    }
    return outcome(now);
  }

 private:
  std::unique_ptr<KernelCore> make_core(std::size_t place) const {
    const auto unit = static_cast<std::uint32_t>(2 * place + 1);
    const auto r = static_cast<std::uint32_t>(place / program_.columns);
    const auto c = static_cast<std::uint32_t>(place % program_.columns);
    if (!program_.gradient) {
      return std::make_unique<StreamCore>(params_.core, program_.kernel, unit, r, c);
    }
    return std::make_unique<GradientCore>(params_.core, program_.kernel, *program_.gradient, unit,
                                          r, c);
  }

  bool is_stream(std::size_t place, Color color) const {
    return color == program_.kernel.stream_color(place % program_.columns);
  }

  void add_output(std::size_t place, Color color, Queue* ramp) override {
    cores_[place]->out.push_back({color, add(params_.queue.out_depths().at(2), 1), ramp});
  }

  /// Queue 2 takes weights and commands, queue 3 everything else.
  unsigned in_depth(std::size_t place, Color color) const override {
    return params_.queue.in_depths().at(is_stream(place, color) ? 2 : 3);
  }
  void add_input(std::size_t place, Color color, Queue* queue) override {
    if (is_stream(place, color)) cores_[place]->weights = queue;
    cores_[place]->in.push_back({color, queue});
  }

  /// Whether an injector, not a neighbour, is at the other end.
  Queue** entry(std::size_t place, const Route& route) override {
    const std::size_t row = place / program_.columns;
    const bool middle = program_.distribution_rows == 0 && row == program_.entry &&
                        route.from == kNorth && is_stream(place, route.color);
    if (!middle && program_.neighbour(place, route.from)) return nullptr;
    return &links_[injector_of(route, row, place % program_.columns)];
  }

  std::size_t injector_of(const Route& route, std::size_t r, std::size_t c) const {
    for (std::size_t k = 0; k < program_.background.size(); ++k) {
      const Background& other = program_.background[k];
      if (other.column == c && other.color == route.color) return program_.columns + k;
    }
    if (program_.distribution_rows == 0 || program_.from_north) return c;
    // From the west edge a row brings words of several columns, each in its color.
    for (std::uint32_t to = 0; to < program_.columns; ++to) {
      if (program_.edge_row[to] == r && is_stream(to, route.color)) return to;
    }
    throw InternalError("nobody sends what comes in at the west edge");
  }

  Queue** exit(std::size_t place, unsigned port, Color color) override {
    for (std::size_t k = 0; k < exits_.size(); ++k) {
      const Outlet& outlet = program_.outlets[k];
      const bool here = outlet.row * std::size_t{program_.columns} + outlet.column == place;
      if (here && outlet.port == port && outlet.color == color) return &exits_[k];
    }
    return nullptr;
  }

  bool is_over() const {
    return injectors_->have_sent_words_beside() && is_empty() &&
           std::all_of(cores_.begin(), cores_.end(),
                       [](const auto& core) { return core->is_finished(); });
  }

  WaferOutcome outcome(Cycle cycles) {
    WaferOutcome outcome;
    outcome.cycles = cycles;
    for (const auto& core : cores_) {
      outcome.cores.push_back(core->counters);
      core->log_runs(events_);
      const bool values = !program_.kernel.activations.empty();
      if (values) outcome.results.push_back(core->result());
      if (values && program_.kernel.exchange.on()) outcome.taken.push_back(core->taken());
    }
    for (const Router& router : routers_) outcome.routers.push_back(router.counters);
    outcome.injectors = injectors_->counters;
    outcome.injectors.resize(program_.columns);
    if (program_.collects) outcome.collected = injectors_->collected;
    outcome.events = events_;
    sort_events(outcome.events);
    return outcome;
  }

  const HardwareParams& params_;
  const Program& program_;
  std::vector<std::unique_ptr<KernelCore>> cores_;
  std::vector<Queue*> links_;
  std::vector<Queue*> exits_;
  std::unique_ptr<Injectors> injectors_;
};

}  // namespace

std::optional<WaferOutcome> run_streams(const HardwareParams& params, const Program& program,
                                        Cycle patience) {
  return WholeWafer(params, program).run(patience);
}

}  // namespace lacuna::wse::oracle
