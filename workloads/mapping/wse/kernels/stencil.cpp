// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

constexpr std::uint32_t kFar = 4;  // how far 25 points reach, in each of three dimensions

std::uint32_t reach_of(StencilShape shape) {
  return shape == StencilShape::twenty_five_points ? kFar : 1;
}

/// The weight of points at a distance: powers of two, so that sums of small integers stay exact.
float weight_of(StencilShape shape, std::uint32_t distance) {
  return shape == StencilShape::twenty_five_points ? 0.25F / static_cast<float>(1U << distance)
                                                   : 0.25F;
}

/// What a core has of the grid, and where. With 5 points it is a block of `width` x `height` in a
/// frame of its neighbours' points. With 7 or 25 points it is a column of `width`; at each end lie
/// as many more points as the stencil reaches, which belong to nobody. There are two of them, one
/// read while the other is written; they lie 4 bytes apart modulo 8.
struct Layout {
  Layout(const StencilJob& job)
      : flat(job.shape == StencilShape::five_points),
        bytes(source_bytes(job.element)),
        width(job.width),
        height(flat ? job.height : 1),
        reach(reach_of(job.shape)),
        pitch(width + 2 * reach),
        second(static_cast<std::uint32_t>(stencil_bytes(job) / 2)) {}

  /// The point in column x and row y of the block, of buffer 0 or 1; outside it: the frame.
  std::uint32_t at(std::uint32_t buffer, std::int32_t x, std::int32_t y) const {
    const auto row = static_cast<std::uint32_t>(flat ? y + 1 : 0);
    return buffer * second + (row * pitch + static_cast<std::uint32_t>(x) + reach) * bytes;
  }
  std::uint32_t end() const { return 2 * second; }

  bool flat;
  std::uint32_t bytes;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t reach;
  std::uint32_t pitch;
  std::uint32_t second;  // where the second begins
};

class StencilPlanner {
 public:
  StencilPlanner(const StencilJob& job, const CodeCosts& costs)
      : job_(job), costs_(costs), layout_(job), builder_(job.columns, job.rows) {}

  TaskKernel plan() {
    for (std::uint32_t r = 0; r < job_.rows; ++r) {
      for (std::uint32_t c = 0; c < job_.columns; ++c) add_core(r, c);
    }
    kernel_.program = std::move(builder_).finish();
    kernel_.bytes = layout_.end();
    if (job_.values) fill_memory();
    return std::move(kernel_);
  }

 private:
  /// What a core sends to a side, or a row or column of its frame that it takes from there.
  Operand edge(std::uint32_t buffer, std::size_t side, bool frame) const {
    const auto w = static_cast<std::int32_t>(layout_.width);
    const auto h = static_cast<std::int32_t>(layout_.height);
    if (!layout_.flat) return in_memory(layout_.at(buffer, 0, 0));
    const std::int32_t out = frame ? 1 : 0;
    switch (kSides.at(side)) {
      case kNorth:
        return in_memory(layout_.at(buffer, 0, -out));
      case kSouth:
        return in_memory(layout_.at(buffer, 0, h - 1 + out));
      case kWest:
        return in_memory(layout_.at(buffer, -out, 0), static_cast<std::int32_t>(layout_.pitch));
      case kEast:
        return in_memory(layout_.at(buffer, w - 1 + out, 0),
                         static_cast<std::int32_t>(layout_.pitch));
      case kRamp:
        break;
    }
    throw InternalError("a core is no side of a tile");
  }
  std::uint32_t edge_length(std::size_t side) const {
    const bool along_x = kSides.at(side) == kNorth || kSides.at(side) == kSouth;
    return along_x || !layout_.flat ? layout_.width : layout_.height;
  }

  /// All points of the block, shifted by (dx, dy).
  Operand block(std::uint32_t buffer, std::int32_t dx, std::int32_t dy) const {
    Operand operand = in_memory(layout_.at(buffer, dx, dy));
    if (layout_.flat) {
      operand.inner = layout_.width;
      operand.outer = static_cast<std::int32_t>(layout_.pitch);
    }
    return operand;
  }

  bool far() const { return job_.shape == StencilShape::twenty_five_points; }

  /// How many cores there are from the edge of the rectangle to this one, on the way to a side.
  std::uint32_t before(std::size_t side) const {
    switch (kSides.at(side)) {
      case kNorth:
        return job_.rows - 1 - row_;
      case kSouth:
        return row_;
      case kWest:
        return job_.columns - 1 - column_;
      case kEast:
        return column_;
      case kRamp:
        break;
    }
    throw InternalError("a core is no side of a tile");
  }

