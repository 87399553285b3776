// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/machines/wse/program/yaml_program.hpp"
#include "sim/machines/wse/request.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna {

/// What was read back, its numbers by core.
using ReadTexts = std::map<std::string, std::string>;

/// The kernel of a program: a comparison puts what is read back beside what is expected, and its
/// numbers into `texts`.
wse::TaskKernel kernel_of(OwnProgram own,
                          const std::shared_ptr<ReadTexts>& texts = std::make_shared<ReadTexts>());

/// True of a row that runs a program of one's own, whose file is its argument
/// `file`.
bool is_own_program(const WseParams& params, const LayerOp& op);

/// Runs it; other arguments are constants of the program. With values the
/// arrays that it reads back are compared with what it expects, and stand in
/// the notes. Throws as Machine::run(), and RequestError where the text of the
/// program is wrong.
OpResult run_own_program(const WaferRequest& request);

}  // namespace lacuna
