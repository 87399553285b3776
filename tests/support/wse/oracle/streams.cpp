// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/oracle/streams.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/wse/oracle/gradient_core.hpp"
#include "tests/support/wse/oracle/injectors.hpp"
#include "tests/support/wse/oracle/router.hpp"
#include "tests/support/wse/oracle/stream_core.hpp"

namespace lacuna::wse::oracle {
namespace {

class WholeWafer {
 public:
  WholeWafer(const HardwareParams& params, const Program& program)
      : params_(params),
        program_(program),
        links_(program.columns + program.background.size(), nullptr),
        exits_(program.outlets.size(), nullptr) {
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      for (std::uint32_t c = 0; c < program.columns; ++c) {
        const auto unit = static_cast<std::uint32_t>(2 * place(r, c));
        routers_.emplace_back(params_.router, unit);
        routers_.back().counts_north = program.both_ways();
        cores_.push_back(make_core(unit + 1, r, c));
      }
    }
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      for (std::uint32_t c = 0; c < program.columns; ++c) make_buffers(r, c);
    }
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      for (std::uint32_t c = 0; c < program.columns; ++c) connect(r, c);
    }
    injectors_ = std::make_unique<Injectors>(params.router, program,
                                             static_cast<std::uint32_t>(2 * place(program.rows, 0)),
                                             links_, exits_);
  }

  std::optional<WaferOutcome> run(Cycle patience) {
    const auto finished = [](const auto& core) { return core->is_finished(); };
    Cycle now = 0;
    if (!std::all_of(cores_.begin(), cores_.end(), finished) ||
        !injectors_->have_sent_words_beside()) {
      do {
        if (now == patience) return std::nullopt;
        injectors_->cycle(now, events_);
        for (Router& router : routers_) router.cycle(now, events_);
        for (auto& core : cores_) core->cycle(now, events_);
        for (Queue& queue : queues_) queue.end_cycle();
        ++now;
      } while (!is_over());
    }
    return outcome(now);
  }

 private:
  std::size_t place(std::uint32_t r, std::uint32_t c) const {
    return std::size_t{r} * program_.columns + c;
  }

  std::unique_ptr<KernelCore> make_core(std::uint32_t unit, std::uint32_t r,
                                        std::uint32_t c) const {
    if (!program_.gradient) {
      return std::make_unique<StreamCore>(params_.core, program_.kernel, unit, r, c);
    }
    return std::make_unique<GradientCore>(params_.core, program_.kernel, *program_.gradient, unit,
                                          r, c);
  }

  Queue* add(unsigned capacity, Cycle latency) {
    queues_.emplace_back(capacity, latency);
    return &queues_.back();
  }
  Queue* add_link(unsigned entries, Cycle latency) {
    return add(entries + static_cast<unsigned>(latency) - 1, latency);
  }

  bool is_stream(Color color, std::uint32_t c) const {
    return color == program_.kernel.stream_color(c);
  }

  void make_buffers(std::uint32_t r, std::uint32_t c) {
    Router& router = routers_[place(r, c)];
    const RouterProgram& what = program_.router(r, c);
    for (const Route& route : what.routes) {
      Buffer buffer;
      buffer.color = route.color;
      buffer.from = route.from;
      buffer.to.at(route.position) = route.to;
      if (route.from == kRamp) {
        buffer.words = add_link(params_.router.entries, params_.router.ramp);
        Queue* const queue = add(params_.queue.out_depths().at(2), 1);
        cores_[place(r, c)]->out.push_back({route.color, queue, buffer.words});
      } else if (enters(route, r, c)) {
        buffer.words = add_link(params_.router.entries, 1);
        links_[injector_of(route, r, c)] = buffer.words;
      } else {
        buffer.words = add_link(params_.router.entries, params_.router.hop);
      }
      ColorState& color = router.colors[route.color];
      color.positions = std::max<unsigned>(color.positions, route.position + 1U);
      router.buffers.push_back(buffer);
    }
    for (const RouterProgram::Rule& rule : what.rules) {
      router.colors[rule.color].ring = rule.ring;
      router.colors[rule.color].pop = rule.pop;
    }
    for (const RouterProgram::Filter& filter : what.filters) {
      router.colors[filter.color].settings = filter.filter;
    }
    std::sort(router.buffers.begin(), router.buffers.end(), [](const Buffer& a, const Buffer& b) {
      return std::tie(a.color, a.from) < std::tie(b.color, b.from);
    });
  }

  /// Whether an injector, not a neighbour, is at the other end.
  bool enters(const Route& route, std::uint32_t r, std::uint32_t c) const {
    const bool edge = (route.from == kNorth && r == 0) || (route.from == kWest && c == 0) ||
                      (route.from == kSouth && r + 1 == program_.rows) ||
                      (route.from == kEast && c + 1 == program_.columns);
    const bool middle = program_.distribution_rows == 0 && r == program_.entry &&
                        route.from == kNorth && is_stream(route.color, c);
    return edge || middle;
  }

  std::size_t injector_of(const Route& route, std::uint32_t r, std::uint32_t c) const {
    for (std::size_t k = 0; k < program_.background.size(); ++k) {
      const Background& other = program_.background[k];
      if (other.column == c && other.color == route.color) return program_.columns + k;
    }
    if (program_.distribution_rows == 0 || program_.from_north) return c;
    // From the west edge a row brings words of several columns, each in its color.
    for (std::uint32_t to = 0; to < program_.columns; ++to) {
      if (program_.edge_row[to] == r && is_stream(route.color, to)) return to;
    }
    throw InternalError("nobody sends what comes in at the west edge");
  }

  void connect(std::uint32_t r, std::uint32_t c) {
    for (Buffer& buffer : routers_[place(r, c)].buffers) {
      for (unsigned port = 0; port < kPorts; ++port) {
        if (((buffer.to[0] | buffer.to[1]) >> port & 1U) == 0) continue;
        buffer.out.at(port) =
            port == kRamp ? input_queue(r, c, buffer.color) : onward(r, c, port, buffer.color);
        if (turns(buffer.from, port)) buffer.out.at(port)->lengthen(params_.router.turn);
      }
    }
  }

  /// Queue 2 takes weights and commands, queue 3 everything else; each color has its own.
  Queue* input_queue(std::uint32_t r, std::uint32_t c, Color color) {
    KernelCore& core = *cores_[place(r, c)];
    for (const Input& input : core.in) {
      if (input.color == color) return input.queue;
    }
    const bool weights = is_stream(color, c);
    Queue* const queue = add_link(params_.queue.in_depths().at(weights ? 2 : 3),
                                  params_.router.ramp + params_.router.ramp_in);
    if (weights) core.weights = queue;
    core.in.push_back({color, queue});
    return queue;
  }

  Queue* onward(std::uint32_t r, std::uint32_t c, unsigned port, Color color) {
    for (std::size_t k = 0; k < exits_.size(); ++k) {
      const Outlet& outlet = program_.outlets[k];
      const bool here = outlet.row == r && outlet.column == c;
      if (!here || outlet.port != port || outlet.color != color) continue;
      exits_[k] = add_link(params_.router.entries, params_.router.hop);
      return exits_[k];
    }
    const std::size_t at = place(r, c);
    const std::size_t there = port == kNorth   ? at - program_.columns
                              : port == kSouth ? at + program_.columns
                              : port == kEast  ? at + 1
                                               : at - 1;
    for (const Buffer& buffer : routers_.at(there).buffers) {
      if (buffer.color == color && buffer.from == opposite(port)) return buffer.words;
    }
    throw InternalError("a route leads nowhere");
  }

  bool is_over() const {
    return injectors_->have_sent_words_beside() &&
           std::all_of(cores_.begin(), cores_.end(),
                       [](const auto& core) { return core->is_finished(); }) &&
           std::all_of(queues_.begin(), queues_.end(),
                       [](const Queue& queue) { return queue.empty(); });
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
  std::deque<Queue> queues_;
  std::vector<Router> routers_;
  std::vector<std::unique_ptr<KernelCore>> cores_;
  std::vector<Queue*> links_;
  std::vector<Queue*> exits_;
  std::unique_ptr<Injectors> injectors_;
  std::vector<Event> events_;
};

}  // namespace

std::optional<WaferOutcome> run_streams(const HardwareParams& params, const Program& program,
                                        Cycle patience) {
  return WholeWafer(params, program).run(patience);
}

}  // namespace lacuna::wse::oracle
