// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/tasks/task_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "models/wse/program/neighbour.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

class Builder {
 public:
  Builder(const TaskParams& params, const TaskProgram& program, LinkArray& links)
      : shapes_(params.router),
        program_(program),
        links_(links),
        in_depths_(params.queue.in_depths()),
        out_depths_(params.queue.out_depths()) {}

  TaskMeshPlan build() {
    plan_.inputs.resize(std::size_t{program_.rows} * program_.columns);
    plan_.ports.resize(plan_.inputs.size());
    for (std::size_t place = 0; place < plan_.inputs.size(); ++place) make_buffers(place);
    for (std::size_t place = 0; place < plan_.inputs.size(); ++place) join(place);
    return std::move(plan_);
  }

 private:
  static UnitId router(std::size_t place) { return static_cast<UnitId>(2 * place); }
  std::size_t row(std::size_t place) const { return place / program_.columns; }
  std::size_t column(std::size_t place) const { return place % program_.columns; }

  /// The place at the other end of a port; kNoUnit outside the mesh.
  std::size_t neighbour(std::size_t place, unsigned port) const {
    return neighbour_of(program_, place, port).value_or(kNoUnit);
  }

  void make_buffers(std::size_t place) {
    TaskPorts& ports = plan_.ports[place];
    ports.unit = router(place) + 1;
    ports.row = static_cast<std::uint32_t>(row(place));
    ports.column = static_cast<std::uint32_t>(column(place));
    const SwitchedRouter& what = program_.routers[program_.router_of[place]];
    std::vector<RouterInput>& inputs = plan_.inputs[place];
    out_queues_.clear();
    for (const SwitchedRoute& route : what.routes) add_route(route, place);
    for (RouterInput& input : inputs) finish(input, what, inputs);
    std::sort(inputs.begin(), inputs.end(), [](const RouterInput& a, const RouterInput& b) {
      return std::tie(a.color, a.from) < std::tie(b.color, b.from);
    });
  }

  void add_route(const SwitchedRoute& route, std::size_t place) {
    std::vector<RouterInput>& inputs = plan_.inputs[place];
    auto input = std::find_if(inputs.begin(), inputs.end(), [&](const RouterInput& other) {
      return other.color == route.color && other.from == route.from;
    });
    if (input == inputs.end()) {
      input = inputs.insert(inputs.end(), RouterInput());
      input->color = route.color;
      input->from = route.from;
      input->link = make_buffer(route, place);
    }
    input->to_at.at(route.position) = route.to;
    const auto positions = static_cast<std::uint8_t>(route.position + 1U);
    input->color_switch.rules.positions = std::max(input->color_switch.rules.positions, positions);
  }

  /// All buffers of a color share one switch, which begins at position 0.
  static void finish(RouterInput& input, const SwitchedRouter& what,
                     const std::vector<RouterInput>& inputs) {
    for (const RouterInput& other : inputs) {
      if (other.color != input.color) continue;
      input.color_switch.rules.positions =
          std::max(input.color_switch.rules.positions, other.color_switch.rules.positions);
    }
    for (const SwitchedRouter::Rule& rule : what.rules) {
      if (rule.color != input.color) continue;
      input.color_switch.rules.ring = rule.ring;
      input.color_switch.rules.pop = rule.pop;
    }
    for (const SwitchedRouter::Filter& filter : what.filters) {
      if (filter.color == input.color) input.filter = filter.filter;
    }
    input.to = input.to_at[0];
  }

  LinkId make_buffer(const SwitchedRoute& route, std::size_t place) {
    const UnitId here = router(place);
    if (route.from != kRamp) {
      const std::size_t there = neighbour(place, route.from);
      if (there == kNoUnit) refuse(place, route.color, "takes", route.from);
      return links_.add(link_from(there, opposite(route.from), route.color), router(there), here);
    }
    const LinkId ramp = links_.add(shapes_.ramp_up(), here + 1, here);
    const unsigned queue = out_queue(core(place), route.color);
    const auto found = out_queues_.find(queue);
    const LinkId link = found != out_queues_.end()
                            ? found->second
                            : links_.add(QueueShapes::output(depth(out_depths_, queue, "output")),
                                         here + 1, here + 1);
    out_queues_[queue] = link;
    plan_.ports[place].out.push_back({route.color, link, ramp});
    return ramp;
  }

  /// Into the buffer of a color behind a port of a router.
  QueueShape link_from(std::size_t place, unsigned port, Color color) const {
    for (const SwitchedRoute& route : program_.routers[program_.router_of[place]].routes) {
      const bool leads = route.color == color && (route.to & bit(port)) != 0;
      if (leads && QueueShapes::turns(route.from, port)) return shapes_.link_behind_turn(port);
    }
    return shapes_.link(port);
  }

