// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/static/codelets.hpp"
#include "workloads/mapping/ipu/static/homes.hpp"
#include "workloads/mapping/ipu/static/reduction.hpp"
#include "workloads/mapping/ipu/static/runs.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// Where the regions of a tile's memory begin, in words; the same on every tile.
struct Regions {
  std::uint32_t dense_home = 0;    // the tile's share of the dense operand
  std::uint32_t nonzero_home = 0;  // its share of the non-zeros, if parts share them
  std::uint32_t dense = 0;         // the rows it needs
  std::uint32_t nonzeros = 0;
  std::uint32_t partials = 0;
  std::uint32_t received = 0;  // partials of what it sums
  std::uint32_t sums = 0;      // that are not yet in place
  std::uint32_t output = 0;
  std::uint32_t end = 0;
};

class StaticLowering {
 public:
  StaticLowering(const ChipParams& params, const Target& target, const Types& types,
                 const GemmProblem& problem, const StaticPlan& plan)
      : target_(target),
        types_(types),
        problem_(problem),
        plan_(plan),
        mask_(*problem.mask),
        size_(types.bytes()),
        block_(plan.block),
        n_(plan.padded_n),
        builder_(params),
        codelets_(builder_, target, types, plan.block),
        reduce_(builder_, target, types, types.data),
        nonzeros_(mask_, plan),
        homes_(std::make_shared<const StaticHomes>(target, types, plan.block, n_, mask_.grid_rows(),
                                                   mask_.grid_cols())),
        dense_map_(homes_->inputs()),
        output_map_(homes_->results()),
        nonzero_map_(ceil_div(mask_.blocks() * block_ * block_ * size_, 4),
                     std::uint64_t{std::max(static_grain(types), block_)} * size_ / 4,
                     target.tiles) {}

  LoweredGemm run() {
    make_runs();
    check_worklists();
    lay_out();
    if (problem_.values) place_operands();
    gather();
    multiply();
    reduce();
    finish();
    return std::move(result_);
  }

 private:
  std::uint32_t words(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(elements * size_ / 4);
  }
  const StaticRuns& runs_of(const ColumnPart& part) const { return runs_.at(part.tiles); }
  std::uint64_t segment(const ColumnPart& part) const { return part.columns() * block_; }

  void make_runs();
  std::uint64_t worklist_bytes(unsigned value_bytes) const;
  void check_worklists() const;
  void lay_out();
  void place_operands();
  void gather();
  void gather_dense(const ColumnPart& part);
  void gather_nonzeros();
  void reorder_nonzeros();
  void send_nonzeros(unsigned tile, std::uint64_t cut, std::uint64_t from, std::uint64_t to);
  std::uint64_t first_word(const StaticRuns::Run& run) const {
    return run.begin * block_ * block_ * size_ / 4;
  }
  std::uint64_t end_word(const StaticRuns::Run& run) const {
    return ceil_div(run.end * block_ * block_ * size_, 4);
  }
  void multiply();
  void multiply_part(const ColumnPart& part);
  std::uint32_t vertex_of(const ColumnPart& part, std::uint32_t index);
  std::uint64_t products_outside(const ColumnPart& part, const StaticRuns::Run& run) const;
  SparseProduct product_of(const ColumnPart& part, const StaticRuns::Run& run) const;
  void reduce();
  void finish();
  void copy(unsigned tile, std::uint32_t from, std::uint32_t to, std::uint32_t count);
  std::uint32_t flush_copies(const char* name);

  const Target target_;
  const Types types_;
  const GemmProblem problem_;
  const StaticPlan& plan_;
  const Mask& mask_;
  const unsigned size_;
  const unsigned block_;
  const std::uint64_t n_;
  ProgramBuilder builder_;
  StaticCodelets codelets_;
  ReduceCodelets reduce_;
  BandedNonzeros nonzeros_;
  std::shared_ptr<const StaticHomes> homes_;
  const LinearMap& dense_map_;
  const LinearMap& output_map_;
  LinearMap nonzero_map_;                // in words
  std::map<unsigned, StaticRuns> runs_;  // by tiles of a part
  Regions regions_;
  TransferList transfers_;
  std::map<unsigned, std::vector<LocalCopy>> copies_;
  std::optional<StaticReduction> sums_;
  std::map<std::tuple<unsigned, std::uint64_t, std::uint32_t>, std::uint32_t> vertices_;
  std::vector<Place> places_;
  LoweredGemm result_;
};

