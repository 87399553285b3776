// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/planner.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/sampled/sampled.hpp"
#include "workloads/mapping/ipu/sampled/sampled_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// The products of one tile: block i is row rows[i] of A times row columns[i] of B transposed.
struct SampledProduct {
  DType type = DType::fp16;
  bool accumulate = false;
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
        const std::uint64_t to = partials + i * block * block + e;
        float sum = accumulate ? memory.real(to) : 0;
        for (std::uint64_t d = 0; d < depth; ++d) {
          sum += read_element(memory, type, from_a + d) * read_element(memory, type, from_b + d);
        }
        memory.set_real(to, sum);
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
    exchange_operands();
    if (plan_.search) exchange_buckets();
    multiply();
    reduce();
    if (!plan_.steps.empty()) propagate();
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
  void send_share(const Cell& c, std::uint32_t region, std::uint64_t elements, std::uint64_t index,
                  const std::vector<TileId>& sharers);
  void exchange_operands();
  void exchange_buckets();
  void multiply_on(const Cell& c, std::uint32_t vertex);
  void send_partials(const Cell& c);
  void multiply();
  SampledProduct product() const;
  void add_blocks(SampledProduct& product, const Cell& c,
                  const std::vector<SampledBlock>& blocks) const;
  std::uint64_t products_outside(const Cell& c, const std::vector<SampledBlock>& blocks) const;
  std::uint32_t accumulators(unsigned buffer) const {
    return static_cast<std::uint32_t>(travelling_ + buffer * travel_words() + plan_.bucket_words);
  }
  std::uint64_t travel_words() const {
    return round_up(plan_.bucket_words, 2) + round_up(plan_.bucket_blocks * area_, 2);
  }
  Cell from(const Cell& c, const GridStep& offset) const {
    return {(c.x + plan_.x - offset.x) % plan_.x, (c.y + plan_.y - offset.y) % plan_.y,
            (c.z + plan_.z - offset.z) % plan_.z};
  }
  void propagate();
  void begin_travel();
  void travel(const GridStep& step, unsigned buffer);
  void visit(const Cell& c, const Cell& home, unsigned buffer);
  void bring_home(const GridStep& offset, unsigned buffer);
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
  std::uint32_t travelling_ = 0;  // two buffers: meta-information and sums of a bucket
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
  const std::uint64_t results = std::max(piece_, plan_.steps.empty() ? 0 : plan_.bucket_blocks);
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
  travelling_ = take(plan_.steps.empty() ? 0 : 2 * travel_words());
  output_ = take(words(results * area_));
  end_ = static_cast<std::uint32_t>(next);
  builder_.operands(OperandBytes()
                        .add(Operand::input, std::uint64_t{buckets_} * 4)
                        .add(Operand::metadata, std::uint64_t{partials_ - buckets_} * 4)
                        .add(Operand::partial, std::uint64_t{output_ - partials_} * 4));
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
    return sampled_left(problem_, row * problem_.k + depth);
  });
  image(b_, b_elements(c.y), plan_.x, c.x, [&](std::uint64_t i, std::uint64_t depth) {
    const std::uint64_t column = plan_.column_begin[c.y] * std::uint64_t{plan_.block} + i;
    if (column >= problem_.n) return 0.0F;
    return sampled_right(problem_, depth * problem_.n + column);
  });
}

