// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/tables.hpp"

#include <fmt/format.h>

#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

NamedTable metrics_table(const std::string& name, const std::vector<SystemMetric>& metrics) {
  NamedTable table{name, {"quantity", "value", "unit"}, {}};
  for (const SystemMetric& metric : metrics) {
    table.rows.push_back({metric.name, fmt::format("{}", metric.value), metric.unit});
  }
  return table;
}

NamedTable time_stack_table(const std::string& name, const std::vector<const char*>& uses,
                            const std::vector<std::vector<std::uint64_t>>& ns) {
  NamedTable table{name, {"chip", "use", "ns"}, {}};
  for (std::size_t chip = 0; chip < ns.size(); ++chip) {
    for (std::size_t use = 0; use < uses.size(); ++use) {
      table.rows.push_back(
          {fmt::format("{}", chip), uses[use], fmt::format("{}", ns[chip].at(use))});
    }
  }
  return table;
}

std::uint64_t MemoryOfPlace::total() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.second;
  return sum;
}

NamedTable memory_table(const std::string& name, const std::vector<MemoryOfPlace>& places) {
  NamedTable table{name, {"phase", "chip"}, {}};
  if (!places.empty()) {
    for (const auto& part : places.front().parts) table.columns.emplace_back(part.first);
  }
  table.columns.insert(table.columns.end(), {"total", "capacity"});
  for (const MemoryOfPlace& place : places) {
    std::vector<std::string> cells = {place.phase, place.place};
    for (const auto& part : place.parts) cells.push_back(fmt::format("{}", part.second));
    cells.push_back(fmt::format("{}", place.total()));
    cells.push_back(fmt::format("{}", place.capacity));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string timeline_json(const std::string& process, const std::vector<std::string>& tracks,
                          const std::vector<TimelineBar>& bars) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::string separator;
  const auto add = [&](const std::string& event) {
    text += separator + event;
    separator = ",\n";
  };
  add(fmt::format(R"({{"name":"process_name","ph":"M","pid":0,"args":{{"name":"{}"}}}})", process));
  for (std::size_t track = 0; track < tracks.size(); ++track) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":"{}"}}}})",
                    track, tracks[track]));
  }
  for (const TimelineBar& bar : bars) {
    add(fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                    bar.name, bar.track, static_cast<double>(bar.from) * 1e-3,
                    static_cast<double>(bar.to - bar.from) * 1e-3));
  }
  return text + "\n]}\n";
}

std::string csv_of(const NamedTable& table) {
  std::string text = csv_line(table.columns);
  for (const std::vector<std::string>& row : table.rows) text += csv_line(row);
  return text;
}

}  // namespace lacuna
