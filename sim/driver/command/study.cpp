// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/study.hpp"

#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/run/idle_settings_rows.hpp"

namespace lacuna {

Study::Study(StudyPlan plan, const RunSettings& settings, const Options& options,
             const Streams& streams)
    : plan_(std::move(plan)),
      options_(options),
      streams_(streams),
      settings_(settings),
      pricing_(make_pricing(options, streams)),
      masks_(settings.seed),
      progress_(streams.err, options.quiet, streams.err_is_terminal, plan_.points.size()),
      shard_(shard_of(options)),
      how_{settings_, masks_, pricing_, progress_, job_count(options), &ranks_} {
  how_.masks_in_children = how_.keep_going = plan_.keep_going;
  if (!options.out || ranks_.is_server()) return;
  output_.emplace(*options.out, options);
  if (!plan_.file.empty()) output_->add_input(plan_.file);
}

bool Study::begin() {
  if (ranks_.is_server()) {
    serve_points(plan_.points, how_);
    return false;
  }
  if (output_) {
    if (is_finished(*output_, plan_.name, plan_.workloads, options_, streams_)) return false;
    journal_ = open_journal(
        *output_,
        facts_of_request(plan_.facts, options_, plan_.workloads, machines_of(plan_.points)),
        plan_.points, options_, streams_);
  }
  how_.journal = journal_.get();
  records_ = kept_records(journal_.get(), plan_.points.size());
  progress_.skip(count_finished(records_));
  say_what_is_slow(plan_.points, options_, streams_);
  streams_.err << idle_for_rows(plan_.points, options_.settings);
  return true;
}

bool Study::run(const std::vector<std::size_t>* order) {
  if (run_points(plan_.points, how_, records_, order)) return true;
  streams_.err << interrupted_text(records_, journal_ != nullptr);
  return false;
}

bool Study::run_share() {
  std::vector<std::size_t> share;
  for (std::size_t i = 0; i < plan_.points.size(); ++i) {
    if (shard_.has(i)) share.push_back(i);
  }
  return run(&share);
}

Records records_of_all(const std::vector<Point>& points, const RunSettings& settings,
                       const Pricing& pricing, Journal* journal, const Options& options,
                       const Streams& streams, const std::vector<std::size_t>* order) {
  Records records = kept_records(journal, points.size());
  Progress progress(streams.err, options.quiet, streams.err_is_terminal,
                    points.size() - count_finished(records));
  MaskStore masks(settings.seed);
  const PointRuns how{settings, masks, pricing, progress, job_count(options), nullptr, journal};
  if (run_points(points, how, records, order)) return records;
  throw SimulationError(journal != nullptr
                            ? "interrupted; what is finished is kept: --resume goes on"
                            : "interrupted; nothing is kept without --out");
}

bool Study::ends_as_share() const {
  return lacuna::ends_as_share(options_, count_finished(records_), records_.size(), streams_);
}

}  // namespace lacuna
