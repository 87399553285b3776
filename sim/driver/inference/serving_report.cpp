// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/serving_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

constexpr double kMs = 1e-6;  // of a nanosecond
constexpr double kSeconds = 1e-9;

double mean(const std::vector<std::uint64_t>& values) {
  double sum = 0;
  for (const std::uint64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

void add_row(const std::string& name, const std::vector<std::uint64_t>& ns, ModelTable& table) {
  if (ns.empty()) return;
  std::vector<double> values = {mean(ns) * kMs};
  for (const double percent : {50.0, 90.0, 95.0, 99.0, 100.0}) {
    values.push_back(static_cast<double>(percentile(ns, percent)) * kMs);
  }
  table.rows.emplace_back(name, values);
}

}  // namespace

void add_serving(const std::vector<ServingRequest>& requests, const ServingResult& result,
                 std::uint32_t slots, ModelReport& report) {
  std::vector<std::uint64_t> waiting;
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> each;  // token after the first
  std::vector<std::uint64_t> whole;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRequest& served = result.requests[i];
    waiting.push_back(served.admitted - served.arrival);
    first.push_back(served.first_token - served.arrival);
    whole.push_back(served.done - served.arrival);
    if (requests[i].output == 1) continue;
    each.push_back((served.done - served.first_token) / (requests[i].output - 1));
  }
  ModelTable table{
      "latencies",
      "of requests",
      {{"mean", "ms"}, {"p50", "ms"}, {"p90", "ms"}, {"p95", "ms"}, {"p99", "ms"}, {"most", "ms"}},
      {}};
  add_row("wait for a slot", waiting, table);
  add_row("time to first token", first, table);
  add_row("time for each token after it", each, table);
  add_row("from arrival to last token", whole, table);
  report.tables.insert(report.tables.begin(), table);
  // from the first arrival on
  const double seconds = static_cast<double>(result.end_ns - result.begin_ns) * kSeconds;
  const auto share = [&](std::uint64_t ns) {
    return 100 * static_cast<double>(ns) * kSeconds / seconds;
  };
  const auto tokens = static_cast<double>(result.output_tokens);
  report.number("requests", static_cast<double>(requests.size()));
  report.number("slots", slots);
  report.number("seconds", seconds, "s");
  report.number("requests_per_s", static_cast<double>(requests.size()) / seconds, "1/s");
  report.number("tokens_per_s", tokens / seconds, "1/s");
  report.number("prompt_tokens", static_cast<double>(result.prompt_tokens));
  report.number("output_tokens", tokens);
  report.number("steps", static_cast<double>(result.steps));
  if (result.steps != 0) {
    report.number(
        "slots_taken",
        100 * static_cast<double>(result.taken_slots) / (static_cast<double>(result.steps) * slots),
        "% of steps");
  }
  report.number("in_prompts", share(result.prompt_ns), "% of time");
  report.number("in_steps", share(result.step_ns), "% of time");
  report.number("idle", share(result.idle_ns()), "% of time");
  report.joules("joules_per_token", result.joules, tokens);
}

std::string serving_csv(const std::vector<ServingRequest>& requests, const ServingResult& result) {
  std::string text = csv_line(
      {"request", "prompt", "output", "arrival_ns", "admitted_ns", "first_token_ns", "done_ns"});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ServedRequest& served = result.requests[i];
    std::vector<std::string> cells;
    for (const std::uint64_t value :
         {std::uint64_t{i}, std::uint64_t{requests[i].prompt}, std::uint64_t{requests[i].output},
          served.arrival, served.admitted, served.first_token, served.done}) {
      cells.push_back(fmt::format("{}", value));
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace lacuna