  const CoreProgram& core(std::size_t place) const {
    return program_.cores[program_.core_of[place]];
  }

  static unsigned depth(const std::vector<unsigned>& depths, unsigned queue, const char* kind) {
    if (queue < depths.size()) return depths[queue];
    throw InternalError(
        fmt::format("a program uses {} queue {} of {}", kind, queue, depths.size()));
  }

  void join(std::size_t place) {
    for (RouterInput& input : plan_.inputs[place]) {
      PortSet used = 0;
      for (const PortSet to : input.to_at) used = static_cast<PortSet>(used | to);
      for (unsigned port = 0; port < kPorts; ++port) {
        if ((used & bit(port)) == 0) continue;
        input.out[port] = port == kRamp ? ramp_down(input, place) : onward(input, port, place);
      }
    }
  }

  /// One queue for each color, whatever port its words come from.
  LinkId ramp_down(const RouterInput& input, std::size_t place) {
    TaskPorts& ports = plan_.ports[place];
    for (const TaskPorts::In& port : ports.in) {
      if (port.color == input.color) return port.queue;
    }
    const unsigned queue = in_queue(core(place), input.color);
    const LinkId link =
        links_.add(shapes_.ramp_down(depth(in_depths_, queue, "input")), router(place), ports.unit);
    ports.in.push_back({input.color, link});
    return link;
  }

  LinkId onward(const RouterInput& input, unsigned port, std::size_t place) {
    const std::size_t there = neighbour(place, port);
    if (there == kNoUnit) refuse(place, input.color, "sends", port);
    for (const RouterInput& next : plan_.inputs[there]) {
      if (next.color == input.color && next.from == opposite(port)) return next.link;
    }
    refuse(place, input.color, "sends", port);
  }

  [[noreturn]] void refuse(std::size_t place, Color color, const char* verb, unsigned port) const {
    throw InternalError(fmt::format("router ({}, {}) {} color {} {}, where nothing is to meet it",
                                    column(place), row(place), verb, static_cast<unsigned>(color),
                                    port_name(port)));
  }

  const QueueShapes shapes_;
  const TaskProgram& program_;
  LinkArray& links_;
  const std::vector<unsigned> in_depths_;
  const std::vector<unsigned> out_depths_;
  std::map<unsigned, LinkId> out_queues_;  // of the core being made, by number
  TaskMeshPlan plan_;
};

}  // namespace

TaskMeshPlan build_task_mesh(const TaskParams& params, const TaskProgram& program,
                             LinkArray& links) {
  return Builder(params, program, links).build();
}

namespace {

/// One core program's queues against what its instructions ask of them.
class QueueCheck {
 public:
  explicit QueueCheck(const TaskParams& params)
      : params_(params), in_(params.queue.in_depths()), out_(params.queue.out_depths()) {}

  void check(const CoreProgram& core, const Instruction& what) const {
    const bool pairs = what.simd64 && params_.core.fabric_simd64;
    const unsigned words = pairs ? 2U : params_.core.fabric_words_per_issue.value();
    if (words == 1) return;
    const std::uint32_t elements =
        std::min(elements_per_beat(what, params_.simd, words), what.length);
    for (const Operand* operand : {&what.a, &what.b}) {
      check(*operand, "input", in_, in_queue(core, operand->color),
            words_of(source_bytes(what.element), elements),
            [this](unsigned depth) { return QueueShapes(params_.router).ramp_down(depth); });
    }
    check(what.to, "output", out_, out_queue(core, what.to.color),
          words_of(result_bytes(what.element), elements), QueueShapes::output);
  }

 private:
  template <class Shape>
  static void check(const Operand& operand, const char* kind, const std::vector<unsigned>& depths,
                    unsigned queue, std::uint32_t words, const Shape& shape) {
    if (operand.kind != Operand::Kind::fabric) return;
    if (queue >= depths.size() || shape(depths[queue]).capacity >= words) return;
    throw ParameterError(fmt::format(
        "queue.{}: {} queue {} of {} words can never hold the {} words that an instruction of this "
        "program handles in an issue slot (core.fabric_simd64, core.fabric_words_per_issue)",
        kind[0] == 'i' ? "in" : "out", kind, queue, depths[queue], words));
  }

  const TaskParams& params_;
  const std::vector<unsigned> in_;
  const std::vector<unsigned> out_;
};

}  // namespace

void require_queues(const TaskParams& params, const TaskProgram& program) {
  const QueueCheck queues(params);
  for (const CoreProgram& core : program.cores) {
    for (const Task& task : core.tasks) {
      for (const Step& step : task.steps) {
        if (step.kind == Step::Kind::vector) queues.check(core, step.vector);
      }
    }
  }
}

}  // namespace lacuna::wse