  /// The cores of a line send to the next four, by turns: those whose number modulo 5 is 0, then 1
  /// and so on, all on one color. A core's router sends its words (`send`), ends those of the
  /// fourth before it (`end`), or passes on those of the others (`pass`): three positions of its
  /// switch, in this order and round again. The last word of a turn takes commands along, one for
  /// each router: the sender has been, the next one's turn comes, the last one begins to pass on.
  void route_far(std::size_t place, std::size_t side, Script& script) {
    const auto color = static_cast<Color>(side);
    const Port ahead = kSides.at(side);
    const Port behind = static_cast<Port>(opposite(ahead));
    const std::uint32_t number = before(side);
    if (number != 0) use_in_queue(script, color);
    if (!there_.at(side)) {
      if (number != 0) builder_.route(place, color, behind, bit(kRamp));
      return;
    }
    script.program().out.push_back({color, static_cast<std::uint8_t>(2 + side % 4)});
    const bool ends = number >= kFar;
    const std::uint32_t turns = number == 0 ? 1 : ends ? 3 : 2;  // send, (end,) pass
    const std::uint32_t turn = number % (kFar + 1);
    const std::uint32_t first = turn == 0 ? 0 : turn == kFar ? 1 : turns - 1;
    const auto position = [&](std::uint32_t role) {
      return static_cast<std::uint8_t>((role + turns - first) % turns);
    };
    builder_.route(place, color, kRamp, bit(ahead), position(0));
    if (ends) builder_.route(place, color, behind, bit(kRamp), position(1));
    if (number != 0) {
      builder_.route(place, color, behind, static_cast<PortSet>(bit(ahead) | bit(kRamp)),
                     position(turns - 1));
    }
    builder_.pops(place, color, true);
  }

  /// Of the vectors that come from behind, in the order of the senders' turns: how far from.
  std::vector<std::uint32_t> distances(std::size_t side) const {
    std::vector<std::uint32_t> all;
    const std::uint32_t number = before(side);
    for (std::uint32_t turn = 0; turn <= kFar; ++turn) {
      const std::uint32_t distance = (number + kFar + 1 - turn) % (kFar + 1);
      if (distance != 0 && distance <= number) all.push_back(distance);
    }
    return all;
  }

  /// Cores for which it is the same have the same routes and do the same: how many are before them
  /// on the way to each side, if that is few, and else whose turn theirs is.
  std::array<std::uint32_t, 4> kind() const {
    std::array<std::uint32_t, 4> of{};
    for (std::size_t side = 0; side < 4; ++side) {
      const std::uint32_t number = before(side);
      of.at(side) = std::min<std::uint32_t>(number, 1) + (there_.at(side) ? 2 : 0);
      if (far()) of.at(side) += 4 * (number < kFar ? number : kFar + number % (kFar + 1));
    }
    return of;
  }

  void add_core(std::uint32_t r, std::uint32_t c) {
    const std::size_t place = builder_.place(r, c);
    row_ = r;
    column_ = c;
    there_ = {r > 0, c + 1 < job_.columns, r + 1 < job_.rows, c > 0};
    const auto [like, fresh] = kinds_.try_emplace(kind(), place);
    if (fresh) {
      write_core(place);
    } else {
      builder_.repeat(like->second, place);
    }
  }

  void write_core(std::size_t place) {
    Script script;
    for (std::size_t side = 0; side < 4; ++side) {
      if (far()) route_far(place, side, script);
      if (far() || !there_.at(side)) continue;
      // the neighbour in the north sends south
      const auto in = static_cast<Color>((side + 2) % 4);
      builder_.route(place, static_cast<Color>(side), kRamp, bit(kSides.at(side)));
      builder_.route(place, in, kSides.at(side), bit(kRamp));
      script.program().out.push_back(
          {static_cast<Color>(side), static_cast<std::uint8_t>(2 + side % 4)});
      use_in_queue(script, in);
    }
    for (std::uint32_t i = 0; i < job_.iterations; ++i) iterate(script, i % 2);
    builder_.core(place, builder_.share(std::move(script).finish()));
  }

