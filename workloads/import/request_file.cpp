// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/request_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/contains.hpp"
#include "sim/base/parsed_number.hpp"
#include "workloads/import/json_request_lines.hpp"
#include "workloads/import/request_columns.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace {

using Role = RequestColumn::Role;

constexpr std::uint64_t kMostTokens = 1U << 24U;

std::vector<std::string> texts_of(const CsvLine& line) {
  std::vector<std::string> texts;
  for (const CsvCell& cell : line.cells) texts.push_back(cell.text);
  return texts;
}

std::vector<std::string> names_in(std::string_view line) {
  if (!line.empty() && line.front() == '{') return keys_of_json_line(line);
  CsvLines lines(line, separator_of(line));
  CsvLine header;
  return lines.next(header) ? texts_of(header) : std::vector<std::string>{};
}

/// The names of its columns, all or those that it must have.
std::string names_of(const RequestFormat& format, bool all, const char* between) {
  std::vector<std::string> names;
  for (const RequestColumn& column : format.columns) {
    if ((all || column.required) && *column.name != '\0') names.emplace_back(column.name);
  }
  return fmt::format("{}", fmt::join(names, between));
}

std::string known_headers() {
  std::string text;
  for (const RequestFormat& format : request_formats()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", names_of(format, false, ","),
                        format.name);
  }
  return text;
}

std::uint64_t unit_of(Role role) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (role == Role::seconds) return kSecond;
  return role == Role::milliseconds ? kSecond / 1000 : 1;
}

/// A number as other programs write them: rounded to nanoseconds.
bool parse_rounded(std::string_view text, std::uint64_t unit, std::uint64_t& nanoseconds) {
  constexpr double kMost = 1e18;
  const double value = parsed_number<double>(text).value_or(-1);
  const double rounded = std::round(value * static_cast<double>(unit));
  if (!(value >= 0 && rounded <= kMost)) return false;
  nanoseconds = static_cast<std::uint64_t>(rounded);
  return true;
}

class RequestReader {
 public:
  explicit RequestReader(const std::string& path) : problems_(path) {}

  /// Takes the header; TraceError if it is that of no format.
  void begin(const std::vector<std::string>& names, std::size_t line) {
    format_ = find_request_format(names);
    if (format_ == nullptr) {
      const bool none = names.empty();
      problems_.add(line, 1, none ? "E001" : "E101",
                    none ? "no header" : fmt::format("{}", fmt::join(names, ",")), known_headers());
      problems_.throw_if_any();
    }
    for (const std::string& name : names) {
      const RequestColumn* const column = find_named(format_->columns, name);
      if (column == nullptr) {
        problems_.add(
            line, 1, "E102", name,
            fmt::format("the columns of {}: {}", format_->name, names_of(*format_, true, ", ")));
      } else if (contains(columns_, column)) {
        problems_.add(line, 1, "E103", name, "each column once");
      }
      columns_.push_back(column);
    }
    problems_.throw_if_any();
  }

