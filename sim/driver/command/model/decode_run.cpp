// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/model/decode_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/model/model_request.hpp"
#include "sim/driver/command/model/model_sweep.hpp"
#include "sim/driver/command/table_result.hpp"
#include "sim/driver/inference/model_figures.hpp"
#include "sim/driver/run/progress.hpp"

namespace lacuna {

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
  read_model_request(options, kinds);  // what is wrong for all machines is said before any runs
  check_machines(options);
  std::optional<ResultFolder> folder;
  if (options.out) folder.emplace(*options.out);
  ModelSweep sweep;
  sweep.axes = {"machine"};
  for (const std::string& name : options.machines) sweep.points.push_back({options, name, {name}});
  ModelRuns runs(sweep, options, kinds, streams, true);
  Progress progress(streams.err, options.quiet, streams.err_is_terminal, sweep.points.size());
  if (!runs.run(all_of(sweep), progress)) {
    streams.err << interrupted_with_cache(options);
    return kNotCompleted;
  }
  const std::vector<ModelReport> reports = runs.reports();
  if (folder) {
    TableResult written = runs.result();
    const std::filesystem::path model = *options.model;
    // the name of a shipped model may have a dot
    written.workload = written.view_title =
        std::filesystem::is_regular_file(model) ? model.stem().string() : *options.model;
    written.inputs = {*options.model, options.requests.value_or("")};
    written.figures = model_figures(reports);
    write_table_result(*folder, options, written);
  }
  const bool compares = options.verb == "compare";
  if (options.json) {
    streams.out << (compares ? models_json(reports) : model_json(reports[0])) << '\n';
  } else {
    streams.out << (compares ? model_comparison(reports) : model_text(reports[0]));
  }
  return kDone;
}

}  // namespace lacuna
