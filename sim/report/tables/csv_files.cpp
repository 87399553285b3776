// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/csv_files.hpp"

#include <fmt/format.h>

#include <boost/tokenizer.hpp>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "sim/base/ranges.hpp"
#include "sim/base/replaced.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

void append_cell(std::string& line, const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    line += cell;
    return;
  }
  line += '"' + replaced(cell, "\"", "\"\"") + '"';
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

std::string summary_csv(const Runs& records) {
  std::vector<std::string> header = summary_columns();
  if (!records.empty()) {
    append(header, records[0].varying);
  }
  std::string text = csv_line(header);
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) text += csv_line(summary_cells(op.row));
    text += csv_line(summary_cells(record.total));
  }
  return text;
}

std::string statistics_csv(const Runs& records) {
  std::string text = csv_line({"run", "op_id", "path", "name", "unit", "value"});
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const StatEntry& entry : op.result.statistics) {
        text += csv_row(record.run, op.row.op_id, entry.path, entry.name, entry.unit, entry.value);
      }
    }
  }
  return text;
}

std::string cycle_stack_csv(const Runs& records) {
  std::string text = csv_line({"run", "op_id", "units", "cycles", "layer", "kind", "unit_cycles"});
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      for (const StackPart& part : op.result.stack) {
        text += csv_row(record.run, op.row.op_id, op.result.units, op.result.cycles,
                        layer_name(part.layer), part.kind, part.cycles);
      }
    }
  }
  return text;
}

std::string events_csv(const Runs& records) {
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

std::vector<std::vector<std::string>> csv_rows(const std::string& csv) {
  const boost::escaped_list_separator<char> rfc4180(std::string(), ",", "\"");
  std::istringstream lines(csv);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    const boost::tokenizer<boost::escaped_list_separator<char>> cells(line, rfc4180);
    rows.emplace_back(cells.begin(), cells.end());
  }
  return rows;
}

bool is_number(const std::string& cell) {
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  return !cell.empty() && *end == '\0';
}

std::string csv_as_text(const std::string& csv) {
  const std::vector<std::vector<std::string>> rows = csv_rows(csv);
  if (rows.size() < 2) return "";
  TextTable table;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    const auto align = is_number(rows[1][i]) ? TextTable::Align::right : TextTable::Align::left;
    table.column(rows[0][i], "", align);
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::vector<std::string> cells;
    for (const std::string& cell : rows[i]) {
      const bool is_real =
          is_number(cell) && cell.find_first_not_of("0123456789") != std::string::npos;
      cells.push_back(is_real ? four_digits(std::stod(cell)) : cell);
    }
    table.row(std::move(cells));
  }
  return table.text();
}

}  // namespace lacuna
