// SPDX-License-Identifier: Apache-2.0
#include "sim/report/why_csv.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "sim/report/tables/csv_files.hpp"

namespace lacuna {
namespace {

std::string rows_of(std::uint64_t run, const std::string& machine, const std::string& pattern,
                    const Why& why) {
  std::string csv;
  const auto row = [&](const std::string& part, std::size_t step, const WhyStep& each) {
    csv += csv_row(run, machine, pattern, part, step, each.cause, each.kind, each.time, each.faster,
                   each.dense_time, zeros_gain(each), replay_words(each.settings));
  };
  for (const WhyStep& each : why.work) row("work", 0, each);
  for (std::size_t i = 0; i < why.ladder.size(); ++i) row("ladder", i, why.ladder[i]);
  for (const WhyAlone& each : why.alone) {
    if (!(each.time > 0)) continue;
    WhyStep step;
    step.cause = each.cause;
    step.kind = "cost";
    step.settings = each.settings;
    step.time = each.time;
    step.faster = each.faster;
    row(each.not_run.empty() ? "alone" : "alone, by its stack", 0, step);
  }
  return csv;
}

std::string head_of(const std::string& unit) {
  const std::string time = unit == "cycles" ? unit : "time_" + unit;
  return csv_line({"run", "machine", "pattern", "part", "step", "cause", "kind", time, "faster",
                   "dense_" + time, "zeros_gain", "settings"});
}

}  // namespace

std::string why_csv(const Answer& answer) {
  std::string csv;
  for (const AnswerCause& each : answer.causes) {
    csv += rows_of(each.run->run, each.run->machine, each.run->pattern, each.why());
  }
  return csv.empty() ? csv : head_of(answer.causes.front().why().unit) + csv;
}

std::string why_csv(const std::string& machine, const std::string& pattern, const Why& why) {
  return head_of(why.unit) + rows_of(0, machine, pattern, why);
}

}  // namespace lacuna
