// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/dense/conv_codelets.hpp"
#include "workloads/mapping/ipu/dense/homes.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/reduce/reduce_cost.hpp"
#include "workloads/mapping/ipu/reduce/reduce_stages.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// Words [begin, end) of a tile's partials.
struct Words {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t count() const { return end > begin ? end - begin : 0; }
};

Words overlap(const Words& a, const Words& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// One tile's part of one step.
struct Cell {
  std::uint64_t f, i, o;
  DenseExtent field, in, out;
  TileId tile;

  bool empty() const { return field.real == 0 || in.real == 0 || out.real == 0; }
};

class DenseLowering {
 public:
  DenseLowering(const ChipParams& params, const Target& target, const Types& types,
                const GemmProblem& problem, const DensePlan& plan)
      : target_(target),
        types_(types),
        out_type_(types.data == DType::fp32 ? DType::fp32 : DType::fp16),
        problem_(problem),
        plan_(plan),
        builder_(params),
        conv_(builder_, target, types),
        homes_(std::make_shared<const DenseHomes>(target, types, plan, problem.m, problem.k,
                                                  problem.n)),
        stages_(dense_stages(target, plan, problem.k)),
        last_(stages_.stages()),
        reduce_(builder_, target, types, out_type_) {
    if (last_ > 1) stage_reduce_.emplace(builder_, target, types, types.partials);
  }

  LoweredGemm run() {
    lay_out();
    if (problem_.mask != nullptr) count_weights();
    for (std::uint64_t sm = 0; sm < plan_.serial_m; ++sm) {
      for (std::uint64_t sn = 0; sn < plan_.serial_n; ++sn) step(sm, sn);
    }
    finish();
    return std::move(result_);
  }

 private:
  static std::uint32_t words(std::uint64_t elements, unsigned size) {
    return static_cast<std::uint32_t>(ceil_div(elements * size, 8) * 2);
  }
  /// A slice of what a group of tiles sums: of whole accumulations, 128 bits at least, but for the
  /// last stage.
  std::uint32_t slice(std::uint64_t words, unsigned level, std::uint64_t group) const {
    const std::uint64_t part = ceil_div(words, stages_.size(level, group));
    return static_cast<std::uint32_t>(round_up(part, level == last_ ? 2 : 4));
  }
  /// Places for the slices that others send to a tile: its own is in place where tiles were alone.
  std::uint64_t places(unsigned level, std::uint64_t group) const {
    return stages_.parts(level, group) - (level == 1 ? 1 : 0);
  }
  static std::uint32_t home_share(bool weights, std::uint64_t words, std::uint64_t parts) {
    return static_cast<std::uint32_t>(dense_home_words(weights, words, parts));
  }
  bool in_place() const { return plan_.steps() == 1; }

  Cell cell(std::uint64_t sm, std::uint64_t sn, std::uint64_t f, std::uint64_t i,
            std::uint64_t o) const;
  template <class Visit>
  void for_each_cell(std::uint64_t sm, std::uint64_t sn, Visit visit) const;

  void lay_out();
  void count_weights();
  void step(std::uint64_t sm, std::uint64_t sn);
  void bring_operands(std::uint64_t sm, std::uint64_t sn);
  void send_share(const Cell& cell, bool weights, std::uint64_t sm, std::uint64_t sn);
  void load_operands(std::uint64_t sm, std::uint64_t sn);
  void place(const Cell& cell, bool weights, std::uint64_t sm, std::uint64_t sn);
  float operand(const Cell& cell, bool weights, std::uint64_t index, std::uint64_t sm,
                std::uint64_t sn) const;
  void multiply(const Cell& cell, std::uint64_t sm);
  std::uint32_t partial_words(const Cell& c) const {
    return words(c.field.size * c.out.size, types_.partial_bytes());
  }
  Words sums(const Cell& cell, unsigned level, std::uint64_t i) const;
  TileId tile_of(const Cell& c, std::uint64_t i) const {
    return c.tile + static_cast<TileId>(i * plan_.out_split) -
           static_cast<TileId>(c.i * plan_.out_split);
  }
  void collect(const Cell& cell, unsigned level);
  void reduce_in_group(const Cell& cell, unsigned level);
  void reduce(const Cell& cell, std::uint64_t step);
  std::vector<Reduction> reductions(const Cell& cell, unsigned level, DType type,
                                    std::uint64_t output) const;
  std::uint32_t reduce_vertex(ReduceCodelets& codelets, std::uint64_t elements,
                              std::uint64_t depth) const;
  std::uint64_t kept_weights(const Cell& cell, std::uint64_t sm) const;
  void finish();

  const Target target_;
  const Types types_;
  const DType out_type_;
  const GemmProblem problem_;
  const DensePlan plan_;
  ProgramBuilder builder_;
  ConvCodelets conv_;
  const std::shared_ptr<const DenseHomes> homes_;
  const ReduceStages stages_;
  const unsigned last_;  // level of the result
  ReduceCodelets reduce_;
  std::optional<ReduceCodelets> stage_reduce_;  // of stages before the last: sums stay partials
  TransferList transfers_;
  std::vector<Place> places_;
  std::vector<std::uint64_t> kept_;  // stored weights of (block of rows, part of the contraction)

  // Where the regions of a tile's memory begin, and the size of one step's share, in words.
  std::uint32_t input_home_ = 0;
  std::uint32_t input_home_size_ = 0;
  std::uint32_t weight_home_ = 0;
  std::uint32_t weight_home_size_ = 0;
  std::uint32_t input_ = 0;
  std::uint32_t weights_ = 0;
  std::uint32_t partials_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t output_ = 0;
  std::uint32_t output_size_ = 0;
  std::uint32_t end_ = 0;
  LoweredGemm result_;
};

Cell DenseLowering::cell(std::uint64_t sm, std::uint64_t sn, std::uint64_t f, std::uint64_t i,
                         std::uint64_t o) const {
  const std::uint64_t m =
      std::min(plan_.step_m, problem_.m - std::min<std::uint64_t>(problem_.m, sm * plan_.step_m));
  const std::uint64_t n =
      std::min(plan_.step_n, problem_.n - std::min<std::uint64_t>(problem_.n, sn * plan_.step_n));
  Cell c{f, i, o, {}, {}, {}, 0};
  c.field = dense_extent(f, plan_.field, n, 1);
  c.in = dense_extent(i, plan_.in_channels, problem_.k, conv_in_group(target_, types_));
  c.out = dense_extent(o, plan_.out_channels, m, conv_out_group(target_, types_));
  // Tiles that share inputs are neighbours, so that pairs can listen to the same words.
  c.tile = static_cast<TileId>((f * plan_.in_split + i) * plan_.out_split + o);
  return c;
}

template <class Visit>
void DenseLowering::for_each_cell(std::uint64_t sm, std::uint64_t sn, Visit visit) const {
  for (std::uint64_t f = 0; f < plan_.field_split; ++f) {
    for (std::uint64_t i = 0; i < plan_.in_split; ++i) {
      for (std::uint64_t o = 0; o < plan_.out_split; ++o) {
        const Cell c = cell(sm, sn, f, i, o);
        if (!c.empty()) visit(c);
      }
    }
  }
}

void DenseLowering::lay_out() {
  const unsigned size = types_.bytes();
  const std::uint32_t input = words(plan_.field * plan_.in_channels, size);
  const std::uint32_t weights = words(plan_.in_channels * plan_.out_channels, size);
  const std::uint64_t outputs = plan_.field * plan_.out_channels;
  const std::uint32_t partials = words(outputs, types_.partial_bytes());
  std::uint64_t next = 0;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t begin = next;
    next += count;
    return static_cast<std::uint32_t>(begin);
  };
  input_home_size_ = in_place() ? 0 : home_share(false, input, plan_.out_split);
  weight_home_size_ = in_place() ? 0 : home_share(true, weights, plan_.field_split);
  input_home_ = take(plan_.serial_n * input_home_size_);
  weight_home_ = take(plan_.serial_m * weight_home_size_);
  input_ = take(input);
  weights_ = take(weights);
  partials_ = take(partials);
  std::uint64_t received = 0;
  for (unsigned level = 1; level <= last_; ++level) {
    for (std::uint64_t g = 0; g < stages_.groups(level); ++g) {
      received = std::max(received, slice(partials, level, g) * places(level, g));
    }
  }
  received_ = take(received);
  output_size_ = slice(partials, last_, 0);  // never more than the partials take
  output_ = take(plan_.steps() * output_size_);
  end_ = static_cast<std::uint32_t>(next);
  result_.tile_bytes = dense_tile_bytes(types_, plan_);
  if (result_.tile_bytes > target_.tile_bytes) {
    throw OutOfMemoryError(
        fmt::format("dense {} x {} x {} in {} steps: {} bytes on a tile that has {}", problem_.m,
                    problem_.k, problem_.n, plan_.steps(), result_.tile_bytes, target_.tile_bytes));
  }
  builder_.operands(
      OperandBytes()
          .add(Operand::input, std::uint64_t{4} * (weight_home_ - input_home_ + input))
          .add(Operand::weight, std::uint64_t{4} * (input_ - weight_home_ + weights))
          .add(Operand::partial, std::uint64_t{4} * partials));
}

