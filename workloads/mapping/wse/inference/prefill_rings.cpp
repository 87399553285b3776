// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

// Parts of a prompt in which blocks go round.

namespace lacuna::wse {
namespace {

// Colors from core to core of a band, by the parity of the one that sends.
constexpr unsigned kSouthward = 8;
constexpr unsigned kNorthward = 10;

Color of_parity(unsigned first, std::uint32_t sender) {
  return static_cast<Color>(first + sender % 2);
}

/// How often activations have moved in the first `steps` steps: after each in which a core of the
/// ring's place `place` has used the first of its `pieces`.
std::uint32_t moves_before(std::uint32_t place, std::uint32_t steps, std::uint32_t pieces) {
  const std::uint32_t first = place % pieces;  // the step after which it moves first
  return steps > first ? (steps - first - 1) / pieces + 1 : 0;
}

}  // namespace

// A core at the places (r, c) of its rings, with tile_pieces() = a and weight_pieces() = w, one of
// which is 1. In step s it takes the piece a r + w c - s of the inputs, counted in the order of the
// rings. Activations move on by one place after each a-th step, so they come from the place r - s /
// a; columns have been moved apart before by w c / a places. Weights come from c - s / w, and lie
// so that both pieces are the same.

/// Places by which the activations of a column go on before its first product.
std::uint32_t PrefillParts::skew_of(std::uint32_t column) const {
  const std::uint32_t rows = shape_.block().rows;
  const std::uint32_t back =
      x_.position(column) * shape_.weight_pieces() / shape_.tile_pieces() % rows;
  return (rows - back) % rows;
}

/// Those of the values of a row.
std::uint32_t PrefillParts::value_skew_of(std::uint32_t row) const {
  return shape_.band() - 1 - in_band_.position(row);
}

InputPiece PrefillParts::weights_at(const TileProduct& job, std::uint32_t row, std::uint32_t column,
                                    std::uint32_t piece) const {
  const std::uint32_t a = shape_.tile_pieces();
  const std::uint32_t all = shape_.steps();
  const std::uint32_t before = (job.made + piece) % all;
  const std::uint32_t at =
      (a * y_.position(row) + shape_.weight_pieces() * x_.position(column) + all - before) % all;
  return {y_.core_at(at / a), at % a};
}

std::uint32_t PrefillParts::keys_at(std::uint32_t row, std::uint32_t column,
                                    std::uint32_t block) const {
  const std::uint32_t columns = shape_.block().columns;
  const std::uint32_t step = block * shape_.band() + value_skew_of(row);
  return x_.core_at(x_.position(column) + columns - step % columns);
}

CoreExtent PrefillParts::cores(std::uint32_t columns, std::uint32_t rows) const {
  if (scope_.whole) return {shape_.block().columns, shape_.block().rows};
  return {columns, rows};
}

CoreExtent PrefillParts::folded() const {
  // of a wide block columns differ in when they move their activations
  return cores(std::min(std::max(fold_, shape_.tile_pieces()), shape_.block().columns),
               std::min(fold_, shape_.block().rows));
}

void PrefillParts::multiply(CoreCode& code, const TileProduct& job, std::uint32_t weights,
                            std::uint32_t tile) const {
  write_tile(code, tile_of(job, weights, tile), sum_);
}

/// Where a step of a product finds its operands.
SparseTile PrefillParts::tile_of(const TileProduct& job, std::uint32_t weights,
                                 std::uint32_t activations) const {
  SparseTile tile;
  tile.weights = weights;
  tile.activations = activations;
  tile.sums = space_.out + bytes_of(sum_) * job.first * shape_.pitch();
  tile.tokens = job.tokens;
  tile.pitch = shape_.pitch();
  tile.inputs = job.inputs;
  tile.outputs = job.outputs;
  return tile;
}

/// Each core has its own zeros.
SparseTile PrefillParts::nonzeros_of(const TileProduct& job, const StepTile& at) const {
  const DecodeZeros& zeros = *shape_.zeros_of(job.what);
  const Matrix matrix = matrix_of(job.what);
  const NonZeros& inputs = zeros.inputs_of(matrix);
  const TileFeatures features = shape_.tile(job.what, at.row, at.piece);
  SparseTile tile = tile_of(job, at.weights, at.tile);
  tile.take(zeros, matrix, features);
  for (std::uint32_t i = 0; tile.tests && i < job.inputs; ++i) {
    std::uint32_t first = 0;
    while (first < job.tokens && !inputs.at(features.inputs[i], at.column * job.tokens + first)) {
      ++first;
    }
    tile.zeros.push_back(first);
  }
  return tile;
}

/// Tiles go round, so that many cores multiply the same in turn.
void PrefillParts::multiply_nonzero(CoreCode& code, const TileProduct& job, const StepTile& at,
                                    PieceCycles& known) const {
  const auto write = [&] { write_sparse_tile(code, nonzeros_of(job, at), sum_); };
  if (pieces_ == nullptr) {
    write();
    return;
  }
  const DecodeZeros& zeros = *shape_.zeros_of(job.what);
  const Matrix matrix = matrix_of(job.what);
  const PieceKey key = {at.weights,   at.tile,         zeros.sparse(matrix) ? at.row : 0,
                        at.piece.row, at.piece.number, zeros.tests(matrix) ? at.column : 0};
  const auto [cycles, fresh] = known.try_emplace(key, 0);
  if (fresh) cycles->second = static_cast<std::uint32_t>(code.cycles_of(*pieces_, write));
  code.scalar(cycles->second);
}

/// The steps of a core. The weights go round once and are where they were in the end.
void PrefillParts::product(CoreCode& code, const TileProduct& job, const CoreRing& x,
                           const CoreRing& y, CorePlace core, PieceCycles& known) const {
  const auto [row, column] = core;
  const std::uint32_t a = shape_.tile_pieces();
  const std::uint32_t w = shape_.weight_pieces();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t place = x.position(column);
  const std::uint32_t piece = job.stored();
  const std::uint32_t moving = a * job.inputs * pitch;
  const std::array<std::uint32_t, 2> weights = {job.weights, space_.incoming};
  if (!job.adds) {
    code.move(sum_, in_memory(space_.out + bytes_of(sum_) * job.first * pitch), number(0),
              job.outputs * pitch);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> bodies;
  bool moves = false;
  bool fresh = true;  // the activations have not been there in the step before
  for (std::uint32_t step = 0; step < job.steps; ++step) {
    const std::uint32_t gone = job.made + step;
    const std::uint32_t left = (place + shape_.steps() * a - gone % a) % a;  // steps of this tile
    const std::uint32_t here = x.cores() == 1 ? 0 : step / w % 2;
    const std::uint32_t there = y.cores() == 1 ? 0 : moves_before(place, gone, a) % 2;
    const auto tile = [&](std::uint32_t i) { return space_.tile[i] + 2 * job.tile * pitch; };
    if (step % w == 0) {
      x.shift(code, column, weights[here], weights[1 - here], w * piece);
    }
    if (fresh && step + left + 1 < job.steps) {
      y.shift(code, row, tile(there), tile(1 - there), moving);
      moves = true;
    }
    const auto at = std::make_pair(weights[here] + 2 * (step % w) * piece,
                                   tile(there) + 2 * left * job.inputs * pitch);
    if (shape_.zeros_of(job.what) != nullptr) {
      const StepTile own{at.first, at.second, row, column, weights_at(job, row, column, step)};
      code.call_kept(code.keep([&] { multiply_nonzero(code, job, own, known); }));
    } else {
      const auto [body, unknown] = bodies.try_emplace(at, 0);
      if (unknown) body->second = code.keep([&] { multiply(code, job, at.first, at.second); });
      code.call_kept(body->second);
    }
    if (step % w == w - 1) x.wait(code);
    fresh = left == 0;
    if (!fresh || !moves) continue;
    y.wait(code);
    moves = false;
  }
  if (x.cores() > 1 && job.steps / w % 2 != 0) {
    code.move(Element::fp16, in_memory(weights[0]), in_memory(weights[1]), w * piece);
  }
}

TaskProgram PrefillParts::plan_product(const TileProduct& job) const {
  const bool zeros = shape_.zeros_of(job.what) != nullptr;
  CoreExtent extent = folded();
  if (zeros) extent = {shape_.block().columns, shape_.block().rows};
  extent.columns = std::min(extent.columns, job.steps);
  extent.rows = std::min(extent.rows, job.steps);
  const CoreRing x(extent.columns, Direction::columns);
  const CoreRing y(extent.rows, Direction::rows);
  PieceCycles known;
  return plan_rings(
      x, y, extent, makers(),
      [&](std::uint32_t row, std::uint32_t column) {
        if (zeros) return row * extent.columns + column;
        return x.position(column) % shape_.tile_pieces();
      },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        product(code, job, x, y, {row, column}, known);
      });
}

TaskProgram PrefillParts::plan_skew(std::uint32_t halves, std::uint32_t shifts) const {
  const CoreRing x(1, Direction::columns);
  const CoreRing y(folded().rows, Direction::rows);
  const auto all = [&](std::uint32_t column) { return scope_.whole ? skew_of(column) : shifts; };
  return plan_rings(
      x, y, cores(1, y.cores()), makers(),
      [&](std::uint32_t, std::uint32_t column) { return all(column); },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        for (std::uint32_t i = all(column); i > 0; --i) {
          y.shift(code, row, space_.tile[i % 2], space_.tile[1 - i % 2], halves);
          code.test();
          y.wait(code);
        }
      });
}

