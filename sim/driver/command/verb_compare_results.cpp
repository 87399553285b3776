// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "sim/base/error.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/result/result_folder.hpp"
#include "sim/report/tables/table_difference.hpp"

namespace lacuna {

int compare_results(const Options& options, const Streams& streams) {
  if (options.subjects.size() < 2) {
    throw RequestError("two result folders or more are needed to compare them; found one");
  }
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
