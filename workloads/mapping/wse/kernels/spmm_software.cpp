// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/sparsity/mask.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"
#include "workloads/mapping/wse/kernels/collective_parts.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

struct NonZero {
  std::uint32_t row;  // within the tile
  std::uint32_t column;
};

float a_value(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(mix(seed ^ mix(row * 1000003 + column)) % 3) + 1.0F;
}
float b_value(std::uint64_t seed, std::uint64_t row, std::uint64_t column) {
  return static_cast<float>(mix(~seed ^ mix(row * 1000003 + column)) % 7) - 3.0F;
}

constexpr Color kSums{8};  // first color of the sums

class SoftwarePlanner {
 public:
  SoftwarePlanner(const SpmmJob& job, const KernelParams& kernel, const CodeCosts& costs)
      : job_(job),
        kernel_(kernel),
        costs_(costs),
        scalar_(costs.scalar),
        tile_rows_((job.m + job.rows - 1) / job.rows),
        tile_columns_((job.k + job.columns - 1) / job.columns),
        pitch_(kernel.spmm_format == SpmmFormat::dense ? job.n : (job.n + 4) / 4 * 4),
        tiles_(std::size_t{job.rows} * job.columns),
        builder_(job.columns, job.rows) {}

  TaskKernel plan() {
    deal();
    check_memory();
    for (std::size_t place = 0; place < tiles_.size(); ++place) scripts_.emplace_back();
    if (all()) route_inputs();
    for (std::size_t place = 0; place < tiles_.size(); ++place) add_core(place);
    if (all()) add_sums();
    for (std::size_t place = 0; place < tiles_.size(); ++place) {
      builder_.core(place, std::move(scripts_[place]).finish());
    }
    result_.program = std::move(builder_).finish();
    if (job_.values) fill_memory();
    describe();
    return std::move(result_);
  }

  bool dense() const { return kernel_.spmm_format == SpmmFormat::dense; }

  std::uint32_t sums_at() const {
    const bool beside = job_.align == Alignment::good && !dense();
    return (tile_columns_ * pitch_ * 4 + 7) / 8 * 8 + (beside ? 4 : 0);
  }
  std::uint32_t pitch() const { return pitch_; }
  std::uint32_t tile_rows() const { return tile_rows_; }
  std::uint32_t tile_columns() const { return tile_columns_; }
  const std::vector<NonZero>& tile(std::size_t place) const { return tiles_[place]; }

  /// Hands each core its non-zeros, by column or by row.
  void deal() {
    const auto give = [&](std::uint32_t row, std::uint32_t column) {
      const std::size_t place = builder_.place(row / tile_rows_, column / tile_columns_);
      tiles_[place].push_back({row % tile_rows_, column % tile_columns_});
    };
    if (job_.mask == nullptr) {
      for (std::uint32_t i = 0; i < job_.m; ++i) {
        for (std::uint32_t j = 0; j < job_.k; ++j) give(i, j);
      }
    } else {
      const Mask mask = job_.mask->elements();
      for (std::uint32_t i = 0; i < mask.rows; ++i) {
        for (std::uint64_t e = mask.offsets[i]; e < mask.offsets[i + 1]; ++e) {
          give(i, mask.columns[e]);
        }
      }
    }
    if (kernel_.spmm_format != SpmmFormat::csc) return;
    for (std::vector<NonZero>& tile : tiles_) {
      std::stable_sort(tile.begin(), tile.end(),
                       [](const NonZero& a, const NonZero& b) { return a.column < b.column; });
    }
  }

 private:
  /// Where a dense tile of A lies, row after row.
  std::uint32_t weights_at() const { return (sums_at() + tile_rows_ * pitch_ * 4 + 7) / 8 * 8; }
  bool all() const { return kernel_.spmm_phases == SpmmPhases::all; }

  std::size_t most() const {
    std::size_t most = 0;
    for (const auto& tile : tiles_) most = std::max(most, tile.size());
    return most;
  }

