// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/prefill_parts.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"

// Parts of a prompt in which blocks go round.

namespace lacuna::wse {
namespace {

// Microthreads of rings.
constexpr std::uint8_t kSendX = 1;
constexpr std::uint8_t kTakeX = 2;
constexpr std::uint8_t kSendY = 3;
constexpr std::uint8_t kTakeY = 4;

constexpr std::uint8_t kSlotX = 0;
constexpr std::uint8_t kSlotY = 1;

// Colors from core to core of a band, by the parity of the one that sends.
constexpr unsigned kSouthward = 8;
constexpr unsigned kNorthward = 10;

Color of_parity(unsigned first, std::uint32_t sender) {
  return static_cast<Color>(first + sender % 2);
}

/// What a ring does for a core.
class RingSide {
 public:
  RingSide(std::uint32_t cores, CoreLine::Direction direction)
      : ring_(cores, direction), columns_(direction == CoreLine::Direction::columns) {}

  void route(TaskBuilder& builder, std::uint32_t row, std::uint32_t column) const {
    SwitchedRouter router;
    ring_.add_routes(at(row, column), router);
    for (const SwitchedRoute& route : router.routes) {
      builder.route(builder.place(row, column), route.color, route.from, route.to);
    }
  }

  /// The block leaves and the next comes, beside what follows.
  void shift(CoreCode& code, std::uint32_t row, std::uint32_t column, std::uint32_t from,
             std::uint32_t to, std::uint32_t halves) const {
    if (ring_.cores() == 1) return;
    const Color out = ring_.out(at(row, column));
    const Color in = ring_.in(at(row, column));
    const std::uint8_t slot = columns_ ? kSlotX : kSlotY;
    code.send(out, slot);
    code.take(in, slot);
    code.beside(columns_ ? kSendX : kSendY, Element::fp16, on_fabric(out), in_memory(from), halves);
    code.beside(columns_ ? kTakeX : kTakeY, Element::fp16, in_memory(to), on_fabric(in), halves);
  }
  void wait(CoreCode& code) const {
    if (ring_.cores() == 1) return;
    code.wait_for(columns_ ? kSendX : kSendY);
    code.wait_for(columns_ ? kTakeX : kTakeY);
  }

  /// Cores of equal kind do the same.
  std::uint32_t kind(std::uint32_t row, std::uint32_t column) const {
    return ring_.cores() == 1 ? 0 : ring_.kind(at(row, column));
  }

 private:
  std::uint32_t at(std::uint32_t row, std::uint32_t column) const {
    return columns_ ? column : row;
  }

  CoreRing ring_;
  bool columns_;
};

/// What a core of such a program is made from.
struct RingCosts {
  const CodeCosts& costs;
  const InferenceParams& params;
};

/// A rectangle of cores: `route` adds the routes of one, `kind` says which do the same, and `write`
/// what.
template <typename Route, typename Kind, typename Write>
TaskProgram plan_cores(std::uint32_t columns, std::uint32_t rows, const RingCosts& costs,
                       const Route& route, const Kind& kind, const Write& write) {
  TaskBuilder builder(columns, rows);
  SharedRoutines routines(builder);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      route(builder, row, column);
      const auto [found, fresh] = known.try_emplace(kind(row, column), 0);
      if (fresh) {
        CoreCode code(costs.costs, costs.params, routines);
        write(code, row, column);
        found->second = builder.add(std::move(code).finish());
      }
      builder.core(builder.place(row, column), found->second);
    }
  }
  return std::move(builder).finish();
}

/// The same with rings along both axes.
template <typename Write>
TaskProgram plan_rings(const RingSide& x, std::uint32_t columns, const RingSide& y,
                       std::uint32_t rows, const RingCosts& costs, const Write& write) {
  return plan_cores(
      columns, rows, costs,
      [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
        x.route(builder, row, column);
        y.route(builder, row, column);
      },
      [&](std::uint32_t row, std::uint32_t column) {
        return std::make_pair(x.kind(row, column), y.kind(row, column));
      },
      write);
}

}  // namespace

