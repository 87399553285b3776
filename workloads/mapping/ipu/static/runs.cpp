// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/runs.hpp"

#include <algorithm>

#include "models/sparsity/mask.hpp"
#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// Turns "which things does run r use" into "which runs use thing t".
RunUses invert(const std::vector<StaticRuns::Run>& runs, const std::vector<std::uint32_t>& ids,
               std::uint32_t StaticRuns::Run::*first, std::uint32_t StaticRuns::Run::*count,
               std::uint32_t things) {
  RunUses result;
  result.first.assign(things + std::size_t{1}, 0);
  for (const std::uint32_t id : ids) ++result.first[id + std::size_t{1}];
  for (std::size_t t = 0; t < things; ++t) result.first[t + 1] += result.first[t];
  result.uses.resize(ids.size());
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    for (std::uint32_t slot = 0; slot < runs[r].*count; ++slot) {
      result.uses[next[ids[runs[r].*first + slot]]++] = {r, slot};
    }
  }
  return result;
}

}  // namespace

BandedNonzeros::BandedNonzeros(const Mask& mask, const StaticPlan& plan) {
  // Columns behind the last band are empty.
  std::vector<std::uint32_t> band_of(mask.grid_cols(), 0);
  band_begin.assign(plan.bands.size() + 1, 0);
  for (std::uint32_t band = 0; band < plan.bands.size(); ++band) {
    band_begin[band + 1] = band_begin[band] + plan.bands[band].nonzeros;
    for (std::uint32_t i = plan.bands[band].begin; i < plan.bands[band].end; ++i) {
      band_of[plan.column_order[i]] = band;
    }
  }
  rows.resize(mask.blocks());
  columns.resize(mask.blocks());
  std::vector<std::uint64_t> next(band_begin.begin(), band_begin.end() - 1);
  for (std::uint32_t row = 0; row < mask.grid_rows(); ++row) {
    for (std::uint64_t i = mask.offsets[row]; i < mask.offsets[row + 1]; ++i) {
      const std::uint64_t place = next[band_of[mask.columns[i]]]++;
      rows[place] = row;
      columns[place] = mask.columns[i];
    }
  }
}

StaticRuns::StaticRuns(const Mask& mask, const StaticPlan& plan, const BandedNonzeros& nonzeros,
                       unsigned tiles) {
  cut(plan, nonzeros, mask.blocks(), tiles);
  find_rows(nonzeros);
  find_columns(nonzeros, mask.grid_cols());
  of_row = invert(runs, row_ids, &Run::first_row, &Run::rows, mask.grid_rows());
  of_column = invert(runs, column_ids, &Run::first_column, &Run::columns, mask.grid_cols());
}

void StaticRuns::cut(const StaticPlan& plan, const BandedNonzeros& nonzeros, std::uint64_t total,
                     unsigned tiles) {
  const std::vector<unsigned> of_bands = tiles_of_bands(plan.bands, total, tiles);
  for (std::size_t band = 0; band < of_bands.size(); ++band) {
    const std::uint64_t end = nonzeros.band_begin[band + 1];
    const std::uint64_t share = ceil_div(end - nonzeros.band_begin[band], of_bands[band]);
    std::uint64_t begin = nonzeros.band_begin[band];
    for (unsigned tile = 0; tile < of_bands[band]; ++tile) {
      Run run;
      run.begin = begin;
      run.end = begin = std::min(end, begin + share);
      runs.push_back(run);
    }
  }
}

void StaticRuns::find_rows(const BandedNonzeros& nonzeros) {
  for (Run& run : runs) {
    run.first_row = static_cast<std::uint32_t>(row_ids.size());
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
      if (i == run.begin || nonzeros.rows[i] != row_ids.back()) {
        row_ids.push_back(nonzeros.rows[i]);
        row_counts.push_back(0);
      }
      ++row_counts.back();
    }
    run.rows = static_cast<std::uint32_t>(row_ids.size()) - run.first_row;
  }
}

void StaticRuns::find_columns(const BandedNonzeros& nonzeros, std::uint32_t grid_columns) {
  constexpr std::uint32_t kNobody = 0xffffffffU;
  std::vector<std::uint32_t> seen_by(grid_columns, kNobody);
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    Run& run = runs[r];
    run.first_column = static_cast<std::uint32_t>(column_ids.size());
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
      const std::uint32_t column = nonzeros.columns[i];
      if (seen_by[column] == r) continue;
      seen_by[column] = r;
      column_ids.push_back(column);
    }
    std::sort(column_ids.begin() + run.first_column, column_ids.end());
    run.columns = static_cast<std::uint32_t>(column_ids.size()) - run.first_column;
  }
}

}  // namespace lacuna::ipu
