// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <thread>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/command/event_outputs.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/command/simulation.hpp"
#include "sim/driver/command/verbs.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/machines/value_check.hpp"

namespace lacuna {

int check_values(const Runs& records, const Options& options, const Streams& streams) {
  if (!options.values) return kDone;
  std::uint64_t near = 0;
  std::uint64_t lost = 0;
  int status = kDone;
  const char* expected = "the reference product";
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      if (op.result.status != Status::ok) continue;
      const std::string who = fmt::format("{}, {}", record.machine, op.row.op_id);
      if (op.row.op == "program") expected = "what its program expects";
      if (!op.result.values) throw InternalError(who + ": --values, but no product was compared");
      const ValueCheck& values = *op.result.values;
      near += values.finite();
      lost += values.not_finite;
      if (values.sigma > 0 && !options.json) {
        streams.out << fmt::format("\n{}: {}\n", who, describe_values(values));
      }
      if (values.wrong == 0) continue;
      streams.err << fmt::format("lacuna: {}: {} of {} values differ from {}, by {} at most\n", who,
                                 values.wrong, values.compared, expected, values.largest_error);
      status = kCheckFailed;
    }
  }
  if (status != kDone) return status;
  const std::string others = lost == 0 ? "" : fmt::format(", {} are not finite", lost);
  notes(options, streams) << (near + lost == 0
                                  ? "lacuna: --values: nothing says what the results should be, so "
                                    "no value was compared\n"
                                  : fmt::format("lacuna: {} values {} {}{}\n", near,
                                                run_settings(options).execution.sigma > 0
                                                    ? "are near"
                                                    : "equal",
                                                expected, others));
  return status;
}

namespace {

/// The deviation of --values normal:SIGMA; 0 for small integers.
double sigma_of(const std::string& kind) {
  if (kind.empty() || kind == "integer") return 0;
  const std::string normal = "normal:";
  if (kind.rfind(normal, 0) == 0) {
    const auto sigma = parsed_number<double>(kind.substr(normal.size()));
    if (sigma && *sigma >= 1e-30 && *sigma <= 1e30) return *sigma;
    throw refused("--values: found '{}'; allowed: normal:SIGMA with SIGMA from 1e-30 to 1e30",
                  kind);
  }
  const std::string meant = nearest(kind, {"integer", "normal:1"});
  throw refused("--values: found '{}'; allowed: integer, normal:SIGMA{}", kind,
                meant.empty() ? "" : "; did you mean '" + meant + "'?");
}

}  // namespace

std::ostream& notes(const Options& options, const Streams& streams) {
  static std::ostream nowhere(nullptr);
  return options.quiet ? nowhere : streams.err;
}

RunSettings run_settings(const Options& options) {
  RunSettings settings;
  if (options.seed) {
    settings.seed =
        check_count("--seed", *options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  }
  Execution& execution = settings.execution;
  if (options.engine) {
    const bool clocked = check_word("--engine", *options.engine, {"event", "clocked"}) == "clocked";
    execution.engine = clocked ? Engine::clocked : Engine::event;
  }
  if (options.fold) {
    execution.fold = check_word("--fold", *options.fold, {"on", "off"}) == "on";
  }
  execution.values = options.values.has_value();
  if (options.values) execution.sigma = sigma_of(*options.values);
  execution.event_log = needs_events(options);
  execution.interval = interval_of(options);
  execution.event_details = options.timeline;
  execution.view = view_steps_of(options);
  execution.path = view_path_of(options);
  execution.explain = options.explain || options.out;
  return settings;
}

Pricing make_pricing(const Options& options, const Streams& streams) {
  Pricing pricing(config_folder(), options.energy_table);
  if (!pricing.taken_from_shipped().empty()) {
    notes(options, streams) << fmt::format(
        "lacuna: priced as shipped, because '{}' leaves them out: {}\n", *options.energy_table,
        fmt::join(pricing.taken_from_shipped(), ", "));
  }
  return pricing;
}

std::uint64_t seed_count(const Options& options) {
  return options.seeds ? check_count("--seeds", *options.seeds, 1, 10000) : 1;
}

bool depends_on_seed(const WorkloadTrace& workload) {
  return any_of(workload.ops, [](const LayerOp& op) {
    const bool drawn = op.pattern.name != "dense" && op.pattern.name != "file";
    return drawn || (op.x_pattern != "dense" && op.x_pattern != "file");
  });
}

void say_what_is_slow(const std::vector<Point>& points, const Options& options,
                      const Streams& streams) {
  if (options.quiet) return;
  auto say = [&, said = std::set<std::string>()](const std::string& line) mutable {
    if (said.insert(line).second) streams.err << "lacuna: " << line << '\n';
  };
  for (const Point& point : points) {
    for (const std::string& setting : point.machine->slow_settings())
      say(fmt::format("{}: simulated without a shortcut, {}", point.machine->name(), setting));
    for (const LayerOp& op : point.workload.ops)
      if (const std::string text = point.machine->takes_long(op); !text.empty())
        say(fmt::format("{}, {}: {}", point.machine->name(), op.id, text));
  }
}

std::string interrupted_text(const Records& records, bool kept) {
  return fmt::format("lacuna: interrupted; {} of {} points are finished{}\n",
                     count_finished(records), records.size(),
                     kept ? ", and kept: --resume goes on" : "; nothing was kept without --out");
}

std::string interrupted_with_cache(const Options& options) {
  return options.no_cache ? "lacuna: interrupted; nothing is kept with --no-cache\n"
                          : "lacuna: interrupted; simulated parts are kept in the cache, and the "
                            "same request goes on with them\n";
}

std::size_t job_count(const Options& options) {
  if (options.jobs) return check_count("--jobs", *options.jobs, 1, 4096);
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace lacuna
