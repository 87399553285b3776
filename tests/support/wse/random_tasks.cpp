// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_tasks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/wse/engine/tasks/queue_use.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/random_instructions.hpp"

namespace lacuna::wse {
namespace {

using Places = std::vector<std::size_t>;

/// A tree of neighbours: a place, by which port it is reached from the one above, and that one.
struct Node {
  std::size_t place = 0;
  std::size_t above = 0;  // node
  Port port = kRamp;      // of this place, towards the one above
  bool inner = false;
};

/// Words that a sender sends one after the other; the last carries a command.
struct Block {
  SwitchCommands switches = 0;
  std::uint32_t words = 0;  // when it is written
};

class Maker {
 public:
  Maker(std::uint64_t seed, std::uint64_t skip) : seed_(seed), skip_(skip), draw_(seed) {}

  TaskCase make() {
    made_.params = random_task_hardware(draw_);
    TaskProgram& program = made_.program;
    program.columns = draw_.pick(1, 5);
    program.rows = draw_.pick(program.columns == 1 ? 2 : 1, 4);
    const std::size_t places = std::size_t{program.columns} * program.rows;
    program.routers.resize(places);
    program.cores.resize(places);
    used_.resize(places);
    open_.resize(places);
    const std::uint32_t routines = draw_.pick(0, 3);
    for (std::uint32_t i = 0; i < routines; ++i) program.routines.push_back(routine());
    for (std::size_t place = 0; place < places; ++place) begin(place);
    const std::uint32_t streams = draw_.pick(1, kMostStreams);
    const bool values = draw_.chance(50);
    for (std::uint32_t i = 0; i < streams; ++i) {
      draw_ = Draw(seed_ * 1000 + i + 1);
      depth_ = 0;
      if ((skip_ >> i & 1U) == 0) stream();
    }
    draw_ = Draw(seed_ * 1000 + kMostStreams + 1);
    for (std::size_t place = 0; place < places; ++place) {
      program.router_of.push_back(static_cast<std::uint32_t>(place));
      program.core_of.push_back(static_cast<std::uint32_t>(place));
      queues(place);
      if (values) program.memory.push_back(random_memory(draw_));
    }
    make_queues_fit();
    draw_task_costs(made_.params, seed_ * 1000 + kMostStreams + 2);
    return std::move(made_);
  }

 private:
  // What cores do.

  Routine routine() {
    Routine routine;
    const std::uint32_t count = draw_.pick(1, 4);
    for (std::uint32_t i = 0; i < count; ++i) {
      routine.push_back(draw_.chance(30) ? work(draw_.pick(1, 9)).vector : random_local(draw_));
    }
    return routine;
  }

  std::uint32_t routines() const {
    return static_cast<std::uint32_t>(made_.program.routines.size());
  }

  /// The first task; some cores have others that nobody waits for.
  void begin(std::size_t place) {
    TaskList& tasks = made_.program.cores[place].tasks;
    if (draw_.chance(20)) tasks.push_back(loose_task(draw_.chance(50)));
    open_[place] = tasks.size();
    tasks.emplace_back();
    tasks.back().active = true;
    if (draw_.chance(20)) tasks.push_back(loose_task(true));
    local_work(place, 30);
  }

  Task loose_task(bool active) {
    Task task;
    task.active = active;
    const std::uint32_t count = draw_.pick(0, 3);
    for (std::uint32_t i = 0; i < count; ++i) task.steps.push_back(random_step(draw_, routines()));
    return task;
  }

  TaskIndex add(std::size_t place, Task task) {
    TaskList& tasks = made_.program.cores[place].tasks;
    tasks.push_back(std::move(task));
    return static_cast<TaskIndex>(tasks.size() - 1);
  }

  std::vector<Step>& steps(std::size_t place) {
    return made_.program.cores[place].tasks[open_[place]].steps;
  }

  void local_work(std::size_t place, std::uint32_t percent) {
    while (draw_.chance(percent)) steps(place).push_back(random_step(draw_, routines()));
  }

  /// The next step of a core; now and then what follows belongs to a task that the step activates
  /// when it is complete.
  void then(std::size_t place, Instruction what) {
    std::vector<Step>& into = steps(place);
    if (what.activates != kNoTask || !draw_.chance(20)) {
      into.push_back(run(what));
      local_work(place, 20);
      return;
    }
    what.activates = static_cast<TaskIndex>(made_.program.cores[place].tasks.size());
    into.push_back(run(what));
    open_[place] = add(place, Task());
    local_work(place, 30);
  }

  // How words run.

  std::size_t places() const { return used_.size(); }

