// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/wse/engine/agenda.hpp"
#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/fabric/router.hpp"
#include "models/wse/pe/core_array.hpp"
#include "models/wse/program/routes.hpp"
#include "models/wse/run_options.hpp"
#include "sim/base/event_log.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// The routers and cores of a wafer as arrays, joined by links, and the rows that step them.
class Mesh final : private RowWaker {
 public:
  Mesh(const RouterParams& router, const Fabric& fabric, ClockDomain& clock,
       const RunOptions& options, EventLog& log);
  ~Mesh() override;

  /// Adds routers and `cores`, which outlive this, as `plan` has them.
  void add(const MeshPlan& plan, CoreArray& cores);
  /// Has the clock step the rows. What has been said to wake with the edge is in it already.
  void start();

  /// A block that words or room at the edge wake.
  void wakes_with_edge(const Clocked& block) { edge_.push_back(&block); }

  /// Nothing is left to do.
  bool done() const {
    return cores_->finished() == cores_->size() && links.words() == 0 &&
           (to_enter == nullptr || *to_enter == 0);
  }
  /// Ends the run in cycle `now` if that is so. The last core to finish takes the last word, unless
  /// some go out at the edge.
  void stop_if_done(Cycle now) const {
    if (done()) clock_.stop(now);
  }

  /// InternalError if a word is left anywhere.
  void check_empty() const;

  Agendas agendas;
  LinkArray links{agendas};
  RouterArray routers;
  const std::uint64_t* to_enter = nullptr;  // words beside the streams that injectors have
  std::function<std::string()> circle;      // who waits for whom if nothing moves, if it is known

 private:
  class Row;

  void wake_row(std::size_t row, Cycle at) override;

  const Fabric& fabric_;
  ClockDomain& clock_;
  const RunOptions options_;
  CoreArray* cores_ = nullptr;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<const Clocked*> edge_;
};

}  // namespace lacuna::wse
