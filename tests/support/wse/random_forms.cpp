// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_forms.hpp"

#include <algorithm>
#include <vector>

#include "models/wse/engine/tasks/queue_use.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/random_instructions.hpp"

namespace lacuna::wse {
namespace {

void make_queues_fit(TaskCase& made) {
  try {
    require_queues(made.params, made.program);
  } catch (const ParameterError&) {
    made.params.queue.in = "2,3,2,4,2,2,5,2";
    made.params.queue.out = "2,4,2,3,2,2";
  }
}

TaskCase with_task_costs(TaskCase made, std::uint64_t seed) {
  draw_task_costs(made.params, seed * 1000);
  return made;
}

/// A mesh of cores that all have one task, active from the start on.
TaskCase empty_case(Draw& draw, std::uint32_t columns, std::uint32_t rows) {
  TaskCase made;
  made.params = random_task_hardware(draw);
  made.program.columns = columns;
  made.program.rows = rows;
  const std::size_t places = std::size_t{columns} * rows;
  made.program.routers.resize(places);
  made.program.cores.resize(places);
  for (std::size_t place = 0; place < places; ++place) {
    made.program.router_of.push_back(static_cast<std::uint32_t>(place));
    made.program.core_of.push_back(static_cast<std::uint32_t>(place));
    made.program.cores[place].tasks.emplace_back();
    made.program.cores[place].tasks.front().active = true;
  }
  return made;
}

/// A move of words; `to` and `from` that are not given are in memory.
Instruction random_move(Draw& draw, std::uint32_t length, bool pairs) {
  Instruction what;
  what.element = draw.chance(50) ? Element::fp16 : Element::fp32;
  what.length = length;
  what.simd64 = pairs && draw.chance(30);
  const std::uint32_t at = 4 * draw.pick(0, 20);
  what.a = in_memory(at, draw.chance(80) ? 1 : static_cast<int>(draw.pick(2, 9)));
  what.to = in_memory(4 * draw.pick(0, 20));
  return what;
}

/// Gives a move the length with which it takes so many words; false if there is none.
bool take_exactly(Instruction& what, std::uint32_t words, const TaskParams& params) {
  for (what.length = words; what.length <= 2 * words; ++what.length) {
    if (words_taken(what, params) == words) return true;
  }
  return false;
}

Instruction taking(Draw& draw, Color color, std::uint32_t words, const TaskParams& params,
                   bool pairs) {
  for (;;) {
    Instruction what = random_move(draw, words, pairs);
    what.a = on_fabric(color);
    if (take_exactly(what, words, params)) return what;
  }
}

class Relays {
 public:
  explicit Relays(std::uint64_t seed) : draw_(seed ^ 0x9000) {
    const std::uint32_t columns = draw_.pick(2, 6);
    made_ = empty_case(draw_, columns, draw_.pick(1, 3));
    if (draw_.chance(70)) made_.params.core.fabric_words_per_issue = 1;
    if (draw_.chance(80)) made_.params.router.link_limit = LinkLimit::link;
  }

  TaskCase make() {
    const std::size_t places = made_.program.cores.size();
    for (std::size_t i = 0; i < places; ++i) {
      const bool last = i + 1 == places || draw_.chance(15);  // of its line
      write(i, last);
      if (!last) connect(i);
    }
    make_queues_fit(made_);
    return std::move(made_);
  }

 private:
  /// The i-th place of a snake.
  std::size_t place(std::size_t i) const {
    const std::size_t columns = made_.program.columns;
    const std::size_t row = i / columns;
    const std::size_t column = i % columns;
    return row * columns + (row % 2 == 0 ? column : columns - 1 - column);
  }

  static Color color(std::size_t i) { return static_cast<Color>(i % 3); }

  void connect(std::size_t i) {
    const std::size_t from = place(i);
    const std::size_t to = place(i + 1);
    const Port port = to == from + 1 ? kEast : to + 1 == from ? kWest : kSouth;
    made_.program.routers[from].routes.push_back({color(i), kRamp, bit(port), 0});
    made_.program.routers[to].routes.push_back(
        {color(i), static_cast<Port>(opposite(port)), bit(kRamp), 0});
  }

  /// Takes all that comes, and sends something, in pieces.
  void write(std::size_t i, bool last) {
    std::uint32_t left = coming_;
    coming_ = 0;
    for (std::uint32_t piece = draw_.pick(1, 6); piece > 0 || left != 0; --piece) {
      if (piece == 1) piece = left == 0 ? 1 : 2;
      const bool takes = left != 0 && draw_.chance(60);
      const bool sends = !last && draw_.chance(60);
      if (draw_.chance(20)) add(i, work(draw_.pick(1, 9)).vector);
      Instruction what = random_move(draw_, draw_.pick(1, 12), pairs_);
      if (takes) {
        const std::uint32_t words = draw_.chance(30) ? left : draw_.pick(1, left);
        do {
          what = taking(draw_, color(i - 1), words, made_.params, pairs_);
          if (sends) what.to = on_fabric(color(i));
        } while (words_taken(what, made_.params) != words);
        left -= words;
      } else if (sends) {
        what.to = on_fabric(color(i));
      }
      if (what.to.kind == Operand::Kind::fabric) coming_ += words_sent(what, made_.params);
      add(i, what);
    }
  }

  void add(std::size_t i, const Instruction& what) {
    made_.program.cores[place(i)].tasks.front().steps.push_back(run(what));
  }

