// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "sim/driver/verbs.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_show.hpp"

namespace lacuna {

int trace_verb(const Options& options, const Streams& streams) {
  const std::string& path = options.subjects.front();
  std::string text;
  if (options.subverb == "check") {
    text = check_trace(path);
  } else {
    text = show_trace(read_trace(path), run_settings(options).seed);
  }
  streams.out << text << (text.empty() || text.back() != '\n' ? "\n" : "");
  return kDone;
}

}  // namespace lacuna