void StaticLowering::make_runs() {
  for (const ColumnPart& part : plan_.parts) {
    if (runs_.count(part.tiles) == 0) {
      runs_.emplace(part.tiles, StaticRuns(mask_, plan_, nonzeros_, part.tiles));
    }
  }
  sums_.emplace(target_, types_, plan_, runs_, mask_.grid_rows(), output_map_);
}

/// What a tile has for its workers to read beside `value_bytes` of each non-zero: for elements 16
/// bits that say where its row of the dense operand lies, and for each row; for blocks twice that
/// for each row.
std::uint64_t StaticLowering::worklist_bytes(unsigned value_bytes) const {
  const std::uint64_t headers = block_ == 1 ? 72 : 26;
  const std::uint64_t row = block_ == 1 ? 2 : 4;
  std::uint64_t most = 0;
  for (const auto& [tiles, runs] : runs_) {
    for (const StaticRuns::Run& run : runs.runs) {
      most = std::max(most, run.nonzeros() * (value_bytes + 2) + run.rows * row + headers);
    }
  }
  return most;
}

/// The element-wise codelet reads values and worklists from memory that is not interleaved.
void StaticLowering::check_worklists() const {
  if (block_ != 1) return;
  const std::uint64_t most = worklist_bytes(size_);
  if (most <= target_.plain_bytes) return;
  throw OutOfMemoryError(fmt::format(
      "static sparse {} x {} x {}, {} elements: {} bytes of values and their offsets on a tile "
      "that has {} of memory which is not interleaved",
      mask_.rows, mask_.cols, problem_.n, mask_.blocks(), most, target_.plain_bytes));
}

void StaticLowering::lay_out() {
  std::uint64_t dense = 0;
  std::uint64_t nonzeros = 0;
  std::uint64_t partials = 0;
  for (const ColumnPart& part : plan_.parts) {
    for (const StaticRuns::Run& run : runs_of(part).runs) {
      dense = std::max(dense, run.columns * segment(part));
      nonzeros = std::max(nonzeros, (end_word(run) - first_word(run)) * 4 / size_);
      partials = std::max(partials, run.rows * segment(part));
    }
  }
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t elements) {
    const std::uint64_t begin = next;
    next += ceil_div(elements * size_, 8) * 2;
    return static_cast<std::uint32_t>(begin);
  };
  const bool shared = plan_.parts.size() > 1;
  regions_.dense_home = take(dense_map_.share());
  regions_.nonzero_home = take(shared ? nonzero_map_.share() * 4 / size_ : 0);
  regions_.dense = take(dense);
  regions_.nonzeros = take(nonzeros);
  regions_.partials = take(partials);
  regions_.received = take(sums_->received());
  regions_.sums = take(sums_->sums());
  regions_.output = take(output_map_.share());
  regions_.end = static_cast<std::uint32_t>(next);
  // Rows are dead when the partials of other tiles arrive, and partials when the sums move home.
  const std::uint64_t home = regions_.dense * std::uint64_t{4};
  const std::uint64_t summed = sums_->received() + sums_->sums();
  const std::uint64_t peak =
      std::max({dense + nonzeros + partials, partials + summed + output_map_.share()});
  result_.tile_bytes = home + peak * size_;
  builder_.operands(
      OperandBytes()
          .add(Operand::weight,
               std::uint64_t{regions_.dense - regions_.nonzero_home} * 4 + nonzeros * size_)
          .add(Operand::input, std::uint64_t{regions_.nonzero_home} * 4 + dense * size_)
          .add(Operand::partial, partials * size_)
          .add(Operand::metadata, worklist_bytes(0)));
}

