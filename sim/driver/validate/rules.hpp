// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/driver/validate/points.hpp"
#include "sim/driver/validate/runs.hpp"
#include "sim/report/validation_report.hpp"

namespace lacuna {

/// What a point's number is made of. The same rules hold for every point, and each is one row of
/// a table: of systems, of workloads, of metrics, of units.
class ValidationPlan {
 public:
  /// `presets` are the names of machines that can be built. TraceError if the point contradicts
  /// itself, such as a block that does not divide its matrix.
  ValidationPlan(ValidationPoints points, std::vector<std::string> presets);

  const ValidationPoints& points() const { return points_; }

  /// Each simulation once, however many points use it.
  const std::vector<ValidationRun>& runs() const { return runs_; }

  /// The families of all points, each once, in their order.
  std::vector<std::string> families() const;

  /// Leaves out the points whose family does not contain any of `words`, and their runs.
  void keep_families(const std::vector<std::string>& words);

  /// Our numbers beside the published ones; `results` are those of runs(), in their order.
  Outcomes outcomes(const std::vector<ValidationRunResult>& results) const;

 private:
  struct Recipe {
    std::string unsupported;  // why there is nothing to run
    std::string family;
    std::string unread;                 // keys of the point that no rule asks for
    std::vector<std::size_t> runs;      // one, or one for each n
    std::vector<std::size_t> baseline;  // the same, dense; of ratios only
    std::vector<std::uint64_t> times;   // of a whole model: how often each run is executed
    double samples = 0;                 // that a whole model then has worked on
  };

  void plan();
  Recipe recipe_of(const ValidationPoint& point);
  Recipe model_recipe(const ValidationPoint& point, const std::string& machine,
                      const std::string& clock);
  std::size_t run_of(const ValidationRun& run);
  std::optional<LaidOutPoint> laid_out_point(const ValidationPoint& point, const Recipe& recipe,
                                             const std::vector<ValidationRunResult>& results) const;
  ValidationOutcome outcome_of(const ValidationPoint& point, const Recipe& recipe,
                               const std::vector<ValidationRunResult>& results) const;

  ValidationPoints points_;
  std::vector<std::string> presets_;
  std::vector<Recipe> recipes_;  // one for each point
  std::vector<ValidationRun> runs_;
  std::map<std::string, std::size_t> known_;
};

}  // namespace lacuna
