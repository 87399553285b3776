// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

/// Columns and rows of a program.
struct CoreExtent {
  std::uint32_t columns = 1;
  std::uint32_t rows = 1;
};

/// What a core of such a program is made from.
struct CoreMakers {
  const CodeCosts& costs;
  const InferenceParams& params;
};

/// A rectangle of cores: `route` adds the routes of one, `kind` says which do the same, and `write`
/// what.
template <typename Route, typename Kind, typename Write>
TaskProgram plan_cores(const CoreExtent& extent, const CoreMakers& makers, const Route& route,
                       const Kind& kind, const Write& write) {
  TaskBuilder builder(extent.columns, extent.rows);
  SharedRoutines routines(builder);
  std::map<decltype(kind(0U, 0U)), std::uint32_t> known;
  for (std::uint32_t row = 0; row < extent.rows; ++row) {
    for (std::uint32_t column = 0; column < extent.columns; ++column) {
      route(builder, row, column);
      const auto [found, fresh] = known.try_emplace(kind(row, column), 0);
      if (fresh) {
        CoreCode code(makers.costs, makers.params, routines);
        write(code, row, column);
        found->second = builder.add(std::move(code).finish());
      }
      builder.core(builder.place(row, column), found->second);
    }
  }
  return std::move(builder).finish();
}

}  // namespace lacuna::wse