  /// The longest row of any tile.
  std::uint32_t slots() const {
    std::uint32_t slots = 0;
    std::vector<std::uint32_t> counts;
    for (const auto& tile : tiles_) {
      counts.assign(tile_rows_, 0);
      for (const NonZero& e : tile) slots = std::max(slots, ++counts[e.row]);
    }
    return slots;
  }

  void check_memory() {
    const SpmmFormat format = kernel_.spmm_format;
    const std::uint64_t stored = format == SpmmFormat::ellpack ? std::uint64_t{slots()} * tile_rows_
                                 : dense() ? std::uint64_t{tile_rows_} * tile_columns_
                                           : most();
    const std::uint64_t index = format == SpmmFormat::coo ? 4U * stored : 2U * stored;
    const std::uint64_t inputs = std::uint64_t{tile_columns_} * pitch_ * 4;
    const std::uint64_t sums = std::uint64_t{tile_rows_} * pitch_ * 4;
    const std::uint64_t bytes = dense() ? (inputs + 7) / 8 * 8 + (sums + 7) / 8 * 8 + 4 * stored
                                        : inputs + sums + 4 + 4 * stored + index +
                                              2UL * (std::max(tile_rows_, tile_columns_) + 1);
    if (bytes > job_.memory_bytes) {
      throw OutOfMemoryError(
          fmt::format("a core needs {} bytes for its tiles of {} x {} (A, {} elements), {} x {} "
                      "(B) and {} x {} "
                      "(C), and has {}",
                      bytes, tile_rows_, tile_columns_, stored, tile_columns_, pitch_, tile_rows_,
                      pitch_, job_.memory_bytes));
    }
    result_.bytes = static_cast<std::uint32_t>(bytes);
  }

  /// Scalar code for one element, up to the start of its tensor instruction: loop, indices and
  /// value, two products and two registers for the addresses.
  Step element_code() const {
    const unsigned loads = kernel_.spmm_format == SpmmFormat::coo ? 3 : 2;
    return work(scalar_.loop + loads * scalar_.load + 2 * scalar_.imul + 2 * scalar_.dsr_write +
                costs_.from_registers());
  }

  Instruction axpy(std::size_t place, const NonZero& e, bool zero) const {
    const std::uint64_t row = place / job_.columns * tile_rows_ + e.row;
    const std::uint64_t column = place % job_.columns * tile_columns_ + e.column;
    return instruction(VectorOp::fma, Element::fp32, in_memory(sums_at() + e.row * pitch_ * 4),
                       in_memory(e.column * pitch_ * 4),
                       number(zero ? 0.0F : a_value(job_.seed, row, column)), pitch_);
  }

  void add_element(std::size_t place, const NonZero& e, bool zero = false) {
    scripts_[place].then(element_code());
    scripts_[place].then(axpy(place, e, zero));
    if (zero) result_.zeros += job_.n;
    result_.edge += pitch_ - job_.n;
  }

  void add_core(std::size_t place) {
    Script& script = scripts_[place];
    if (kernel_.protocol_cycles != 0) script.then(work(kernel_.protocol_cycles));
    const std::vector<NonZero>& tile = tiles_[place];
    switch (kernel_.spmm_format) {
      case SpmmFormat::csc:
        add_grouped(place, tile_columns_, [](const NonZero& e) { return e.column; });
        break;
      case SpmmFormat::csr:
        add_grouped(place, tile_rows_, [](const NonZero& e) { return e.row; });
        break;
      case SpmmFormat::coo: {
        for (const NonZero& e : tile) add_element(place, e);
        for (std::size_t i = tile.size(); i < most(); ++i) add_element(place, {0, 0}, true);
        break;
      }
      case SpmmFormat::ellpack:
        add_ellpack(place);
        break;
      case SpmmFormat::dense:
        add_dense(place);
        break;
    }
  }

