// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "models/wse/pe/vector_unit.hpp"
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

/// What each core begins with.
std::vector<std::vector<std::uint8_t>> memory_of(const StencilJob& job) {
  const Layout layout(job);
  std::vector<std::vector<std::uint8_t>> memory;
  for (std::size_t place = 0; place < std::size_t{job.columns} * job.rows; ++place) {
    MemoryImage image(layout.end());
    for (std::uint32_t y = 0; y < layout.height; ++y) {
      for (std::uint32_t x = 0; x < layout.width; ++x) {
        image.put(layout.at(0, static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)),
                  job.element, small_value(job.seed, place, y * layout.width + x));
      }
    }
    memory.push_back(std::move(image).take());
  }
  return memory;
}

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

TaskKernel stencil_of(const StencilJob& job, TaskProgram program) {
  TaskKernel kernel;
  kernel.program = std::move(program);
  kernel.bytes = static_cast<std::uint32_t>(stencil_bytes(job));
  if (job.values) kernel.program.memory = memory_of(job);
  kernel.compare = [job](const WaferMemory& memory) { return compare_points(job, memory); };
  return kernel;
}

}  // namespace lacuna::wse
