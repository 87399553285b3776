// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/task_stats.hpp"
#include "models/wse/wafer.hpp"
#include "models/wse/wafer_stats.hpp"
#include "sim/machines/result_builder.hpp"
#include "sim/machines/wse/params.hpp"

namespace lacuna {

/// How `execution` is asked of the wafer's engines; no intervals yet.
wse::RunOptions run_options(const WseParams& params, const Execution& execution);

/// The result of an operation of a wafer.
class WaferResult : public ResultBuilder {
 public:
  /// Of so many cores.
  WaferResult(const WseParams& params, const Execution& execution, std::uint64_t cores)
      : ResultBuilder(execution, params.clock, cores), params_(params) {}

  void counted(const wse::WaferStats& stats);
  void counted(const wse::TaskStats& stats);
  using ResultBuilder::counted;

  void rectangle();
  void memory(std::uint64_t bytes, std::uint64_t limit);

  /// Who is who in the event log: injectors feed the first columns.
  void event_names(std::uint32_t rows, std::uint32_t columns, std::uint32_t injectors);

 private:
  const WseParams& params_;
};

}  // namespace lacuna
