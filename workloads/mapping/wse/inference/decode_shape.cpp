// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/decode_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "workloads/mapping/wse/core_space.hpp"

namespace lacuna::wse {

namespace {

/// The newest position and `count` - 1 of the others, each set as likely: those whose drawn numbers
/// are the least.
std::vector<std::uint32_t> draw_kept(std::uint32_t context, std::uint32_t count,
                                     std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> drawn;
  for (std::uint32_t p = 0; p + 1 < context; ++p) drawn.emplace_back(mix(seed ^ mix(p)), p);
  const std::size_t most = std::min<std::size_t>(drawn.size(), count - 1);
  std::nth_element(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(most), drawn.end());
  std::vector<std::uint32_t> kept = {context - 1};
  for (std::size_t i = 0; i < most; ++i) kept.push_back(drawn[i].second);
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

DecodeShape::DecodeShape(const DecoderModel& model, const DecodeBlock& block)
    : LayerCut(model), block_(block) {
  check_experts();
  cut(ceil(model.width, block.rows), ceil(model.ffn, expert_columns()), block.columns,
      expert_columns());
  if (!block.attention) return;
  if (block.sees.kept != 0) {
    kept_.resize(block.rows);
    for (const std::uint32_t p : draw_kept(block.context, block.sees.kept, block.sees.seed)) {
      kept_[p % block.rows].push_back(p);
    }
  }
  if (block.columns % model.kv_heads != 0) {
    throw UnsupportedError(
        fmt::format("{} columns are no whole number for each of {} key and value heads",
                    block.columns, model.kv_heads));
  }
  if (k() % 2 != 0) {
    throw UnsupportedError(fmt::format(
        "{} features of a head in each of {} columns: they are rotated in pairs", k(), band()));
  }
}

void DecodeShape::check_experts() const {
  const DecoderExperts& experts = model().experts;
  if (experts.chosen > experts.count) {
    throw UnsupportedError(
        fmt::format("{} experts of {} for a token", experts.chosen, experts.count));
  }
  if (block_.experts_apart && (experts.count == 0 || block_.columns % experts.count != 0)) {
    throw UnsupportedError(fmt::format("{} columns are no whole number for each of {} experts",
                                       block_.columns, experts.count));
  }
}

std::uint32_t DecodeShape::route(std::uint32_t sequence, std::uint32_t choice) const {
  if (block_.routes.empty()) return choice;
  return block_.routes.at(std::size_t{sequence} * model().experts.chosen + choice);
}

/// Outputs of o and down lie along y, as inputs of the others do.
TileFeatures DecodeShape::tile(const TilePlace& place) const {
  const bool along_y = place.matrix == Matrix::o || place.matrix == Matrix::down;
  const auto& [matrix, row, column] = place;
  TileFeatures tile;
  for (std::uint32_t i = 0; i < inputs(matrix); ++i) {
    tile.inputs.push_back(input_of(matrix, along_y ? column : row, i));
  }
  for (std::uint32_t i = 0; i < outputs(matrix); ++i) {
    tile.outputs.push_back(output_of(matrix, along_y ? row : column, i));
  }
  return tile;
}

bool DecodeShape::any_tile(Matrix matrix, const TileTest& is) const {
  const std::uint32_t rows = block_.has(matrix) ? block_.rows : 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < block_.columns; ++column) {
      if (is(tile({matrix, row, column}))) return true;
    }
  }
  return false;
}

std::uint32_t DecodeShape::slots() const {
  const std::uint32_t all = std::max(block_.context, block_.capacity);
  if (block_.sees.kept != 0) {
    std::uint32_t most = 0;
    for (std::uint32_t row = 0; row < block_.rows; ++row) most = std::max(most, live(row));
    return most;
  }
  return ceil(block_.sees.window != 0 ? std::min(all, block_.sees.window) : all, block_.rows);
}

std::uint32_t DecodeShape::exponentials() const {
  const std::uint32_t unsaid = std::max(slots(), block_.exponentials);
  const std::uint32_t seen = std::max(block_.sees.window, block_.sees.kept);
  if (block_.capacity != 0) return slots();
  return seen == 0 ? unsaid : std::min(unsaid, std::max(slots(), ceil(seen, block_.rows)));
}

std::uint32_t DecodeShape::live(std::uint32_t row) const {
  if (!kept_.empty()) return static_cast<std::uint32_t>(kept_[row].size());
  const auto below = [&](std::uint32_t end) {
    return row < end ? (end - row - 1) / block_.rows + 1 : 0;
  };
  const std::uint32_t window = block_.sees.window;
  const bool all = window == 0 || window >= block_.context;
  return below(block_.context) - (all ? 0 : below(block_.context - window));
}

std::vector<std::uint32_t> DecodeShape::positions(std::uint32_t row) const {
  if (!kept_.empty()) return kept_[row];
  std::vector<std::uint32_t> found;
  const std::uint32_t count = live(row);
  if (count == 0) return found;
  const std::uint32_t last = (block_.context - row - 1) / block_.rows * block_.rows + row;
  for (std::uint32_t i = 0; i < count; ++i) {
    found.push_back(last - (count - 1 - i) * block_.rows);
  }
  return found;
}

namespace {

/// Halves of a matrix in a core.
std::uint64_t halves_of(const DecodeShape& shape, Matrix matrix) {
  const std::uint32_t inputs = shape.inputs(matrix);
  const DecodeZeros* zeros = shape.block().zeros.get();
  if (zeros != nullptr && zeros->sparse(matrix)) return zeros->size_of(matrix).halves(inputs);
  return std::uint64_t{inputs} * shape.outputs(matrix);
}

/// Weights of one layer.
void take_weights(const DecodeShape& shape, CoreSpace& space, DecodeSpace& at) {
  const std::uint32_t d = shape.d();
  const std::uint32_t experts_all = shape.model().experts.count;
  const unsigned sum = shape.model().wide_sums ? 4 : 2;
  if (shape.block().attention) {
    at.wq = space.take(halves_of(shape, Matrix::q), 2);
    at.wk = space.take(halves_of(shape, Matrix::k), 2);
    at.wv = space.take(halves_of(shape, Matrix::v), 2);
    at.wo = space.take(halves_of(shape, Matrix::o), 2);
    at.gain = space.take(d, 2);
    at.q_gain = space.take(shape.model().qk_norm ? shape.k() : 0, sum);
    at.k_gain = space.take(shape.model().qk_norm ? shape.k() : 0, sum);
  }
  if (!shape.block().ffn) return;
  const std::uint64_t experts = experts_all == 0 ? 1 : shape.experts_here();
  at.up_bytes = 2 * halves_of(shape, Matrix::up);
  at.down_bytes = 2 * halves_of(shape, Matrix::down);
  at.wup = space.take(experts * at.up_bytes / 2, 2);
  at.wdown = space.take(experts * at.down_bytes / 2, 2);
  at.wrouter = space.take(std::uint64_t{d} * experts_all, 2);
  at.ffn_gain = space.take(d, 2);
}

/// Buffers, those of all sequences of a block one behind the other.
class BufferSpace {
 public:
  BufferSpace(const DecodeShape& shape, CoreSpace& space)
      : space_(space), batch_(shape.block().batch), wide_(shape.model().wide_sums) {}

