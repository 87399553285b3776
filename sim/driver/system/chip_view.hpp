// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/system/simulation.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/driver/system/wafer_run.hpp"
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
    std::vector<std::uint64_t> held = {};  // bytes by chip at most; empty: not known
  };
  std::uint32_t chips = 0;
  system::Uses uses;  // of a chip
  std::vector<Part> parts;
  std::vector<Run> order;
  const char* part_is = "segment";  // in words
  const char* parts_are = "segments that are run";
};

/// What the first `chips` chips did, from the events of a run; those of resources are left out.
std::vector<ChipHistory::Span> chip_spans(const std::vector<Event>& events, std::uint32_t chips);

/// The same as steps: a step between two moments at which a chip begins something else; of long
/// histories steps of equal length, and if their parts are too many one for each run of a part,
/// which the series says. Chip r * columns + c is at row r and column c.
UnitSeries history_series(const ChipHistory& history, std::uint32_t columns);

/// Adds a channel of bytes that each chip keeps all the time.
void add_bytes(const char* name, const char* doc, std::vector<std::uint64_t> of_chips,
               UnitSeries& series);

/// What each of `columns` x `rows` chips did in a run of `program`, whose segments have
/// events; and what it held, if `places` says where each of them is in the program's entries.
UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows,
                       const std::vector<std::uint32_t>& places = {});

/// The same of a training step: a replica in each row, its chips in the order of the pipeline;
/// replicas of one chip are laid out as a rectangle.
UnitSeries training_series(const system::TrainingParams& training, const TrainingResult& result);

/// A page of such a series of so many nanoseconds, in the form of pack().
std::string chips_page(const std::string& title, Cycle ns, const UnitSeries& series);

/// Wafers that share a store, in a rectangle: parts are the passes of the first one. The run has
/// events.
UnitSeries wafer_series(const WaferSystemRun& run);

}  // namespace lacuna
