// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/system/simulation.hpp"
#include "sim/base/statistics.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/driver/system/wafer_system_report.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What the chips of a system did, whatever joins them: parts of its time, each run several times
/// in a row.
struct ChipHistory {
  struct Span {
    std::uint32_t chip = 0;
    std::size_t use = 0;
    Cycle begin = 0;
    Cycle end = 0;
  };
  struct Part {
    Cycle ns = 0;
    std::vector<Span> spans;  // of each chip one after the other, since the part began
  };
  struct Run {
    std::size_t part = 0;
    std::uint64_t times = 1;
    std::string name;
  };
  std::uint32_t chips = 0;
  std::vector<const CycleCounter*> uses;  // of a chip
  std::vector<Part> parts;
  std::vector<Run> order;
  const char* part_is = "segment";  // in words
  const char* parts_are = "segments that are run";
};

/// The same as steps: a step between two moments at which a chip begins something else; of long
/// histories steps of equal length, and if their parts are too many one for each run of a part,
/// which the series says. Chip r * columns + c is at row r and column c.
UnitSeries history_series(const ChipHistory& history, std::uint32_t columns);

/// What each of `columns` x `rows` chips did in a run of `program`, whose segments have
/// events.
UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows);

/// The same of a training step: a replica in each row, its chips in the order of the pipeline;
/// replicas of one chip are laid out as a rectangle.
UnitSeries training_series(const system::TrainingParams& training, const TrainingResult& result);

/// Wafers that share a store, in a rectangle: parts are the passes of the first one. The run has
/// events.
UnitSeries wafer_series(const WaferSystemRun& run);

/// What a page has of so many chips in a run of `ns`, in the form of pack().
std::string system_page(const std::string& title, std::uint64_t chips, Cycle ns,
                        const UnitSeries& series);

/// The page of wafer_series().
std::string wafer_system_page(const std::string& title, const WaferSystemRun& run);

}  // namespace lacuna
