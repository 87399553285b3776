// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "sim/base/error.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/import/request_file.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// Appends the rows of `part`, their ids after "PREFIX.".
void append(const std::string& prefix, const std::string& model, Pairs settings,
            ImportContext& context) {
  settings.emplace_back("heads", "1");
  WorkloadTrace trace = generate_workload(model, settings);
  for (LayerOp& op : trace.ops) {
    op.id = fmt::format("{}.{}", prefix, op.id);
    for (std::string& id : op.depends_on) id = fmt::format("{}.{}", prefix, id);
  }
  context.append(std::move(trace));
}

}  // namespace

void import_requests(const ImportFile& file, ImportContext& context) {
  const std::string* model = context.settings.text("model");
  if (model == nullptr) {
    throw RequestError(file.path +
                       ": says how long requests are, not what serves them; give --model");
  }
  for (const char* key : {"part", "tokens", "context", "heads", "same-mask"}) {
    if (context.settings.text(key) != nullptr) {
      refuse_request("--{}: the requests say it themselves, or it is not taken here", key);
    }
  }
  const RequestFile read = read_requests(file.text, file.path);
  constexpr std::size_t kMostRows = 1000000;
  for (std::size_t number = 0; number < read.requests.size(); ++number) {
    const ServingRequest& request = read.requests[number];
    Pairs prefill = context.model_settings();
    prefill.emplace_back("part", "forward");
    prefill.emplace_back("tokens", std::to_string(request.prompt - request.cached));
    append(fmt::format("r{}.prefill", number), *model, prefill, context);
    for (std::uint64_t token = 1; token < request.output; ++token) {
      Pairs decode = context.model_settings();
      decode.emplace_back("part", "decode");
      decode.emplace_back("context", std::to_string(request.prompt + token));
      append(fmt::format("r{}.t{}", number, token), *model, decode, context);
      if (context.result.trace.ops.size() > kMostRows) {
        throw_diagnostic(place(file.path), "E203", "more than 1000000 rows",
                         "fewer tokens, or --layers");
      }
    }
  }
  for (const std::string& note : read.notes) context.note("{}", note);
  context.note(
      "requests follow each other, whenever they arrive; the prompt makes the first token, and "
      "each "
      "step one more");
}

}  // namespace lacuna