void StaticLowering::place_operands() {
  std::vector<float> dense(std::uint64_t{mask_.grid_cols()} * n_ * block_, 0.0F);
  for (std::uint64_t k = 0; k < problem_.k; ++k) {
    for (std::uint64_t column = 0; column < problem_.n; ++column) {
      const float value = input_value(problem_, k * problem_.n + column);
      dense[(k / block_ * n_ + column) * block_ + k % block_] = value;
    }
  }
  std::vector<float> weights;
  weights.reserve(nonzeros_.rows.size() * block_ * block_);
  for (std::size_t i = 0; i < nonzeros_.rows.size(); ++i) {
    for (std::uint64_t r = 0; r < block_; ++r) {
      for (std::uint64_t c = 0; c < block_; ++c) {
        const std::uint64_t row = nonzeros_.rows[i] * std::uint64_t{block_} + r;
        const std::uint64_t column = nonzeros_.columns[i] * std::uint64_t{block_} + c;
        const bool inside = row < problem_.m && column < problem_.k;
        weights.push_back(inside ? weight_value(problem_, row * problem_.k + column) : 0.0F);
      }
    }
  }
  const auto place = [&](const std::vector<float>& values, TileId tile, std::uint32_t address,
                         std::uint64_t begin, std::uint64_t end) {
    const std::vector<float> part(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                  values.begin() + static_cast<std::ptrdiff_t>(end));
    if (!part.empty()) {
      builder_.program().images.push_back({{tile, address}, pack_words(part, types_.data)});
    }
  };
  dense_map_.for_each(0, dense.size(), [&](unsigned tile, std::uint64_t from, std::uint64_t to) {
    place(dense, tile, regions_.dense_home, from, to);
  });
  const std::uint64_t area = std::uint64_t{block_} * block_;
  const std::uint64_t per_word = 4 / size_;
  if (plan_.parts.size() > 1) {
    nonzero_map_.for_each(0, ceil_div(weights.size(), per_word),
                          [&](unsigned tile, std::uint64_t from, std::uint64_t to) {
                            place(weights, tile, regions_.nonzero_home, from * per_word,
                                  std::min<std::uint64_t>(to * per_word, weights.size()));
                          });
  } else {
    const StaticRuns& runs = runs_of(plan_.parts.front());
    for (std::uint32_t r = 0; r < runs.runs.size(); ++r) {
      place(weights, plan_.parts.front().first_tile + r, regions_.nonzeros,
            runs.runs[r].begin * area, runs.runs[r].end * area);
    }
  }
}

void StaticLowering::copy(unsigned tile, std::uint32_t from, std::uint32_t to,
                          std::uint32_t count) {
  std::vector<LocalCopy>& copies = copies_[tile];
  copies.push_back({from, to, count});
}

/// Puts the copies collected so far into a compute set.
std::uint32_t StaticLowering::flush_copies(const char* name) {
  for (const auto& [tile, copies] : copies_) {
    std::uint64_t bytes = 0;
    for (const LocalCopy& one : copies) bytes += one.words * std::uint64_t{4};
    std::uint32_t function = kNone;
    if (problem_.values) {
      function = builder_.function([list = copies](TileMemory& memory) {
        for (const LocalCopy& one : list) one(memory);
      });
    }
    builder_.work(tile, reduce_.copy_vertex(bytes), function);
  }
  copies_.clear();
  return builder_.compute_set(name);
}

void StaticLowering::gather() {
  transfers_ = {};
  // Before they are computed, the partials have no use for their memory.
  if (target_.lone_pairs) transfers_.scratch = regions_.partials;
  if (target_.short_pairs) transfers_.paired_words = 2;
  for (const ColumnPart& part : plan_.parts) gather_dense(part);
  if (plan_.parts.size() > 1) gather_nonzeros();
  if (block_ == 1 && target_.order_elements && plan_.parts.size() == 1) reorder_nonzeros();
  if (transfers_.scratch) {
    const std::uint32_t end = *transfers_.scratch + transfers_.longest();
    regions_.end = std::max(regions_.end, end);
    result_.tile_bytes = std::max(result_.tile_bytes, end * std::uint64_t{4});
  }
  const std::uint32_t compute = flush_copies("copy of local rows");
  builder_.superstep(compute, builder_.exchange("gather", std::move(transfers_)));
}

