// SPDX-License-Identifier: Apache-2.0
#include "sim/report/why_csv.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "sim/report/tables/csv_files.hpp"

namespace lacuna {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string rows_of(const RunRecord& record) {
  std::string csv;
  const auto row = [&](const std::string& part, std::size_t step, const WhyStep& each) {
    csv += csv_line({fmt::format("{}", record.run), record.machine, record.pattern, part,
                     fmt::format("{}", step), each.cause, each.kind, number(each.cycles),
                     number(each.faster), number(each.dense_cycles), number(zeros_gain(each)),
                     replay_words(each.settings)});
  };
  for (const WhyStep& each : record.why->work) row("work", 0, each);
  for (std::size_t i = 0; i < record.why->ladder.size(); ++i) {
    row("ladder", i, record.why->ladder[i]);
  }
  for (const WhyAlone& each : record.why->alone) {
    if (!(each.cycles > 0)) continue;
    WhyStep step;
    step.cause = each.cause;
    step.kind = "cost";
    step.settings = each.settings;
    step.cycles = each.cycles;
    step.faster = each.faster;
    row(each.not_run.empty() ? "alone" : "alone, by its stack", 0, step);
  }
  return csv;
}

}  // namespace

std::string why_csv(const std::vector<RunRecord>& records) {
  std::string csv;
  for (const RunRecord& record : records) {
    if (record.why) csv += rows_of(record);
  }
  if (csv.empty()) return csv;
  return csv_line({"run", "machine", "pattern", "part", "step", "cause", "kind", "cycles", "faster",
                   "dense_cycles", "zeros_gain", "settings"}) +
         csv;
}

}  // namespace lacuna
