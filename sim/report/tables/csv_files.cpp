// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/csv_files.hpp"

#include <fmt/format.h>

#include <iterator>

namespace lacuna {

namespace {

void append_cell(std::string& line, const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    line += cell;
    return;
  }
  line += '"';
  for (const char c : cell) line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
}

std::string name_of(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : fmt::format("{}", index);
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    append_cell(line, cells[i]);
  }
  return line + '\n';
}

std::string summary_csv(const std::vector<RunRecord>& records) {
  std::vector<std::string> header = summary_columns();
  if (!records.empty()) {
    header.insert(header.end(), records[0].varying.begin(), records[0].varying.end());
  }
  std::string text = csv_line(header);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) text += csv_line(summary_cells(op.row));
    text += csv_line(summary_cells(record.total));
  }
  return text;
}

std::string statistics_csv(const std::vector<RunRecord>& records) {
  std::string text = csv_line({"run", "op_id", "path", "name", "unit", "value"});
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const StatEntry& entry : op.result.statistics) {
        text += csv_line(
            {fmt::format("{}", record.run), op.row.op_id, entry.path, entry.name, entry.unit,
             entry.is_real ? fmt::format("{}", entry.real) : fmt::format("{}", entry.value)});
      }
    }
  }
  return text;
}

std::string cycle_stack_csv(const std::vector<RunRecord>& records) {
  std::string text = csv_line({"run", "op_id", "units", "cycles", "layer", "kind", "unit_cycles"});
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const StackPart& part : op.result.stack) {
        text += csv_line({fmt::format("{}", record.run), op.row.op_id,
                          fmt::format("{}", op.result.units), fmt::format("{}", op.result.cycles),
                          layer_name(part.layer), part.kind, fmt::format("{}", part.cycles)});
      }
    }
  }
  return text;
}

std::string events_csv(const std::vector<RunRecord>& records) {
  std::string text = csv_line({"run", "op_id", "cycle", "unit", "kind", "argument"});
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      const OpResult& result = op.result;
      std::string start = fmt::format("{},", record.run);
      append_cell(start, op.row.op_id);
      // there may be millions: no strings of their own
      for (const Event& event : result.events) {
        fmt::format_to(std::back_inserter(text), "{},{},", start, event.cycle);
        append_cell(text, name_of(result.event_units, event.unit));
        text += ',';
        append_cell(text, name_of(result.event_kinds, event.kind));
        fmt::format_to(std::back_inserter(text), ",{}\n", event.argument);
      }
    }
  }
  return text;
}

}  // namespace lacuna