/// Along x, and into the bank.
TaskProgram PrefillParts::plan_value_skew() const {
  const CoreRing x(folded().columns, Direction::columns);
  const CoreRing y(1, Direction::rows);
  const std::uint32_t halves = shape_.k() * shape_.pitch();
  const auto all = [&](std::uint32_t row) {
    return scope_.whole ? value_skew_of(row) : shape_.band() - 1;
  };
  return plan_rings(
      x, y, cores(x.cores(), 1), makers(),
      [&](std::uint32_t row, std::uint32_t) { return all(row); },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        for (std::uint32_t i = all(row); i > 0; --i) {
          x.shift(code, column, space_.keys[i % 2], space_.keys[1 - i % 2], halves);
          code.test();
          x.wait(code);
        }
        code.move(Element::fp16, in_memory(space_.v_bank + scope_.chunk * space_.bank_bytes),
                  in_memory(space_.keys[0]), halves);
      });
}

/// Scores of a block of keys where they are kept: of each head in its own place.
Operand PrefillParts::kept_scores(std::uint32_t block) const {
  const std::uint32_t of_block = shape_.t() * shape_.pitch();
  const std::uint32_t at = space_.scores + bytes_of(sum_) * block * of_block;
  if (shape_.held() == 1 || shape_.group() == 1) return in_memory(at);
  const auto apart = static_cast<std::int32_t>(shape_.held() * of_block);
  if (of_block == 1) return in_memory(at, apart);
  Operand operand = in_memory(at);
  operand.inner = of_block;
  operand.outer = apart;
  return operand;
}

