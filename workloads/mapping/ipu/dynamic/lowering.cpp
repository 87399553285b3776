// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/lowering.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dynamic/buckets.hpp"
#include "workloads/mapping/ipu/dynamic/codelets.hpp"
#include "workloads/mapping/ipu/dynamic/homes.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// A place in the grid of tiles.
struct GridPlace {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
};

/// A matching sub-group in a bucket: what it is, and which non-zero of the bucket is its first.
struct Match {
  const SubGroup* group = nullptr;
  std::uint64_t first = 0;
  std::uint64_t others = 0;  // sub-groups of other tiles
};

class DynamicLowering {
 public:
  DynamicLowering(const ChipParams& params, const Target& target, const Types& types,
                  const GemmProblem& problem, const DynamicPlan& plan, BucketSet buckets,
                  SparsePass pass)
      : types_(types),
        problem_(problem),
        plan_(plan),
        block_(plan.block),
        columns_(plan.tile_z * plan.z_grain),
        pass_(pass),
        homes_(std::make_shared<const DynamicHomes>(types, plan, problem.mask->grid_rows(),
                                                    problem.mask->grid_cols())),
        buckets_(std::move(buckets)),
        builder_(params),
        codelets_(builder_, target, types, plan.block, plan.z_grain, pass),
        reduce_(builder_, target, types, types.data) {}

  LoweredGemm run() {
    lay_out();
    if (problem_.values) for_each_tile([&](const GridPlace& p) { place_operands(p); });
    exchange_dense();
    distribute();
    multiply();
    propagate();
    reduce();
    finish();
    return std::move(result_);
  }

 private:
  std::uint64_t index(const GridPlace& p) const { return (p.y * plan_.z + p.z) * plan_.x + p.x; }
  TileId tile(const GridPlace& p) const { return static_cast<TileId>(index(p)); }
  static std::uint32_t words(std::uint64_t elements, unsigned size) {
    return static_cast<std::uint32_t>(ceil_div(elements * size, 8) * 2);
  }

  std::uint64_t rows_of(std::uint64_t x) const { return homes_->rows_of(x); }
  std::uint64_t depth_of(std::uint64_t y) const { return homes_->depth_of(y); }
  std::uint64_t partials_of(std::uint64_t x) const { return rows_of(x) * block_ * columns_; }
  std::uint32_t slice_of(std::uint64_t x) const { return homes_->slice_of(x); }

  /// Row and column in the product of a block that a bucket has as `column` of `row`.
  std::pair<std::uint32_t, std::uint32_t> block_place(std::uint32_t row,
                                                      std::uint32_t column) const {
    return pass_ == SparsePass::forward ? std::make_pair(row, column) : std::make_pair(column, row);
  }

  template <class Visit>
  void for_each_tile(Visit visit) const {
    for (std::uint64_t y = 0; y < plan_.y; ++y) {
      for (std::uint64_t z = 0; z < plan_.z; ++z) {
        for (std::uint64_t x = 0; x < plan_.x; ++x) visit(GridPlace{x, y, z});
      }
    }
  }

  void lay_out();
  void place_operands(const GridPlace& p);
  void place_dense(const GridPlace& p);
  void exchange_dense();
  void transpose_bucket(const GridPlace& p);
  void distribute();
  void multiply();
  std::vector<GridPlace> moves() const;
  void propagate();
  void travel(const GridPlace& move, bool first, unsigned buffer);
  void visit_buckets(const GridPlace& offset, unsigned buffer);
  Match match(const GridPlace& at, const GridPlace& home) const;
  SparseProduct product(const GridPlace& at, const Match& match, std::uint32_t bucket) const;
  std::uint64_t products_outside(const GridPlace& at, const SubGroup& group) const;
  void work(const GridPlace& at, std::uint32_t vertex, const std::vector<Match>& matches,
            const std::vector<std::uint32_t>& places);
  void collect(const GridPlace& p);
  void reduce_tile(const GridPlace& p);
  void reduce();
  void finish();

