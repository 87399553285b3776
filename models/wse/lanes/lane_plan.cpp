// SPDX-License-Identifier: Apache-2.0
#include "models/wse/lanes/lane_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/wse/engine/tasks/queue_use.hpp"
#include "models/wse/fabric/lane_limits.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/pe/dispatch.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::wse::lanes {
namespace {

constexpr unsigned kMostTags = 7;  // words of a queue whose words carry commands,
constexpr unsigned kMostOut = 8;   // and of one that they leave a core by
constexpr unsigned kMostWords = 100;
constexpr unsigned kMostLatency = 7;

class Planner {
 public:
  Planner(const TaskParams& params, const TaskProgram& program, LanePlan& plan)
      : params_(params), shapes_(params.router), program_(program), plan_(plan) {}

  void plan() {
    if (!program_.memory.empty()) refuse("values");
    plan_.columns = program_.columns;
    plan_.rows = program_.rows;
    check_hardware();
    deal_classes();
    write_routers();
    write_codes();
    find_slots();
    check_choices();
    find_uses();
    check_ways();
    find_rooms();
  }

 private:
  void check_hardware() const {
    const std::string why = reason_against_alike(params_.router);
    if (!why.empty()) refuse(why);
    const Cycle longest = Dispatch(params_.core).longest();
    if (std::max(longest, Cycle{params_.task.completion}) > kMostWords) refuse("a long dispatch");
    if (shapes_.longest() > kMostLatency || shapes_.link().capacity > kMostWords) {
      refuse("long links or deep buffers");
    }
  }

  /// What is no matter where nothing competes and nothing is copied.
  void check_choices() const {
    const std::string why = reason_against_lanes(params_.router);
    if (why.empty()) return;
    if (plan_.needs.contested != 0) refuse(why);
    for (int s = 0; s < plan_.needs.slots; ++s) {
      if (plan_.needs.slot[s].several) refuse(why);
    }
  }

  bool turns(const Route& route) const {
    for (unsigned port = 0; port < kPorts; ++port) {
      if ((route.to & bit(port)) != 0 && shapes_.turn(route.from, port) != 0) return true;
    }
    return false;
  }

  using Meetings = std::set<std::pair<unsigned, unsigned>>;

  /// Colors that meet in a buffer or queue of a router, or of which one has a switch.
  static void find_meetings(const RouterProgram& router, Meetings& meet) {
    const auto switched = [&](const Route& route) {
      return route.position != 0 ||
             std::any_of(router.rules.begin(), router.rules.end(),
                         [&](const auto& rule) { return rule.color == route.color; });
    };
    for (const Route& a : router.routes) {
      for (const Route& b : router.routes) {
        const bool both =
            a.from == b.from || (a.to & b.to & bit(kRamp)) != 0 || switched(a) || switched(b);
        if (a.color == b.color || !both) continue;
        meet.emplace(static_cast<unsigned>(a.color), static_cast<unsigned>(b.color));
      }
    }
  }

  /// Colors that meet are of different classes.
  void deal_classes() {
    Meetings meet;
    std::set<unsigned> colors;
    for (const RouterProgram& router : program_.routers) {
      if (!router.filters.empty()) refuse("filters");
      for (const Route& route : router.routes) {
        if (turns(route)) refuse("a latency of turns");
        colors.insert(static_cast<unsigned>(route.color));
      }
      find_meetings(router, meet);
    }
    plan_.names.class_of.fill(-1);
    for (const unsigned color : colors) {
      std::set<int> taken;
      for (const unsigned other : colors) {
        if (meet.count({color, other}) != 0) taken.insert(plan_.names.class_of.at(other));
      }
      int cls = 0;
      while (taken.count(cls) != 0) ++cls;
      if (cls == kMostClasses) refuse("more colors in a router than there are classes");
      plan_.names.class_of.at(color) = cls;
      plan_.needs.classes = std::max(plan_.needs.classes, cls + 1);
    }
  }

  int class_of(Color color) const {
    return plan_.names.class_of.at(static_cast<std::size_t>(color));
  }

