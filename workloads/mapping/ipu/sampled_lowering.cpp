// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/mapping/ceil_div.hpp"
#include "workloads/mapping/ipu/dense_planner.hpp"
#include "workloads/mapping/ipu/reduce_codelets.hpp"
#include "workloads/mapping/ipu/sampled.hpp"
#include "workloads/mapping/ipu/sampled_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// The products of one tile: block i is row rows[i] of A times row columns[i] of B transposed.
struct SampledProduct {
  DType type = DType::fp16;
  std::uint64_t block = 1;
  std::uint64_t depth = 0;
  std::uint64_t a = 0;  // elements from the beginning of the memory
  std::uint64_t b = 0;
  std::uint64_t partials = 0;  // words: {block, row, column}
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> columns;

  void operator()(TileMemory& memory) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::uint64_t e = 0; e < block * block; ++e) {
        const std::uint64_t from_a = a + (rows[i] * block + e / block) * depth;
        const std::uint64_t from_b = b + (columns[i] * block + e % block) * depth;
        float sum = 0;
        for (std::uint64_t d = 0; d < depth; ++d) {
          sum += read_element(memory, type, from_a + d) * read_element(memory, type, from_b + d);
        }
        memory.set_real(partials + i * block * block + e, sum);
      }
    }
  }
};

class SampledLowering {
 public:
  SampledLowering(const ChipParams& params, const Target& target, const Types& types,
                  const GemmProblem& problem, const SampledPlan& plan)
      : types_(types),
        problem_(problem),
        mask_(*problem.mask),
        plan_(plan),
        area_(std::uint64_t{plan.block} * plan.block),
        builder_(params),
        codelets_(builder_, target, types, plan.block, plan.depth, plan.amp),
        reduce_(builder_, target, types, types.data) {}

  LoweredGemm run() {
    lay_out();
    if (problem_.values) for_each_tile([&](const Cell& c) { place_operands(c); });
    spread_operands();
    if (plan_.search) spread_buckets();
    multiply();
    reduce();
    return finish();
  }

 private:
  struct Cell {
    std::uint64_t x, y, z;
  };

  template <class Visit>
  void for_each_tile(Visit visit) const {
    for (std::uint64_t y = 0; y < plan_.y; ++y) {
      for (std::uint64_t z = 0; z < plan_.z; ++z) {
        for (std::uint64_t x = 0; x < plan_.x; ++x) visit(Cell{x, y, z});
      }
    }
  }
  TileId tile(const Cell& c) const { return plan_.tile(c.x, c.y, c.z); }
  std::uint32_t words(std::uint64_t elements) const {
    return static_cast<std::uint32_t>(ceil_div(elements * types_.bytes(), 8) * 2);
  }
  std::uint64_t a_elements(std::uint64_t x) const {
    return plan_.rows(x) * plan_.block * plan_.depth;
  }
  std::uint64_t b_elements(std::uint64_t y) const {
    return plan_.columns(y) * plan_.block * plan_.depth;
  }
  /// Where piece z of a rectangle begins, in its blocks.
  static std::uint64_t first_block(const std::vector<std::vector<SampledBlock>>& pieces,
                                   std::uint64_t z) {
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < z; ++i) first += pieces[i].size();
    return first;
  }

  void lay_out();
  void place_operands(const Cell& c);
  void spread(const Cell& c, std::uint32_t region, std::uint64_t elements, std::uint64_t index,
              const std::vector<TileId>& sharers);
  void spread_operands();
  void spread_buckets();
  void multiply();
  SampledProduct product(const Cell& c) const;
  std::uint64_t products_outside(const Cell& c) const;
  void reduce();
  LoweredGemm finish();

  const Types types_;
  const GemmProblem problem_;
  const Mask& mask_;
  const SampledPlan& plan_;
  const std::uint64_t area_;
  ProgramBuilder builder_;
  SampledCodelets codelets_;
  ReduceCodelets reduce_;
  TransferList transfers_;
  std::uint64_t piece_ = 0;  // most blocks of a piece
  std::uint32_t a_ = 0;      // where regions of a tile's memory begin, in words
  std::uint32_t b_ = 0;
  std::uint32_t buckets_ = 0;
  std::uint32_t partials_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t end_ = 0;
};