void PrefillParts::multiply(CoreCode& code, const TileProduct& job, std::uint32_t here) const {
  const unsigned bytes = bytes_of(sum_);
  code.test();
  for (std::uint32_t i = 0; i < job.inputs; ++i) {
    for (std::uint32_t j = 0; j < job.outputs; ++j) {
      code.stream(products(sum_), in_memory(space_.out + bytes * j * shape_.pitch()),
                  in_memory(space_.tile[here] + 2 * i * shape_.pitch()),
                  cell(space_.weights[here] + 2 * (i * job.outputs + j)), job.tokens);
    }
  }
}

TaskProgram PrefillParts::plan_product(const TileProduct& job) const {
  const std::uint32_t side = std::min(fold_, job.steps);
  const RingSide x(side, CoreLine::Direction::columns);
  const RingSide y(side, CoreLine::Direction::rows);
  const auto write = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    code.vector(VectorOp::move, sum_, in_memory(space_.out), number(0), Operand(),
                job.outputs * shape_.pitch());
    std::uint32_t bodies[2];
    for (std::uint32_t here = 0; here < 2; ++here) {
      bodies[here] = code.keep([&] { multiply(code, job, here); });
    }
    for (std::uint32_t step = 0; step < job.steps; ++step) {
      const std::uint32_t here = step % 2;
      if (step + 1 < job.steps) {
        x.shift(code, row, column, space_.weights[here], space_.weights[1 - here],
                job.inputs * job.outputs);
        y.shift(code, row, column, space_.tile[here], space_.tile[1 - here],
                job.inputs * shape_.pitch());
      }
      code.call_kept(bodies[here]);
      x.wait(code);
      y.wait(code);
    }
  };
  return plan_rings(x, side, y, side, {costs_, params_}, write);
}

TaskProgram PrefillParts::plan_skew(std::uint32_t halves, std::uint32_t shifts) const {
  const RingSide x(1, CoreLine::Direction::columns);
  const RingSide y(fold_, CoreLine::Direction::rows);
  return plan_rings(x, 1, y, fold_, {costs_, params_},
                    [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
                      for (std::uint32_t i = 0; i < shifts; ++i) {
                        y.shift(code, row, column, space_.tile[i % 2], space_.tile[1 - i % 2],
                                halves);
                        code.test();
                        y.wait(code);
                      }
                    });
}

/// A core's partial scores on their way along the band: what comes from the side that is farther
/// from the root, and its own, goes to the next; the root keeps the sum.
void PrefillParts::send_to_root(CoreCode& code, std::uint32_t row, std::uint32_t root,
                                std::uint32_t kept) const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t elements = shape_.group() * shape_.t() * shape_.pitch();
  const Operand own = in_memory(space_.partial);
  code.scalar(params_.sum_step);
  const auto from_north = [&](const Operand& to, const Operand& mine) {
    const Color color = of_parity(kSouthward, row - 1);
    code.take(color, 2);
    code.vector(VectorOp::add, sum_, to, on_fabric(color), mine, elements);
  };
  const auto from_south = [&](const Operand& to, const Operand& mine) {
    const Color color = of_parity(kNorthward, row + 1);
    code.take(color, 3);
    code.vector(VectorOp::add, sum_, to, on_fabric(color), mine, elements);
  };
  if (row == root) {
    const Operand to = in_memory(kept);
    if (row > 0) from_north(to, own);
    if (row + 1 < rows) from_south(to, row > 0 ? to : own);
    if (rows == 1) code.vector(VectorOp::move, sum_, to, own, Operand(), elements);
    return;
  }
  const bool south = row < root;
  const Color color = of_parity(south ? kSouthward : kNorthward, row);
  const Operand out = on_fabric(color);
  code.send(color, kSlotY);
  if (south && row > 0) {
    from_north(out, own);
  } else if (!south && row + 1 < rows) {
    from_south(out, own);
  } else {
    code.vector(VectorOp::move, sum_, out, own, Operand(), elements);
  }
}