  /// For each column of A, for each column of B: C's column += A's column times one element of B,
  /// whose address is two sums, one after the other (row start and column, base). Both columns have
  /// a stride, and lie in different banks for every other pair of them.
  void add_dense(std::size_t place) {
    Script& script = scripts_[place];
    for (std::uint32_t j = 0; j < tile_columns_; ++j) {
      script.then(work(scalar_.outer + scalar_.dsr_write));
      const Operand column =
          in_memory(weights_at() + j * 4, static_cast<std::int32_t>(tile_columns_));
      for (std::uint32_t t = 0; t < job_.n; ++t) {
        script.then(work(scalar_.loop + 2 * scalar_.dependent + scalar_.load + scalar_.dsr_write +
                         costs_.from_registers()));
        script.then(instruction(VectorOp::fma, Element::fp32,
                                in_memory(sums_at() + t * 4, static_cast<std::int32_t>(pitch_)),
                                column, cell((j * pitch_ + t) * 4), tile_rows_));
      }
    }
    const std::uint64_t size = std::uint64_t{tile_rows_} * tile_columns_;
    const std::size_t row = place / job_.columns;
    const std::uint64_t within =
        inside(row, tile_rows_, job_.m) * inside(place % job_.columns, tile_columns_, job_.k);
    result_.zeros += (within - tiles_[place].size()) * job_.n;
    result_.edge += (size - within) * job_.n;
  }

  /// Of `size` rows or columns, those of a tile.
  static std::uint64_t inside(std::uint64_t tile, std::uint64_t width, std::uint64_t size) {
    return std::min(std::max(tile * width, size) - tile * width, width);
  }

  template <class Key>
  void add_grouped(std::size_t place, std::uint32_t groups, const Key& key) {
    const std::vector<NonZero>& tile = tiles_[place];
    std::size_t next = 0;
    for (std::uint32_t group = 0; group < groups; ++group) {
      scripts_[place].then(work(scalar_.outer));
      for (; next < tile.size() && key(tile[next]) == group; ++next) add_element(place, tile[next]);
    }
  }

  /// All rows are equally long: where one begins is its number times that, not read from pointers.
  void add_ellpack(std::size_t place) {
    const std::uint32_t width = slots();
    const std::vector<NonZero>& tile = tiles_[place];
    std::size_t next = 0;
    for (std::uint32_t row = 0; row < tile_rows_; ++row) {
      scripts_[place].then(work(scalar_.loop + scalar_.imul));
      for (std::uint32_t slot = 0; slot < width; ++slot) {
        const bool there = next < tile.size() && tile[next].row == row;
        add_element(place, there ? tile[next] : NonZero{row, 0}, !there);
        next += there ? 1 : 0;
      }
    }
  }

  /// B comes from the north; each core takes its tile and passes it on while it computes.
  void route_inputs() {
    for (std::uint32_t r = 0; r < job_.rows; ++r) {
      const auto out = static_cast<Color>(r % 2);
      const auto in = static_cast<Color>((r + 1) % 2);
      for (std::uint32_t c = 0; c < job_.columns; ++c) {
        const std::size_t place = builder_.place(r, c);
        Script& script = scripts_[place];
        const std::uint32_t length = tile_columns_ * pitch_;
        if (r != 0) {
          const Instruction take = move(Element::fp32, in_memory(0), on_fabric(in), length);
          use_in_queue(script, in);
          script.then(work(costs_.start(take)));
          script.then(take);
        }
        if (r + 1 == job_.rows) continue;
        builder_.path({place, builder_.place(r + 1, c)}, out);
        const Instruction send = move(Element::fp32, on_fabric(out), in_memory(0), length);
        use_out_queue(script, out);
        script.then(work(costs_.start_beside(send)));
        script.beside(send, 1);
      }
    }
  }

  /// Sums along the rows; the easternmost core keeps them.
  void add_sums() {
    if (job_.columns == 1) return;
    for (std::uint32_t r = 0; r < job_.rows; ++r) {
      std::vector<std::size_t> line;
      std::vector<Script*> scripts;
      for (std::uint32_t c = job_.columns; c-- > 0;) {
        line.push_back(builder_.place(r, c));
        scripts.push_back(&scripts_[line.back()]);
      }
      add_tree(builder_, line, scripts, chain_tree(job_.columns), TreeStyle(),
               static_cast<unsigned>(kSums), {sums_at(), tile_rows_ * pitch_, Element::fp32});
    }
  }

