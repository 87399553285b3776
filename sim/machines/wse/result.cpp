// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/result.hpp"

#include <fmt/format.h>

#include "models/wse/program/event_kinds.hpp"
#include "models/wse/program/event_units.hpp"
#include "sim/machines/wse/counts.hpp"

namespace lacuna {

wse::RunOptions run_options(const WseParams& params, const Execution& execution) {
  wse::RunOptions options;
  options.engine = execution.engine;
  options.shuffle = execution.shuffle;
  options.jitter = execution.jitter;
  options.jitter_seed = execution.jitter_seed;
  options.event_log = execution.event_log;
  if (execution.event_details) options.event_scope.kinds = wse::kAllEvents;
  options.modules = params.wafer.modules == wse::Modules::per_core;
  options.fold = execution.fold;
  return options;
}

void WaferResult::counted(const wse::WaferStats& stats) {
  counted(wafer_counts(stats), stats.sram_read_bytes, stats.sram_write_bytes);
  group(stats.limits);
}

void WaferResult::counted(const wse::TaskStats& stats) {
  counted(task_counts(stats), stats.sram_read_bytes, stats.sram_write_bytes);
}

void WaferResult::rectangle() {
  note("rectangle", fmt::format("{} columns x {} rows of {} cores", params_.wafer.columns.value(),
                                params_.wafer.rows.value(), params_.wafer.cores.value()));
}

void WaferResult::memory(std::uint64_t bytes, std::uint64_t limit) {
  note("memory per core", fmt::format("{} of {} bytes", bytes, limit));
}

void WaferResult::event_names(std::uint32_t rows, std::uint32_t columns, std::uint32_t injectors) {
  ResultBuilder::event_names(wse::event_unit_names(rows, columns, injectors),
                             wse::event_kind_names());
}

}  // namespace lacuna
