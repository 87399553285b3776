// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/api/hidden.hpp"
#include "sim/base/error.hpp"
#include "sim/driver/command/command_line.hpp"
#include "sim/driver/result/result_folder.hpp"

namespace lacuna::api {

namespace {

const RunRecord& record_of(const Result::Hidden& result, std::size_t run) {
  if (run < result.records.size()) return result.records[run];
  throw RequestError(
      fmt::format("there is no run {}; the result has {}, from 0 on", run, result.records.size()));
}

Row row_of(const SummaryRow& row) {
  Row said;
  said.run = row.run;
  said.machine = row.machine;
  said.op_id = row.op_id;
  said.pattern = row.pattern;
  said.mode = row.mode;
  said.status = status_name(row.status);
  said.reason = row.reason;
  said.density = row.density;
  said.cycles = row.cycles;
  said.time_s = row.time_s;
  said.useful_tflops = row.useful_tflops;
  said.speedup_vs_dense = row.speedup_vs_dense;
  said.utilisation = row.utilisation;
  if (row.energy_j) said.energy_j = row.energy_j->nominal;
  return said;
}

}  // namespace

std::size_t Result::runs() const { return hidden_->records.size(); }

std::vector<Row> Result::rows(std::size_t run) const {
  std::vector<Row> rows;
  for (const OpRecord& op : record_of(*hidden_, run).ops) rows.push_back(row_of(op.row));
  return rows;
}

Row Result::total(std::size_t run) const { return row_of(record_of(*hidden_, run).total); }

std::vector<StackPart> Result::stack(std::size_t run) const {
  std::vector<StackPart> parts;
  for (const lacuna::StackPart& part : record_of(*hidden_, run).stack()) {
    parts.push_back({layer_name(part.layer), part.kind, part.cycles});
  }
  return parts;
}

std::vector<Statistic> Result::statistics(std::size_t run) const {
  std::vector<Statistic> all;
  for (const OpRecord& op : record_of(*hidden_, run).ops) {
    for (const StatEntry& entry : op.result.statistics) {
      all.push_back({op.row.op_id, entry.path, entry.name, entry.unit, entry.value, {}});
    }
  }
  return all;
}

std::string Result::summary_json() const {
  return translated([&] { return lacuna::summary_json(hidden_->records); });
}

std::string Result::json() const {
  return translated([&] {
    ResultHeader header;
    header.version = lacuna::build_version();
    header.command = hidden_->command;
    header.workload = hidden_->workload;
    return result_text(header, hidden_->records);
  });
}

Result read(const std::string& folder) {
  return translated([&] {
    const ResultHeader header = read_header(folder);
    return Result(std::make_shared<const Result::Hidden>(
        Result::Hidden{read_result(folder), header.workload, header.command}));
  });
}

}  // namespace lacuna::api
