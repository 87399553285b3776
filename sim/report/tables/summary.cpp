// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/summary.hpp"

#include <fmt/format.h>

#include "sim/base/ranges.hpp"
#include "sim/report/layers.hpp"

namespace lacuna {

namespace {

const OpResult* first_ok(const std::vector<OpRecord>& ops) {
  const auto* const found = find_where(ops, [](const OpRecord& op) {
    return op.result.status == Status::ok && op.result.units != 0;
  });
  return found == nullptr ? nullptr : &found->result;
}

}  // namespace

std::vector<const SummaryRow*> rows_of_weights(std::vector<const SummaryRow*> rows) {
  const auto holds_none = [](const SummaryRow* row) {
    return row->op != "gemm" && row->op != "spmm";
  };
  if (!all_of(rows, holds_none)) {
    erase_where(rows, holds_none);
  }
  return rows;
}

std::string kernel_text(const SummaryRow& row) {
  const bool both = !row.mode.empty() && !row.residency.empty();
  return row.mode + (both ? ", " : "") + row.residency;
}

std::string shape_text(const SummaryRow& row) {
  if (!row.m) return "";
  std::string text = fmt::format("{}", *row.m);
  for (const auto& side : {row.k, row.n}) {
    if (side) text += fmt::format("x{}", *side);
  }
  return text;
}

std::vector<StackPart> RunRecord::stack() const {
  std::vector<StackPart> sum;
  for (const OpRecord& op : ops) {
    for (const StackPart& part : op.result.stack) {
      find_or_add(sum, is_like(part), {part.layer, part.kind, 0}).cycles += part.cycles;
    }
  }
  sort_all(sum, [](const StackPart& a, const StackPart& b) { return a.layer < b.layer; });
  return sum;
}

std::uint64_t RunRecord::units() const {
  const OpResult* const result = first_ok(ops);
  return result == nullptr ? 0 : result->units + result->idle_units;
}

bool is_interrupted(const Runs& records) {
  return any_of(records,
                [](const RunRecord& record) { return record.total.status == Status::interrupted; });
}

}  // namespace lacuna