/// Counts the weights that are stored, by rows of out_channels and parts of the contraction.
void DenseLowering::count_weights() {
  const Mask& mask = *problem_.mask;
  const std::uint64_t parts = plan_.serial_m * plan_.out_split;
  kept_.assign(parts * plan_.in_split, 0);
  for (std::uint64_t row = 0; row < problem_.m; ++row) {
    const std::uint64_t part =
        row / plan_.step_m * plan_.out_split + row % plan_.step_m / plan_.out_channels;
    const std::uint64_t grid_row = row / mask.block_rows;
    for (std::uint64_t e = mask.offsets[grid_row]; e < mask.offsets[grid_row + 1]; ++e) {
      const std::uint64_t begin = std::uint64_t{mask.columns[e]} * mask.block_cols;
      const std::uint64_t end = std::min<std::uint64_t>(problem_.k, begin + mask.block_cols);
      for (std::uint64_t column = begin; column < end; ++column) {
        ++kept_[part * plan_.in_split + column / plan_.in_channels];
      }
    }
  }
}

std::uint64_t DenseLowering::kept_weights(const Cell& c, std::uint64_t sm) const {
  if (problem_.mask == nullptr) return c.in.real * c.out.real;
  return kept_[(sm * plan_.out_split + c.o) * plan_.in_split + c.i];
}