  void take(const CsvLine& line) {
    if (line.cells.size() != columns_.size()) {
      return problems_.add(line.number, line.cells[0].column, "E004",
                           fmt::format("{} cells", line.cells.size()),
                           fmt::format("{} cells", columns_.size()));
    }
    ServingRequest request;
    std::optional<std::uint64_t> sum;
    bool failed = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell cell{line.number, line.cells[i], *columns_[i]};
      const Role role = cell.column.role;
      if (role == Role::prompt) request.prompt = tokens(cell, 1);
      if (role == Role::cached) request.cached = tokens(cell, 0);
      if (role == Role::sum) sum = tokens(cell, 0);
      if (role == Role::output) {
        request.output = tokens(cell, cell.column.may_be_none ? 0 : 1);
        failed = request.output == 0;
      }
      take_arrival(cell, request);
    }
    const std::uint64_t all = std::uint64_t{request.prompt} + request.output;
    if (sum && *sum != all) {
      problems_.add(line.number, 1, "E214", fmt::format("{} tokens in all", *sum),
                    fmt::format("{}, those of prompt and output", all));
    }
    if (request.cached >= request.prompt) {
      problems_.add(line.number, 1, "E203", fmt::format("{} cached tokens", request.cached),
                    fmt::format("fewer than the {} of the prompt", request.prompt));
    }
    if (failed) {
      ++failed_;
    } else {
      file_.requests.push_back(request);
    }
  }

  RequestFile finish() {
    if (file_.requests.empty() && problems_.empty()) {
      problems_.add(1, 1, "E001", "no row after the header", "a row");
    }
    problems_.throw_if_any();
    note();
    return std::move(file_);
  }

 private:
  struct Cell {
    std::size_t line;
    const CsvCell& at;
    const RequestColumn& column;
  };

  void fail(const Cell& cell, const char* code, const std::string& allowed) {
    problems_.add(cell.line, cell.at.column, code, cell.at.text, allowed, cell.column.name);
  }

  bool is_own() const { return format_ == &request_formats().front(); }

  void take_arrival(const Cell& cell, ServingRequest& request) {
    const Role role = cell.column.role;
    if (role == Role::date) {
      std::int64_t moment = 0;
      bool zone = false;
      if (!parse_date(cell.at.text, moment, zone)) {
        return fail(cell, "E202",
                    "a date such as 2023-11-16 18:15:46.6805900, with or without +00:00");
      }
      if (!first_) {
        first_ = moment;
        has_zone_ = zone;
      }
      if (zone != has_zone_) return fail(cell, "E202", "a zone in all dates or in none");
      if (moment < *first_) return fail_early(cell);
      request.arrival_ns = static_cast<std::uint64_t>(moment - *first_);
    } else if (role == Role::seconds || role == Role::milliseconds || role == Role::nanoseconds) {
      const std::uint64_t unit = unit_of(role);
      if (!parse_time(cell.at.text, unit, request.arrival_ns) &&
          (is_own() || !parse_rounded(cell.at.text, unit, request.arrival_ns))) {
        return fail(cell, "E202", "seconds from 0 to 1000000000, with up to 9 decimals");
      }
    } else {
      file_.time_without_unit |= role == Role::unknown_time;
      return;
    }
    file_.has_arrivals = true;
    if (request.arrival_ns < latest_) return fail_early(cell);
    latest_ = request.arrival_ns;
  }

  void fail_early(const Cell& cell) {
    fail(cell, "E203", "not before the line above: requests stand in the order of their arrival");
  }

  std::uint32_t tokens(const Cell& cell, std::uint64_t least) {
    const std::uint64_t most = cell.column.role == Role::sum ? 2 * kMostTokens : kMostTokens;
    const auto value = parse_integer(cell.at.text, least, most);
    if (!value) {
      fail(cell, "E202", fmt::format("a whole number of tokens from {} to {}", least, most));
    }
    return static_cast<std::uint32_t>(value.value_or(least));
  }

  void note() {
    std::vector<std::string> idle;
    for (const RequestColumn* const column : columns_) {
      if (column->role == Role::idle && *column->name != '\0') idle.emplace_back(column->name);
    }
    if (!is_own()) {
      file_.notes.push_back(
          fmt::format("{} in the columns of {}", file_.requests.size(), format_->name));
    }
    if (!idle.empty()) {
      const bool shared = contains(idle, "hash_ids");
      file_.notes.push_back(fmt::format(
          "not used: {}{}", fmt::join(idle, ", "),
          shared ? "; prompts that share a beginning are computed whole, each by itself" : ""));
    }
    if (failed_ != 0) {
      file_.notes.push_back(fmt::format("{} requests without an answer are left out", failed_));
    }
    if (first_) {
      file_.notes.push_back(fmt::format("arrivals are counted from the first one; dates {}",
                                        has_zone_ ? "have their zones" : "say no zone"));
    }
  }

  const RequestFormat* format_ = nullptr;
  std::vector<const RequestColumn*> columns_;
  RequestFile file_;
  Diagnostics problems_;
  std::uint64_t latest_ = 0;
  std::optional<std::int64_t> first_;  // moment of the first request
  bool has_zone_ = false;
  std::size_t failed_ = 0;
};

/// Of a table, whatever writes its lines.
template <class Lines>
RequestFile take_rows(RequestReader& reader, Lines& lines) {
  CsvLine line;
  while (lines.next_cells(line)) reader.take(line);
  return reader.finish();
}

}  // namespace

bool is_request_header(std::string_view line) {
  return find_request_format(names_in(line)) != nullptr;
}

RequestFile read_requests(std::string_view text, const std::string& path) {
  const std::string_view first = first_line(text, false);
  RequestReader reader(path);
  if (!first.empty() && first.front() == '{') {
    JsonLines lines(text, path);
    reader.begin(lines.columns(), 1);
    return take_rows(reader, lines);
  }
  CsvLines lines(text, separator_of(first));
  CsvLine line;
  const bool none = !lines.next_cells(line);
  reader.begin(none ? std::vector<std::string>{} : texts_of(line), none ? 1 : line.number);
  return take_rows(reader, lines);
}

}  // namespace lacuna
