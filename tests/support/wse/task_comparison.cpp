// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/task_comparison.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/details.hpp"
#include "tests/support/wse/oracle/tasks.hpp"
#include "tests/support/wse/random_hardware.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

constexpr Cycle kPatience = 30000;

/// Where `run` is not what the oracle says. `logged` tells whether it has events.
std::string against(const char* name, TaskOutcome expected, const TaskOutcome& run, bool logged) {
  if (!logged) expected.events.clear();
  const std::string where = difference(expected, run);
  if (where.empty()) return "";
  std::string text = fmt::format("{}: {} (oracle first)", name, where);
  if (where == "events") {
    std::size_t i = 0;
    while (i < expected.events.size() && i < run.events.size() &&
           expected.events[i] == run.events[i]) {
      ++i;
    }
    const auto show = [&](const std::vector<Event>& events) {
      if (i >= events.size()) return std::string("none");
      const Event& e = events[i];
      return fmt::format("cycle {} unit {} kind {} argument {}", e.cycle, e.unit, e.kind,
                         e.argument);
    };
    text += fmt::format(": {} and {}", show(expected.events), show(run.events));
  }
  return text;
}

struct Way {
  const char* name;
  RunOptions options;
};

std::vector<Way> ways(std::uint64_t seed) {
  std::vector<Way> ways(4);
  ways[0].name = "clocked";
  ways[0].options.engine = Engine::clocked;
  ways[0].options.shuffle = seed;
  ways[0].options.event_log = true;
  ways[1].name = "event";
  ways[1].options.event_log = true;
  ways[2].name = "event without a log";  // which may run in lanes
  ways[3].name = "modules";
  ways[3].options.modules = true;
  ways[3].options.event_log = true;
  ways[3].options.engine = seed % 2 == 0 ? Engine::event : Engine::clocked;
  ways[3].options.shuffle = seed;
  for (Way& way : ways) way.options.event_scope.kinds = kAllEvents;
  if (seed % 4 != 0) ways.pop_back();
  return ways;
}

/// What the oracle does not end, the engine does not end either, or much later than its end is.
std::string also_waits(const TaskCase& made) {
  try {
    const TaskOutcome run = simulate(made.params, made.program, RunOptions());
    if (run.cycles + 1000 > kPatience) return "waits";
    return fmt::format("event: ends after {} cycles, the oracle waits", run.cycles);
  } catch (const DeadlockError&) {
    return "waits";
  }
}

/// Leaves out one step after the other, while the case still differs.
void drop_steps(TaskCase& made, std::uint64_t seed) {
  for (CoreProgram& core : made.program.cores) {
    for (std::size_t index = 0; index < core.tasks.size(); ++index) {
      Task& task = core.tasks[index];
      for (std::size_t i = task.steps.size(); i-- > 0;) {
        const Step step = task.steps[i];
        task.steps.erase(task.steps.begin() + static_cast<std::ptrdiff_t>(i));
        if (differs(compare_tasks(made, seed))) continue;
        task.steps.insert(task.steps.begin() + static_cast<std::ptrdiff_t>(i), step);
      }
    }
  }
}

/// Gives every parameter its declared value with which the case still differs.
void reset_parameters(TaskCase& made, std::uint64_t seed) {
  for (ParameterSet* const set : std::initializer_list<ParameterSet*>{
           &made.params.core, &made.params.queue, &made.params.router, &made.params.mem,
           &made.params.simd}) {
    std::vector<std::array<std::string, 3>> changed;
    set->for_each([&](const std::string& path, const ParamBase& parameter) {
      if (parameter.value_text() != parameter.initial_text()) {
        changed.push_back({path, parameter.initial_text(), parameter.value_text()});
      }
    });
    for (const auto& [path, initial, value] : changed) {
      set->set(path, initial);
      if (!differs(compare_tasks(made, seed))) set->set(path, value);
    }
  }
}

}  // namespace

std::string compare_tasks(const TaskCase& made, std::uint64_t seed) {
  const std::optional<TaskOutcome> expected =
      oracle::run_tasks(made.params, made.program, kPatience);
  if (!expected) return also_waits(made);
  SameDetails details;
  for (const Way& way : ways(seed)) {
    try {
      TaskOutcome run = simulate(made.params, made.program, way.options);
      if (way.options.event_log && !details.take(run.events)) {
        return fmt::format("{}: details of the log", way.name);
      }
      std::string text = against(way.name, *expected, run, way.options.event_log);
      if (!text.empty()) return text;
    } catch (const std::exception& error) {
      return fmt::format("{}: {} (oracle: {} cycles)", way.name, error.what(), expected->cycles);
    }
  }
  return "";
}

std::string reduce_tasks(TaskCase made, std::uint64_t seed) {
  reset_parameters(made, seed);
  drop_steps(made, seed);
  TaskCase plain = made;
  plain.program.memory.clear();
  if (differs(compare_tasks(plain, seed))) made = std::move(plain);
  return fmt::format("seed {}: {}\n{}", seed, compare_tasks(made, seed), print(made));
}

std::string reduce_random_tasks(std::uint64_t seed) {
  std::uint64_t skip = 0;
  for (unsigned i = 0; i < kMostStreams; ++i) {
    const std::uint64_t more = skip | std::uint64_t{1} << i;
    if (differs(compare_tasks(random_tasks(seed, more), seed))) skip = more;
  }
  return fmt::format("streams left out {:#b}, {}", skip,
                     reduce_tasks(random_tasks(seed, skip), seed));
}

}  // namespace lacuna::wse