  unsigned bytes() const { return wide_ ? 4 : 2; }
  std::uint32_t plain(std::uint64_t elements, unsigned bytes) {
    return space_.take(elements, bytes);
  }
  std::uint32_t each(std::uint64_t elements, unsigned bytes) {
    return space_.take(batch_ * elements, bytes);
  }
  /// Four bytes behind a multiple of eight: they are read together with weights.
  std::uint32_t sums(std::uint64_t elements) {
    return space_.take(batch_ * elements, bytes(), Half8::upper);
  }
  /// The same in halves, unless they are that.
  std::uint32_t halves(std::uint64_t elements, std::uint32_t same) {
    return wide_ ? space_.take(batch_ * elements, 2) : same;
  }

 private:
  CoreSpace& space_;
  std::uint64_t batch_;
  bool wide_;
};

void take_common(const DecodeShape& shape, BufferSpace& space, DecodeSpace& at) {
  const std::uint32_t d = shape.d();
  const std::uint32_t heads = shape.group();
  at.x = space.each(d, 2);
  at.z = space.each(d, 2);
  const bool lists = shape.block().zeros != nullptr && shape.block().zeros->compact;
  at.list = space.plain(lists ? shape.block().batch * std::uint64_t{d} + 1 : 0, 4);
  at.stats = space.each(heads + 1, space.bytes());
  at.stats16 = space.halves(heads + 1, at.stats);
  at.out = space.sums(d);
  at.out16 = space.halves(d, at.out);
}

void take_attention(const DecodeShape& shape, BufferSpace& space, DecodeSpace& at) {
  const std::uint32_t q = shape.q();
  const std::uint32_t k = shape.k();
  const std::uint64_t heads = shape.group();
  at.qkv = space.sums(q + 2 * k);
  at.qkv16 = space.halves(q + 2 * k, at.qkv);
  at.cos = space.plain(q / 2, space.bytes());
  at.sin = space.plain(q / 2, space.bytes());
  at.rotated = space.plain(std::uint64_t{2} * q, space.bytes());
  const std::uint64_t places = heads * shape.exponentials();
  at.scores = space.sums(places);
  at.probabilities = space.halves(heads * shape.slots(), at.scores);
  at.work = space.each(places, space.bytes());
  at.context = space.sums(q);
  at.context16 = space.halves(q, at.context);
}

void take_ffn(const DecodeShape& shape, BufferSpace& space, DecodeSpace& at) {
  const std::uint32_t f = shape.f();
  const DecoderExperts& experts = shape.model().experts;
  // inner widths of a token at once: those of all its experts, or of the core's own
  const std::uint32_t at_once =
      experts.count == 0 || shape.block().experts_apart ? 1 : experts.chosen;
  at.inner = space.sums(std::uint64_t{2} * f * at_once);
  at.inner16 = space.halves(std::uint64_t{f} * at_once, at.inner);
  at.silu = space.plain(std::uint64_t{3} * f, space.bytes());
  if (experts.count == 0) return;
  at.logits = space.sums(experts.count);
  at.mark = space.plain(experts.count, space.bytes());
  at.numbers = space.plain(experts.count, space.bytes());
  at.best = space.each(experts.chosen, space.bytes());
  at.chosen = space.each(experts.chosen, space.bytes());
  at.shares = space.each(experts.chosen, space.bytes());
}

}  // namespace

DecodeSpace::DecodeSpace(const DecodeShape& shape) {
  const DecodeBlock& block = shape.block();
  CoreSpace space;
  take_weights(shape, space, *this);
  weight_bytes = space.bytes() * block.layers + block.others();
  std::uint64_t before = space.bytes();
  if (block.attention) {
    const std::uint64_t cached = std::uint64_t{block.batch} * shape.k() * shape.slots();
    k_cache = space.take(cached, 2);
    v_cache = space.take(cached, 2);
  }
  cache_bytes = (space.bytes() - before) * block.layers;
  before = space.bytes();
  BufferSpace buffers(shape, space);
  take_common(shape, buffers, *this);
  if (block.attention) take_attention(shape, buffers, *this);
  if (block.ffn) take_ffn(shape, buffers, *this);
  buffer_bytes = space.bytes() - before;
  image_bytes = space.bytes();
}

std::uint64_t decode_bytes(const DecodeShape& shape, const InferenceParams& params) {
  const DecodeSpace space(shape);
  return space.weight_bytes + space.cache_bytes + space.buffer_bytes +
         shape.block().code_bytes(params);
}

std::uint32_t positions_that_fit(const DecodeShape& shape, const InferenceParams& params,
                                 std::uint64_t bytes) {
  DecodeBlock block = shape.block();
  constexpr std::uint32_t kMost = 1U << 30U;
  if (block.sees.kept != 0) return decode_bytes(shape, params) <= bytes ? kMost : 0;
  const bool said = block.capacity != 0;
  const auto holds = [&](std::uint32_t context) {
    block.context = context;
    block.capacity = said ? context : 0;
    return decode_bytes(DecodeShape(shape.model(), block), params) <= bytes;
  };
  if (!holds(1)) return 0;
  std::uint32_t low = 1;
  std::uint32_t high = 2;
  for (; high < kMost && holds(high); high *= 2) low = high;
  if (high == kMost) return kMost;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

namespace {

/// What comes nearest and fits: fewer positions, fewer layers, or higher blocks.
std::string nearest_that_fits(const DecodeShape& shape, const InferenceParams& params,
                              std::uint64_t bytes) {
  if (const std::uint32_t most = positions_that_fit(shape, params, bytes); most != 0) {
    return fmt::format("{} would fit", counted(most, "position"));
  }
  std::string none = "no number of positions fits";
  DecodeBlock block = shape.block();
  const auto fits = [&] { return decode_bytes({shape.model(), block}, params) <= bytes; };
  for (block.layers = shape.block().layers - 1; block.layers > 0; --block.layers) {
    if (fits()) return fmt::format("{}; {} would fit", none, counted(block.layers, "layer"));
  }
  if (block.zeros != nullptr && block.zeros->any_lists()) return none;  // tiles have that size
  block.layers = 1;
  constexpr std::uint32_t kMostRows = 4096;
  for (block.rows *= 2; block.rows <= kMostRows; block.rows *= 2) {
    if (!fits()) continue;
    return fmt::format("{}; one layer would fit {} x {} cores", none, block.columns, block.rows);
  }
  return none;
}

}  // namespace

void require_memory(const DecodeShape& shape, const InferenceParams& params, std::uint64_t bytes) {
  const std::uint64_t all = decode_bytes(shape, params);
  if (all <= bytes) return;
  const DecodeSpace space(shape);
  const std::string fits = nearest_that_fits(shape, params, bytes);
  throw OutOfMemoryError(fmt::format(
      "{} on {} x {} cores {} {} bytes of a core: weights {}, cache {} for {}, "
      "buffers {}, code {}; it has {}; {}",
      counted(shape.block().layers, "layer"), shape.block().columns, shape.block().rows,
      shape.block().layers == 1 ? "needs" : "need", all, space.weight_bytes, space.cache_bytes,
      counted(std::uint64_t{shape.slots()} * shape.block().rows, "position"), space.buffer_bytes,
      shape.block().code_bytes(params), bytes, fits));
}

}  // namespace lacuna::wse
