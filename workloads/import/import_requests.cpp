// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

struct Request {
  std::uint64_t time = 0;
  std::uint64_t prompt = 0;
  std::uint64_t target = 0;
  std::uint64_t cached = 0;
};

Request read_request(const ImportFile& file, const CsvLine& line) {
  constexpr std::uint64_t kMost = 0x7fffffff;
  Request request;
  std::uint64_t* const values[] = {&request.time, &request.prompt,  // NOLINT(*-avoid-c-arrays)
                                   &request.target, &request.cached};
  if (line.cells.size() != std::size(values)) {
    throw_problem({place(file.path, line.number, 1), "E004", "",
                   fmt::format("{} cells", line.cells.size()), "4 cells", ""});
  }
  for (std::size_t i = 0; i < std::size(values); ++i) {
    if (parse_integer(line.cells[i].text, 0, kMost, *values[i]) == IntegerError::none) continue;
    throw_problem({place(file.path, line.number, line.cells[i].column), "E202", "",
                   line.cells[i].text, "a whole number", ""});
  }
  if (request.prompt == 0 || request.cached >= request.prompt) {
    throw_problem({place(file.path, line.number, line.cells[1].column), "E203", "prompt_length",
                   line.cells[1].text, "more than cached_length", ""});
  }
  return request;
}

// Appends the rows of `part`, their ids after "PREFIX.".
void append(const std::string& prefix, const std::string& model, Pairs settings,
            ImportContext& context) {
  settings.emplace_back("heads", "1");
  WorkloadTrace trace = generate_workload(model, settings);
  for (LayerOp& op : trace.ops) {
    op.id = fmt::format("{}.{}", prefix, op.id);
    for (std::string& id : op.depends_on) id = fmt::format("{}.{}", prefix, id);
  }
  context.result.trace.ops.insert(context.result.trace.ops.end(),
                                  std::make_move_iterator(trace.ops.begin()),
                                  std::make_move_iterator(trace.ops.end()));
}

}  // namespace

void import_requests(const ImportFile& file, ImportContext& context, const Pairs& settings) {
  const std::string* model = context.settings().text("model");
  if (model == nullptr) {
    throw RequestError(file.path +
                       ": says how long requests are, not what serves them; give --model");
  }
  for (const char* key : {"part", "tokens", "context", "heads", "same-mask"}) {
    if (context.settings().text(key) != nullptr) {
      throw RequestError(
          fmt::format("--{}: the requests say it themselves, or it is not taken here", key));
    }
  }
  CsvLines lines(file.text);
  CsvLine line;
  bool header = true;
  std::size_t number = 0;
  constexpr std::size_t kMostRows = 1000000;
  while (lines.next(line)) {
    if (line.kind != CsvLine::Kind::cells) continue;
    if (header) {
      header = false;
      continue;
    }
    const Request request = read_request(file, line);
    Pairs prefill = settings;
    prefill.emplace_back("part", "forward");
    prefill.emplace_back("tokens", fmt::format("{}", request.prompt - request.cached));
    append(fmt::format("r{}.prefill", number), *model, prefill, context);
    for (std::uint64_t token = 0; token < request.target; ++token) {
      Pairs decode = settings;
      decode.emplace_back("part", "decode");
      decode.emplace_back("context", fmt::format("{}", request.prompt + token));
      append(fmt::format("r{}.t{}", number, token), *model, decode, context);
      if (context.result.trace.ops.size() > kMostRows) {
        throw_problem({place(file.path, line.number, 1), "E203", "", "more than 1000000 rows",
                       "fewer tokens, or --layers", ""});
      }
    }
    ++number;
  }
  if (number == 0) {
    throw_problem({place(file.path, 1, 1), "E001", "", "no row after the header", "a row", ""});
  }
  context.result.notes.push_back(
      fmt::format("{} requests, one after the other; their times of arrival are not used", number));
}

}  // namespace lacuna