void DenseLowering::step(std::uint64_t sm, std::uint64_t sn) {
  const std::uint64_t step = sm * plan_.serial_n + sn;
  if (problem_.values) load_operands(sm, sn);
  bring_operands(sm, sn);

  for_each_cell(sm, sn, [&](const Cell& c) { multiply(c, sm); });
  std::uint32_t before = builder_.compute_set("multiply");
  for (unsigned level = 1; level < last_; ++level) {
    const char* name = level == 1 ? "in groups" : "over groups";
    transfers_ = {};
    for_each_cell(sm, sn, [&](const Cell& c) { collect(c, level); });
    builder_.superstep(before,
                       builder_.exchange(fmt::format("partials {}", name), std::move(transfers_)));
    for_each_cell(sm, sn, [&](const Cell& c) { reduce_in_group(c, level); });
    before = builder_.compute_set(fmt::format("reduce {}", name));
  }
  transfers_ = {};
  for_each_cell(sm, sn, [&](const Cell& c) { collect(c, last_); });
  builder_.superstep(before, builder_.exchange("partials", std::move(transfers_)));
  for_each_cell(sm, sn, [&](const Cell& c) { reduce(c, step); });
  builder_.superstep(builder_.compute_set("reduce"), kNone);
}

/// An operand that stays where it is for several steps comes before these by itself: weights while
/// only the columns change, inputs while only the rows do. The others come together.
void DenseLowering::bring_operands(std::uint64_t sm, std::uint64_t sn) {
  const bool inputs_stay = plan_.inputs_stay();
  const bool weights_stay = plan_.weights_stay();
  transfers_ = {};
  const auto bring = [&](bool inputs, bool weights) {
    for_each_cell(sm, sn, [&](const Cell& c) {
      if (inputs) send_share(c, false, sm, sn);
      if (weights) send_share(c, true, sm, sn);
    });
    const std::uint32_t copies = builder_.compute_set("copy of local shares");
    const char* name = inputs && weights ? "operands" : (inputs ? "inputs" : "weights");
    builder_.superstep(copies, builder_.exchange(name, std::move(transfers_)));
    transfers_ = {};
  };
  if (inputs_stay && sm == 0) bring(true, false);
  if (weights_stay && sn == 0) bring(false, true);
  if (!inputs_stay || !weights_stay) bring(!inputs_stay, !weights_stay);
}

