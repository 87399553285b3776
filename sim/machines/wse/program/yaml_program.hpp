// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Elements of a core's memory that are read back after a run.
struct ReadBack {
  std::string name;      // as the program says it
  std::size_t core = 0;  // row-major
  wse::Operand where;
  wse::Element element = wse::Element::fp32;
  std::uint32_t length = 0;
  std::vector<double> expected;  // empty: nothing is said of it
};

/// A program of one's own, as its file says it.
struct OwnProgram {
  wse::TaskProgram program;  // with the memory of cores, if that was asked for
                             // or decides on cycles
  std::uint32_t bytes = 0;   // of the fullest core
  std::vector<ReadBack> read;
};

/// Reads a program (doc/guide/programs.md) for this wafer; `constants` take the
/// place of those of the file. RequestError where the text is wrong, with file,
/// line and column; OutOfMemoryError or UnsupportedError, with line, where this
/// wafer has not what it asks for.
OwnProgram read_program(const std::string& path, const Pairs& constants, const WseParams& params,
                        bool values);

/// The program of this name that ships with traces. Its arrays may lie beyond the memory of a core:
/// who asks says what fits, or asks for cycles alone.
OwnProgram shipped_program(const std::string& name, const Pairs& constants, const WseParams& params,
                           bool values = false);

/// The program's own file and those of its `inputs`, as far as they exist.
std::vector<std::string> files_of_program(const std::string& path);

}  // namespace lacuna