void SampledLowering::lay_out() {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t blocks = 0;
  for (std::uint64_t x = 0; x < plan_.x; ++x) a = std::max(a, a_elements(x));
  for (std::uint64_t y = 0; y < plan_.y; ++y) b = std::max(b, b_elements(y));
  for (const auto& pieces : plan_.pieces) {
    blocks = std::max(blocks, first_block(pieces, plan_.z));
    for (const auto& piece : pieces) piece_ = std::max<std::uint64_t>(piece_, piece.size());
  }
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t begin = next;
    next += round_up(count, 2);
    return static_cast<std::uint32_t>(begin);
  };
  a_ = take(words(a));
  b_ = take(words(b));
  buckets_ = take(plan_.search ? plan_.z * plan_.bucket_words : 0);
  partials_ = take(blocks * area_);
  received_ = take((plan_.z - 1) * piece_ * area_);
  output_ = take(words(piece_ * area_));
  end_ = static_cast<std::uint32_t>(next);
  builder_.operands(OperandBytes()
                        .add(Operand::input, buckets_ * 4)
                        .add(Operand::metadata, (partials_ - buckets_) * 4)
                        .add(Operand::partial, (output_ - partials_) * 4));
}

/// The tile's share of both operands; B lies by columns.
void SampledLowering::place_operands(const Cell& c) {
  const auto image = [&](std::uint32_t region, std::uint64_t elements, std::uint64_t sharers,
                         std::uint64_t index, const auto& value) {
    const std::uint64_t all = words(elements);
    const std::uint64_t share = dense_home_words(false, all, sharers);
    const std::uint64_t per_word = 4 / types_.bytes();
    std::vector<float> values;
    const std::uint64_t end = std::min(all, (index + 1) * share) * per_word;
    for (std::uint64_t e = std::min(all, index * share) * per_word; e < end; ++e) {
      const std::uint64_t depth = c.z * plan_.depth + e % plan_.depth;
      const bool inside = e < elements && depth < problem_.k;
      values.push_back(inside ? value(e / plan_.depth, depth) : 0.0F);
    }
    if (values.empty()) return;
    const auto address = static_cast<std::uint32_t>(region + index * share);
    builder_.program().images.push_back({{tile(c), address}, pack_words(values, types_.data)});
  };
  image(a_, a_elements(c.x), plan_.y, c.y, [&](std::uint64_t i, std::uint64_t depth) {
    const std::uint64_t row = plan_.row_begin[c.x] * std::uint64_t{plan_.block} + i;
    if (row >= problem_.m) return 0.0F;
    return static_cast<float>(operand_value(problem_.seed, row * problem_.k + depth, false));
  });
  image(b_, b_elements(c.y), plan_.x, c.x, [&](std::uint64_t i, std::uint64_t depth) {
    const std::uint64_t column = plan_.column_begin[c.y] * std::uint64_t{plan_.block} + i;
    if (column >= problem_.n) return 0.0F;
    return static_cast<float>(operand_value(problem_.seed + 1, depth * problem_.n + column, false));
  });
}

/// Sends the tile's share, number `index`, of an operand to those that share it.
void SampledLowering::spread(const Cell& c, std::uint32_t region, std::uint64_t elements,
                             std::uint64_t index, const std::vector<TileId>& sharers) {
  const std::uint64_t all = words(elements);
  const std::uint64_t share = dense_home_words(false, all, sharers.size());
  const std::uint64_t begin = std::min(all, index * share);
  const auto count = static_cast<std::uint32_t>(std::min(all, begin + share) - begin);
  if (count == 0) return;
  const auto address = static_cast<std::uint32_t>(region + begin);
  std::vector<Place> places;
  for (const TileId other : sharers) {
    if (other != tile(c)) places.push_back({other, address});
  }
  transfers_.add({tile(c), address}, count, places.data(), places.data() + places.size());
  builder_.work(tile(c), reduce_.copy_vertex(std::uint64_t{count} * 4));
}