  /// The place at a port of another, or none.
  std::size_t neighbour(std::size_t place, unsigned port) const {
    const std::size_t columns = made_.program.columns;
    const std::size_t none = places();
    switch (static_cast<Port>(port)) {
      case kNorth:
        return place < columns ? none : place - columns;
      case kSouth:
        return place + columns < places() ? place + columns : none;
      case kEast:
        return (place + 1) % columns == 0 ? none : place + 1;
      case kWest:
        return place % columns == 0 ? none : place - 1;
      case kRamp:
        break;
    }
    return none;
  }

  /// Grows a tree by a walk from `from` over places that it does not have.
  void walk(std::vector<Node>& tree, std::size_t from, std::uint32_t most) {
    for (std::uint32_t length = 0; length < most; ++length) {
      std::vector<unsigned> ways;
      for (unsigned port = kNorth; port < kRamp; ++port) {
        const std::size_t there = neighbour(tree[from].place, port);
        const bool known = std::any_of(tree.begin(), tree.end(),
                                       [&](const Node& node) { return node.place == there; });
        if (there != places() && !known) ways.push_back(port);
      }
      if (ways.empty()) return;
      const unsigned port = draw_.of(ways);
      tree[from].inner = true;
      tree.push_back(
          {neighbour(tree[from].place, port), from, static_cast<Port>(opposite(port)), false});
      from = tree.size() - 1;
    }
  }

  std::vector<Node> line(std::size_t root) {
    std::vector<Node> tree{{root, 0, kRamp, false}};
    walk(tree, 0, draw_.pick(1, 6));
    return tree;
  }

  std::vector<Node> tree(std::size_t root) {
    std::vector<Node> tree = line(root);
    while (draw_.chance(40)) {
      const auto from = draw_.pick(0, static_cast<std::uint32_t>(tree.size() - 1));
      walk(tree, from, draw_.pick(1, 4));
    }
    return tree;
  }

  /// A color that no router of a tree knows; false if there is none.
  bool find_color(const std::vector<Node>& tree, Color& color) {
    const std::uint32_t first = draw_.chance(60) ? draw_.pick(0, 3) : draw_.pick(0, kColors - 1);
    for (std::uint32_t i = 0; i < kColors; ++i) {
      const std::uint32_t candidate = (first + i) % kColors;
      const bool taken = std::any_of(tree.begin(), tree.end(), [&](const Node& node) {
        return (used_[node.place] >> candidate & 1U) != 0;
      });
      if (taken) continue;
      for (const Node& node : tree) used_[node.place] |= 1U << candidate;
      color = static_cast<Color>(candidate);
      return true;
    }
    return false;
  }

  void route(std::size_t place, Color color, Port from, unsigned to, std::uint8_t position = 0) {
    std::vector<Route>& routes = made_.program.routers[place].routes;
    for (Route& route : routes) {
      if (route.color != color || route.from != from || route.position != position) continue;
      route.to = static_cast<PortSet>(route.to | bit(to));
      return;
    }
    routes.push_back({color, from, bit(to), position});
  }

  // Streams.

  void stream() {
    const auto root = draw_.pick(0, static_cast<std::uint32_t>(places() - 1));
    integers_ = draw_.chance(40);
    id_ = static_cast<std::uint8_t>(draw_.pick(0, 7));
    switch (draw_.pick(0, 6)) {
      case 0:
      case 1:
      case 2:
        spread(root, nullptr, 0);
        break;
      case 3:
        gather(root);
        break;
      case 4:
        turns(root);
        break;
      case 5:
        deal(root);
        break;
      default:
        detour(root);
    }
  }

  /// From one core to several. The words are made from `from`, if that is given, of `words` words.
  bool spread(std::size_t root, const Operand* from, std::uint32_t words) {
    const std::vector<Node> nodes = tree(root);
    Color color{};
    if (nodes.size() < 2 || !find_color(nodes, color)) return false;
    std::vector<std::size_t> takers;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      if (i != 0)
        route(nodes[node.above].place, color, port_down(nodes, node.above), opposite(node.port));
      if (node.inner && !draw_.chance(i == 0 ? 5 : 40)) continue;
      route(node.place, color, port_down(nodes, i), kRamp);
      takers.push_back(node.place);
    }
    std::vector<Block> blocks(1);
    if (from != nullptr) {
      Instruction what = random_pass(draw_, *from, words, color, made_.params);
      if (draw_.chance(50)) what.thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
      blocks[0].words = words_sent(what, made_.params);
      then(root, what);
    } else {
      send(root, color, blocks);
    }
    for (const std::size_t place : takers) take(place, color, blocks[0].words);
    return true;
  }