  const Types types_;
  const GemmProblem problem_;
  const DynamicPlan plan_;
  const unsigned block_;
  const std::uint64_t columns_;  // of the dense operand, of a tile
  const SparsePass pass_;
  const std::shared_ptr<const DynamicHomes> homes_;
  const BucketSet buckets_;
  ProgramBuilder builder_;
  DynamicCodelets codelets_;
  ReduceCodelets reduce_;
  TransferList transfers_;
  std::vector<Place> places_;
  std::uint32_t bucket_words_ = 0;
  std::uint32_t dense_ = 0;  // where regions of a tile's memory begin, in words
  std::uint32_t bucket_ = 0;
  std::uint32_t travelling_ = 0;  // two buffers
  std::uint32_t partials_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t end_ = 0;
  LoweredGemm result_;
};

void DynamicLowering::lay_out() {
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t begin = next;
    next += round_up(count, 2);
    return static_cast<std::uint32_t>(begin);
  };
  bucket_words_ = static_cast<std::uint32_t>(round_up(ceil_div(plan_.bucket_bytes, 4), 2));
  dense_ = take(words(plan_.tile_y * block_ * columns_, types_.bytes()));
  bucket_ = take(plan_.z * bucket_words_);
  travelling_ = take(2 * std::uint64_t{bucket_words_});
  partials_ = take(words(plan_.tile_x * block_ * columns_, types_.partial_bytes()));
  received_ = take((plan_.y - 1) * slice_of(0));
  output_ = take(slice_of(0));
  end_ = static_cast<std::uint32_t>(next);
  // A bucket is meta-information, which lies in elements of its own, and values.
  const std::uint64_t metadata = (plan_.z + 2) * plan_.bucket_words * 2;
  builder_.operands(OperandBytes()
                        .add(Operand::input, std::uint64_t{4} * (bucket_ - dense_))
                        .add(Operand::weight, std::uint64_t{4} * (partials_ - bucket_) - metadata)
                        .add(Operand::partial, std::uint64_t{4} * (received_ - partials_))
                        .add(Operand::metadata, metadata));
  result_.tile_bytes = plan_.tile_bytes;
  result_.tiles_used = static_cast<unsigned>(plan_.tiles());
}

/// The tile's share of the dense operand, and its bucket.
void DynamicLowering::place_operands(const GridPlace& p) {
  place_dense(p);
  std::vector<float> values;
  for (const SubGroup& group : buckets_.buckets[index(p)].groups) {
    for (const BucketRow& row : group.rows) {
      for (const std::uint32_t column : row.columns) {
        for (std::uint64_t i = 0; i < std::uint64_t{block_} * block_; ++i) {
          const auto [block_row, block_column] = block_place(row.row, column);
          // Within a block, values lie as in the matrix that the buckets were made for.
          const auto [down, right] = block_place(static_cast<std::uint32_t>(i / block_),
                                                 static_cast<std::uint32_t>(i % block_));
          const std::uint64_t r = block_row * std::uint64_t{block_} + down;
          const std::uint64_t c = block_column * std::uint64_t{block_} + right;
          const bool inside = r < problem_.m && c < problem_.k;
          values.push_back(inside ? weight_value(problem_, r * problem_.k + c) : 0.0F);
        }
      }
    }
  }
  if (values.empty()) return;
  const auto address = static_cast<std::uint32_t>(bucket_ + p.z * bucket_words_);
  builder_.program().images.push_back({{tile(p), address}, pack_words(values, types_.data)});
}

