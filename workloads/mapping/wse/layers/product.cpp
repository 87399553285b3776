// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/product.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/core_space.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"

namespace lacuna::wse {
namespace {

using Op = VectorOp;
using Direction = CoreLine::Direction;

}  // namespace

/// A block in memory as a ring sends it: vectors without what is between them.
struct ShiftedBlock {
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

/// The blocks that rows and columns of cores shift.
class ProductProgram::Blocks {
 public:
  Blocks(const ProductShape& shape, const ProductSpace& space) {
    const ShiftedBlock vectors{space.operand, space.vectors, shape.inner, shape.length(),
                               shape.stride()};
    const ShiftedBlock scalars{space.operand, space.scalars, shape.inner, shape.scalars(),
                               shape.scalars()};
    const Element sum = space.product == Element::fp16_32 || space.product == Element::fp32
                            ? Element::fp32
                            : Element::fp16;
    w = shape.along_rows ? vectors : scalars;
    x = shape.along_rows ? scalars : vectors;
    y = {sum, space.sums, shape.scalars(), shape.length(), shape.stride()};
  }

  ShiftedBlock w;
  ShiftedBlock x;
  ShiftedBlock y;
};

ProductProgram::ProductProgram(const LayerSetup& setup, const ProductShape& shape,
                               const ProductSpace& space, PairFunction pair,
                               const std::vector<bool>& active)
    : setup_(setup), shape_(shape), space_(space), pair_(pair), active_(active) {}

namespace {

/// Routers and programs by kind, each made once.
template <class Key, class Make>
std::uint32_t once(std::map<Key, std::uint32_t>& known, const Key& key, const Make& make) {
  const auto [found, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(known.size()));
  if (is_new) make();
  return found->second;
}

using RouteKey = std::vector<std::tuple<std::uint8_t, std::uint8_t, PortSet>>;

RouteKey key_of(const SwitchedRouter& router) {
  RouteKey key;
  for (const SwitchedRoute& route : router.routes) {
    key.emplace_back(static_cast<std::uint8_t>(route.color), route.from, route.to);
  }
  return key;
}

/// Shifts a block `count` times along a line; a part for each count there is.
TaskProgram shifting_line(const CoreRing& ring, Direction direction, const ShiftedBlock& block,
                          unsigned first_buffer, std::uint32_t count, const LayerSetup& setup) {
  TaskProgram part;
  const bool columns = direction == Direction::columns;
  part.columns = columns ? ring.cores() : 1;
  part.rows = columns ? 1 : ring.cores();
  std::map<std::uint32_t, std::uint32_t> programs;
  std::map<RouteKey, std::uint32_t> routers;
  for (std::uint32_t core = 0; core < ring.cores(); ++core) {
    SwitchedRouter router;
    ring.add_routes(core, router);
    part.router_of.push_back(
        once(routers, key_of(router), [&] { part.routers.push_back(router); }));
    part.core_of.push_back(once(programs, ring.kind(core), [&] {
      CoreCode code(setup.costs, setup.functions);
      for (std::uint32_t i = 0; i < count; ++i) {
        const unsigned now = (first_buffer + i) % 2;
        code.scalar(setup.costs.scalar.loop);
        ring.send(core, block.element, block.buffer(now), block.elements(), code);
        ring.take(core, block.element, block.buffer(1 - now), block.elements(), code);
        ring.wait(code);
      }
      CoreProgram program = std::move(code).finish();
      ring.use_queues(core, program);
      part.cores.push_back(std::move(program));
    }));
  }
  return part;
}

}  // namespace

std::uint32_t ProductProgram::shifts(std::uint32_t line) const {
  const CoreRing ring(shape_.side, Direction::columns);
  return (shape_.side - ring.position(line)) % shape_.side;
}

unsigned ProductProgram::first_buffer_w(std::uint32_t row) const {
  return shape_.w_stays ? 0 : shifts(row) % 2;
}
unsigned ProductProgram::first_buffer_x(std::uint32_t column) const { return shifts(column) % 2; }

unsigned ProductProgram::last_buffer_y(std::uint32_t row) const {
  if (!shape_.w_stays) return 0;
  const CoreRing ring(shape_.side, Direction::columns);
  return (shape_.side - 1 + (ring.position(row) + 1) % shape_.side) % 2;
}

LayerStage ProductProgram::align_rows() const {
  LayerStage stage;
  stage.name = "align rows";
  const CoreRing ring(shape_.side, Direction::columns);
  for (std::uint32_t r = 0; r < shape_.side; ++r) {
    if (shifts(r) == 0) continue;
    stage.places.push_back({static_cast<std::uint32_t>(stage.parts.size()), r, 0});
    stage.parts.push_back(shifting_line(ring, Direction::columns, Blocks(shape_, space_).w,
                                        first_buffer_w(r), shifts(r), setup_));
  }
  return stage;
}

LayerStage ProductProgram::align_columns() const {
  LayerStage stage;
  stage.name = "align columns";
  const CoreRing ring(shape_.side, Direction::rows);
  for (std::uint32_t c = 0; c < shape_.side; ++c) {
    if (shifts(c) == 0) continue;
    stage.places.push_back({static_cast<std::uint32_t>(stage.parts.size()), 0, c});
    stage.parts.push_back(shifting_line(ring, Direction::rows, Blocks(shape_, space_).x,
                                        first_buffer_x(c), shifts(c), setup_));
  }
  return stage;
}

/// The blocks of Y begin at the column before that of their number less that of the row.
LayerStage ProductProgram::bring_home() const {
  LayerStage stage;
  stage.name = "bring home";
  const CoreRing ring(shape_.side, Direction::columns);
  for (std::uint32_t r = 0; r < shape_.side; ++r) {
    const std::uint32_t count = (ring.position(r) + 1) % shape_.side;
    if (count == 0) continue;
    stage.places.push_back({static_cast<std::uint32_t>(stage.parts.size()), r, 0});
    stage.parts.push_back(shifting_line(ring, Direction::columns, Blocks(shape_, space_).y,
                                        (shape_.side - 1) % 2, count, setup_));
  }
  return stage;
}

namespace {

/// The program of one core during the product.
class CoreWriter {
 public:
  CoreWriter(const LayerSetup& setup, const ProductShape& shape, const ProductSpace& space,
             PairFunction pair, bool active)
      : shape_(shape),
        space_(space),
        pair_(pair),
        active_(active),
        code_(setup.costs, setup.functions) {}