  /// The port by which words that run away from the root come in.
  static Port port_down(const std::vector<Node>& nodes, std::size_t i) {
    return i == 0 ? kRamp : nodes[i].port;
  }

  /// From several cores to one.
  void gather(std::size_t root) {
    const std::vector<Node> nodes = tree(root);
    Color color{};
    if (nodes.size() < 2 || !find_color(nodes, color)) return;
    std::uint32_t words = 0;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = nodes[i];
      const unsigned up = i == 0 ? unsigned{kRamp} : unsigned{node.port};
      for (const Node& below : nodes) {
        if (&below != &nodes[0] && &nodes[below.above] == &node) {
          route(node.place, color, static_cast<Port>(opposite(below.port)), up);
        }
      }
      if (i == 0 || (node.inner && !draw_.chance(50))) continue;
      route(node.place, color, kRamp, up);
      std::vector<Block> blocks(1);
      send(node.place, color, blocks);
      words += blocks[0].words;
    }
    take(root, color, words);
  }

  /// Along a line to its end: each router lets out what its core sends, then what comes to it.
  void turns(std::size_t first) {
    const std::vector<Node> nodes = line(first);
    Color color{};
    if (nodes.size() < 2 || !find_color(nodes, color)) return;
    std::uint32_t words = 0;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      const unsigned on = opposite(nodes[i + 1].port);
      if (i != 0 && draw_.chance(30)) {
        route(nodes[i].place, color, nodes[i].port, on);
        continue;
      }
      route(nodes[i].place, color, kRamp, on);
      std::vector<Block> blocks(1);
      if (i != 0) {
        route(nodes[i].place, color, nodes[i].port, on, 1);
        blocks[0].switches =
            static_cast<SwitchCommands>(first_command(SwitchCommand::advance) | kOwnRouterOnly);
      }
      send(nodes[i].place, color, blocks);
      words += blocks[0].words;
    }
    route(nodes.back().place, color, nodes.back().port, kRamp);
    take(nodes.back().place, color, words);
  }

  /// Blocks to the cores of a line, the nearest first: each router keeps one, then lets all pass.
  void deal(std::size_t first) {
    const std::vector<Node> nodes = line(first);
    Color color{};
    if (nodes.size() < 2 || !find_color(nodes, color)) return;
    const bool pop = draw_.chance(50);
    const bool ring = pop && draw_.chance(50);
    route(first, color, kRamp, opposite(nodes[1].port));
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      const std::size_t place = nodes[i].place;
      route(place, color, nodes[i].port, kRamp);
      if (i + 1 == nodes.size()) break;
      route(place, color, nodes[i].port, opposite(nodes[i + 1].port), 1);
      made_.program.routers[place].rules.push_back({color, ring, pop});
    }
    const std::uint32_t rounds = draw_.pick(1, 2);
    const SwitchCommand back =
        ring ? SwitchCommand::advance
             : draw_.of(std::vector<SwitchCommand>{SwitchCommand::reset, SwitchCommand::teardown});
    std::vector<Block> blocks;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 1; i < nodes.size(); ++i) {
        unsigned commands = 0;
        if (i + 1 == nodes.size()) {
          for (std::size_t j = 1; j + 1 < nodes.size(); ++j) {
            if (pop || j == 1) commands |= unsigned{first_command(back)} << (pop ? 2 * (j - 1) : 0);
          }
        } else {
          commands = unsigned{first_command(SwitchCommand::advance)} << (pop ? 2 * (i - 1) : 0);
        }
        blocks.push_back({static_cast<SwitchCommands>(commands), 0});
      }
    }
    send(first, color, blocks);
    const std::size_t takers = nodes.size() - 1;
    for (std::size_t i = 0; i < takers; ++i) {
      const std::uint32_t again = rounds == 2 ? blocks[takers + i].words : 0;
      take(nodes[i + 1].place, color, blocks[i].words + again);
    }
  }

  /// From one core to its neighbours in turn, as its router's switch moves.
  void detour(std::size_t root) {
    std::vector<Node> nodes{{root, 0, kRamp, false}};
    walk(nodes, 0, 1);
    for (std::uint32_t i = draw_.pick(1, 3); i > 0; --i) walk(nodes, 0, 1);
    Color color{};
    if (nodes.size() < 3 || !find_color(nodes, color)) return;
    const bool ring = draw_.chance(50);
    made_.program.routers[root].rules.push_back({color, ring, draw_.chance(30)});
    const std::size_t positions = nodes.size() - 1;
    for (std::size_t i = 0; i < positions; ++i) {
      route(root, color, kRamp, opposite(nodes[i + 1].port), static_cast<std::uint8_t>(i));
      route(nodes[i + 1].place, color, nodes[i + 1].port, kRamp);
    }
    std::vector<Block> blocks;
    std::vector<std::uint32_t> words(positions, 0);
    std::vector<std::size_t> goes;
    std::size_t at = 0;
    for (std::uint32_t i = draw_.pick(2, 7); i > 0; --i) {
      const auto command = static_cast<SwitchCommand>(draw_.chance(60) ? 1 : draw_.pick(0, 3));
      const bool own = draw_.chance(50);
      const unsigned commands = first_command(command) | (own ? unsigned{kOwnRouterOnly} : 0U);
      blocks.push_back({static_cast<SwitchCommands>(commands), 0});
      goes.push_back(at);
      if (command == SwitchCommand::advance) {
        at = at + 1 < positions ? at + 1 : ring ? 0 : at;
      } else if (command != SwitchCommand::none) {
        at = 0;
      }
    }
    send(root, color, blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) words[goes[i]] += blocks[i].words;
    for (std::size_t i = 0; i < positions; ++i) take(nodes[i + 1].place, color, words[i]);
  }

  // Ends of streams.

  /// A core sends blocks one after the other, all in one thread.
  void send(std::size_t place, Color color, std::vector<Block>& blocks) {
    std::uint8_t thread = kMainThread;
    if (draw_.chance(40)) thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
    for (Block& block : blocks) {
      const std::uint32_t length = draw_.chance(85) ? draw_.pick(1, 10) : draw_.pick(1, 40);
      Instruction what =
          integers_ ? send_integers(draw_, color, length) : random_send(draw_, color, length);
      if (draw_.chance(integers_ ? 30 : 5)) what = send_control(color, id_, draw_.pick(1, 3));
      what.thread = thread;
      what.switches = block.switches;
      block.words = words_sent(what, made_.params);
      then(place, what);
    }
  }

  /// A core takes `words` words, less those that a filter keeps from it.
  void take(std::size_t place, Color color, std::uint32_t words) {
    if (draw_.chance(15)) {
      const std::uint32_t period = draw_.pick(1, 6);
      const std::uint32_t pass = draw_.pick(0, period);
      const std::uint32_t offset = draw_.pick(0, 7);
      WaveletFilter filter = WaveletFilter::counter(pass, period, offset);
      std::uint32_t passed = 0;
      for (std::uint32_t i = 0; i < words; ++i) {
        const std::uint32_t number = i % period + period - offset % period;
        passed += number % period < pass ? 1 : 0;
      }
      if (integers_ && draw_.chance(60)) {
        const std::uint32_t from = draw_.pick(0, 4);
        filter = draw_.chance(50) ? WaveletFilter::range(from, draw_.pick(3, 60))
                                  : WaveletFilter::sparse_counter(pass, period, offset);
        made_.program.routers[place].filters.push_back({color, filter});
        take_by_tasks(place, color, 0);  // nobody knows how many
        return;
      }
      made_.program.routers[place].filters.push_back({color, filter});
      words = passed;
    }
    if (words == 0) return;
    if (integers_ && draw_.chance(70)) {
      take_by_tasks(place, color, words);
      return;
    }
    take_by_instructions(place, on_fabric(color), words);
  }

  void take_by_instructions(std::size_t place, const Operand& from, std::uint32_t words) {
    if (depth_ < 2 && words <= 60 && draw_.chance(20)) {
      ++depth_;
      const bool integers = std::exchange(integers_, false);
      const bool passed = spread(place, &from, words);
      integers_ = integers;
      if (passed) return;
    }
    std::uint8_t thread = kMainThread;
    if (draw_.chance(50)) thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
    while (words != 0) {
      const std::uint32_t part =
          words > 60 || draw_.chance(20) ? draw_.pick(1, std::min(words, 60U)) : words;
      Instruction what = random_take(draw_, from, part, made_.params);
      what.thread = thread;
      if (thread != kMainThread && draw_.chance(30)) what.activates = add(place, loose_task(false));
      then(place, what);
      words -= part;
    }
  }

  /// A task for each word, and one for control wavelets; `words` of them, 0 if that is not known.
  void take_by_tasks(std::size_t place, Color color, std::uint32_t words) {
    Task data;
    data.kind = Task::Kind::data;
    data.color = color;
    data.blocked = draw_.chance(25);
    CoreProgram& core = made_.program.cores[place];
    const std::uint32_t way = draw_.pick(0, 4);
    if (way == 0) data.steps.push_back(random_step(draw_, routines()));
    if (way == 1 || way == 2) data.steps.push_back(run(indexed()));
    if (way == 2 && draw_.chance(50)) data.steps.push_back(work(draw_.pick(0, 6)));
    if (way == 3 && words != 0 && core.fifos.size() < 3) through_fifo(place, data, words);
    if (way == 4 && words % 2 == 0 && words != 0) data.steps.push_back(run(second_word(color)));
    Task control = data;
    control.kind = Task::Kind::control;
    control.id = id_;
    control.blocked = false;
    if (way < 3 && draw_.chance(50)) control.steps = {random_step(draw_, routines())};
    const bool blocked = data.blocked;
    const TaskIndex task = add(place, std::move(data));
    add(place, std::move(control));
    if (!blocked) return;
    if (draw_.chance(50)) {
      steps(place).push_back(unblock(task));
    } else {
      Instruction what = random_local(draw_);
      what.unblocks = task;
      then(place, what);
    }
  }

  /// Takes the word after the one that started the task.
  Instruction second_word(Color color) {
    Instruction what;
    what.element = Element::int32;
    what.length = 1;
    what.to = in_memory(3072);
    what.a = on_fabric(color);
    if (draw_.chance(50)) what.thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
    return what;
  }

  /// Adds to what the word that started the task points to.
  Instruction indexed() {
    Instruction what;
    what.op = draw_.of(std::vector<VectorOp>{VectorOp::move, VectorOp::fma, VectorOp::add});
    const bool half = draw_.chance(50);
    what.element = half ? Element::fp16 : Element::fp32;
    what.length = draw_.pick(1, 20);
    const std::uint32_t base = half ? 0 : 1024;
    what.to = draw_.chance(50) ? at_index(base + 4 * draw_.pick(0, 3), 16)
                               : at_offset(base + 4 * draw_.pick(0, 3), 4);
    what.a = draw_.chance(50) ? at_offset(base + 4 * draw_.pick(0, 9), 8)
                              : in_memory(base + 4 * draw_.pick(0, 9));
    what.b = draw_.chance(50) ? task_word() : cell(base + 8);
    if (draw_.chance(20)) what.thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
    return what;
  }

  /// Each task puts its word into a FIFO in memory, which one instruction empties.
  void through_fifo(std::size_t place, Task& data, std::uint32_t words) {
    CoreProgram& core = made_.program.cores[place];
    const auto fifo = static_cast<std::uint8_t>(core.fifos.size());
    core.fifos.push_back({3072 + 64U * fifo, draw_.pick(2, 9)});
    Instruction put;
    put.element = Element::int32;
    put.length = 1;
    put.to = in_fifo(fifo);
    put.a = task_word();
    data.steps.push_back(run(put));
    Instruction get;
    get.element = Element::int32;
    get.length = words;
    get.a = in_fifo(fifo);
    get.to = in_memory(3072);
    get.to.stride = 0;
    get.thread = static_cast<std::uint8_t>(draw_.pick(1, 8));
    then(place, get);
  }

  /// Numbers of queues: of input queues a core has one for each color as far as they go.
  void queues(std::size_t place) {
    CoreProgram& core = made_.program.cores[place];
    const std::uint32_t turn = draw_.pick(0, 7);
    for (std::uint32_t color = 0; color < kColors; ++color) {
      if ((used_[place] >> color & 1U) == 0 || draw_.chance(10)) continue;
      const auto in = static_cast<std::uint8_t>((core.in.size() + turn) % 8);
      core.in.push_back({static_cast<Color>(color), in});
      core.out.push_back({static_cast<Color>(color), static_cast<std::uint8_t>(draw_.pick(0, 5))});
    }
  }

  /// Two words in a slot need room for two: hardware that could never run the program is no case.
  void make_queues_fit() {
    try {
      require_queues(made_.params, made_.program);
    } catch (const ParameterError&) {
      made_.params.queue.in = "2,3,2,4,2,2,5,2";
      made_.params.queue.out = "2,4,2,3,2,2";
    }
  }

  const std::uint64_t seed_;
  const std::uint64_t skip_;
  Draw draw_;
  TaskCase made_;
  std::vector<std::uint32_t> used_;  // colors, by place
  std::vector<std::size_t> open_;    // the task that steps are added to, by place
  bool integers_ = false;            // of the present stream
  std::uint8_t id_ = 0;              // its control wavelets
  unsigned depth_ = 0;
};

}  // namespace

TaskCase random_tasks(std::uint64_t seed, std::uint64_t skip) { return Maker(seed, skip).make(); }

}  // namespace lacuna::wse
