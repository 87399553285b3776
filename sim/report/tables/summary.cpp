// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/summary.hpp"

#include <algorithm>

namespace lacuna {

namespace {

const OpResult* first_ok(const std::vector<OpRecord>& ops) {
  const auto found = std::find_if(ops.begin(), ops.end(), [](const OpRecord& op) {
    return op.result.status == Status::ok && op.result.units != 0;
  });
  return found == ops.end() ? nullptr : &found->result;
}

}  // namespace

std::vector<const SummaryRow*> rows_of_weights(std::vector<const SummaryRow*> rows) {
  const auto holds_none = [](const SummaryRow* row) {
    return row->op != "gemm" && row->op != "spmm";
  };
  if (!std::all_of(rows.begin(), rows.end(), holds_none)) {
    rows.erase(std::remove_if(rows.begin(), rows.end(), holds_none), rows.end());
  }
  return rows;
}

std::string kernel_text(const SummaryRow& row) {
  const bool both = !row.mode.empty() && !row.residency.empty();
  return row.mode + (both ? ", " : "") + row.residency;
}

std::vector<StackPart> RunRecord::stack() const {
  std::vector<StackPart> sum;
  for (const OpRecord& op : ops) {
    for (const StackPart& part : op.result.stack) {
      const auto same = std::find_if(sum.begin(), sum.end(), [&](const StackPart& other) {
        return other.layer == part.layer && other.kind == part.kind;
      });
      if (same == sum.end()) {
        sum.push_back(part);
      } else {
        same->cycles += part.cycles;
      }
    }
  }
  std::stable_sort(sum.begin(), sum.end(),
                   [](const StackPart& a, const StackPart& b) { return a.layer < b.layer; });
  return sum;
}

double RunRecord::peak_tflops() const {
  const OpResult* const result = first_ok(ops);
  return result == nullptr ? 0 : result->peaks.flop_per_cycle * result->clock_ghz * 1e-3;
}

std::uint64_t RunRecord::units() const {
  const OpResult* const result = first_ok(ops);
  return result == nullptr ? 0 : result->units + result->idle_units;
}

bool is_interrupted(const std::vector<RunRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const RunRecord& record) {
    return record.total.status == Status::interrupted;
  });
}

}  // namespace lacuna
