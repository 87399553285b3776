// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace lacuna::wse {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A number of the range "[a, b]": most often the declared one or one of the least, now and then
/// any.
std::uint64_t draw_number(const std::string& limits, const std::string& initial, Draw& draw) {
  const std::vector<std::string> ends = split(limits.substr(1, limits.size() - 2), ',');
  const std::uint64_t least = number(ends.at(0));
  const std::uint64_t most = number(ends.at(1).substr(1));
  const std::uint32_t way = draw.pick(0, 99);
  if (way < 30) return number(initial);
  const std::uint64_t span = most - least;
  if (way < 85) return least + draw.next() % (std::min<std::uint64_t>(span, 4) + 1);
  if (way < 98) return least + draw.next() % (std::min<std::uint64_t>(span, 30) + 1);
  return least + (draw.next() % (span + 1) >> draw.pick(0, 8));
}

std::string draw_depths(std::uint32_t queues, Draw& draw) {
  const std::uint32_t least = draw.pick(1, 2);
  std::string list;
  for (std::uint32_t i = 0; i < queues; ++i) {
    list += (i == 0 ? "" : ",") + std::to_string(draw.pick(least, 8));
  }
  return list;
}

void add_changes(const char* name, const ParameterSet& set, std::string& text) {
  set.for_each([&](const std::string& path, const ParamBase& parameter) {
    if (parameter.value_text() == parameter.initial_text()) return;
    text += fmt::format(" {}.{}={}", name, path, parameter.value_text());
  });
}

}  // namespace

void draw_parameters(ParameterSet& set, Draw& draw) {
  std::vector<std::pair<std::string, std::string>> drawn;
  set.for_each([&](const std::string& path, const ParamBase& parameter) {
    const std::string limits = parameter.limits_text();
    if (limits.empty()) return;
    if (limits.front() == '[') {
      const std::uint64_t value = draw_number(limits, parameter.initial_text(), draw);
      drawn.emplace_back(path, std::to_string(value));
    } else {
      drawn.emplace_back(path, draw.of(split(limits, '|')));
    }
  });
  for (const auto& [path, text] : drawn) set.set(path, text);
}

TaskParams random_task_hardware(Draw& draw) {
  TaskParams params;
  for (ParameterSet* const set : std::initializer_list<ParameterSet*>{
           &params.core, &params.queue, &params.router, &params.mem, &params.simd}) {
    draw_parameters(*set, draw);
  }
  // What waits longer than the oracle's patience is not compared.
  params.router.reconfig = std::min(params.router.reconfig.value(), 2000U);
  // A link passes a word a cycle at most.
  params.router.link_cycles =
      std::max(params.router.link_cycles.value(), params.router.link_words.value());
  params.queue.in = draw_depths(8, draw);
  params.queue.out = draw_depths(6, draw);
  return params;
}

void draw_task_costs(TaskParams& params, std::uint64_t seed) {
  Draw draw(seed);
  draw_parameters(params.task, draw);
}

std::string changed_parameters(const TaskParams& params) {
  std::string text;
  add_changes("core", params.core, text);
  add_changes("queue", params.queue, text);
  add_changes("router", params.router, text);
  add_changes("mem", params.mem, text);
  add_changes("simd", params.simd, text);
  add_changes("task", params.task, text);
  return text;
}

}  // namespace lacuna::wse