  Draw draw_;
  TaskCase made_;
  const bool pairs_ = draw_.chance(15);  // some instructions ask for the 64-bit mode
  std::uint32_t coming_ = 0;             // words to the next core of the snake
};

class Shifts {
 public:
  explicit Shifts(std::uint64_t seed) : draw_(seed ^ 0x5000) {
    const bool plane = draw_.chance(50);
    const std::uint32_t columns = draw_.pick(2, plane ? 4 : 9);
    made_ = empty_case(draw_, columns, plane ? draw_.pick(2, 4) : 1);
    if (draw_.chance(15)) return;
    made_.params.core.fabric_words_per_issue = 1;
    made_.params.core.sched = Sched::ut_first;
    if (draw_.chance(70)) made_.params.mem = MemoryParams();
    made_.params.router.multicast = Multicast::independent;
    if (draw_.chance(50)) made_.params.router.arbiter = Arbiter::fixed;
    if (draw_.chance(95)) {  // beats of one length
      made_.params.simd.by_rows = false;
      made_.params.mem.write_share = 0.0;
    }
    if (draw_.chance(80)) made_.params.router.link_limit = LinkLimit::link;
  }

  TaskCase make() {
    streams_ = made_.program.rows == 1 ? 1 : 2;
    const std::size_t places = made_.program.cores.size();
    const std::uint32_t rounds = draw_.pick(1, 5);
    for (std::size_t place = 0; place < places; ++place) {
      for (unsigned stream = 0; stream < streams_; ++stream) connect(place, stream);
      made_.program.cores[place].out = {};
    }
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (unsigned stream = 0; stream < streams_; ++stream) shift(stream);
      for (std::size_t place = 0; place < places; ++place) compute(place);
    }
    for (CoreProgram& core : made_.program.cores) {
      for (unsigned color = 0; color < 8; ++color) {
        core.out.push_back({static_cast<Color>(color), static_cast<std::uint8_t>(2 + color / 4)});
        core.in.push_back({static_cast<Color>(color), static_cast<std::uint8_t>(color / 4)});
      }
    }
    make_queues_fit(made_);
    return std::move(made_);
  }

 private:
  /// Of a circle over a line of `count` cores, even places out and odd ones back: who comes after.
  static std::uint32_t after(std::uint32_t at, std::uint32_t count) {
    if (at % 2 == 0) return at + 2 < count ? at + 2 : at + 1 < count ? at + 1 : at - 1;
    return at == 1 ? 0 : at - 2;
  }

  std::uint32_t along(std::size_t place, unsigned stream) const {
    const std::uint32_t columns = made_.program.columns;
    return static_cast<std::uint32_t>(stream == 0 ? place % columns : place / columns);
  }
  std::uint32_t count(unsigned stream) const {
    return stream == 0 ? made_.program.columns : made_.program.rows;
  }
  std::size_t step(unsigned stream) const { return stream == 0 ? 1 : made_.program.columns; }

  Color color(std::size_t place, unsigned stream) const {
    return static_cast<Color>(along(place, stream) % 4 + 4 * stream);
  }

  std::size_t next(std::size_t place, unsigned stream) const {
    const std::uint32_t at = along(place, stream);
    return place - at * step(stream) + after(at, count(stream)) * step(stream);
  }

  void connect(std::size_t place, unsigned stream) {
    const std::size_t to = next(place, stream);
    const bool up = to > place;
    const Port port = stream == 0 ? (up ? kEast : kWest) : (up ? kSouth : kNorth);
    const auto from = static_cast<Port>(opposite(port));
    const Color mine = color(place, stream);
    std::vector<RouterProgram>& routers = made_.program.routers;
    routers[place].routes.push_back({mine, kRamp, bit(port), 0});
    const std::size_t over = up ? place + step(stream) : place - step(stream);
    if (over != to) routers[over].routes.push_back({mine, from, bit(port), 0});
    routers[to].routes.push_back({mine, from, bit(kRamp), 0});
  }

  /// Every core sends, and takes what its neighbour in the circle sends.
  void shift(unsigned stream) {
    const std::size_t places = made_.program.cores.size();
    std::vector<std::uint32_t> words(places);
    for (std::size_t place = 0; place < places; ++place) {
      Instruction what = random_move(draw_, draw_.pick(1, 12), pairs_);
      what.to = on_fabric(color(place, stream));
      what.thread = static_cast<std::uint8_t>(1 + 2 * stream);
      words[next(place, stream)] = words_sent(what, made_.params);
      add(place, what);
    }
    for (std::size_t place = 0; place < places; ++place) {
      std::size_t from = 0;
      while (next(from, stream) != place) ++from;
      Instruction what = taking(draw_, color(from, stream), words[place], made_.params, pairs_);
      what.thread = static_cast<std::uint8_t>(2 + 2 * stream);
      add(place, what);
    }
  }

  /// Work of a core's own, then it waits for some of its threads.
  void compute(std::size_t place) {
    while (draw_.chance(50)) {
      add(place, draw_.chance(40) ? work(draw_.pick(1, 12)).vector : random_local(draw_));
    }
    for (unsigned thread = 1; thread <= 2 * streams_; ++thread) {
      if (draw_.chance(30)) continue;
      Instruction wait;
      wait.thread = static_cast<std::uint8_t>(thread);
      add(place, wait);
    }
  }

  void add(std::size_t place, const Instruction& what) {
    made_.program.cores[place].tasks.front().steps.push_back(run(what));
  }

  Draw draw_;
  TaskCase made_;
  const bool pairs_ = draw_.chance(15);
  unsigned streams_ = 1;
};

}  // namespace

TaskCase random_relays(std::uint64_t seed) { return with_task_costs(Relays(seed).make(), seed); }

TaskCase random_shifts(std::uint64_t seed) { return with_task_costs(Shifts(seed).make(), seed); }

}  // namespace lacuna::wse