void DynamicLowering::place_dense(const GridPlace& p) {
  const std::uint64_t elements = depth_of(p.y) * block_ * columns_;
  const std::uint64_t all = words(elements, types_.bytes());
  const std::uint64_t share = homes_->dense_share_of(p.y);
  const std::uint64_t per_word = 4 / types_.bytes();
  std::vector<float> values;
  for (std::uint64_t w = std::min(all, p.x * share); w < std::min(all, (p.x + 1) * share); ++w) {
    for (std::uint64_t e = w * per_word; e < (w + 1) * per_word; ++e) {
      const std::uint64_t k = (p.y * plan_.tile_y + e / (columns_ * block_)) * block_ + e % block_;
      const std::uint64_t column = p.z * columns_ + e / block_ % columns_;
      const bool inside = e < elements && k < problem_.k && column < problem_.n;
      values.push_back(inside ? input_value(problem_, k * problem_.n + column) : 0.0F);
    }
  }
  if (values.empty()) return;
  const auto address = static_cast<std::uint32_t>(dense_ + p.x * share);
  builder_.program().images.push_back({{tile(p), address}, pack_words(values, types_.data)});
}

/// Tiles of the same (y, z) share their part of the dense operand; each is home of some of it.
void DynamicLowering::exchange_dense() {
  transfers_ = {};
  for_each_tile([&](const GridPlace& p) {
    const std::uint64_t all = words(depth_of(p.y) * block_ * columns_, types_.bytes());
    const std::uint64_t share = homes_->dense_share_of(p.y);
    const std::uint64_t begin = std::min(all, p.x * share);
    const auto count = static_cast<std::uint32_t>(std::min(all, begin + share) - begin);
    if (count == 0) return;
    const auto address = static_cast<std::uint32_t>(dense_ + begin);
    places_.clear();
    for (std::uint64_t x = 0; x < plan_.x; ++x) {
      if (x != p.x) places_.push_back({tile({x, p.y, p.z}), address});
    }
    transfers_.add({tile(p), address}, count, places_.data(), places_.data() + places_.size());
    builder_.work(tile(p), reduce_.copy_vertex(std::uint64_t{count} * 4));
  });
  if (pass_ == SparsePass::transposed && block_ > 1) {
    for_each_tile([&](const GridPlace& p) { transpose_bucket(p); });
  }
  const std::uint32_t copies = builder_.compute_set("copy of local shares");
  builder_.superstep(copies, builder_.exchange("dense operand", transfers_));
}

/// Each tile transposes the blocks of its own bucket, before others get it.
void DynamicLowering::transpose_bucket(const GridPlace& p) {
  const std::uint64_t blocks = buckets_.buckets[index(p)].nonzeros();
  if (blocks == 0) return;
  const std::uint64_t first = (bucket_ + p.z * bucket_words_) * std::uint64_t{4} / types_.bytes();
  const std::uint32_t function =
      problem_.values ? builder_.function(BlockTranspose{types_.data, block_, blocks, first})
                      : kNone;
  builder_.work(tile(p), codelets_.transpose_vertex(blocks), function);
}

/// Each tile gets all buckets of its (x, y).
void DynamicLowering::distribute() {
  transfers_ = {};
  for_each_tile([&](const GridPlace& p) {
    const auto address = static_cast<std::uint32_t>(bucket_ + p.z * bucket_words_);
    places_.clear();
    for (std::uint64_t z = 0; z < plan_.z; ++z) {
      if (z != p.z) places_.push_back({tile({p.x, p.y, z}), address});
    }
    transfers_.add({tile(p), address}, bucket_words_, places_.data(),
                   places_.data() + places_.size());
  });
  builder_.superstep(kNone, builder_.exchange("buckets", transfers_));
}

/// What the bucket that is at home at `home` has for the tile `at`.
Match DynamicLowering::match(const GridPlace& at, const GridPlace& home) const {
  Match result;
  std::uint64_t first = 0;
  for (const SubGroup& group : buckets_.buckets[index(home)].groups) {
    if (group.x == at.x && group.y == at.y && result.group == nullptr) {
      result.group = &group;
      result.first = first;
    } else {
      ++result.others;
    }
    first += group.nonzeros();
  }
  return result;
}

