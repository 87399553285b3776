// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/random_streaming.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sim/base/random.hpp"
#include "tests/support/wse/random_links.hpp"

namespace lacuna::wse {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_.bounded(high - low + 1));
  }
  bool one_in(std::uint32_t n) { return in(1, n) == 1; }

 private:
  Random random_;
};

std::vector<std::uint32_t> draw_tokens(Draw& draw, Rows rows) {
  const std::uint32_t count = draw.in(4, 16);
  std::vector<std::uint32_t> tokens(count, draw.in(1, 40));
  if (rows == Rows::remainder) {
    std::fill_n(tokens.begin(), draw.in(1, count - 1), tokens[0] + 1);
  } else if (rows == Rows::unequal) {
    std::fill_n(tokens.begin(), draw.in(1, count - 1), tokens[0] + draw.in(1, 80));
  } else if (rows == Rows::random_blocks) {
    for (std::uint32_t r = 1; r < count; ++r) {
      tokens[r] = draw.one_in(4) ? draw.in(1, 40) : tokens[r - 1];
    }
  }
  return tokens;
}

void draw_params(Draw& draw, HardwareParams& params) {
  params.core.dispatch = draw.in(0, 8);
  params.core.cmd_cycles = draw.in(0, 8);
  params.core.dispatch_overlap = !draw.one_in(4);
  params.core.sched = static_cast<Sched>(draw.in(0, 2));
  params.core.fabric_words_per_issue = draw.in(1, 2);
  const unsigned weights = draw.in(1, 8);
  unsigned sums_in = draw.in(1, 8);
  const unsigned sums_out = draw.in(2, 8);
  params.router.entries = draw.in(1, 3);
  params.router.hop = draw.in(1, 2);
  params.router.ramp = draw.in(1, 7);
  params.router.multicast = static_cast<Multicast>(draw.in(0, 1));
  params.router.arbiter = static_cast<Arbiter>(draw.in(0, 1));
  // The two words of a beat must find room in queue and ramp.
  if (sums_in + params.router.ramp - 1 < params.core.fabric_words_per_issue) sums_in = 2;
  params.queue.in = fmt::format("6,6,{},{}", weights, sums_in);
  params.queue.out = fmt::format("2,2,{}", sums_out);
}

}  // namespace

StreamingScenario random_scenario(std::uint64_t seed, Rows rows) {
  Draw draw(stream_seed(seed, "streaming"));
  StreamingScenario scenario;
  scenario.columns = draw.one_in(12) ? 1 : draw.in(2, 9);
  scenario.tokens = draw_tokens(draw, rows);
  draw_params(draw, scenario.params);
  draw_link_rule(seed, scenario.params.router);
  draw_turn(seed, scenario.params.router);
  draw_slots(seed, scenario.params.core);
  scenario.lookahead = draw.in(1, 8);
  scenario.simd = 1U << draw.in(1, 3);
  scenario.beats_that_add.least = draw.one_in(4) ? 2 : 1;
  scenario.form = static_cast<StreamForm>(draw.in(0, 3));
  if (draw.one_in(4)) scenario.stalls = draw.in(1, 8);
  if (scenario.form == StreamForm::indexed && draw.one_in(3)) scenario.held = draw.in(1, 6);
  const std::uint32_t steps = draw.in(3, 16);
  const std::uint32_t most = draw.in(0, 12);
  const std::uint32_t empty_column = draw.in(0, scenario.columns);  // the last: none
  for (std::uint32_t s = 0; s < steps; ++s) {
    scenario.final_column.push_back(draw.in(0, scenario.columns - 1));
    const bool empty_row = draw.one_in(6);
    for (std::uint32_t c = 0; c < scenario.columns; ++c) {
      const std::uint32_t count = draw.in(0, most);
      scenario.counts.push_back(empty_row || c == empty_column ? 0 : count);
    }
  }
  if (!draw.one_in(3)) scenario.rate = {draw.in(3, 10 * scenario.columns), 10};
  scenario.int8 = scenario.form == StreamForm::packed && draw.one_in(2);
  Draw filter(stream_seed(seed, "filter"));
  if (filter.one_in(4)) scenario.scan_seed = filter.in(1, 1000);
  if (filter.one_in(4)) scenario.zero_seed = filter.in(1, 1000);
  return scenario;
}