  void fill_memory() {
    for (std::size_t place = 0; place < tiles_.size(); ++place) {
      const std::uint32_t sums_end = sums_at() + tile_rows_ * pitch_ * 4;
      MemoryImage image(dense() ? weights_at() + tile_rows_ * tile_columns_ * 4 : sums_end);
      const bool holds = !all() || place < job_.columns;
      for (std::uint32_t j = 0; holds && j < tile_columns_; ++j) {
        const std::uint64_t row = place % job_.columns * tile_columns_ + j;
        for (std::uint32_t t = 0; t < job_.n; ++t) {
          image.put((j * pitch_ + t) * 4, Element::fp32, b_value(job_.seed, row, t));
        }
      }
      for (std::size_t i = 0; dense() && i < tiles_[place].size(); ++i) {
        const NonZero& e = tiles_[place][i];
        image.put(weights_at() + (e.row * tile_columns_ + e.column) * 4, Element::fp32,
                  a_value(job_.seed, place / job_.columns * tile_rows_ + e.row,
                          place % job_.columns * tile_columns_ + e.column));
      }
      result_.program.memory.push_back(std::move(image).take());
    }
  }

  void describe() {
    std::size_t least = tiles_.empty() ? 0 : tiles_[0].size();
    for (const auto& tile : tiles_) least = std::min(least, tile.size());
    result_.notes.emplace_back("tiles", fmt::format("{} x {} of A, vectors of {} padded to {}",
                                                    tile_rows_, tile_columns_, job_.n, pitch_));
    result_.notes.emplace_back("non-zeros per core", fmt::format("{} to {}", least, most()));
  }

  const SpmmJob job_;
  const KernelParams& kernel_;
  const CodeCosts& costs_;
  const ScalarParams& scalar_;
  const std::uint32_t tile_rows_;
  const std::uint32_t tile_columns_;
  const std::uint32_t pitch_;                // elements from one row of B or C to the next
  std::vector<std::vector<NonZero>> tiles_;  // by core, in the order of the format
  TaskBuilder builder_;
  std::vector<Script> scripts_;
  TaskKernel result_;
};

/// Elements of C in the easternmost cores (all phases) or as partial sums.
LayerComparison compare_products(const SpmmJob& job, const KernelParams& kernel,
                                 const WaferMemory& memory) {
  const CodeCosts costs;
  SoftwarePlanner tiles(job, kernel, costs);
  tiles.deal();
  const bool all = kernel.spmm_phases == SpmmPhases::all;
  LayerComparison comparison;
  std::vector<float> sums;
  for (std::size_t place = 0; place < memory.size(); ++place) {
    if (!all || place % job.columns == 0) sums.assign(std::size_t{tiles.tile_rows()} * job.n, 0);
    for (const NonZero& e : tiles.tile(place)) {
      const std::uint64_t row = place / job.columns * tiles.tile_rows() + e.row;
      const std::uint64_t column = place % job.columns * tiles.tile_columns() + e.column;
      for (std::uint32_t t = 0; t < job.n; ++t) {
        sums[std::size_t{e.row} * job.n + t] +=
            a_value(job.seed, row, column) * b_value(job.seed, column, t);
      }
    }
    if (all && (place + 1) % job.columns != 0) continue;
    for (std::uint32_t i = 0; i < tiles.tile_rows(); ++i) {
      for (std::uint32_t t = 0; t < job.n; ++t) {
        comparison.add_exact(
            load_element(memory[place], tiles.sums_at() + (i * tiles.pitch() + t) * 4, true, false),
            sums[std::size_t{i} * job.n + t]);
      }
    }
  }
  return comparison;
}

}  // namespace

TaskKernel plan_spmm(const SpmmJob& job, const KernelParams& kernel, const CodeCosts& costs) {
  TaskKernel made = SoftwarePlanner(job, kernel, costs).plan();
  made.compare = [job, &kernel](const WaferMemory& memory) {
    return compare_products(job, kernel, memory);
  };
  return made;
}

}  // namespace lacuna::wse