/// Sends the cell's share of the inputs to the tiles of the other output channels, or its share
/// of the weights to those of the other parts of the field.
void DenseLowering::send_share(const Cell& c, bool weights, std::uint64_t sm, std::uint64_t sn) {
  const std::uint64_t sharers = weights ? plan_.field_split : plan_.out_split;
  const std::uint64_t elements = c.in.size * (weights ? c.out.size : c.field.size);
  const std::uint32_t all = words(elements, types_.bytes());
  const std::uint32_t part = home_share(weights, all, sharers);
  const std::uint64_t mine = weights ? c.f : c.o;
  const std::uint32_t begin = std::min<std::uint32_t>(all, static_cast<std::uint32_t>(mine * part));
  const std::uint32_t count = std::min(part, all - begin);
  if (count == 0) return;
  const std::uint32_t region = (weights ? weights_ : input_) + begin;
  const std::uint32_t home =
      in_place() ? region
                 : (weights ? weight_home_ + static_cast<std::uint32_t>(sm) * weight_home_size_
                            : input_home_ + static_cast<std::uint32_t>(sn) * input_home_size_);
  places_.clear();
  for (std::uint64_t s = 0; s < sharers; ++s) {
    const Cell other = weights ? cell(sm, sn, s, c.i, c.o) : cell(sm, sn, c.f, c.i, s);
    if (s != mine && !other.empty()) places_.push_back({other.tile, region});
  }
  transfers_.add({c.tile, home}, count, places_.data(), places_.data() + places_.size());
  if (in_place() && !weights) builder_.work(c.tile, reduce_.copy_vertex(std::uint64_t{count} * 4));
  if (in_place()) return;
  std::uint32_t function = kNone;
  if (problem_.values) function = builder_.function(LocalCopy{home, region, count});
  builder_.work(c.tile, reduce_.copy_vertex(std::uint64_t{count} * 4), function);
}

float DenseLowering::operand(const Cell& c, bool weights, std::uint64_t index, std::uint64_t sm,
                             std::uint64_t sn) const {
  const std::uint64_t in = index % c.in.size;
  const std::uint64_t other = index / c.in.size;
  if (in >= c.in.real || other >= (weights ? c.out.real : c.field.real)) return 0;
  const std::uint64_t k = c.in.begin + in;
  if (!weights) {
    const std::uint64_t column = sn * plan_.step_n + c.field.begin + other;
    return input_value(problem_, k * problem_.n + column);
  }
  const std::uint64_t row = sm * plan_.step_m + c.out.begin + other;
  if (problem_.mask != nullptr) {
    const Mask& mask = *problem_.mask;
    const auto begin = mask.columns.begin();
    const std::uint64_t grid_row = row / mask.block_rows;
    const auto first = begin + static_cast<std::ptrdiff_t>(mask.offsets[grid_row]);
    const auto last = begin + static_cast<std::ptrdiff_t>(mask.offsets[grid_row + 1]);
    if (!std::binary_search(first, last, k / mask.block_cols)) return 0;
  }
  return weight_value(problem_, row * problem_.k + k);
}

/// Puts the cell's share of an operand into its memory.
void DenseLowering::place(const Cell& c, bool weights, std::uint64_t sm, std::uint64_t sn) {
  const std::uint64_t elements = c.in.size * (weights ? c.out.size : c.field.size);
  const std::uint32_t all = words(elements, types_.bytes());
  const std::uint32_t part =
      home_share(weights, all, weights ? plan_.field_split : plan_.out_split);
  const std::uint64_t per_word = 4 / types_.bytes();
  const std::uint64_t begin = std::min<std::uint64_t>(all, (weights ? c.f : c.o) * part) * per_word;
  const std::uint64_t end = std::min<std::uint64_t>(begin + part * per_word, all * per_word);
  std::vector<float> values;
  for (std::uint64_t index = begin; index < end; ++index) {
    values.push_back(index < elements ? operand(c, weights, index, sm, sn) : 0.0F);
  }
  if (values.empty()) return;
  const auto offset = static_cast<std::uint32_t>(begin / per_word);
  std::uint32_t address = (weights ? weights_ : input_) + offset;
  if (!in_place()) {
    address = weights ? weight_home_ + static_cast<std::uint32_t>(sm) * weight_home_size_
                      : input_home_ + static_cast<std::uint32_t>(sn) * input_home_size_;
  }
  builder_.program().images.push_back({{c.tile, address}, pack_words(values, types_.data)});
}