StreamingScenario random_reduction(std::uint64_t seed, Rows rows) {
  StreamingScenario scenario = random_scenario(seed, rows);
  Draw draw(stream_seed(seed, "reduction"));
  scenario.reduce = static_cast<Reduce>(draw.in(0, 3));
  scenario.gather_cycles = draw.one_in(3) ? 2 : 1;
  scenario.input_queues = draw.in(4, 8);
  const auto count = static_cast<std::uint32_t>(scenario.tokens.size());
  if (draw.one_in(2)) return scenario;
  // Words enter in a row, from which those with more tokens are not farther.
  scenario.entry = draw.in(1, count - 1);
  if (rows != Rows::remainder) return scenario;
  std::sort(scenario.tokens.begin(), scenario.tokens.end());
  std::vector<std::uint32_t> tokens(count);
  std::vector<std::uint32_t> nearest(count);
  std::iota(nearest.begin(), nearest.end(), 0U);
  std::stable_sort(nearest.begin(), nearest.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto distance = [&](std::uint32_t r) {
      return std::max(r, scenario.entry) - std::min(r, scenario.entry);
    };
    return distance(a) < distance(b);
  });
  for (std::uint32_t i = 0; i < count; ++i) tokens[nearest[i]] = scenario.tokens[count - 1 - i];
  scenario.tokens = tokens;
  return scenario;
}

std::string describe(const StreamingScenario& s) {
  const HardwareParams& p = s.params;
  return fmt::format(
      "reduce {} queues {} gather {} entry {} int8 {} columns {} tokens {} steps {} lookahead {} "
      "simd {} "
      "beat {} "
      "form {} "
      "stalls {} held {} rate "
      "{}/{} dispatch {} cmd {} "
      "overlap {} sched {} words {} queues {} {} {} entries {} hop {} ramp {} multicast {} arbiter "
      "{} finals {} counts {}",
      static_cast<int>(s.reduce), s.input_queues, s.gather_cycles, s.entry, s.int8, s.columns,
      fmt::join(s.tokens, ","), s.final_column.size(), s.lookahead, s.simd, s.beats_that_add.least,
      static_cast<int>(s.form), s.stalls, s.held, s.rate.words, s.rate.per, p.core.dispatch.value(),
      p.core.cmd_cycles.value(), p.core.dispatch_overlap.value(), p.core.sched.value_text(),
      p.core.fabric_words_per_issue.value(), p.queue.stream(), p.queue.sums_in(),
      p.queue.sums_out(), p.router.entries.value(), p.router.hop.value(), p.router.ramp.value(),
      p.router.multicast.value_text(), p.router.arbiter.value_text(),
      fmt::join(s.final_column, ","), fmt::join(s.counts, ","));
}

namespace {

std::string text(const Event& event) {
  return fmt::format("cycle {} unit {} {} {}", event.cycle, event.unit,
                     event_kind_names()[event.kind], event.argument);
}

std::string event_difference(const std::vector<Event>& expected, const std::vector<Event>& found) {
  const std::size_t size = std::min(expected.size(), found.size());
  for (std::size_t i = 0; i < size; ++i) {
    if (!(expected[i] == found[i])) {
      return fmt::format("event {}: expected {}, found {}", i, text(expected[i]), text(found[i]));
    }
  }
  if (expected.size() == found.size()) return "";
  return fmt::format("{} events expected, {} found", expected.size(), found.size());
}

std::string text(const CoreCounters& c) {
  return fmt::format("cycles {} weights {} sent {} received {} tallies {} in use {} end {}",
                     fmt::join(c.cycles, ","), c.weights, c.sent, c.received,
                     fmt::join(c.tallies, ","), c.buffers_in_use, c.end);
}

std::string text(const RouterCounters& r) {
  return fmt::format("sent {} stalls {} closures {}", fmt::join(r.sent, ","),
                     fmt::join(r.stalls, ","), r.closures);
}

std::string text(const InjectorCounters& i) {
  return fmt::format("words {} zeros {} no_token {} closed {} scanning {} done {}", i.words,
                     i.zeros, i.no_token, i.closed, i.scanning, i.done);
}

template <class Counters>
std::string first_difference(const char* what, const std::vector<Counters>& expected,
                             const std::vector<Counters>& found) {
  if (expected.size() != found.size()) return fmt::format("number of {}s", what);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(expected[i] == found[i])) {
      return fmt::format("{} {}: expected {}, found {}", what, i, text(expected[i]),
                         text(found[i]));
    }
  }
  return "";
}

}  // namespace

std::string difference(const WaferOutcome& expected, const WaferOutcome& found) {
  for (const std::string& where :
       {event_difference(expected.events, found.events),
        expected.cycles == found.cycles
            ? std::string()
            : fmt::format("cycles: expected {}, found {}", expected.cycles, found.cycles),
        first_difference("core", expected.cores, found.cores),
        first_difference("router", expected.routers, found.routers),
        first_difference("injector", expected.injectors, found.injectors)}) {
    if (!where.empty()) return where;
  }
  return "";
}

}  // namespace lacuna::wse