void SampledLowering::spread_operands() {
  transfers_ = {};
  for_each_tile([&](const Cell& c) {
    std::vector<TileId> row;
    std::vector<TileId> column;
    for (std::uint64_t y = 0; y < plan_.y; ++y) row.push_back(plan_.tile(c.x, y, c.z));
    for (std::uint64_t x = 0; x < plan_.x; ++x) column.push_back(plan_.tile(x, c.y, c.z));
    spread(c, a_, a_elements(c.x), c.y, row);
    spread(c, b_, b_elements(c.y), c.x, column);
  });
  const std::uint32_t copies = builder_.compute_set("copy of local shares");
  builder_.superstep(copies, builder_.exchange("operands", transfers_));
}

/// Of the buckets only the meta-information is needed.
void SampledLowering::spread_buckets() {
  transfers_ = {};
  for_each_tile([&](const Cell& c) {
    const auto address = static_cast<std::uint32_t>(buckets_ + c.z * plan_.bucket_words);
    std::vector<Place> places;
    for (std::uint64_t z = 0; z < plan_.z; ++z) {
      if (z != c.z) places.push_back({plan_.tile(c.x, c.y, z), address});
    }
    transfers_.add({tile(c), address}, static_cast<std::uint32_t>(plan_.bucket_words),
                   places.data(), places.data() + places.size());
  });
  builder_.superstep(kNone, builder_.exchange("buckets", transfers_));
}

SampledProduct SampledLowering::product(const Cell& c) const {
  const std::uint64_t per_word = 4 / types_.bytes();
  SampledProduct result;
  result.type = types_.data;
  result.block = plan_.block;
  result.depth = plan_.depth;
  result.a = a_ * per_word;
  result.b = b_ * per_word;
  result.partials = partials_;
  for (const auto& piece : plan_.rectangle(c.x, c.y)) {
    for (const SampledBlock& block : piece) {
      result.rows.push_back(block.row - plan_.row_begin[c.x]);
      result.columns.push_back(block.column - plan_.column_begin[c.y]);
    }
  }
  return result;
}

std::uint64_t SampledLowering::products_outside(const Cell& c) const {
  const std::uint64_t begin = std::min<std::uint64_t>(problem_.k, c.z * plan_.depth);
  const std::uint64_t real = std::min<std::uint64_t>(problem_.k, begin + plan_.depth) - begin;
  const std::uint64_t side = plan_.block;
  std::uint64_t all = 0;
  std::uint64_t inside = 0;
  for (const auto& piece : plan_.rectangle(c.x, c.y)) {
    all += piece.size() * area_;
    for (const SampledBlock& block : piece) {
      inside += std::min<std::uint64_t>(side, problem_.m - block.row * side) *
                std::min<std::uint64_t>(side, problem_.n - block.column * side);
    }
  }
  return all * plan_.depth - inside * real;
}

/// The numbers of blocks in the rows of each piece; a static pattern is one launch.
std::vector<std::vector<std::uint32_t>> row_counts(
    const std::vector<std::vector<SampledBlock>>& pieces, bool search) {
  std::vector<std::vector<std::uint32_t>> counts(search ? pieces.size() : 1);
  std::uint32_t last = 0;
  for (std::size_t z = 0; z < pieces.size(); ++z) {
    std::vector<std::uint32_t>& rows = counts[search ? z : 0];
    for (const SampledBlock& block : pieces[z]) {
      if (rows.empty() || block.row != last) rows.push_back(0);
      last = block.row;
      ++rows.back();
    }
  }
  return counts;
}

