// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/point_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/share.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/machines/summary_rows.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna {

namespace {

/// The cells of a row that are known; its density is not if it was the mask that failed.
SummaryRow describe(const LayerOp& op, const Point& point, MaskStore& masks) {
  const Mode mode = point.machine->default_mode();
  try {
    return describe_op(op, masks.mask(op, point.workload), mode);
  } catch (const std::exception&) {
    SummaryRow row = describe_op(op, nullptr, mode);
    row.density.reset();
    return row;
  }
}

/// The record of a point without a result; `describe_row` tells what is known of an operation.
RunRecord record_without_result(const Point& point, const RunSettings& common, Status status,
                                const std::string& reason,
                                const std::function<SummaryRow(const LayerOp&)>& describe_row) {
  const RunSettings& settings = point.settings_or(common);
  RunRecord record = new_record(point, common);
  record.parameters = parameter_values(*point.machine);
  for (const LayerOp& op : point.workload.ops) {
    OpRecord without;
    without.row = describe_row(op);
    without.row.run = point.run;
    without.row.machine = record.machine;
    without.row.engine = record.engine;
    without.row.workload = record.workload;
    without.row.seed = settings.seed;
    without.row.status = without.result.status = status;
    without.row.reason = without.result.reason = reason;
    record.ops.push_back(std::move(without));
  }
  record.total = total_of(record.ops);
  add_varying(record, point);
  return record;
}

/// The record of a point whose process ended without a result.
RunRecord failed_record(const Point& point, const RunSettings& common, const std::string& reason) {
  MaskStore masks(point.settings_or(common).seed);
  return record_without_result(point, common, Status::failed, reason,
                               [&](const LayerOp& op) { return describe(op, point, masks); });
}

/// Power over time is not among what processes and journals pass on: it follows from what is.
void add_power(const Point& point, const Pricing& pricing, RunRecord& record) {
  for (OpRecord& op : record.ops) {
    if (op.result.status != Status::ok || op.result.intervals.each.empty()) continue;
    pricing.price(*point.machine, op);
  }
}

/// What a job says: a whole record, or an operation of several, with its place.
constexpr char kRecord = 'R';
constexpr char kOperation = 'O';

class Runner {
 public:
  Runner(const std::vector<Point>& points, const PointRuns& how, Records* records)
      : points_(points), how_(how), records_(records) {
    std::size_t next = points.size();
    for (const Point& point : points) {
      firsts_.push_back(next);
      next += point.workload.ops.size();
    }
  }

  Jobs jobs(std::vector<std::size_t> order) {
    Jobs jobs;
    jobs.order = std::move(order);
    jobs.name = [this](std::size_t point) { return points_[point].name(); };
    if (!how_.masks_in_children) {
      jobs.prepare = [this](std::size_t point) { make_masks(points_[point]); };
    }
    jobs.work = [this](std::size_t point, const Say& say) { work(point, say); };
    jobs.heard = [this](std::size_t point, const std::string& text) { hear(point, text); };
    jobs.ended = [this](std::size_t point, const JobEnd& end) { finish(point, end); };
    return jobs;
  }

  void run_here(const std::vector<std::size_t>& order) {
    for (const std::size_t i : order) {
      const std::string name = points_[i].name();
      listen_to_shares([&](double share) { how_.progress.part(name, share); });
      (*records_)[i] = run_point(points_[i], how_.settings, how_.masks, how_.pricing);
      listen_to_shares({});
      how_.progress.step(name);
    }
  }

 private:
  void make_masks(const Point& point) {
    const std::uint64_t seed = point.settings_or(how_.settings).seed;
    for (const LayerOp& op : point.workload.ops) how_.masks.mask(op, point.workload, seed);
  }