  void write_routers() {
    for (const RouterProgram& router : program_.routers) {
      std::array<ColorUse, kMostClasses> uses;
      for (const Route& route : router.routes) {
        ColorUse& use = uses.at(static_cast<std::size_t>(class_of(route.color)));
        use.color.at(route.from) = static_cast<int>(route.color);
        use.to.at(route.from).at(route.position) = route.to;
        if ((route.to & bit(kRamp)) != 0) use.down = static_cast<int>(route.color);
        use.positions = std::max<std::uint8_t>(use.positions, route.position + 1U);
      }
      for (const RouterProgram::Rule& rule : router.rules) {
        if (class_of(rule.color) < 0) continue;
        ColorUse& use = uses.at(static_cast<std::size_t>(class_of(rule.color)));
        use.ring = rule.ring;
        use.pop = rule.pop;
      }
      plan_.routers.push_back(uses);
    }
  }

  void write_codes() {
    std::set<unsigned> threads;
    for (const CoreProgram& core : program_.cores) {
      if (!core.fifos.empty()) refuse("FIFOs in memory");
      for (const Task& task : core.tasks) {
        for (const Step& step : task.steps) {
          if (step.kind == Step::Kind::vector && step.vector.thread != 0) {
            threads.insert(step.vector.thread);
          }
        }
      }
    }
    for (const unsigned thread : threads) {
      plan_.names.context_of.at(thread) = static_cast<std::uint8_t>(plan_.needs.contexts++);
    }
    for (const CoreProgram& core : program_.cores) {
      Code code;
      for (const Task& task : core.tasks) code.tasks.push_back(code_of(task));
      plan_.codes.push_back(std::move(code));
    }
    find_triggers();
  }

  std::shared_ptr<const TaskCode> code_of(const Task& task) {
    std::shared_ptr<const TaskCode>& known = code_of_task_[&task];
    if (known) return known;
    TaskCode code = write_code(params_, program_.routines, plan_.names, task);
    auto& alike = shared_[hash_of(code)];
    const auto found = std::find_if(alike.begin(), alike.end(),
                                    [&](const auto& other) { return same(*other, code); });
    if (found != alike.end()) return known = *found;
    alike.push_back(std::make_shared<const TaskCode>(std::move(code)));
    return known = alike.back();
  }

  static std::uint64_t hash_of(const TaskCode& code) {
    std::uint64_t hash = code.ops.size();
    for (const Op& op : code.ops) {
      hash =
          mix(hash ^ (op.count | std::uint64_t{op.extra} << 32U | std::uint64_t{op.takes} << 40U |
                      std::uint64_t{op.sends} << 48U | std::uint64_t{op.context} << 56U));
    }
    return hash;
  }

  /// Classes whose words may start tasks, and those of which some are commands for tasks.
  void find_triggers() {
    bool commanded = false;
    for (const auto& [hash, alike] : shared_) {
      for (const auto& task : alike) {
        if (task->kind == Task::Kind::data) plan_.needs.triggers |= 1U << task->cls;
        commanded = commanded || task->kind == Task::Kind::control;
        for (const Op& op : task->ops) told_ |= op.control ? op.sends : 0U;
      }
    }
    if (commanded) plan_.needs.triggers |= told_;
  }

  using Slots = std::map<std::pair<int, unsigned>, Slot>;       // by class and port
  using Paths = std::set<std::tuple<int, unsigned, unsigned>>;  // class, port and way

  static void add_ways(const ColorUse& use, int cls, Slots& slots, Paths& paths) {
    for (unsigned from = 0; from < kPorts; ++from) {
      PortSet all = 0;
      bool several = false;
      for (const PortSet to : use.to.at(from)) {
        all = static_cast<PortSet>(all | to);
        several = several || (to & (to - 1U)) != 0;
      }
      if (all == 0) continue;
      Slot& slot = slots[{cls, from}];
      slot.port = static_cast<std::uint8_t>(from);
      slot.cls = static_cast<std::uint8_t>(cls);
      slot.several = slot.several || several;
      for (unsigned port = 0; port < kPorts; ++port) {
        if ((all & bit(port)) != 0) paths.emplace(cls, from, port);
      }
    }
  }

