// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/wse/engine/agenda.hpp"
#include "models/wse/engine/tasks/task_mesh.hpp"
#include "models/wse/pe/task_core.hpp"
#include "models/wse/task_outcome.hpp"
#include "models/wse/wafer.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// A rectangle of cores that run tasks. Its units are numbered row by row, router then core of
/// each column. It ends when no core has anything to do and no word is under way.
class TaskWafer : public sc_core::sc_module, private RowWaker {
 public:
  TaskWafer(const sc_core::sc_module_name& name, const TaskParams& params,
            const TaskProgram& program, ClockDomain& clock, const RunOptions& options);
  ~TaskWafer() override;

  /// Accounts for the units asleep when the run ended, and checks that no word is left anywhere.
  void settle(Cycle end);

  /// What has been counted when all cycles before `at` are over, between two cycles of a run.
  TaskOutcome counts_so_far(Cycle at);

  /// Has buffer_histories() tell of the run that follows.
  void keep_histories() { links_.keep_digests(); }
  BufferHistories buffer_histories() const;

  /// True if there is nothing to do from the start on.
  bool done() const { return cores_.idle() == cores_.size() && links_.words() == 0; }

  const TaskCores& cores() const { return cores_; }
  const RouterArray& routers() const { return routers_; }
  const EventLog& log() const { return log_; }

 private:
  class Row;
  class Waits;

  void wake_row(std::size_t row, Cycle at) override;
  std::string waiting_cycle() const;

  ClockDomain& clock_;
  const std::uint32_t columns_;
  const std::uint32_t rows_count_;
  const RunOptions options_;
  EventLog log_;
  Agendas agendas_;
  LinkArray links_{agendas_};
  RouterArray routers_;
  TaskCores cores_;
  std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace lacuna::wse
