// SPDX-License-Identifier: Apache-2.0
#include "workloads/import/request_file.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

namespace {

constexpr std::array<const char*, 3> kColumns = {"arrival", "prompt", "output"};
constexpr std::uint64_t kMostTokens = 1U << 24U;
constexpr std::uint64_t kMostSeconds = 1'000'000'000;
constexpr std::size_t kDecimals = 9;

/// "12.5" as nanoseconds.
std::optional<std::uint64_t> nanoseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  std::uint64_t seconds = 0;
  if (parse_integer(text.substr(0, point), 0, kMostSeconds, seconds) != IntegerError::none) {
    return std::nullopt;
  }
  std::uint64_t rest = 0;
  if (point != std::string_view::npos) {
    std::string decimals(text.substr(point + 1));
    if (decimals.empty() || decimals.size() > kDecimals) return std::nullopt;
    decimals.resize(kDecimals, '0');
    if (parse_integer(decimals, 0, kMostSeconds, rest) != IntegerError::none) return std::nullopt;
  }
  return seconds * kMostSeconds + rest;
}

class RequestReader {
 public:
  RequestReader(std::string_view text, const std::string& path) : lines_(text), path_(path) {}

  std::vector<ServingRequest> read() {
    CsvLine line;
    while (lines_.next(line)) {
      if (line.kind != CsvLine::Kind::cells) continue;
      if (!header_) {
        header_ = true;
        check_header(line);
      } else {
        take(line);
      }
    }
    if (!header_) {
      add(1, 1, "E001", "", "no header", "arrival,prompt,output");
    } else if (requests_.empty() && !wrong_) {
      add(1, 1, "E001", "", "no row after the header", "a row");
    }
    problems_.throw_if_any();
    return std::move(requests_);
  }

 private:
  void add(std::size_t line, std::size_t column, const char* code, const char* cell,
           const std::string& found, const std::string& allowed) {
    wrong_ = true;
    problems_.add({place(path_, line, column), code, cell, found, allowed, "", line, column});
  }

  void check_header(const CsvLine& line) {
    bool same = line.cells.size() == kColumns.size();
    for (std::size_t i = 0; same && i < kColumns.size(); ++i) {
      same = line.cells[i].text == kColumns.at(i);
    }
    if (same) return;
    std::string found;
    for (const CsvCell& cell : line.cells) found += (found.empty() ? "" : ",") + cell.text;
    add(line.number, line.cells[0].column, "E004", "", found, "arrival,prompt,output");
    problems_.throw_if_any();  // of other columns nothing can be said
  }

  void take(const CsvLine& line) {
    if (line.cells.size() != kColumns.size()) {
      return add(line.number, line.cells[0].column, "E004", "",
                 fmt::format("{} cells", line.cells.size()), "3 cells");
    }
    ServingRequest request;
    const CsvCell& arrival = line.cells[0];
    if (const auto ns = nanoseconds(arrival.text)) {
      request.arrival_ns = *ns;
      if (*ns < latest_) {
        add(line.number, arrival.column, "E203", kColumns[0], arrival.text,
            "not before the line above: requests stand in the order of their arrival");
      }
      latest_ = *ns;
    } else {
      add(line.number, arrival.column, "E202", kColumns[0], arrival.text,
          "seconds from 0 to 1000000000, with up to 9 decimals");
    }
    request.prompt = tokens(line, 1);
    request.output = tokens(line, 2);
    requests_.push_back(request);
  }

  std::uint32_t tokens(const CsvLine& line, std::size_t column) {
    const CsvCell& cell = line.cells[column];
    std::uint64_t value = 1;
    if (parse_integer(cell.text, 1, kMostTokens, value) != IntegerError::none) {
      add(line.number, cell.column, "E202", kColumns.at(column), cell.text,
          fmt::format("a whole number of tokens from 1 to {}", kMostTokens));
    }
    return static_cast<std::uint32_t>(value);
  }

  CsvLines lines_;
  const std::string& path_;
  bool header_ = false;
  bool wrong_ = false;
  std::uint64_t latest_ = 0;
  std::vector<ServingRequest> requests_;
  ProblemList problems_;
};

}  // namespace

std::vector<ServingRequest> read_requests(std::string_view text, const std::string& path) {
  return RequestReader(text, path).read();
}

}  // namespace lacuna