void DenseLowering::load_operands(std::uint64_t sm, std::uint64_t sn) {
  for_each_cell(sm, sn, [&](const Cell& c) {
    if (sm == 0) place(c, false, sm, sn);
    if (sn == 0) place(c, true, sm, sn);
  });
}

void DenseLowering::multiply(const Cell& c, std::uint64_t sm) {
  const std::uint64_t in_groups = c.in.size / conv_in_group(target_, types_);
  WorkItem item;
  item.index =
      conv_.vertex({c.field.size, in_groups, c.out.size / conv_out_group(target_, types_)});
  item.mac_edge = c.field.size * (c.in.size * c.out.size - c.in.real * c.out.real);
  item.mac_zero = c.field.real * (c.in.real * c.out.real - kept_weights(c, sm));
  if (problem_.values) {
    DenseProduct product;
    product.type = types_.data;
    product.partial_type = types_.partials;
    product.field = c.field.size;
    product.in = c.in.size;
    product.out = c.out.size;
    product.group = conv_in_group(target_, types_);
    product.input = std::uint64_t{input_} * 4 / types_.bytes();
    product.weights = std::uint64_t{weights_} * 4 / types_.bytes();
    product.partials = std::uint64_t{partials_} * 4 / types_.partial_bytes();
    item.function = builder_.function(product);
  }
  builder_.work(c.tile, item);
  result_.tiles_used = std::max(result_.tiles_used, c.tile + 1);
}

/// What the tile of part `i` of the contraction has sums of after a stage: its slice of those of
/// its group; before the first, its own partials.
Words DenseLowering::sums(const Cell& c, unsigned level, std::uint64_t i) const {
  const std::uint32_t all = partial_words(c);
  if (level == 0) return {0, all};
  const std::uint64_t part = slice(all, level, stages_.group_of(level, i));
  const std::uint64_t begin = stages_.slice_of(level, i) * part;
  return {static_cast<std::uint32_t>(std::min<std::uint64_t>(all, begin)),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(all, begin + part))};
}

/// Sends what the cell has sums of to the tiles of its group that sum it further. Of parts of the
/// group other than the owner's the first come first; the last place is for its own, if another
/// tile has summed it.
void DenseLowering::collect(const Cell& c, unsigned level) {
  const Words have = sums(c, level - 1, c.i);
  const std::uint64_t group = stages_.group_of(level, c.i);
  const std::uint64_t mine = stages_.part_of(level, c.i);
  const std::uint32_t size = slice(partial_words(c), level, group);
  for (std::uint64_t s = 0; s < stages_.size(level, group); ++s) {
    const std::uint64_t i = stages_.owner_of(level, group, s);
    const Words wanted = sums(c, level, i);
    const Words part = overlap(have, wanted);
    if (i == c.i || part.count() == 0) continue;
    const std::uint64_t own = stages_.part_of(level, i);
    const std::uint64_t place =
        mine == own ? stages_.parts(level, group) - 1 : mine - (mine < own ? 0 : 1);
    const auto target = static_cast<std::uint32_t>(received_ + place * size);
    transfers_.add({c.tile, partials_ + part.begin}, part.count(),
                   {Place{tile_of(c, i), target + part.begin - wanted.begin}});
  }
}

/// Adds what the others of its group have of its slice, where the cell's partials of it lie.
void DenseLowering::reduce_in_group(const Cell& c, unsigned level) {
  const Words mine = sums(c, level, c.i);
  const std::uint64_t per_word = 4 / types_.partial_bytes();
  const std::uint64_t begin = mine.begin * per_word;
  const std::uint64_t elements = c.field.size * c.out.size;
  const std::uint64_t depth = stages_.parts(level, stages_.group_of(level, c.i));
  if (depth == 1 || begin >= elements || mine.count() == 0) return;
  const std::uint64_t count = std::min(elements - begin, mine.count() * per_word);
  std::uint32_t function = kNone;
  const std::uint64_t output = partials_ * per_word + begin;
  if (problem_.values) {
    function = builder_.function(
        [list = reductions(c, level, types_.partials, output)](TileMemory& memory) {
          for (const Reduction& one : list) one(memory);
        });
  }
  builder_.work(c.tile, reduce_vertex(*stage_reduce_, count, depth), function);
}

