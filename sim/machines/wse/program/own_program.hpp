// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/machines/wse/request.hpp"

namespace lacuna {

/// True of a row that runs a program of one's own, whose file is its argument
/// `file`.
bool is_own_program(const WseParams& params, const LayerOp& op);

/// Runs it; other arguments are constants of the program. With values the
/// arrays that it reads back are compared with what it expects, and stand in
/// the notes. Throws as Machine::run(), and RequestError where the text of the
/// program is wrong.
OpResult run_own_program(const WaferRequest& request);

}  // namespace lacuna