  /// What competes for a port, too.
  void find_slots() {
    Slots slots;
    Paths paths;
    std::array<bool, kMostClasses> switched{};
    for (const auto& router : plan_.routers) {
      for (int c = 0; c < kMostClasses; ++c) {
        const ColorUse& use = router.at(static_cast<std::size_t>(c));
        switched.at(static_cast<std::size_t>(c)) |= use.positions > 1;
        add_ways(use, c, slots, paths);
      }
      find_contests(router);
    }
    Shape& needs = plan_.needs;
    if (slots.size() > kMostSlots || paths.size() > kMostPaths) refuse("many buffers or ways");
    for (auto& [key, slot] : slots) {
      slot.switched = switched.at(slot.cls) || (told_ >> slot.cls & 1U) != 0;
      needs.slot[needs.slots++] = slot;
    }
    for (const auto& [cls, from, port] : paths) {
      Path& path = needs.path[needs.paths++];
      path.slot = static_cast<std::uint8_t>(slot_at(needs, static_cast<int>(from), cls));
      path.port = static_cast<std::uint8_t>(port);
    }
    for (int s = 0; s < needs.slots; ++s) {
      if (!needs.slot[s].switched) continue;
      tagged_ |= 1U << needs.slot[s].cls;
      if (std::max(shapes_.link().capacity, shapes_.ramp_up().capacity) > kMostTags) {
        refuse("deep buffers of words with commands");
      }
    }
  }

  /// The most heads of a color that can want a port at once.
  static unsigned heads_for(const ColorUse& use, unsigned port) {
    unsigned most = 0;
    unsigned open_at_once = 0;  // one color, or several without switches
    for (unsigned position = 0; position < 4; ++position) {
      unsigned open = 0;
      unsigned inputs = 0;
      for (const auto& from : use.to) {
        open += (from.at(position) & bit(port)) != 0 ? 1 : 0;
        inputs += from.at(position) != 0 ? 1 : 0;
      }
      most = std::max(most, open);
      open_at_once = std::max(open_at_once, inputs);
    }
    // a head that waits keeps its way while another moves the switch
    return use.positions > 1 && open_at_once > 1 && most != 0 ? 2 : most;
  }

  /// Ports that two heads can want: of different colors, or of one color at a position.
  void find_contests(const std::array<ColorUse, kMostClasses>& router) {
    for (unsigned port = 0; port < kPorts; ++port) {
      unsigned wanted = 0;
      for (const ColorUse& use : router) wanted += heads_for(use, port);
      if (wanted > 1) plan_.needs.contested |= 1U << port;
    }
  }

  void find_uses() {
    std::set<std::tuple<int, int, bool>> uses;
    for (const Code& code : plan_.codes) {
      for (const auto& task : code.tasks) {
        for (const Op& op : task->ops) {
          for (int c = 0; c < kMostClasses; ++c) {
            if ((op.takes >> c & 1U) != 0) uses.emplace(op.context, c, false);
            if ((op.sends >> c & 1U) != 0) uses.emplace(op.context, c, true);
          }
        }
      }
    }
    Shape& needs = plan_.needs;
    if (uses.size() > kMostUses) refuse("many streams of threads");
    for (const auto& [context, cls, out] : uses) {
      needs.use[needs.uses++] = {static_cast<std::uint8_t>(context), static_cast<std::uint8_t>(cls),
                                 out};
    }
  }

