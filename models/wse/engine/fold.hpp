// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/wse/program/program.hpp"
#include "models/wse/wafer.hpp"

namespace lacuna::wse {

/// Which rows of a wafer stand for all of them. Neighbouring rows with equal work form a class;
/// of a class the first, one in the middle and the last rows are simulated, because a row sees
/// what the row before it saw, one hop later. Rows count from the one where words enter, to both
/// ends.
struct FoldPlan {
  std::string refused;                        // why every row must be simulated; empty if not
  std::vector<std::uint32_t> kept;            // the rows simulated
  std::vector<std::uint32_t> representative;  // of each row, as index into `kept`
  std::uint32_t classes = 0;
  std::uint32_t entry = 0;       // row where words enter
  std::uint32_t kept_entry = 0;  // as index into `kept`

  /// Row i is simulated by row `stands_for[i]`, which is simulated by itself.
  void keep(const std::vector<std::uint32_t>& stands_for, std::uint32_t entry_row);

  bool folds() const { return kept.size() < representative.size(); }

  /// Hops by which a row is behind its representative.
  std::uint32_t hops_behind(std::size_t row) const {
    const auto distance = [](std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; };
    return distance(static_cast<std::uint32_t>(row), entry) -
           distance(representative[row], kept_entry);
  }
};

/// Every row stands for itself.
FoldPlan no_fold(const Program& program, std::string reason);

/// Why a row in a time of its own, which begins with the first word that can come to it, is not
/// what it is in the wafer's; empty if it is.
std::string reason_against_own_time(const Program& program, const HardwareParams& params,
                                    const RunOptions& options);

/// Of rows whose cores hold elements one by one.
inline constexpr const char* kRowsDiffer = "each row holds non-zeros of its own";

/// Why a row is more than what the row before it was a hop earlier, or a slower one; empty if it is
/// not. Numbers apart.
std::string reason_against_rows(const Program& program, const HardwareParams& params,
                                const RunOptions& options);

/// Checks on the program what makes folding exact: one entry, the same row of all columns, one
/// multicast color, all other traffic within its row, equal work within a class, no choice by age
/// and no clock but the words themselves. Of a class the last `tail` rows are kept, because a
/// slower class below may hold them up.
FoldPlan plan_fold(const Program& program, const HardwareParams& params, const RunOptions& options,
                   std::uint32_t tail = 1);

/// The fold whether it is exact or not: classes by their work alone.
FoldPlan fold_rows(const Program& program, std::uint32_t tail = 1);

/// The program of the kept rows.
Program fold(const Program& program, const FoldPlan& plan);

/// True if the run of the kept rows proves the fold: no copy to the south of a row that stands for
/// others ever met a closed link.
bool proves_fold(const WaferOutcome& folded, const FoldPlan& plan);

/// What a run of all rows would have given, core by core.
/// The first cycle after the last event of a core, and of its router if that carries buses: what
/// no core takes leaves them later.
Cycle end_of(const WaferOutcome& run, std::size_t place, const Program& program);

WaferOutcome unfold(const WaferOutcome& folded, const FoldPlan& plan, const Program& program,
                    const RouterParams& params);

}  // namespace lacuna::wse
