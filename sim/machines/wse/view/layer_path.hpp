// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/wafer.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/report/critical_path.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna {

/// What a page of --view is to have of a program of tasks.
struct TaskView {
  std::uint64_t steps = 0;         // about so many; 0: no page
  std::optional<PathWindow> path;  // a window whose critical path is wanted
};

/// Runs a program once more with records of `window`, which lies in it, and walks back through
/// them.
CriticalPath path_of_tasks(const WseParams& params, const wse::TaskProgram& program,
                           const PathWindow& window, const wse::RunOptions& options);

/// The critical path of a window of a layer, whose stages follow each other. A stage begins when
/// the last core has ended the stage before. The path of a stage is that of the chosen core that
/// ends it last. It goes on in the stage before.
class LayerPath {
 public:
  /// `window` lies in the layer; `params` are referred to.
  LayerPath(const WseParams& params, wse::RunOptions options, const PathWindow& window);

  /// The next stage, each execution of which takes `cycles`.
  void add(const wse::LayerStage& stage, Cycle cycles);

  CriticalPath take() { return std::move(path_); }

 private:
  /// The part of a stage that is walked through, and the place of it.
  struct Chosen {
    wse::LayerPlacement place;
    Cycle cycles = 0;
  };

  PathWindow inside(const wse::LayerStage& stage, const wse::LayerPlacement& place) const;
  std::optional<Chosen> slowest(const wse::LayerStage& stage) const;
  CriticalPath of_part(const wse::LayerStage& stage, const Chosen& chosen, Cycle from,
                       Cycle to) const;
  void append(const CriticalPath& more, const wse::LayerPlacement& place, Cycle behind);
  void append_outside(const char* what, Cycle from, Cycle to);
  std::uint32_t number_of(const std::string& what);

  const WseParams& params_;
  wse::RunOptions options_;
  Cycle before_ = 0;  // of the stages that were added
  CriticalPath path_;
};

}  // namespace lacuna