/// Each row of the dense operand goes to those tiles of the part that need it.
void StaticLowering::gather_dense(const ColumnPart& part) {
  const StaticRuns& runs = runs_of(part);
  const std::uint64_t width = segment(part);
  for (std::uint32_t k = 0; k < mask_.grid_cols(); ++k) {
    const std::uint64_t row = (k * n_ + part.begin) * block_;
    dense_map_.for_each(row, row + width, [&](unsigned tile, std::uint64_t from, std::uint64_t to) {
      const Place source{tile, regions_.dense_home + words(from - dense_map_.begin(tile))};
      places_.clear();
      for (std::uint32_t u = runs.of_column.first[k]; u < runs.of_column.first[k + 1]; ++u) {
        const RunUse use = runs.of_column.uses[u];
        const Place to_place{part.first_tile + use.run,
                             regions_.dense + words(use.slot * width + from - row)};
        if (to_place.tile == tile) {
          copy(tile, source.address, to_place.address, words(to - from));
        } else {
          places_.push_back(to_place);
        }
      }
      transfers_.add(source, words(to - from), places_.data(), places_.data() + places_.size());
    });
  }
}

/// Elements that stay on their tile are put into the order of the plan there, one by one: they are
/// too small to be copied by words. Where parts share them, the exchange writes them in that order.
void StaticLowering::reorder_nonzeros() {
  const ColumnPart& part = plan_.parts.front();
  const std::vector<StaticRuns::Run>& runs = runs_of(part).runs;
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    if (runs[r].nonzeros() == 0) continue;
    builder_.work(part.first_tile + r, reduce_.reorder_vertex(runs[r].nonzeros()));
  }
}