void SampledLowering::multiply() {
  transfers_ = {};
  for (std::uint64_t y = 0; y < plan_.y; ++y) {
    for (std::uint64_t x = 0; x < plan_.x; ++x) {
      const auto& pieces = plan_.rectangle(x, y);
      const std::uint32_t vertex = codelets_.vertex(row_counts(pieces, plan_.search), plan_.search);
      for (std::uint64_t z = 0; z < plan_.z && first_block(pieces, plan_.z) > 0; ++z) {
        const Cell c{x, y, z};
        if (plan_.amp) {
          builder_.work(tile(c), codelets_.transpose_vertex(plan_.rows(x) + plan_.columns(y)));
        }
        WorkItem item;
        item.index = vertex;
        item.mac_edge = products_outside(c);
        if (problem_.values) item.function = builder_.function(product(c));
        builder_.work(tile(c), item);
        for (std::uint64_t to = 0; to < plan_.z; ++to) {
          const auto from = static_cast<std::uint32_t>(partials_ + first_block(pieces, to) * area_);
          const std::uint64_t place = z < to ? z : z - 1;
          const auto address = static_cast<std::uint32_t>(received_ + place * piece_ * area_);
          if (to == z) continue;
          transfers_.add({tile(c), from}, static_cast<std::uint32_t>(pieces[to].size() * area_),
                         {Place{plan_.tile(x, y, to), address}});
        }
      }
    }
  }
  const std::uint32_t compute = builder_.compute_set("multiply");
  builder_.superstep(compute, builder_.exchange("partials", transfers_));
}

void SampledLowering::reduce() {
  for_each_tile([&](const Cell& c) {
    const auto& pieces = plan_.rectangle(c.x, c.y);
    const std::uint64_t count = pieces[c.z].size() * area_;
    if (count == 0) return;
    Reduction sum{DType::fp32, types_.data, count, output_ * std::uint64_t{4} / types_.bytes(), {}};
    sum.sources.push_back(partials_ + first_block(pieces, c.z) * area_);
    for (std::uint64_t z = 0; z + 1 < plan_.z; ++z) {
      sum.sources.push_back(received_ + z * piece_ * area_);
    }
    const std::uint32_t function = problem_.values ? builder_.function(sum) : kNone;
    const auto depth = static_cast<std::uint32_t>(plan_.z);
    builder_.work(tile(c),
                  depth > 1 ? reduce_.add_vertex({count, depth}) : reduce_.cast_vertex(count),
                  function);
  });
  builder_.superstep(builder_.compute_set("reduce"), kNone);
}

LoweredGemm SampledLowering::finish() {
  LoweredGemm result;
  Program& program = builder_.program();
  program.mac_algorithmic = std::uint64_t{problem_.m} * problem_.k * problem_.n;
  program.values = problem_.values;
  program.memory_words = end_;
  result.output = types_.data;
  result.tile_bytes = plan_.tile_bytes;
  result.tiles_used = static_cast<unsigned>(plan_.x * plan_.y * plan_.z);
  if (problem_.values) {
    std::vector<OutputPlace> places(mask_.blocks());
    for_each_tile([&](const Cell& c) {
      std::uint64_t at = output_ * std::uint64_t{4} / types_.bytes();
      for (const SampledBlock& block : plan_.rectangle(c.x, c.y)[c.z]) {
        places[block.index] = {tile(c), at};
        at += area_;
      }
    });
    result.place = [places](std::uint32_t block, std::uint32_t element) {
      return OutputPlace{places[block].tile, places[block].index + element};
    };
  }
  result.program = builder_.take();
  return result;
}

}  // namespace

LoweredGemm lower_sampled(const ChipParams& params, const Target& target, const Types& types,
                          const GemmProblem& problem, const SampledPlan& plan) {
  return SampledLowering(params, target, types, problem, plan).run();
}

}  // namespace lacuna::ipu
