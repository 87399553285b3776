// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/driver/system/times.hpp"
#include "sim/driver/system/wafer_run.hpp"

namespace lacuna {

RowCosts costs_of(const RunRecord& record) {
  RowCosts costs;
  for (const OpRecord& op : record.ops) {
    if (op.result.status != Status::ok) {
      throw UnsupportedError(fmt::format("{}: not simulated, so the system is not", op.row.op_id));
    }
    costs.push_back(cost_of(op));
  }
  return costs;
}

}  // namespace lacuna