  void iterate(Script& script, std::uint32_t old) {
    for (std::size_t side = 0; side < 4; ++side) {
      if (!there_.at(side)) continue;
      Instruction send = move(job_.element, on_fabric(static_cast<Color>(side)),
                              edge(old, side, false), edge_length(side));
      send.switches = far() ? kTurn : SwitchCommands{0};
      script.then(work(costs_.start_beside(send)));
      script.beside(send, static_cast<std::uint8_t>(1 + side));
    }
    std::optional<std::uint32_t> weighs;  // the distance whose weight is in a register
    const auto term = [&](VectorOp op, const Operand& from, std::uint32_t distance = 1) {
      const Instruction step =
          instruction(op, job_.element, block(1 - old, 0, 0), from,
                      number(weight_of(job_.shape, distance)), layout_.width * layout_.height);
      script.then(work(costs_.start(step, weighs == distance)));
      script.then(step);
      weighs = distance;
    };
    term(VectorOp::mul, block(old, 0, 0), 0);
    if (layout_.flat) {
      for (std::size_t side = 0; side < 4; ++side) take(script, old, side);
    }
    for (std::uint32_t d = 1; d <= layout_.reach; ++d) {
      term(VectorOp::fma, block(old, -static_cast<std::int32_t>(d), 0), d);
      term(VectorOp::fma, block(old, static_cast<std::int32_t>(d), 0), d);
    }
    if (layout_.flat) {
      term(VectorOp::fma, block(old, 0, -1));
      term(VectorOp::fma, block(old, 0, 1));
      return;
    }
    for (std::size_t side = 0; side < 4; ++side) {
      if (!far() && there_.at(side)) {
        term(VectorOp::fma, on_fabric(static_cast<Color>((side + 2) % 4)));
      }
      if (!far()) continue;
      for (const std::uint32_t d : distances(side)) {
        term(VectorOp::fma, on_fabric(static_cast<Color>(side)), d);
      }
    }
  }

  void take(Script& script, std::uint32_t old, std::size_t side) const {
    if (!there_.at(side)) return;
    const Instruction take = move(job_.element, edge(old, side, true),
                                  on_fabric(static_cast<Color>((side + 2) % 4)), edge_length(side));
    script.then(work(costs_.start(take)));
    script.then(take);
  }

  void fill_memory() {
    for (std::size_t place = 0; place < kernel_.program.core_of.size(); ++place) {
      MemoryImage image(layout_.end());
      for (std::uint32_t y = 0; y < layout_.height; ++y) {
        for (std::uint32_t x = 0; x < layout_.width; ++x) {
          image.put(layout_.at(0, static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)),
                    job_.element, small_value(job_.seed, place, y * layout_.width + x));
        }
      }
      kernel_.program.memory.push_back(std::move(image).take());
    }
  }

  /// For the routers of the sender and of the four after it.
  static constexpr SwitchCommands kTurn = static_cast<SwitchCommands>(
      first_command(SwitchCommand::advance) | first_command(SwitchCommand::advance) << 2U |
      first_command(SwitchCommand::advance) << 8U);

  const StencilJob job_;
  const CodeCosts& costs_;
  const Layout layout_;
  TaskBuilder builder_;
  TaskKernel kernel_;
  std::map<std::array<std::uint32_t, 4>, std::size_t> kinds_;  // the first core of each
  std::uint32_t row_ = 0;                                      // of the core that is being written
  std::uint32_t column_ = 0;
  std::array<bool, 4> there_ = {};
};

/// The whole grid of a stencil, computed point by point.
class Grid {
 public:
  explicit Grid(const StencilJob& job) : job_(job), layout_(job) {
    for (std::size_t place = 0; place < std::size_t{job.columns} * job.rows; ++place) {
      for (std::uint32_t i = 0; i < layout_.width * layout_.height; ++i) {
        points_.push_back(small_value(job.seed, place, i));
      }
    }
  }

  /// A point of a core, in its frame too; 0 outside the grid.
  float at(std::int32_t r, std::int32_t c, std::int32_t x, std::int32_t y) const {
    const auto w = static_cast<std::int32_t>(layout_.width);
    const auto h = static_cast<std::int32_t>(layout_.height);
    if (layout_.flat) {
      if (x < 0 || x == w) c += x < 0 ? -1 : 1;
      if (y < 0 || y == h) r += y < 0 ? -1 : 1;
      x = (x + w) % w;
      y = (y + h) % h;
    } else if (x < 0 || x >= w) {
      return 0;
    }
    if (r < 0 || c < 0 || r >= static_cast<std::int32_t>(job_.rows) ||
        c >= static_cast<std::int32_t>(job_.columns)) {
      return 0;
    }
    const std::size_t place =
        static_cast<std::size_t>(r) * job_.columns + static_cast<std::size_t>(c);
    return points_[(place * layout_.height + static_cast<std::size_t>(y)) * layout_.width +
                   static_cast<std::size_t>(x)];
  }

