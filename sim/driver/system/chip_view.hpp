// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "models/system/simulation.hpp"
#include "sim/driver/system/job.hpp"
#include "sim/report/unit_series.hpp"

namespace lacuna {

/// What each of `columns` x `rows` chips did in a run of `program`, whose segments have events: a
/// step between two moments at which a chip begins something else; of long programs steps of equal
/// length, and if their segments are too many one for each run of a segment, which the series
/// says. Chip r * columns + c is at row r and column c.
UnitSeries chip_series(const system::Program& program, const system::ProgramResult& run,
                       std::uint32_t columns, std::uint32_t rows);

/// The same of a training step: a replica in each row, its chips in the order of the pipeline;
/// replicas of one chip are laid out as a rectangle.
UnitSeries training_series(const system::TrainingParams& training, const TrainingResult& result);

/// What a page has of it, in the form of pack().
std::string training_page(const std::string& title, const system::TrainingParams& training,
                          const TrainingResult& result);

}  // namespace lacuna
