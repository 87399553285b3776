// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "models/wse/engine/fold.hpp"
#include "models/wse/engine/gradient_lanes.hpp"
#include "models/wse/engine/streaming_lanes.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "tests/support/wse/details.hpp"
#include "tests/support/wse/oracle/streams.hpp"
#include "tests/support/wse/random_streaming.hpp"
#include "tests/support/wse/random_streams.hpp"
#include "tests/support/wse/task_comparison.hpp"

namespace lacuna::wse {
namespace {

constexpr Cycle kPatience = 30000;

/// Where `run` is not what the oracle says. What a way does not give is not compared.
std::string against(const char* name, const WaferOutcome& expected, const WaferOutcome& run) {
  WaferOutcome shown = expected;
  if (run.events.empty()) shown.events.clear();
  std::string where = difference(shown, run);
  if (where.empty() && !run.results.empty() && run.results != expected.results) where = "results";
  if (where.empty() && !run.taken.empty() && run.taken != expected.taken) where = "taken words";
  const bool values = !run.collected.empty() && !run.events.empty();
  if (where.empty() && values && run.collected != expected.collected) where = "collected words";
  return where.empty() ? "" : fmt::format("{}: {}", name, where);
}

/// The rows that stand for all, more of them until the run itself proves that they do.
std::optional<WaferOutcome> folded(const StreamCase& made) {
  const RunOptions options;
  for (std::uint32_t tail = 1; tail < 64; tail *= 2) {
    const FoldPlan plan = plan_fold(made.program, made.params, options, tail);
    if (!plan.refused.empty() || !plan.folds()) return std::nullopt;
    const WaferOutcome small = simulate(made.params, fold(made.program, plan), options);
    if (proves_fold(small, plan)) return unfold(small, plan, made.program, made.params.router);
  }
  return std::nullopt;
}

/// Every way of `event` that takes the case, with its name.
std::vector<std::pair<const char*, WaferOutcome>> faster_ways(const StreamCase& made) {
  std::vector<std::pair<const char*, WaferOutcome>> ways;
  const auto add = [&](const char* name, std::optional<WaferOutcome> outcome) {
    if (outcome) ways.emplace_back(name, std::move(*outcome));
  };
  RunOptions options;
  options.lanes = true;
  if (made.program.gradient) {
    if (!made.program.kernel.activations.empty()) return ways;
    if (auto fold = fold_gradient(made.params, made.program, options)) {
      add("gradient folded", std::move(fold->outcome));
    }
    return ways;
  }
  if (const std::optional<LanesOutcome> lanes =
          stream_in_lanes(made.params, made.program, options)) {
    add("lanes", unfold(lanes->kept, lanes->fold, made.program, made.params.router));
  }
  options.fold = false;
  if (std::optional<LanesOutcome> lanes = stream_in_lanes(made.params, made.program, options)) {
    add("lanes, row for row", std::move(lanes->kept));
  }
  add("folded", folded(made));
  return ways;
}

std::string also_waits(const StreamCase& made) {
  try {
    const WaferOutcome run = simulate(made.params, made.program, RunOptions());
    if (run.cycles + 1000 > kPatience) return "waits";
    return fmt::format("event: ends after {} cycles, the oracle waits", run.cycles);
  } catch (const DeadlockError&) {
    return "waits";
  }
}

}  // namespace

std::string compare_streams(const StreamCase& made, std::uint64_t seed, unsigned& faster) {
  const std::optional<WaferOutcome> expected =
      oracle::run_streams(made.params, made.program, kPatience);
  if (!expected) return also_waits(made);
  RunOptions clocked;
  clocked.engine = Engine::clocked;
  clocked.shuffle = seed;
  clocked.event_log = true;
  clocked.event_scope.kinds = kAllEvents;
  RunOptions event;
  event.event_log = true;
  event.event_scope.kinds = kAllEvents;
  RunOptions modules = event;
  modules.modules = true;
  modules.shuffle = seed;
  std::vector<std::pair<const char*, RunOptions>> plain{{"clocked", clocked}, {"event", event}};
  if (seed % 4 == 0) plain.emplace_back("modules", modules);
  try {
    SameDetails details;
    for (const auto& [name, options] : plain) {
      WaferOutcome run = simulate(made.params, made.program, options);
      if (!details.take(run.events)) return fmt::format("{}: details of the log", name);
      const std::string text = against(name, *expected, run);
      if (!text.empty()) return text;
    }
    for (const auto& [name, run] : faster_ways(made)) {
      ++faster;
      const std::string text = against(name, *expected, run);
      if (!text.empty()) return text;
    }
  } catch (const std::exception& error) {
    return fmt::format("{} (oracle: {} cycles)", error.what(), expected->cycles);
  }
  return "";
}

std::string reduce_streams(StreamCase made, std::uint64_t seed) {
  unsigned faster = 0;
  for (ParameterSet* const set : std::initializer_list<ParameterSet*>{
           &made.params.core, &made.params.queue, &made.params.router}) {
    std::vector<std::array<std::string, 3>> changed;
    set->for_each([&](const std::string& path, const ParamBase& parameter) {
      if (parameter.value_text() != parameter.initial_text()) {
        changed.push_back({path, parameter.initial_text(), parameter.value_text()});
      }
    });
    for (const auto& [path, initial, value] : changed) {
      set->set(path, initial);
      if (!differs(compare_streams(made, seed, faster))) set->set(path, value);
    }
  }
  return fmt::format("seed {}: {}\n{}", seed, compare_streams(made, seed, faster), print(made));
}

}  // namespace lacuna::wse