  CoreCode& code() { return code_; }
  unsigned loop() const { return code_.costs().scalar.loop; }

  /// Sums of zero, to begin with.
  void clear(unsigned buffer) {
    const Element sum = sum_element();
    code_.move(sum, in_memory(space_.sums.at(buffer)), number(0),
               std::uint64_t{shape_.scalars()} * shape_.stride());
  }

  /// Adds what the blocks in these buffers give: an instruction for each number of one block.
  void multiply(unsigned vectors, unsigned scalars, unsigned sums) {
    if (!active_) return;
    const unsigned bytes = source_bytes(space_.operand);
    const unsigned sum_bytes = result_bytes(space_.product);
    for (std::uint32_t i = 0; i < shape_.inner; ++i) {
      const std::uint32_t vector = space_.vectors.at(vectors) + i * shape_.stride() * bytes;
      for (std::uint32_t j = 0; j < shape_.scalars(); ++j) {
        const Operand number =
            cell(space_.scalars.at(scalars) + (i * shape_.scalars() + j) * bytes);
        pair(in_memory(space_.sums.at(sums) + j * shape_.stride() * sum_bytes), in_memory(vector),
             number);
      }
    }
  }

 private:
  Element sum_element() const {
    return result_bytes(space_.product) == 4 ? Element::fp32 : Element::fp16;
  }

  void pair(const Operand& sum, const Operand& vector, const Operand& number) {
    if (pair_ == PairFunction::dot) {
      code_.stream(space_.product, sum, vector, number, shape_.length());
      return;
    }
    const std::uint32_t length = shape_.length();
    const Operand difference = in_memory(space_.difference);
    code_.step(Op::sub, space_.operand, difference, vector, number, length);
    if (pair_ == PairFunction::l1) {
      code_.vector(Op::abs, space_.operand, difference, difference, Operand(), length);
      code_.vector(Op::fma, space_.product, sum, difference, wse::number(1), length);
    } else {
      code_.vector(Op::fma, space_.product, sum, difference, difference, length);
    }
  }