/// The sums of the cell's slice, cut where what it has of it begins and ends: there contributions
/// are where they were made, elsewhere they were received.
std::vector<Reduction> DenseLowering::reductions(const Cell& c, unsigned level, DType type,
                                                 std::uint64_t output) const {
  const std::uint64_t per_word = 4 / types_.partial_bytes();
  const std::uint64_t elements = c.field.size * c.out.size;
  const std::uint64_t group = stages_.group_of(level, c.i);
  const std::uint64_t size = slice(partial_words(c), level, group);
  const Words mine = sums(c, level, c.i);
  // The part of the contraction that a tile has may be empty at the end, with one stage.
  const std::uint64_t depth =
      std::min(stages_.parts(level, group), ceil_div(problem_.k, plan_.in_channels));
  const Words local = overlap(sums(c, level - 1, c.i), mine);
  std::vector<Reduction> list;
  const auto add = [&](std::uint32_t from, std::uint32_t to, bool is_local) {
    const std::uint64_t begin = from * per_word;
    const std::uint64_t end = std::min(elements, to * per_word);
    if (begin >= end) return;
    const std::uint64_t offset = begin - mine.begin * per_word;
    Reduction sum{types_.partials, type, end - begin, output + offset, {}};
    if (is_local) sum.sources.push_back(partials_ * per_word + begin);
    for (std::uint64_t d = 0; d + (is_local ? 1 : 0) < depth; ++d) {
      sum.sources.push_back((received_ + d * size) * per_word + offset);
    }
    list.push_back(std::move(sum));
  };
  if (local.count() == 0) {
    add(mine.begin, mine.end, false);
    return list;
  }
  add(mine.begin, local.begin, false);
  add(local.begin, local.end, true);
  add(local.end, mine.end, false);
  return list;
}

void DenseLowering::reduce(const Cell& c, std::uint64_t step) {
  const unsigned partial = types_.partial_bytes();
  const Words mine = sums(c, last_, c.i);
  const std::uint64_t per_word = 4 / partial;
  const std::uint64_t elements = c.field.size * c.out.size;
  const std::uint64_t begin = std::min(elements, mine.begin * per_word);
  const std::uint64_t count = std::min(elements - begin, mine.count() * per_word);
  if (count == 0) return;
  const std::uint64_t output = (output_ + step * output_size_) * std::uint64_t{4};
  std::vector<Reduction> sums = reductions(c, last_, out_type_, output / bytes_of(out_type_));
  std::uint64_t depth = 1;
  for (const Reduction& sum : sums) depth = std::max<std::uint64_t>(depth, sum.sources.size());
  std::uint32_t function = kNone;
  if (problem_.values) {
    function = builder_.function([list = std::move(sums)](TileMemory& memory) {
      for (const Reduction& one : list) one(memory);
    });
  }
  if (depth > 1) {
    builder_.work(c.tile, reduce_vertex(reduce_, count, depth), function);
  } else if (types_.partials != out_type_) {
    builder_.work(c.tile, reduce_.cast_vertex(count), function);
  } else if (plan_.steps() > 1) {
    builder_.work(c.tile, reduce_.copy_vertex(count * partial), function);
  }
}

// If what was received is small and even, it is summed as one contiguous input, onto the tile's own
// partials; else by pointers to all of them.
std::uint32_t DenseLowering::reduce_vertex(ReduceCodelets& codelets, std::uint64_t elements,
                                           std::uint64_t depth) const {
  if (sums_contiguously(target_, elements, depth, types_.partials)) {
    return codelets.contiguous_vertex({elements, static_cast<std::uint32_t>(depth - 1)});
  }
  return codelets.add_vertex({elements, static_cast<std::uint32_t>(depth)});
}

void DenseLowering::finish() {
  finish_product(result_, builder_, problem_, homes_, end_,
                 homes_->keeps_partials() ? partials_ : output_);
}

}  // namespace

LoweredGemm lower_dense(const ChipParams& params, const Target& target, const Types& types,
                        const GemmProblem& problem, const DensePlan& plan) {
  return DenseLowering(params, target, types, problem, plan).run();
}

}  // namespace lacuna::ipu