/// Sends the tile's share, number `index`, of an operand to those that share it.
void SampledLowering::send_share(const Cell& c, std::uint32_t region, std::uint64_t elements,
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

void SampledLowering::exchange_operands() {
  transfers_ = {};
  for_each_tile([&](const Cell& c) {
    std::vector<TileId> row;
    std::vector<TileId> column;
    for (std::uint64_t y = 0; y < plan_.y; ++y) row.push_back(plan_.tile(c.x, y, c.z));
    for (std::uint64_t x = 0; x < plan_.x; ++x) column.push_back(plan_.tile(x, c.y, c.z));
    send_share(c, a_, a_elements(c.x), c.y, row);
    send_share(c, b_, b_elements(c.y), c.x, column);
  });
  const std::uint32_t copies = builder_.compute_set("copy of local shares");
  builder_.superstep(copies, builder_.exchange("operands", transfers_));
}

/// Of the buckets only the meta-information is needed.
void SampledLowering::exchange_buckets() {
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

SampledProduct SampledLowering::product() const {
  const std::uint64_t per_word = 4 / types_.bytes();
  SampledProduct result;
  result.type = types_.data;
  result.block = plan_.block;
  result.depth = plan_.depth;
  result.a = a_ * per_word;
  result.b = b_ * per_word;
  result.partials = partials_;
  return result;
}

void SampledLowering::add_blocks(SampledProduct& product, const Cell& c,
                                 const std::vector<SampledBlock>& blocks) const {
  for (const SampledBlock& block : blocks) {
    product.rows.push_back(block.row - plan_.row_begin[c.x]);
    product.columns.push_back(block.column - plan_.column_begin[c.y]);
  }
}

std::uint64_t SampledLowering::products_outside(const Cell& c,
                                                const std::vector<SampledBlock>& blocks) const {
  const std::uint64_t begin = std::min<std::uint64_t>(problem_.k, c.z * plan_.depth);
  const std::uint64_t real = std::min<std::uint64_t>(problem_.k, begin + plan_.depth) - begin;
  const std::uint64_t side = plan_.block;
  std::uint64_t inside = 0;
  for (const SampledBlock& block : blocks) {
    inside += std::min<std::uint64_t>(side, problem_.m - block.row * side) *
              std::min<std::uint64_t>(side, problem_.n - block.column * side);
  }
  return blocks.size() * area_ * plan_.depth - inside * real;
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

/// The product of a tile's share of the contraction, of all blocks of its rectangle.
void SampledLowering::multiply_on(const Cell& c, std::uint32_t vertex) {
  if (plan_.amp) {
    builder_.work(tile(c), codelets_.transpose_vertex(plan_.rows(c.x) + plan_.columns(c.y)));
  }
  WorkItem item;
  item.index = vertex;
  SampledProduct all = product();
  for (const auto& piece : plan_.rectangle(c.x, c.y)) {
    item.mac_edge += products_outside(c, piece);
    if (problem_.values) add_blocks(all, c, piece);
  }
  if (problem_.values) item.function = builder_.function(std::move(all));
  builder_.work(tile(c), item);
}

/// Each piece of the blocks goes to the tile that sums it.
void SampledLowering::send_partials(const Cell& c) {
  const auto& pieces = plan_.rectangle(c.x, c.y);
  for (std::uint64_t to = 0; to < plan_.z; ++to) {
    if (to == c.z) continue;
    const auto from = static_cast<std::uint32_t>(partials_ + first_block(pieces, to) * area_);
    const std::uint64_t place = c.z < to ? c.z : c.z - 1;
    const auto address = static_cast<std::uint32_t>(received_ + place * piece_ * area_);
    transfers_.add({tile(c), from}, static_cast<std::uint32_t>(pieces[to].size() * area_),
                   {Place{plan_.tile(c.x, c.y, to), address}});
  }
}

void SampledLowering::multiply() {
  transfers_ = {};
  for (std::uint64_t y = 0; y < plan_.y; ++y) {
    for (std::uint64_t x = 0; x < plan_.x; ++x) {
      const auto& pieces = plan_.rectangle(x, y);
      const std::uint32_t vertex = codelets_.vertex(row_counts(pieces, plan_.search), plan_.search);
      for (std::uint64_t z = 0; z < plan_.z && first_block(pieces, plan_.z) > 0; ++z) {
        multiply_on({x, y, z}, vertex);
        send_partials({x, y, z});
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

/// Buckets that hold blocks of other rectangles travel past the tiles that can make these, with the
/// sums so far, and come home.
void SampledLowering::propagate() {
  begin_travel();
  GridStep offset;
  unsigned buffer = 0;
  for (const GridStep& step : plan_.steps) {
    travel(step, buffer);
    buffer = 1 - buffer;
    offset = {(offset.x + step.x) % plan_.x, (offset.y + step.y) % plan_.y,
              (offset.z + step.z) % plan_.z};
    for_each_tile([&](const Cell& c) { visit(c, from(c, offset), buffer); });
  }
  bring_home(offset, buffer);
}

/// The bucket's meta-information is copied beside sums that are zero.
void SampledLowering::begin_travel() {
  const std::uint64_t sums = plan_.bucket_blocks * area_;
  for_each_tile([&](const Cell& c) {
    builder_.work(tile(c), reduce_.copy_vertex(plan_.bucket_words * 4));
    std::uint32_t zeros = kNone;
    if (problem_.values) {
      zeros = builder_.function([to = accumulators(0), sums](TileMemory& memory) {
        for (std::uint64_t i = 0; i < sums; ++i) memory.set_real(to + i, 0);
      });
    }
    builder_.work(tile(c), reduce_.fill_vertex(sums * 4), zeros);
  });
}

void SampledLowering::travel(const GridStep& step, unsigned buffer) {
  transfers_ = {};
  const auto words = static_cast<std::uint32_t>(travel_words());
  const std::uint32_t source = travelling_ + buffer * words;
  const std::uint32_t to = travelling_ + (1 - buffer) * words;
  for_each_tile([&](const Cell& c) {
    const TileId other = tile(from(c, step));
    if (other != tile(c)) {
      transfers_.add({other, source}, words, {Place{tile(c), to}});
      return;
    }
    const std::uint32_t copy =
        problem_.values ? builder_.function(LocalCopy{source, to, words}) : kNone;
    builder_.work(tile(c), reduce_.copy_vertex(std::uint64_t{words} * 4), copy);
  });
  const std::uint32_t compute = builder_.compute_set("multiply moved buckets");
  builder_.superstep(compute, builder_.exchange("moving buckets", transfers_));
}

/// What the bucket that is at home at `home` has for the tile `c`.
void SampledLowering::visit(const Cell& c, const Cell& home, unsigned buffer) {
  WorkItem item;
  std::vector<std::vector<std::uint32_t>> rows(1);
  for (const SampledSpill& spill : plan_.spills[tile(home)]) {
    if (spill.x != c.x || spill.y != c.y) continue;
    rows = row_counts({spill.blocks}, false);
    item.mac_edge = products_outside(c, spill.blocks);
    if (!problem_.values) break;
    SampledProduct sum = product();
    sum.accumulate = true;
    sum.partials = accumulators(buffer) + spill.first * area_;
    add_blocks(sum, c, spill.blocks);
    item.function = builder_.function(std::move(sum));
    break;
  }
  item.index = codelets_.vertex(rows, true);
  builder_.work(tile(c), item);
}

void SampledLowering::bring_home(const GridStep& offset, unsigned buffer) {
  transfers_ = {};
  const auto sums = static_cast<std::uint32_t>(plan_.bucket_blocks * area_);
  const std::uint32_t arrived = accumulators(1 - buffer);
  for_each_tile([&](const Cell& c) {
    const Cell home = from(c, offset);
    if (plan_.spills[tile(home)].empty()) return;
    if (tile(home) != tile(c)) {
      transfers_.add({tile(c), accumulators(buffer)}, sums, {Place{tile(home), arrived}});
      return;
    }
    const std::uint32_t copy =
        problem_.values ? builder_.function(LocalCopy{accumulators(buffer), arrived, sums}) : kNone;
    builder_.work(tile(c), reduce_.copy_vertex(std::uint64_t{sums} * 4), copy);
  });
  const std::uint32_t compute = builder_.compute_set("multiply moved buckets");
  builder_.superstep(compute, builder_.exchange("sums come home", transfers_));
  for_each_tile([&](const Cell& c) {
    std::uint64_t to = plan_.rectangle(c.x, c.y)[c.z].size() * area_;
    for (const SampledSpill& spill : plan_.spills[tile(c)]) {
      const std::uint64_t count = spill.blocks.size() * area_;
      const std::uint64_t output = output_ * std::uint64_t{4} / types_.bytes() + to;
      const Reduction cast{
          DType::fp32, types_.data, count, output, {arrived + spill.first * area_}};
      builder_.work(tile(c), reduce_.cast_vertex(count),
                    problem_.values ? builder_.function(cast) : kNone);
      to += count;
    }
  });
  builder_.superstep(builder_.compute_set("cast"), kNone);
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
      if (plan_.steps.empty()) return;
      for (const SampledSpill& spill : plan_.spills[tile(c)]) {
        for (const SampledBlock& block : spill.blocks) {
          places[block.index] = {tile(c), at};
          at += area_;
        }
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
