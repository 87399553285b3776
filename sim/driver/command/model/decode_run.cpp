// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/decode_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/model/decode_words.hpp"
#include "sim/driver/command/model/model_folder.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/inference/model_figures.hpp"

namespace lacuna {

bool asks_for_decode(const Options& options) {
  return options.model || options.decode || options.context || options.blocks ||
         options.block_cores || options.prefill || options.chunk || options.batch ||
         options.requests || options.kv_in || options.kv_out || options.streams || options.layers ||
         options.cache || asks_for_zeros(options);
}

namespace {

void check_machines(const Options& options) {
  if (options.machines.empty()) {
    throw RequestError(
        "--machine: give a wafer, an IPU or a system of IPUs, such as wse3 or pod16");
  }
  if (options.verb == "compare" || options.machines.size() == 1) return;
  throw RequestError(
      fmt::format("--model: found {} machines, allowed is one; lacuna compare takes several",
                  options.machines.size()));
}

}  // namespace

int run_decode(const Options& options, const MachineTable& kinds, const Streams& streams) {
  check_model_options(options);
  const ModelRequest request = read_model_request(options, kinds);
  check_machines(options);
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  const Pricing pricing = make_pricing(options, streams);
  PartCache cache = model_cache(options);
  std::vector<ModelReport> reports;
  ModelFolder more;
  for (const std::string& name : options.machines) {
    ModelExtras extras;
    reports.push_back(run_model(request, name, pricing, streams, cache, extras));
    std::move(extras.pages.begin(), extras.pages.end(), std::back_inserter(more.pages));
    if (extras.csv.empty()) continue;
    const bool one = options.machines.size() == 1;
    more.files.emplace_back(one ? "requests.csv" : fmt::format("requests{}.csv", more.files.size()),
                            extras.csv);
  }
  if (folder) {
    const std::filesystem::path model = *options.model;
    // the name of a shipped model may have a dot
    more.workload =
        std::filesystem::is_regular_file(model) ? model.stem().string() : *options.model;
    more.inputs = {*options.model, options.requests.value_or("")};
    more.figures = model_figures(reports);
    write_model_folder(*folder, options, reports, more);
  }
  const bool compares = options.verb == "compare";
  if (options.json) {
    streams.out << (compares ? all_json(reports) : model_json(reports[0])) << '\n';
  } else {
    streams.out << (compares ? model_comparison(reports) : model_text(reports[0]));
  }
  return kDone;
}

}  // namespace lacuna