SparseProduct DynamicLowering::product(const GridPlace& at, const Match& match,
                                       std::uint32_t bucket) const {
  const std::uint64_t per_word = 4 / types_.bytes();
  SparseProduct result;
  result.type = types_.data;
  result.partial_type = types_.partials;
  result.accumulate = true;
  result.block = block_;
  result.width = columns_;
  result.nonzeros = bucket * per_word + match.first * block_ * block_;
  result.dense = dense_ * per_word;
  result.partials = std::uint64_t{partials_} * 4 / types_.partial_bytes();
  for (const BucketRow& row : match.group->rows) {
    for (const std::uint32_t column : row.columns) {
      const auto [out, in] = block_place(row.row, column);
      result.rows.push_back(static_cast<std::uint32_t>(out - at.x * plan_.tile_x));
      result.columns.push_back(static_cast<std::uint32_t>(in - at.y * plan_.tile_y));
    }
  }
  return result;
}

std::uint64_t DynamicLowering::products_outside(const GridPlace& at, const SubGroup& group) const {
  const std::uint64_t begin = std::min<std::uint64_t>(problem_.n, at.z * columns_);
  const std::uint64_t real = std::min<std::uint64_t>(problem_.n, begin + columns_) - begin;
  std::uint64_t inside = 0;
  for (const BucketRow& row : group.rows) {
    for (const std::uint32_t column : row.columns) {
      const auto [out, in] = block_place(row.row, column);
      inside += std::min<std::uint64_t>(block_, problem_.m - out * std::uint64_t{block_}) *
                std::min<std::uint64_t>(block_, problem_.k - in * std::uint64_t{block_});
    }
  }
  return group.nonzeros() * block_ * block_ * columns_ - inside * real;
}

/// Has the tile execute `vertex`, which finds these matches in buckets at these addresses.
void DynamicLowering::work(const GridPlace& at, std::uint32_t vertex,
                           const std::vector<Match>& matches,
                           const std::vector<std::uint32_t>& places) {
  WorkItem item;
  item.index = vertex;
  std::vector<SparseProduct> products;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].group == nullptr) continue;
    item.mac_edge += products_outside(at, *matches[i].group);
    if (problem_.values) products.push_back(product(at, matches[i], places[i]));
  }
  if (!products.empty()) {
    item.function = builder_.function([list = std::move(products)](TileMemory& memory) {
      for (const SparseProduct& one : list) one(memory);
    });
  }
  builder_.work(tile(at), item);
}

BucketWork work_of(const Match& match) {
  BucketWork work;
  work.others = match.others;
  if (match.group == nullptr) return work;
  for (const BucketRow& row : match.group->rows) {
    work.row_counts.push_back(static_cast<std::uint32_t>(row.columns.size()));
  }
  return work;
}

/// Tiles of the same (x, y) have the same buckets, and so the same vertex.
void DynamicLowering::multiply() {
  std::vector<std::uint32_t> places;
  for (std::uint64_t z = 0; z < plan_.z; ++z) {
    places.push_back(static_cast<std::uint32_t>(bucket_ + z * bucket_words_));
  }
  for (std::uint64_t y = 0; y < plan_.y; ++y) {
    for (std::uint64_t x = 0; x < plan_.x; ++x) {
      std::vector<Match> matches;
      std::vector<BucketWork> works;
      for (std::uint64_t z = 0; z < plan_.z; ++z) {
        matches.push_back(match({x, y, 0}, {x, y, z}));
        works.push_back(work_of(matches.back()));
      }
      const std::uint32_t vertex = codelets_.vertex(works, columns_);
      for (std::uint64_t z = 0; z < plan_.z; ++z) {
        const GridPlace at{x, y, z};
        if (partials_of(x) != 0) {
          builder_.work(tile(at), codelets_.zero_vertex(partials_of(x)));
        }
        work(at, vertex, matches, places);
      }
    }
  }
}

