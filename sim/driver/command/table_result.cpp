// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/table_result.hpp"

#include <filesystem>
#include <utility>

#include "sim/driver/command/resume.hpp"

namespace lacuna {

TableOutput::TableOutput(const Options& options, std::string workload,
                         const std::vector<std::string>& inputs)
    : options_(options), workload_(std::move(workload)) {
  if (!options.out) return;
  output_.emplace(*options.out, options);
  for (const std::string& file : inputs) {
    if (!std::filesystem::is_regular_file(file)) continue;
    output_->add_input(file);
    inputs_.push_back(file);
  }
}

bool TableOutput::is_finished(const Streams& streams) const {
  return output_ && lacuna::is_finished(*output_, workload_, {}, options_, streams);
}

Journal* TableOutput::journal(std::size_t all, const Streams& streams) {
  if (!output_) return nullptr;
  Journal::Facts facts = facts_of_arguments(options_);
  for (const std::string& file : inputs_) {
    facts.emplace_back("SHA-256 of " + file, hash_of_input(file));
  }
  journal_ = open_journal(output_->target(), facts_of_request(std::move(facts), options_, {}, {}),
                          all, "points", options_, streams.err);
  return journal_.get();
}

void TableOutput::write(const TableResult& result, const Streams& streams) {
  output_->write(output_->header(workload_, {}), result, streams);
  if (journal_) journal_->remove();
}

}  // namespace lacuna
