// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/report/tables/table_difference.hpp"

namespace lacuna {

namespace {

/// Finished results are compared as they are: what would make another run has no place here.
void refuse_other_options(const Options& options) {
  const auto refuse = [](const char* name) {
    throw RequestError(
        fmt::format("{}: goes with a workload; finished results are compared as they are", name));
  };
  if (!options.machines.empty()) refuse("--machine");
  if (!options.settings.empty()) refuse("--set");
  if (!options.patterns.empty()) refuse("--pattern");
  if (options.trace) refuse("--trace");
  if (options.gemm) refuse("--gemm");
  if (options.matrix) refuse("--matrix");
  if (options.density) refuse("--density");
  if (options.block) refuse("--block");
  if (options.seed) refuse("--seed");
  if (options.engine) refuse("--engine");
  if (options.out) refuse("--out");
  if (options.subjects.size() < 2) {
    throw RequestError("two result folders or more are needed to compare them; found one");
  }
}

}  // namespace

int compare_results(const Options& options, const Streams& streams) {
  refuse_other_options(options);
  std::vector<NamedRuns> results;
  for (const std::string& folder : options.subjects) {
    results.push_back({folder, read_result(folder)});
  }
  for (std::size_t i = 1; i < results.size(); ++i) {
    streams.out << difference_text(results[0], results[i]);
  }
  return kDone;
}

}  // namespace lacuna
