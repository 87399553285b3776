// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// Groups of columns and what their exchange of results may use.
struct ExchangeShape {
  ColumnGroups groups;
  std::uint32_t parts = 1;  // buses of a group and direction; each has neighbouring senders
  std::vector<std::uint32_t> order;  // of places of a group, as they finish rows; empty: any
  unsigned first_color = 0;          // after those of the weights and of the reduction
};

/// Colors that it takes: buses share those whose columns do not meet.
unsigned exchange_colors(const ColumnGroups& groups, std::uint32_t parts);

/// Buses from which a core takes rows: so many input queues.
unsigned exchange_inputs(const ColumnGroups& groups);

/// Buses from each group to the others, and what each column does; `keeps` are the rows that each
/// column keeps. There are two groups at least.
ExchangePlan plan_exchange(const ExchangeShape& shape, const std::vector<std::uint32_t>& keeps);

/// Adds the routes of the buses to the routers of a row, one for each column.
void add_exchange_routes(const ExchangePlan& plan, std::vector<RouterProgram>& routers);

}  // namespace lacuna::wse
