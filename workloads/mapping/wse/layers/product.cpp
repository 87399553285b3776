// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/product.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"

namespace lacuna::wse {

/// A block in memory as a ring sends it: vectors without what is between them.
struct ProductProgram::Block {
  Element element = Element::fp16;
  std::array<std::uint32_t, 2> address{};
  std::uint32_t vectors = 1;
  std::uint32_t length = 1;  // of a vector
  std::uint32_t stride = 1;

  Operand buffer(unsigned which) const {
    Operand operand = in_memory(address.at(which));
    operand.inner = length;
    operand.outer = static_cast<std::int32_t>(stride);
    return operand;
  }
  std::uint64_t elements() const { return std::uint64_t{vectors} * length; }
};

ProductProgram::ProductProgram(const LayerSetup& setup, const ProductShape& shape,
                               const ProductSpace& space, PairFunction pair,
                               const std::vector<bool>& active)
    : setup_(setup),
      shape_(shape),
      space_(space),
      pair_(pair),
      active_(active),
      along_(shape.side, Direction::columns),
      down_(shape.side, Direction::rows) {}

/// The operand whose columns, or rows, are the vectors of instructions, and the other.
ProductProgram::Block ProductProgram::operand(bool vectors) const {
  if (vectors) {
    return {space_.operand, space_.vectors, shape_.inner, shape_.length(), shape_.stride()};
  }
  return {space_.operand, space_.scalars, shape_.inner, shape_.scalars(), shape_.scalars()};
}

ProductProgram::Block ProductProgram::results() const {
  return {sum(), space_.sums, shape_.scalars(), shape_.length(), shape_.stride()};
}

Element ProductProgram::sum() const {
  return result_bytes(space_.product) == 4 ? Element::fp32 : Element::fp16;
}

std::uint32_t ProductProgram::shifts(std::uint32_t line) const {
  return (shape_.side - along_.position(line)) % shape_.side;
}
unsigned ProductProgram::first_buffer_w(std::uint32_t row) const {
  return shape_.w_stays ? 0 : shifts(row) % 2;
}
unsigned ProductProgram::first_buffer_x(std::uint32_t column) const { return shifts(column) % 2; }

/// The blocks of Y begin at the column before that of their number less that of the row.
std::uint32_t ProductProgram::way_home(std::uint32_t row) const {
  return (along_.position(row) + 1) % shape_.side;
}
unsigned ProductProgram::last_buffer_y(std::uint32_t row) const {
  return shape_.w_stays ? (shape_.side - 1 + way_home(row)) % 2 : 0;
}

/// Lines of cores that shift a block by themselves, `count(line)` times, each from a buffer of its
/// own.
template <class Count, class Buffer>
LayerStage ProductProgram::shift_lines(const char* name, Direction direction, const Block& block,
                                       const Count& count, const Buffer& buffer) const {
  LayerStage stage;
  stage.name = name;
  const bool columns = direction == Direction::columns;
  const CoreRing& ring = columns ? along_ : down_;
  const CoreRing none(1, direction);
  for (std::uint32_t line = 0; line < shape_.side; ++line) {
    const std::uint32_t times = count(line);
    if (times == 0) continue;
    const auto part = static_cast<std::uint32_t>(stage.parts.size());
    stage.places.push_back({part, columns ? line : 0, columns ? 0 : line});
    stage.parts.push_back(plan_rings(
        columns ? along_ : none, columns ? none : down_,
        {columns ? shape_.side : 1, columns ? 1 : shape_.side}, {setup_.costs, setup_.functions},
        [](std::uint32_t, std::uint32_t) { return 0U; },
        [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
          const std::uint32_t core = columns ? column : row;
          for (std::uint32_t i = 0; i < times; ++i) {
            const unsigned now = (buffer(line) + i) % 2;
            ring.send(code, core, block.element, block.buffer(now), block.elements());
            ring.take(code, core, block.element, block.buffer(1 - now), block.elements());
            code.test();
            ring.wait(code);
          }
        }));
  }
  return stage;
}

void ProductProgram::clear(CoreCode& code) const {
  code.move(sum(), in_memory(space_.sums[0]), number(0),
            std::uint64_t{shape_.scalars()} * shape_.stride());
}

/// Adds what the blocks in these buffers give: an instruction for each number of one block.
void ProductProgram::multiply(CoreCode& code, unsigned vectors, unsigned scalars,
                              unsigned sums) const {
  SparseTile tile;
  tile.weights = space_.scalars.at(scalars);
  tile.activations = space_.vectors.at(vectors);
  tile.sums = space_.sums.at(sums);
  tile.tokens = shape_.length();
  tile.pitch = shape_.stride();
  tile.inputs = shape_.inner;
  tile.outputs = shape_.scalars();
  if (pair_ == PairFunction::dot) return write_tile(code, tile, sum(), space_.operand);
  code.test();
  const unsigned bytes = source_bytes(space_.operand);
  const Operand difference = in_memory(space_.difference);
  for (std::uint32_t i = 0; i < tile.inputs; ++i) {
    for (std::uint32_t j = 0; j < tile.outputs; ++j) {
      const Operand to = in_memory(tile.sums + j * tile.pitch * result_bytes(space_.product));
      code.step(VectorOp::sub, space_.operand, difference,
                in_memory(tile.activations + i * tile.pitch * bytes),
                cell(tile.weights + (i * tile.outputs + j) * bytes), tile.tokens);
      if (pair_ == PairFunction::l1) {
        code.vector(VectorOp::abs, space_.operand, difference, difference, Operand(), tile.tokens);
      }
      code.vector(VectorOp::fma, space_.product, to, difference,
                  pair_ == PairFunction::l1 ? number(1) : difference, tile.tokens);
    }
  }
}

/// The steps of a core. If Y stays, blocks of W and X are multiplied while they are sent on and the
/// next come in; if W stays, sums come in, grow and are sent on, while the next block of X comes
/// in.
void ProductProgram::write(CoreCode& code, std::uint32_t row, std::uint32_t column,
                           bool active) const {
  const Block w = operand(shape_.along_rows);
  const Block x = operand(!shape_.along_rows);
  const Block y = results();
  const bool stays = shape_.w_stays;
  clear(code);
  std::map<unsigned, std::uint32_t> bodies;
  for (std::uint32_t step = 0; step < shape_.side; ++step) {
    const unsigned now = step % 2;
    const bool last = step + 1 == shape_.side;
    if (!last) {
      if (stays) {
        along_.wait_sent(code);
        along_.take(code, column, y.element, y.buffer(1 - now), y.elements());
      } else {
        along_.send(code, column, w.element, w.buffer(now), w.elements());
        along_.take(code, column, w.element, w.buffer(1 - now), w.elements());
      }
      down_.send(code, row, x.element, x.buffer(now), x.elements());
      down_.take(code, row, x.element, x.buffer(1 - now), x.elements());
    }
    const auto [body, fresh] = bodies.try_emplace(now, 0);
    if (fresh) {
      const unsigned of_w = stays ? 0 : now;
      body->second = code.keep([&] {
        if (!active) return code.test();
        multiply(code, shape_.along_rows ? of_w : now, shape_.along_rows ? now : of_w,
                 stays ? now : 0);
      });
    }
    code.call_kept(body->second);
    if (last) break;
    if (stays) {
      along_.send(code, column, y.element, y.buffer(now), y.elements());
      down_.wait(code);
      along_.wait_taken(code);
    } else {
      along_.wait(code);
      down_.wait(code);
    }
  }
}

LayerStage ProductProgram::products() const {
  LayerStage stage;
  stage.name = "multiply";
  const std::uint32_t side = shape_.side;
  const auto active = [&](std::uint32_t row, std::uint32_t column) {
    return active_[std::size_t{row} * side + column];
  };
  stage.places.push_back({0, 0, 0});
  stage.parts.push_back(plan_rings(
      along_, down_, {side, side}, {setup_.costs, setup_.functions},
      [&](std::uint32_t row, std::uint32_t column) { return active(row, column) ? 1U : 0U; },
      [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
        write(code, row, column, active(row, column));
      }));
  return stage;
}

std::vector<LayerStage> ProductProgram::stages() const {
  if (shape_.side == 1) return {products()};
  const auto shifted = [&](std::uint32_t line) { return shifts(line); };
  std::vector<LayerStage> stages;
  if (!shape_.w_stays) {
    stages.push_back(shift_lines("align rows", Direction::columns, operand(shape_.along_rows),
                                 shifted, [&](std::uint32_t row) { return first_buffer_w(row); }));
  }
  stages.push_back(shift_lines("align columns", Direction::rows, operand(!shape_.along_rows),
                               shifted,
                               [&](std::uint32_t column) { return first_buffer_x(column); }));
  stages.push_back(products());
  if (shape_.w_stays) {
    stages.push_back(shift_lines(
        "bring home", Direction::columns, results(),
        [&](std::uint32_t row) { return way_home(row); },
        [&](std::uint32_t) { return (shape_.side - 1) % 2; }));
  }
  return stages;
}

/// A shift of a block, in which a core has so much else to do.
Cycle ProductProgram::shift_cycles(const CoreRing& ring, const Block& block, Cycle beside) const {
  const TaskParams& hardware = setup_.hardware;
  const Datapath datapath{hardware.simd, hardware.mem};
  CoreCode code(setup_.costs, setup_.functions);
  code.count(datapath);
  ring.send(code, 0, block.element, block.buffer(0), block.elements());
  ring.take(code, 0, block.element, block.buffer(1), block.elements());
  ring.wait(code);
  code.stamp();
  // waits are instructions of no elements
  const Cycle setup = code.shares().back().setup + 2 * Cycle{hardware.core.dispatch};
  const Cycle words = ceil_div(block.elements() * source_bytes(block.element), 4);
  const Cycle way = 2 * (Cycle{hardware.router.ramp} + hardware.router.hop);
  return setup + std::max(beside + 2 * words, words + way);  // a word is issued where it comes too
}

Cycle ProductProgram::estimate() const {
  const TaskParams& hardware = setup_.hardware;
  CoreCode code(setup_.costs, setup_.functions);
  const Datapath datapath{hardware.simd, hardware.mem};
  const Cycle cleared = code.cycles_of(datapath, [&] { clear(code); });
  const Cycle multiplied = code.cycles_of(datapath, [&] { multiply(code, 0, 0, 0); });
  if (shape_.side == 1) return cleared + multiplied;
  const Block along = shape_.w_stays ? results() : operand(shape_.along_rows);
  const Block down = operand(!shape_.along_rows);
  const ScalarParams& scalar = setup_.costs.scalar;
  const Cycle test = scalar.dependent + scalar.branch_taken;
  const Cycle aligned = shift_cycles(along_, along, test) + shift_cycles(down_, down, test);
  const Cycle step = shift_cycles(along_, along, shift_cycles(down_, down, multiplied));
  return cleared + (shape_.side - 1) * (aligned + step) + multiplied;
}

std::uint64_t place_product(const ProductShape& shape, unsigned operand_bytes, unsigned sum_bytes,
                            bool distance, ProductSpace& space) {
  CoreSpace all;
  const std::uint64_t vectors = std::uint64_t{shape.inner} * shape.stride();
  const std::uint64_t scalars = std::uint64_t{shape.inner} * shape.scalars();
  const std::uint64_t sums = std::uint64_t{shape.scalars()} * shape.stride();
  const bool moves = shape.side > 1;
  for (unsigned i = 0; i < 2; ++i) {
    // What stays needs one buffer: of W, vectors or scalars as the instructions go; or of Y.
    const bool w_again = i == 1 && shape.w_stays;
    const bool again = i == 1 && !moves;
    space.vectors.at(i) = (w_again && shape.along_rows) || again
                              ? space.vectors[0]
                              : all.take(vectors, operand_bytes, Half8::upper);
    space.scalars.at(i) = (w_again && !shape.along_rows) || again
                              ? space.scalars[0]
                              : all.take(scalars, operand_bytes);
    space.sums.at(i) =
        i == 1 && (!shape.w_stays || !moves) ? space.sums[0] : all.take(sums, sum_bytes);
  }
  if (distance) space.difference = all.take(shape.length(), operand_bytes, Half8::upper);
  return all.bytes();
}

}  // namespace lacuna::wse