/// How all buckets move, one partition after another in which some have pieces for others: along
/// the columns in every step, along the matrix's contraction and its rows where a round is
/// complete.
std::vector<GridPlace> DynamicLowering::moves() const {
  const bool forward = pass_ == SparsePass::forward;
  const std::uint64_t rounds = forward ? buckets_.steps_x : buckets_.steps_y;
  const std::uint64_t steps = forward ? buckets_.steps_y : buckets_.steps_x;
  std::vector<GridPlace> moves;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (round == 0 && step == 0) continue;
      // A round along the contraction ends where it began.
      const std::uint64_t inner = step > 0 || !moves.empty() ? 1 : 0;
      const std::uint64_t outer = step == 0 ? 1 : 0;
      moves.push_back(forward ? GridPlace{outer, inner, 0} : GridPlace{inner, outer, 0});
      moves.insert(moves.end(), plan_.z - 1, GridPlace{0, 0, 1});
    }
  }
  return moves;
}

/// Moves all buckets through the partitions in which some have pieces for others.
void DynamicLowering::propagate() {
  GridPlace offset;
  unsigned buffer = 0;
  bool first = true;
  for (const GridPlace& move : moves()) {
    offset = {(offset.x + move.x) % plan_.x, (offset.y + move.y) % plan_.y,
              (offset.z + move.z) % plan_.z};
    buffer = 1 - buffer;
    travel(move, first, buffer);
    visit_buckets(offset, buffer);
    first = false;
  }
}

/// One step: every tile receives a whole bucket.
void DynamicLowering::travel(const GridPlace& move, bool first, unsigned buffer) {
  transfers_ = {};
  for_each_tile([&](const GridPlace& p) {
    const GridPlace from{(p.x + plan_.x - move.x) % plan_.x, (p.y + plan_.y - move.y) % plan_.y,
                         (p.z + plan_.z - move.z) % plan_.z};
    const auto source = static_cast<std::uint32_t>(
        first ? bucket_ + from.z * bucket_words_ : travelling_ + (1 - buffer) * bucket_words_);
    const std::uint32_t to = travelling_ + buffer * bucket_words_;
    if (tile(from) != tile(p)) {
      transfers_.add({tile(from), source}, bucket_words_, {Place{tile(p), to}});
      return;
    }
    const std::uint32_t function =
        problem_.values ? builder_.function(LocalCopy{source, to, bucket_words_}) : kNone;
    builder_.work(tile(p), reduce_.copy_vertex(std::uint64_t{bucket_words_} * 4), function);
  });
  const std::uint32_t compute = builder_.compute_set(first ? "multiply" : "multiply moved buckets");
  builder_.superstep(compute, builder_.exchange("moving buckets", transfers_));
}

void DynamicLowering::visit_buckets(const GridPlace& offset, unsigned buffer) {
  std::map<std::uint64_t, std::uint32_t> fruitless;  // vertices by the sub-groups looked at
  for_each_tile([&](const GridPlace& p) {
    const GridPlace home{(p.x + plan_.x - offset.x) % plan_.x, (p.y + plan_.y - offset.y) % plan_.y,
                         (p.z + plan_.z - offset.z) % plan_.z};
    const Match found = match(p, home);
    std::uint32_t vertex = kNone;
    const auto known = fruitless.find(found.others);
    if (found.group == nullptr && known != fruitless.end()) {
      vertex = known->second;
    } else {
      vertex = codelets_.vertex({work_of(found)}, columns_);
      if (found.group == nullptr) fruitless[found.others] = vertex;
    }
    builder_.work(tile(p), codelets_.control_vertex());
    work(p, vertex, {found}, {travelling_ + buffer * bucket_words_});
  });
}