  const ProductShape& shape_;
  const ProductSpace& space_;
  PairFunction pair_;
  bool active_;
  CoreCode code_;
};

/// Y stays: blocks of W and X are multiplied while they are sent on and the next come in.
void write_sum_stays(const ProductShape& shape, const ShiftedBlock& w, const ShiftedBlock& x,
                     const CoreRing& along, std::uint32_t column, const CoreRing& down,
                     std::uint32_t row, CoreWriter& writer) {
  CoreCode& code = writer.code();
  writer.clear(0);
  for (std::uint32_t step = 0; step < shape.side; ++step) {
    const unsigned now = step % 2;
    if (step + 1 < shape.side) {
      along.send(column, w.element, w.buffer(now), w.elements(), code);
      along.take(column, w.element, w.buffer(1 - now), w.elements(), code);
      down.send(row, x.element, x.buffer(now), x.elements(), code);
      down.take(row, x.element, x.buffer(1 - now), x.elements(), code);
    }
    writer.multiply(now, now, 0);
    code.scalar(writer.loop());
    if (step + 1 == shape.side) break;
    along.wait(code);
    down.wait(code);
  }
}

/// W stays: sums come in, grow and are sent on, while the next block of X comes in.
void write_weights_stay(const ProductShape& shape, const ShiftedBlock& x, const ShiftedBlock& y,
                        const CoreRing& along, std::uint32_t column, const CoreRing& down,
                        std::uint32_t row, CoreWriter& writer) {
  CoreCode& code = writer.code();
  writer.clear(0);
  for (std::uint32_t step = 0; step < shape.side; ++step) {
    const unsigned now = step % 2;
    const bool last = step + 1 == shape.side;
    if (!last) {
      along.wait_sent(code);
      along.take(column, y.element, y.buffer(1 - now), y.elements(), code);
      down.send(row, x.element, x.buffer(now), x.elements(), code);
      down.take(row, x.element, x.buffer(1 - now), x.elements(), code);
    }
    writer.multiply(shape.along_rows ? 0 : now, shape.along_rows ? now : 0, now);
    code.scalar(writer.loop());
    if (last) break;
    along.send(column, y.element, y.buffer(now), y.elements(), code);
    down.wait(code);
    along.wait_taken(code);
  }
}

}  // namespace

LayerStage ProductProgram::multiply() const {
  LayerStage stage;
  stage.name = "multiply";
  const Blocks blocks(shape_, space_);
  const std::uint32_t side = shape_.side;
  const CoreRing along(side, Direction::columns);
  const CoreRing down(side, Direction::rows);
  TaskProgram part;
  part.columns = part.rows = side;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> programs;
  std::map<RouteKey, std::uint32_t> routers;
  for (std::uint32_t r = 0; r < side; ++r) {
    for (std::uint32_t c = 0; c < side; ++c) {
      SwitchedRouter router;
      along.add_routes(c, router);
      down.add_routes(r, router);
      part.router_of.push_back(
          once(routers, key_of(router), [&] { part.routers.push_back(router); }));
      const bool active = active_[std::size_t{r} * side + c];
      part.core_of.push_back(
          once(programs, std::make_tuple(along.kind(c), down.kind(r), active), [&] {
            CoreWriter writer(setup_, shape_, space_, pair_, active);
            if (shape_.w_stays) {
              write_weights_stay(shape_, blocks.x, blocks.y, along, c, down, r, writer);
            } else {
              write_sum_stays(shape_, blocks.w, blocks.x, along, c, down, r, writer);
            }
            CoreProgram program = std::move(writer.code()).finish();
            along.use_queues(c, program);
            down.use_queues(r, program);
            part.cores.push_back(std::move(program));
          }));
    }
  }
  stage.places.push_back({0, 0, 0});
  stage.parts.push_back(std::move(part));
  return stage;
}

std::vector<LayerStage> ProductProgram::stages() const {
  std::vector<LayerStage> stages;
  if (shape_.side > 1 && !shape_.w_stays) stages.push_back(align_rows());
  if (shape_.side > 1) stages.push_back(align_columns());
  stages.push_back(multiply());
  if (shape_.side > 1 && shape_.w_stays) stages.push_back(bring_home());
  return stages;
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
