// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/command/output.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/journal.hpp"
#include "sim/driver/run/options.hpp"

namespace lacuna {

/// The result folder of a request of tables, if --out asks for one.
class TableOutput {
 public:
  /// RequestError if it cannot be one. `inputs`: what was read, of which files are named in the
  /// result. `options` must live as long.
  TableOutput(const Options& options, std::string workload, const std::vector<std::string>& inputs);

  explicit operator bool() const { return output_.has_value(); }

  /// True, and said, if a resumed request has nothing left to do.
  bool is_finished(const Streams& streams) const;

  /// Of `all` points those that are finished, kept beside the folder until the result is written;
  /// null without a folder.
  Journal* journal(std::size_t all, const Streams& streams);

  /// Writes the result; nothing is left to resume then.
  void write(const TableResult& result, const Streams& streams);

 private:
  const Options& options_;
  std::optional<Output> output_;
  std::string workload_;
  std::vector<std::string> inputs_;  // that are files
  std::unique_ptr<Journal> journal_;
};

}  // namespace lacuna