  void work(std::size_t index, const Say& say) {
    const Point& point = points_[index];
    OpKeeper keeper;
    if (how_.known) {
      keeper.find = [&](std::size_t, const std::string& content) {
        return how_.known(index, content);
      };
    }
    if (how_.journal != nullptr && point.workload.ops.size() > 1) {
      keeper.find = [&](std::size_t place, const std::string&) -> std::optional<OpRecord> {
        const auto found = how_.journal->finished().find(firsts_[index] + place);
        if (found == how_.journal->finished().end()) return std::nullopt;
        return std::move(decode_record(found->second).ops.at(0));
      };
      keeper.add = [&](std::size_t place, const OpRecord& op) {
        RunRecord one = new_record(point, how_.settings);
        one.ops = {op};
        say(fmt::format("{}{}\n{}", kOperation, place, encode_record(one)));
      };
    }
    say(kRecord + encode_record(run_point(point, how_.settings, how_.masks, how_.pricing, keeper)));
  }

  void hear(std::size_t index, const std::string& text) {
    if (text.front() == kRecord) {
      const std::string bytes = text.substr(1);
      keep(index, bytes);
      (*records_)[index] = decode_record(bytes);
      return;
    }
    const std::size_t line = text.find('\n');
    keep(firsts_[index] + std::stoul(text.substr(1, line)), text.substr(line + 1));
  }

  void keep(std::size_t part, const std::string& bytes) const {
    // millions of events take longer to keep than to make again
    constexpr std::size_t kMostBytes = std::size_t{1} << 25U;
    if (how_.journal == nullptr || bytes.size() > kMostBytes) return;
    how_.journal->add(part, bytes);
    InterruptLine::say(InterruptLine::Kept::kept);
  }

  void finish(std::size_t index, const JobEnd& end) {
    if (end.kind == JobEnd::Kind::done) return;
    const bool defect = end.kind == JobEnd::Kind::defect;
    if (end.kind != JobEnd::Kind::failed && !how_.keep_going) {
      // the same request would be refused again
      if (!defect && how_.journal != nullptr) how_.journal->remove();
      end.require_done();
    }
    RunRecord record =
        failed_record(points_[index], how_.settings, defect ? kDefectMark + end.text : end.text);
    keep(index, encode_record(record));
    (*records_)[index] = std::move(record);
  }

  const std::vector<Point>& points_;
  const PointRuns& how_;
  Records* records_;                 // null on a rank that serves
  std::vector<std::size_t> firsts_;  // operation of each point in the journal, behind all points
};

}  // namespace

Records kept_records(const Journal* journal, std::size_t all) {
  Records records(all);
  if (journal == nullptr) return records;
  for (const auto& [index, bytes] : journal->finished()) {
    if (index < all) records[index] = decode_record(bytes);
  }
  return records;
}

std::size_t count_finished(const Records& records) {
  return records.size() -
         static_cast<std::size_t>(std::count(records.begin(), records.end(), std::nullopt));
}

bool run_points(const std::vector<Point>& points, const PointRuns& how, Records& records,
                const std::vector<std::size_t>* order) {
  std::vector<std::size_t> rest;
  const auto add = [&](std::size_t i) {
    if (!records[i]) rest.push_back(i);
  };
  if (order != nullptr) std::for_each(order->begin(), order->end(), add);
  for (std::size_t i = 0; order == nullptr && i < points.size(); ++i) add(i);
  if (how.journal == nullptr) InterruptLine::say(InterruptLine::Kept::lost);
  Runner runner(points, how, &records);
  bool whole = true;
  if (how.here) {
    runner.run_here(rest);
  } else {
    whole = do_jobs(runner.jobs(std::move(rest)), how.workers, how.progress);
  }
  how.progress.clear();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (records[i]) add_power(points[i], how.pricing, *records[i]);
  }
  return whole;
}

void serve_points(const std::vector<Point>& points, const PointRuns& how) {
  Runner runner(points, how, nullptr);
  how.workers.ranks->serve(runner.jobs({}));
}

RunRecord interrupted_record(const Point& point, const RunSettings& settings) {
  const Mode mode = point.machine->default_mode();
  return record_without_result(point, settings, Status::interrupted,
                               "not simulated: the run was interrupted before",
                               [&](const LayerOp& op) {
                                 SummaryRow row = describe_op(op, nullptr, mode);
                                 if (op.pattern.name != "dense") {
                                   row.density.reset();  // that of a mask, which nobody made
                                   row.mode = word(op.mode == Mode::automatic ? mode : op.mode);
                                 }
                                 return row;
                               });
}

}  // namespace lacuna