  void iterate() {
    std::vector<float> next;
    next.reserve(points_.size());
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(job_.rows); ++r) {
      for (std::int32_t c = 0; c < static_cast<std::int32_t>(job_.columns); ++c) {
        for (std::int32_t y = 0; y < static_cast<std::int32_t>(layout_.height); ++y) {
          for (std::int32_t x = 0; x < static_cast<std::int32_t>(layout_.width); ++x) {
            next.push_back(sum(r, c, x, y));
          }
        }
      }
    }
    points_ = std::move(next);
  }

 private:
  float sum(std::int32_t r, std::int32_t c, std::int32_t x, std::int32_t y) const {
    float all = weight_of(job_.shape, 0) * at(r, c, x, y);
    const auto reach = static_cast<std::int32_t>(layout_.reach);
    for (std::int32_t d = 1; d <= reach; ++d) {
      float ring = at(r, c, x - d, y) + at(r, c, x + d, y);
      ring += layout_.flat ? at(r, c, x, y - d) + at(r, c, x, y + d)
                           : at(r - d, c, x, y) + at(r + d, c, x, y) + at(r, c - d, x, y) +
                                 at(r, c + d, x, y);
      all += weight_of(job_.shape, static_cast<std::uint32_t>(d)) * ring;
    }
    return all;
  }

  const StencilJob job_;
  const Layout layout_;
  std::vector<float> points_;
};

LayerComparison compare_points(const StencilJob& job, const WaferMemory& memory) {
  const Layout layout(job);
  Grid grid(job);
  for (std::uint32_t i = 0; i < job.iterations; ++i) grid.iterate();
  // values grow to 2 s^n at most, s the sum of all weights, in steps of w^n, w the least weight;
  // while 2 (s / w)^n fits the type no sum rounds
  float sum = weight_of(job.shape, 0);
  for (std::uint32_t d = 1; d <= layout.reach; ++d) sum += 6 * weight_of(job.shape, d);
  const float least = weight_of(job.shape, layout.reach);
  const float unit = source_bytes(job.element) == 2 ? 0x1p-11F : 0x1p-24F;
  float steps = 2;
  float largest = 2;
  for (std::uint32_t i = 0; i < job.iterations; ++i) {
    steps *= sum / least;
    largest *= sum;
  }
  const float roundings =
      static_cast<float>(1 + 6 * layout.reach) * static_cast<float>(job.iterations);
  const float allowed = steps * unit <= 1 ? 0 : 2 * unit * largest * roundings;
  LayerComparison comparison;
  for (std::uint32_t r = 0; r < job.rows; ++r) {
    for (std::uint32_t c = 0; c < job.columns; ++c) {
      for (std::uint32_t i = 0; i < layout.width * layout.height; ++i) {
        const auto x = static_cast<std::int32_t>(i % layout.width);
        const auto y = static_cast<std::int32_t>(i / layout.width);
        const float expected =
            grid.at(static_cast<std::int32_t>(r), static_cast<std::int32_t>(c), x, y);
        const float found =
            load_element(memory[std::size_t{r} * job.columns + c],
                         layout.at(job.iterations % 2, x, y), layout.bytes == 4, false);
        ++comparison.compared;
        if (!(found >= expected - allowed && found <= expected + allowed)) ++comparison.wrong;
      }
    }
  }
  return comparison;
}

}  // namespace

std::uint64_t stencil_bytes(const StencilJob& job) {
  const bool flat = job.shape == StencilShape::five_points;
  const std::uint64_t pitch = job.width + std::uint64_t{2} * reach_of(job.shape);
  const std::uint64_t points = pitch * (flat ? std::uint64_t{job.height} + 2 : 1);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;  // that the product below holds
  return 2 * ((std::min(points, kMost) * source_bytes(job.element) + 15) / 8 * 8 + 4);
}

TaskKernel plan_stencil(const StencilJob& job, const CodeCosts& costs) {
  TaskKernel kernel = StencilPlanner(job, costs).plan();
  kernel.compare = [job](const WaferMemory& memory) { return compare_points(job, memory); };
  return kernel;
}

}  // namespace lacuna::wse
