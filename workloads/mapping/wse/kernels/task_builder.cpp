// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/kernels/task_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {
namespace {

/// All that a program says, as bytes: two are equal if their keys are.
class ProgramKey {
 public:
  explicit ProgramKey(const CoreProgram& program) {
    for (const Task& task : program.tasks) {
      put(task.kind, task.color, task.id, task.active, task.blocked, task.steps.size());
      for (const Step& step : task.steps) put(step);
    }
    put(program.tasks.size(), program.in.size(), program.out.size(), program.fifos.size());
    for (const QueueUse& use : program.in) put(use.color, use.queue);
    for (const QueueUse& use : program.out) put(use.color, use.queue);
    for (const SoftwareFifo& fifo : program.fifos) put(fifo.address, fifo.capacity);
  }

  std::string take() && { return std::move(bytes_); }

 private:
  template <class... Values>
  void put(const Values&... values) {
    (bytes_.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  }
  void put(const Operand& o) {
    put(o.kind, o.color, o.fifo, o.address, o.stride, o.inner, o.outer, o.index_bytes,
        o.offset_bytes, o.value);
  }
  void put(const Step& step) {
    const Instruction& what = step.vector;
    put(step.kind, step.task, step.routine);
    put(what.op, what.element, what.length, what.thread, what.activates, what.unblocks,
        what.starts_sum, what.control, what.simd64, what.switches);
    for (const Operand* const operand : {&what.to, &what.a, &what.b}) put(*operand);
  }

  std::string bytes_;
};

/// The same: all that a router does.
std::string key_of(const RouterProgram& router) {
  std::string key;
  for (const Route& route : router.routes) {
    for (const unsigned part : {static_cast<unsigned>(route.color), unsigned{route.from},
                                unsigned{route.to}, unsigned{route.position}}) {
      key += static_cast<char>(part);
    }
  }
  for (const RouterProgram::Rule& rule : router.rules) {
    key += {'r', static_cast<char>(rule.color), rule.ring ? '1' : '0', rule.pop ? '1' : '0'};
  }
  for (const auto& [color, filter] : router.filters) {
    key += fmt::format("f{} {} {} {} {}", static_cast<unsigned>(color),
                       static_cast<int>(filter.kind()), filter.pass(), filter.period(),
                       filter.offset());
  }
  return key;
}

}  // namespace

Task& Script::task() {
  if (next_) program_.tasks.emplace_back();
  next_ = false;
  return program_.tasks.back();
}

void Script::round(Instruction instruction, std::uint8_t thread) {
  task();
  instruction.thread = thread;  // by default the last: what goes on beside it comes first
  instruction.activates = static_cast<TaskIndex>(program_.tasks.size());
  then(instruction);
  next_ = true;
}

void Script::beside(Instruction instruction, std::uint8_t thread) {
  instruction.thread = thread;
  then(instruction);
}

CoreProgram Script::finish() && {
  if (next_) {  // nothing follows the last round
    for (Step& step : program_.tasks.back().steps) {
      if (step.vector.activates == program_.tasks.size()) step.vector.activates = kNoTask;
    }
  }
  return std::move(program_);
}

TaskBuilder::TaskBuilder(std::uint32_t columns, std::uint32_t rows) : routers_(1) {
  program_.columns = columns;
  program_.rows = rows;
  program_.cores.emplace_back();  // a core that does nothing
  program_.core_of.assign(std::size_t{columns} * rows, 0);
  program_.router_of = program_.core_of;
}

RouterProgram& TaskBuilder::router(std::size_t place) {
  std::uint32_t& own = program_.router_of[place];
  if (own == 0) {
    own = static_cast<std::uint32_t>(routers_.size());
    routers_.emplace_back();
  }
  return routers_[own];
}

void TaskBuilder::route(std::size_t place, Color color, Port from, PortSet to,
                        std::uint8_t position) {
  std::vector<Route>& routes = router(place).routes;
  for (Route& route : routes) {
    if (route.color == color && route.from == from && route.position == position) {
      route.to = static_cast<PortSet>(route.to | to);
      return;
    }
  }
  routes.push_back({color, from, to, position});
}

Port TaskBuilder::towards(std::size_t from, std::size_t to) const {
  if (to == from + program_.columns) return kSouth;
  if (from == to + program_.columns) return kNorth;
  if (to == from + 1) return kEast;
  if (from == to + 1) return kWest;
  throw InternalError("a path leads from a core to one that is not its neighbour");
}

void TaskBuilder::path(const std::vector<std::size_t>& places, Color color) {
  Port from = kRamp;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const Port to = towards(places[i], places[i + 1]);
    route(places[i], color, from, bit(to));
    from = static_cast<Port>(opposite(to));
  }
  route(places.back(), color, from, bit(kRamp));
}

void TaskBuilder::turn(std::size_t place, Color color, const Turn& turn) {
  const PortSet lower = turn.at > 0 ? bit(turn.low) : PortSet{0};
  const PortSet higher = turn.at + 1 < turn.cores ? bit(turn.high) : PortSet{0};
  const PortSet itself = turn.to_itself ? bit(kRamp) : PortSet{0};
  std::uint8_t position = 0;
  if ((lower | higher) != 0) pops(place, color);
  if (lower != 0) {
    route(place, color, turn.low, static_cast<PortSet>(higher | bit(kRamp)), position++);
  }
  route(place, color, kRamp, static_cast<PortSet>(lower | higher | itself), position++);
  if (higher != 0) {
    route(place, color, turn.high, static_cast<PortSet>(lower | bit(kRamp)), position);
  }
}

std::uint32_t TaskBuilder::add(CoreProgram program) {
  program_.cores.push_back(std::move(program));
  return static_cast<std::uint32_t>(program_.cores.size() - 1);
}

std::uint32_t TaskBuilder::share(CoreProgram program) {
  const auto [known, fresh] = shared_.emplace(ProgramKey(program).take(), 0);
  if (fresh) known->second = add(std::move(program));
  return known->second;
}

std::uint32_t TaskBuilder::add_routine(Routine routine) {
  program_.routines.push_back(std::move(routine));
  return static_cast<std::uint32_t>(program_.routines.size() - 1);
}

TaskProgram TaskBuilder::finish() && {
  // routers that differ in nothing but their place are one
  std::map<std::string, std::uint32_t> known;
  std::vector<std::optional<std::uint32_t>> same(routers_.size());
  for (std::uint32_t& place : program_.router_of) {
    std::optional<std::uint32_t>& number = same[place];
    if (!number) {
      RouterProgram& router = routers_[place];
      const auto next = static_cast<std::uint32_t>(program_.routers.size());
      const auto [found, fresh] = known.emplace(key_of(router), next);
      if (fresh) program_.routers.push_back(std::move(router));
      number = found->second;
    }
    place = *number;
  }
  return std::move(program_);
}

TaskProgram single_core(CoreProgram program) {
  TaskBuilder builder(1, 1);
  builder.core(0, std::move(program));
  return std::move(builder).finish();
}

void MemoryImage::put(std::uint32_t address, Element element, float value) {
  store_element(bytes_, address, source_bytes(element) == 4, is_integer(element), value);
}

}  // namespace lacuna::wse