/// A core's partial scores on their way along the band: what comes from the side that is farther
/// from the root, and its own, goes to the next; the root keeps the sum.
void PrefillParts::send_to_root(CoreCode& code, std::uint32_t row, std::uint32_t root,
                                const Operand& kept) const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t elements = shape_.group() * shape_.t() * shape_.pitch();
  const Operand own = in_memory(space_.partial);
  code.scalar(params_.sum_step);
  const auto take = [&](bool from_north, const Operand& to, const Operand& mine) {
    const Color color =
        from_north ? of_parity(kSouthward, row - 1) : of_parity(kNorthward, row + 1);
    code.take(color, from_north ? 2 : 3);
    code.vector(VectorOp::add, sum_, to, on_fabric(color), mine, elements);
  };
  if (row == root) {
    if (row > 0) take(true, kept, own);
    if (row + 1 < rows) take(false, kept, row > 0 ? kept : own);
    if (rows == 1) code.move(sum_, kept, own, elements);
    return;
  }
  const bool south = row < root;
  const Color color = of_parity(south ? kSouthward : kNorthward, row);
  const Operand out = on_fabric(color);
  code.send(color, 1);
  if (south ? row > 0 : row + 1 < rows) {
    take(south, out, own);
  } else {
    code.move(sum_, out, own, elements);
  }
}

/// Those of a block of keys, of a core's features.
void PrefillParts::score(CoreCode& code, std::uint32_t keys) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  code.test();
  code.move(sum_, in_memory(space_.partial), number(0), heads * t * pitch);
  for (std::uint32_t i = 0; i < k; ++i) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      for (std::uint32_t token = 0; token < t; ++token) {
        code.stream(products(sum_), in_memory(space_.partial + bytes * (h * t + token) * pitch),
                    in_memory(space_.qkv16 + 2 * (h * k + i) * pitch),
                    cell(keys + 2 * (i * pitch + token)), t);
      }
    }
  }
}