/// Those of a block of keys, of a core's features.
void PrefillParts::score(CoreCode& code, std::uint32_t here) const {
  const std::uint32_t t = shape_.t();
  const std::uint32_t pitch = shape_.pitch();
  const std::uint32_t k = shape_.k();
  const std::uint32_t heads = shape_.group();
  const unsigned bytes = bytes_of(sum_);
  code.test();
  code.vector(VectorOp::move, sum_, in_memory(space_.partial), number(0), Operand(),
              heads * t * pitch);
  for (std::uint32_t i = 0; i < k; ++i) {
    for (std::uint32_t h = 0; h < heads; ++h) {
      for (std::uint32_t token = 0; token < t; ++token) {
        code.stream(products(sum_), in_memory(space_.partial + bytes * (h * t + token) * pitch),
                    in_memory(space_.qkv16 + 2 * (h * k + i) * pitch),
                    cell(space_.keys[here] + 2 * (i * pitch + token)), t);
      }
    }
  }
}

/// Keys go round along x; the partial scores of each block of them are summed in the band, in a
/// core that changes with the step.
TaskProgram PrefillParts::plan_scores(std::uint32_t columns) const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t steps = shape_.block().side;
  const std::uint32_t keys = shape_.k() * shape_.pitch();
  const std::uint32_t scores = shape_.group() * shape_.t() * shape_.pitch();
  const unsigned bytes = bytes_of(sum_);
  columns = std::min(columns, shape_.block().side);
  const RingSide x(columns, CoreLine::Direction::columns);
  const auto route = [&](TaskBuilder& builder, std::uint32_t row, std::uint32_t column) {
    const std::size_t place = builder.place(row, column);
    x.route(builder, row, column);
    if (row + 1 < rows) {
      builder.route(place, of_parity(kSouthward, row), kRamp, bit(kSouth));
      builder.route(place, of_parity(kNorthward, row + 1), kSouth, bit(kRamp));
    }
    if (row > 0) {
      builder.route(place, of_parity(kSouthward, row - 1), kNorth, bit(kRamp));
      builder.route(place, of_parity(kNorthward, row), kRamp, bit(kNorth));
    }
  };
  const auto kind = [&](std::uint32_t row, std::uint32_t column) {
    return std::make_pair(row, x.kind(row, column));
  };
  const auto write = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    std::uint32_t bodies[2];
    for (std::uint32_t here = 0; here < 2; ++here) {
      bodies[here] = code.keep([&] { score(code, here); });
    }
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint32_t here = step % 2;
      if (step + 1 < steps) {
        x.shift(code, row, column, space_.keys[here], space_.keys[1 - here], keys);
      }
      code.call_kept(bodies[here]);
      send_to_root(code, row, step % rows, space_.scores + bytes * (step / rows) * scores);
      x.wait(code);
    }
  };
  return plan_cores(columns, rows, {costs_, params_}, route, kind, write);
}

/// Values of a block of keys with their probabilities, those of number `block` of a core.
void PrefillParts::weigh(CoreCode& code, std::uint32_t here, std::uint32_t block) const {
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
                    in_memory(space_.held[here] + 2 * weights * pitch),
                    cell(space_.keys[here] + 2 * (i * pitch + token)), t);
      }
    }
  }
}

/// Values go round along x and probabilities in the band.
TaskProgram PrefillParts::plan_values() const {
  const std::uint32_t rows = shape_.band();
  const std::uint32_t steps = shape_.block().side;
  const std::uint32_t values = shape_.k() * shape_.pitch();
  const std::uint32_t kept = shape_.group() * shape_.held() * shape_.t() * shape_.pitch();
  const std::uint32_t side = std::min(fold_, rows);
  const RingSide x(fold_, CoreLine::Direction::columns);
  const RingSide y(side, CoreLine::Direction::rows);
  const auto write = [&](CoreCode& code, std::uint32_t row, std::uint32_t column) {
    code.vector(VectorOp::move, sum_, in_memory(space_.context), number(0), Operand(),
                shape_.q() * shape_.pitch());
    std::uint32_t bodies[2];
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint32_t here = step % 2;
      if (step + 1 < steps) {
        x.shift(code, row, column, space_.keys[here], space_.keys[1 - here], values);
        y.shift(code, row, column, space_.held[here], space_.held[1 - here], kept);
      }
      if (step % rows < 2 || rows == 1) {
        bodies[here] = code.keep([&] { weigh(code, here, step / rows); });
      }
      code.call_kept(bodies[here]);
      x.wait(code);
      y.wait(code);
    }
  };
  return plan_rings(x, fold_, y, side, {costs_, params_}, write);
}

}  // namespace lacuna::wse