  /// Units say where a program is wrong: words go where they are taken, cores use what is there.
  void check_ways() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known;
    for (std::size_t place = 0; place < program_.core_of.size(); ++place) {
      const std::uint32_t number = program_.router_of[place];
      for (unsigned port = 0; port < kRamp; ++port) {
        const std::optional<std::size_t> next = program_.neighbour(place, port);
        const std::uint32_t other = next ? program_.router_of[*next] : kNobody;
        bool& fits = known.try_emplace({number * 4 + port, other}, false).first->second;
        fits = fits || leads(number, port, other);
        if (!fits) refuse("a route that leads nowhere");
      }
    }
  }
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  /// What goes out at a port of a router comes in at the next, and what comes in has a router
  /// there.
  bool leads(std::uint32_t number, unsigned port, std::uint32_t other) const {
    for (const Route& route : program_.routers[number].routes) {
      if (static_cast<unsigned>(route.from) == port && other == kNobody) return false;
      if ((route.to & bit(port)) == 0) continue;
      if (other == kNobody) return false;
      const auto& routes = program_.routers[other].routes;
      const bool taken = std::any_of(routes.begin(), routes.end(), [&](const Route& next) {
        return next.color == route.color && static_cast<unsigned>(next.from) == opposite(port);
      });
      if (!taken) return false;
    }
    return true;
  }

  void find_rooms() {
    for (std::size_t place = 0; place < program_.core_of.size(); ++place) {
      const std::uint32_t core = program_.core_of[place];
      const std::uint32_t router = program_.router_of[place];
      const auto [found, fresh] = plan_.rooms.try_emplace({core, router});
      if (fresh) find_rooms(program_.cores[core], plan_.routers[router], found->second);
      if (fresh) check_streams(plan_.codes[core], found->second);
    }
  }
  void find_rooms(const CoreProgram& core, const std::array<ColorUse, kMostClasses>& router,
                  Rooms& rooms) const {
    const std::vector<unsigned> in = params_.queue.in_depths();
    const std::vector<unsigned> out = params_.queue.out_depths();
    std::set<unsigned> used;
    for (std::size_t c = 0; c < kMostClasses; ++c) {
      const ColorUse& use = router.at(c);
      for (unsigned port = 0; port < kPorts; ++port) {
        PortSet all = 0;
        for (const PortSet to : use.to.at(port)) all = static_cast<PortSet>(all | to);
        if ((all & bit(kRamp)) == 0) continue;
        const unsigned from = in_queue(core, static_cast<Color>(use.color.at(port)));
        if (from >= in.size()) refuse("a queue that is not there");
        rooms.in.at(c) = room(shapes_.ramp_down(in[from]).capacity, kMostWords);
      }
      if (use.color[kRamp] < 0) continue;
      const unsigned to = out_queue(core, static_cast<Color>(use.color[kRamp]));
      if (to >= out.size()) refuse("a queue that is not there");
      if (!used.insert(to).second) refuse("a queue of several colors");
      const bool tagged = (tagged_ >> c & 1U) != 0;
      rooms.out.at(c) = room(QueueShapes::output(out[to]).capacity, tagged ? kMostOut : kMostWords);
    }
  }
  static std::uint8_t room(unsigned words, unsigned most) {
    if (words > most) refuse("a deep queue");
    return static_cast<std::uint8_t>(words);
  }
  static void check_streams(const Code& code, const Rooms& rooms) {
    unsigned takes = 0;
    unsigned sends = 0;
    for (const auto& task : code.tasks) {
      for (const Op& op : task->ops) takes |= op.takes, sends |= op.sends;
    }
    for (std::size_t c = 0; c < kMostClasses; ++c) {
      const bool none = ((takes >> c & 1U) != 0 && rooms.in.at(c) == 0) ||
                        ((sends >> c & 1U) != 0 && rooms.out.at(c) == 0);
      if (none) refuse("a color that does not come to a core");
    }
  }

  const TaskParams& params_;
  const QueueShapes shapes_;
  const TaskProgram& program_;
  LanePlan& plan_;
  unsigned told_ = 0;    // classes of which some words are commands for tasks,
  unsigned tagged_ = 0;  // and of which some carry or are commands
  std::unordered_map<const Task*, std::shared_ptr<const TaskCode>> code_of_task_;
  std::unordered_map<std::uint64_t, std::vector<std::shared_ptr<const TaskCode>>> shared_;
};

}  // namespace

std::string plan_lanes(const TaskParams& params, const TaskProgram& program, LanePlan& plan) {
  try {
    Planner(params, program, plan).plan();
  } catch (const Refused& refused) {
    return refused.why;
  }
  return "";
}

}  // namespace lacuna::wse::lanes