/// Each run of non-zeros goes to one tile of every part. Parts with other numbers of tiles have
/// other runs, so the non-zeros are cut wherever a run of any part begins or ends; a word that two
/// runs share goes to both.
void StaticLowering::gather_nonzeros() {
  std::vector<std::uint64_t> cuts;
  for (const auto& [tiles, runs] : runs_) {
    for (const StaticRuns::Run& run : runs.runs) {
      cuts.push_back(first_word(run));
      cuts.push_back(end_word(run));
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    nonzero_map_.for_each(cuts[c], cuts[c + 1],
                          [&](unsigned tile, std::uint64_t from, std::uint64_t to) {
                            send_nonzeros(tile, cuts[c], from, to);
                          });
  }
}

/// Sends the words [from, to) of the non-zeros, which lie in the piece that begins at `cut`.
void StaticLowering::send_nonzeros(unsigned tile, std::uint64_t cut, std::uint64_t from,
                                   std::uint64_t to) {
  const auto offset = static_cast<std::uint32_t>(from - nonzero_map_.begin(tile));
  const Place source{tile, regions_.nonzero_home + offset};
  const auto count = static_cast<std::uint32_t>(to - from);
  places_.clear();
  for (const ColumnPart& part : plan_.parts) {
    const std::vector<StaticRuns::Run>& runs = runs_of(part).runs;
    auto run = std::partition_point(runs.begin(), runs.end(),
                                    [&](const StaticRuns::Run& r) { return end_word(r) <= cut; });
    for (; run != runs.end() && first_word(*run) <= cut; ++run) {
      if (run->nonzeros() == 0) continue;
      const auto place = static_cast<std::uint32_t>(from - first_word(*run));
      const Place to_place{part.first_tile + static_cast<TileId>(run - runs.begin()),
                           regions_.nonzeros + place};
      if (to_place.tile == tile) {
        copy(tile, source.address, to_place.address, count);
      } else {
        places_.push_back(to_place);
      }
    }
  }
  transfers_.add(source, count, places_.data(), places_.data() + places_.size());
}

void StaticLowering::multiply() {
  for (const ColumnPart& part : plan_.parts) multiply_part(part);
}

void StaticLowering::multiply_part(const ColumnPart& part) {
  const StaticRuns& runs = runs_of(part);
  for (std::uint32_t r = 0; r < runs.runs.size(); ++r) {
    const StaticRuns::Run& run = runs.runs[r];
    if (run.nonzeros() == 0) continue;
    const TileId tile = part.first_tile + r;
    if (block_ >= 8 && !types_.half()) {
      builder_.work(tile, reduce_.zero_vertex(run.rows * segment(part) * size_));
    }
    WorkItem item;
    item.index = vertex_of(part, r);
    item.mac_edge = products_outside(part, run);
    if (problem_.values) item.function = builder_.function(product_of(part, run));
    builder_.work(tile, item);
    result_.tiles_used = std::max(result_.tiles_used, tile + 1);
  }
}

/// The products with padded columns, and those of blocks that reach beyond the matrix.
std::uint64_t StaticLowering::products_outside(const ColumnPart& part,
                                               const StaticRuns::Run& run) const {
  const std::uint64_t real_columns = std::min<std::uint64_t>(part.end, problem_.n) -
                                     std::min<std::uint64_t>(part.begin, problem_.n);
  const std::uint64_t area = std::uint64_t{block_} * block_;
  std::uint64_t inside = run.nonzeros() * area;
  if (problem_.m % block_ != 0 || problem_.k % block_ != 0) {
    inside = 0;
    for (std::uint64_t i = run.begin; i < run.end; ++i) {
      const std::uint64_t row = nonzeros_.rows[i] * std::uint64_t{block_};
      const std::uint64_t column = nonzeros_.columns[i] * std::uint64_t{block_};
      inside += std::min<std::uint64_t>(block_, problem_.m - row) *
                std::min<std::uint64_t>(block_, problem_.k - column);
    }
  }
  return run.nonzeros() * area * part.columns() - inside * real_columns;
}

/// Equal runs of parts with equally many columns are one vertex.
std::uint32_t StaticLowering::vertex_of(const ColumnPart& part, std::uint32_t index) {
  const auto key = std::make_tuple(part.tiles, part.columns(), index);
  const auto found = vertices_.find(key);
  if (found != vertices_.end()) return found->second;
  const StaticRuns& runs = runs_of(part);
  const StaticRuns::Run& run = runs.runs[index];
  const std::uint32_t* const counts = runs.row_counts.data() + run.first_row;
  return vertices_[key] = codelets_.vertex({counts, counts + run.rows}, part.columns());
}

SparseProduct StaticLowering::product_of(const ColumnPart& part, const StaticRuns::Run& run) const {
  const StaticRuns& runs = runs_of(part);
  const std::uint64_t per_word = 4 / size_;
  SparseProduct product;
  product.type = types_.data;
  product.partial_type = types_.partials;
  product.block = block_;
  product.width = part.columns();
  product.nonzeros = regions_.nonzeros * per_word;
  // Non-zeros that were sent begin where they lay in their word.
  if (plan_.parts.size() > 1) product.nonzeros += run.begin * block_ * block_ % per_word;
  product.dense = regions_.dense * per_word;
  product.partials = regions_.partials * per_word;
  const auto columns = runs.column_ids.begin() + run.first_column;
  std::uint32_t row = 0;
  for (std::uint64_t i = run.begin; i < run.end; ++i) {
    while (runs.row_ids[run.first_row + row] != nonzeros_.rows[i]) ++row;
    const auto slot = std::lower_bound(columns, columns + run.columns, nonzeros_.columns[i]);
    product.rows.push_back(row);
    product.columns.push_back(static_cast<std::uint32_t>(slot - columns));
  }
  return product;
}

void StaticLowering::reduce() {
  const std::uint32_t multiply = builder_.compute_set("multiply");
  sums_->lower(builder_, reduce_,
               {regions_.partials, regions_.received, regions_.sums, regions_.output}, multiply,
               problem_.values);
  for (unsigned tile = 0; output_map_.begin(tile) < output_map_.end(tile); ++tile) {
    result_.tiles_used = std::max(result_.tiles_used, tile + 1);
  }
}

void StaticLowering::finish() {
  finish_product(result_, builder_, problem_, homes_, regions_.end, regions_.output);
}

}  // namespace

LoweredGemm lower_static(const ChipParams& params, const Target& target, const Types& types,
                         const GemmProblem& problem, const StaticPlan& plan) {
  return StaticLowering(params, target, types, problem, plan).run();
}

}  // namespace lacuna::ipu