/// Keys go round along x; the partial scores of each block of them are summed in the band, in a
/// core that changes with the step, backwards on the ring of the band.
TaskProgram PrefillParts::plan_scores(std::uint32_t columns) const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t steps = shape_.block().columns;
  const std::uint32_t keys = shape_.k() * shape_.pitch();
  const CoreExtent extent = cores(std::min(columns, steps), rows);
  const CoreRing x(extent.columns, Direction::columns);
  const auto route = [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
    const std::size_t place = builder.place(row, column);
    x.route(builder, place, column);
    const std::uint32_t at = row % rows;
    if (at + 1 < rows) {
      builder.route(place, of_parity(kSouthward, at), kRamp, bit(kSouth));
      builder.route(place, of_parity(kNorthward, at + 1), kSouth, bit(kRamp));
    }
    if (at > 0) {
      builder.route(place, of_parity(kSouthward, at - 1), kNorth, bit(kRamp));
      builder.route(place, of_parity(kNorthward, at), kRamp, bit(kNorth));
    }
  };
  const auto kind = [&](std::uint32_t row, std::uint32_t column) {
    return std::make_pair(row % rows, x.kind(column));
  };
  const auto write = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    code.move(Element::fp16, in_memory(space_.keys[0]),
              in_memory(space_.k_bank + scope_.keys * space_.bank_bytes), keys);
    std::array<std::uint32_t, 2> bodies{};
    for (std::uint32_t here = 0; here < 2; ++here) {
      bodies[here] = code.keep([&] { score(code, space_.keys[here]); });
    }
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint32_t here = step % 2;
      if (step + 1 < steps) {
        x.shift(code, column, space_.keys[here], space_.keys[1 - here], keys);
      }
      code.call_kept(bodies[here]);
      const std::uint32_t root = in_band_.core_at(rows - 1 - step % rows);
      send_to_root(code, row % rows, root, kept_scores(step / rows));
      x.wait(code);
    }
  };
  return plan_cores(extent, makers(), route, kind, write);
}

/// Values of a block of keys with their probabilities, those of number `block` of a core.
void PrefillParts::weigh(CoreCode& code, std::uint32_t values, std::uint32_t held,
                         std::uint32_t block) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  code.test();
  for (std::uint32_t token = 0; token < t; ++token) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      const std::uint32_t weights = (h * shape_.held() + block) * t + token;
      for (std::uint32_t i = 0; i < k; ++i) {
        code.stream(products(sum_), in_memory(space_.context + bytes * (h * k + i) * pitch),
                    in_memory(held + 2 * weights * pitch), cell(values + 2 * (i * pitch + token)),
                    t);
      }
    }
  }
}

/// Values go round along x, and probabilities in the band. Values have been moved on by their skew.
/// A core holds probabilities that came from another core. After s steps it has the values of the
/// keys that this other core kept in its step s + skew.
TaskProgram PrefillParts::plan_values() const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t steps = shape_.block().columns;
  const std::uint32_t values = shape_.k() * shape_.pitch();
  const std::uint32_t kept = shape_.group() * shape_.held() * shape_.t() * shape_.pitch();
  const CoreExtent extent = cores(folded().columns, std::min(fold_, rows));
  const CoreRing x(extent.columns, Direction::columns);
  const CoreRing y(scope_.whole ? rows : extent.rows, Direction::rows);
  const auto write = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    code.move(Element::fp16, in_memory(space_.keys[0]),
              in_memory(space_.v_bank + scope_.keys * space_.bank_bytes), values);
    code.move(sum_, in_memory(space_.context), number(0), shape_.q() * shape_.pitch());
    const std::uint32_t skew = rows - 1 - y.position(row);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> bodies;
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint32_t here = step % 2;
      const std::uint32_t there = y.cores() == 1 ? 0 : here;
      const std::uint32_t block = (step + skew) % steps / rows;
      if (step + 1 < steps) {
        x.shift(code, column, space_.keys[here], space_.keys[1 - here], values);
        y.shift(code, row, space_.held[here], space_.held[1 - here], kept);
      }
      const auto [body, unknown] = bodies.try_emplace({here, block}, 0);
      if (unknown) {
        body->second =
            code.keep([&] { weigh(code, space_.keys[here], space_.held[there], block); });
      }
      code.call_kept(body->second);
      x.wait(code);
      y.wait(code);
    }
  };
  return plan_rings(
      x, y, extent, makers(), [&](std::uint32_t row, std::uint32_t) { return y.position(row); },
      write);
}

}  // namespace lacuna::wse