/// Sends each slice of the tile's partials to the tile of the contraction that sums it.
void DynamicLowering::collect(const GridPlace& p) {
  const std::uint32_t all = words(partials_of(p.x), types_.partial_bytes());
  const std::uint32_t slice = slice_of(p.x);
  for (std::uint64_t y = 0; y < plan_.y; ++y) {
    const auto begin = static_cast<std::uint32_t>(std::min<std::uint64_t>(all, y * slice));
    if (y == p.y || begin == all) continue;
    const std::uint64_t place = p.y < y ? p.y : p.y - 1;
    const auto to = static_cast<std::uint32_t>(received_ + place * slice);
    transfers_.add({tile(p), partials_ + begin}, std::min(slice, all - begin),
                   {Place{tile({p.x, y, p.z}), to}});
  }
}

void DynamicLowering::reduce_tile(const GridPlace& p) {
  const std::uint64_t per_word = 4 / types_.partial_bytes();
  const std::uint64_t elements = partials_of(p.x);
  const std::uint64_t slice = slice_of(p.x);
  const std::uint64_t begin = std::min(elements, p.y * slice * per_word);
  const std::uint64_t count = std::min(elements - begin, slice * per_word);
  if (count == 0) return;
  Reduction sum{
      types_.partials, types_.data, count, std::uint64_t{output_} * 4 / types_.bytes(), {}};
  sum.sources.push_back(partials_ * per_word + begin);
  for (std::uint64_t y = 0; y + 1 < plan_.y; ++y) {
    sum.sources.push_back((received_ + y * slice) * per_word);
  }
  const std::uint32_t function = problem_.values ? builder_.function(sum) : kNone;
  const std::uint32_t vertex =
      plan_.y > 1 ? reduce_.add_vertex({count, static_cast<std::uint32_t>(plan_.y)})
                  : reduce_.cast_vertex(count);
  builder_.work(tile(p), vertex, function);
}

void DynamicLowering::reduce() {
  const bool moved = buckets_.propagation_steps(plan_.z) != 0;
  const std::uint32_t compute = builder_.compute_set(moved ? "multiply moved buckets" : "multiply");
  transfers_ = {};
  for_each_tile([&](const GridPlace& p) { collect(p); });
  builder_.superstep(compute, builder_.exchange("partials", transfers_));
  for_each_tile([&](const GridPlace& p) { reduce_tile(p); });
  builder_.superstep(builder_.compute_set("reduce"), kNone);
  for_each_tile([&](const GridPlace& p) {
    const std::uint64_t elements = std::uint64_t{slice_of(p.x)} * 4 / types_.partial_bytes();
    // Blocks are summed column by column; the user has rows.
    const bool by_columns = block_ > 1;
    builder_.work(tile(p), by_columns ? reduce_.reorder_vertex(elements)
                                      : reduce_.copy_vertex(elements * types_.bytes()));
  });
  builder_.superstep(builder_.compute_set("rearrange output"), kNone);
}

void DynamicLowering::finish() {
  finish_product(result_, builder_, problem_, homes_, end_, output_);
  result_.propagation_steps = buckets_.propagation_steps(plan_.z);
}

}  // namespace

LoweredGemm lower_dynamic(const ChipParams& params, const Target& target, const Types& types,
                          const GemmProblem& problem, const DynamicPlan& plan) {
  return DynamicLowering(params, target, types, problem, plan,
                         fill_buckets(plan, *problem.mask, target.workers), SparsePass::forward)
      .run();
}

LoweredGemm lower_dynamic_transposed(const ChipParams& params, const Target& target,
                                     const Types& types, const GemmProblem& problem,
                                     const DynamicPlan& plan) {
  const BucketSet buckets = fill_buckets(plan, problem.mask->transposed(), target.workers);
  return DynamicLowering(params, target, types, problem, transposed_plan(plan),
                         transposed_buckets(plan, buckets), SparsePass::transposed)
      .run();
}

}  // namespace lacuna::ipu
