// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/study.hpp"

#include <filesystem>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/run/idle_settings_rows.hpp"

namespace lacuna {

Study::Study(StudyPlan plan, std::size_t points, const Options& options, const Streams& streams)
    : plan_(std::move(plan)),
      points_(points),
      options_(options),
      streams_(streams),
      progress_(streams.err, options.quiet, streams.err_is_terminal, points),
      shard_(shard_of(options)) {
  if (!options.out || !plan_.writes || ranks_.is_server()) return;
  output_.emplace(*options.out, options);
  for (const std::string& file : plan_.inputs) output_->add_input(file);
}

bool Study::begin(const std::vector<const Machine*>& machines, std::size_t operations) {
  if (output_ && is_finished(*output_, plan_.name, plan_.workloads, options_, streams_)) {
    return false;
  }
  if (!options_.out) return true;
  journal_ = open_journal(output_ ? output_->target() : std::filesystem::path(*options_.out),
                          facts_of_request(plan_.facts, options_, plan_.workloads, machines),
                          points_, operations, options_, streams_.err);
  return true;
}

std::vector<std::size_t> Study::share_of(const std::vector<std::size_t>* order) const {
  std::vector<std::size_t> share;
  const std::size_t asked = order == nullptr ? points_ : order->size();
  for (std::size_t i = 0; i < asked; ++i) {
    const std::size_t point = order == nullptr ? i : (*order)[i];
    if (shares(point)) share.push_back(point);
  }
  return share;
}

bool Study::ends_as_share(std::size_t kept) const {
  return lacuna::ends_as_share(options_, kept, points_, streams_);
}

PointStudy::PointStudy(StudyPlan plan, const std::vector<Point>& points,
                       const RunSettings& settings, const Options& options, const Streams& streams)
    : Study(std::move(plan), points.size(), options, streams),
      all_(points),
      settings_(settings),
      pricing_(make_pricing(options, streams)),
      masks_(settings.seed),
      how_{settings_, masks_, pricing_, progress_, {job_count(options), &ranks_}} {
  how_.masks_in_children = how_.keep_going = plan_.keep_going;
}

bool PointStudy::begin() {
  if (ranks_.is_server()) {
    serve_points(all_, how_);
    return false;
  }
  const std::size_t operations = points_ == 1 ? all_[0].workload.ops.size() : 0;
  if (!Study::begin(machines_of(all_), operations)) return false;
  how_.journal = journal_.get();
  records_ = kept_records(journal_.get(), points_);
  progress_.skip(count_finished(records_));
  say_what_is_slow(all_, options_, streams_);
  streams_.err << idle_for_rows(all_, options_.settings);
  return true;
}

bool PointStudy::run(const std::vector<std::size_t>* order) {
  const std::vector<std::size_t> share = share_of(order);
  if (run_points(all_, how_, records_, &share)) return true;
  streams_.err << interrupted_text(records_, journal_ != nullptr);
  return false;
}

}  // namespace lacuna
