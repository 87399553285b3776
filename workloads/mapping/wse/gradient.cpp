// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/ceil_div.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_u32(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>(ceil_div(a, b));
}

/// dY and X of a job: small integers, as of any product.
std::int32_t gradient_value(const GradientJob& job, std::uint32_t i, std::uint32_t t) {
  return operand_value(job.seed, std::uint64_t{i} * job.tokens + t, false);
}
std::int32_t input_value(const GradientJob& job, std::uint32_t j, std::uint32_t t) {
  return operand_value(job.seed + 1, std::uint64_t{t} * job.n + j, false);
}

class Planner {
 public:
  Planner(const GradientJob& job, const StreamingSetup& setup)
      : job_(job), setup_(setup), columns_(setup.wafer.columns), fp32_(job.dtype == DType::fp32) {}

  GradientPlan plan() {
    plan_.program.gradient.emplace();
    set_formats();
    share();
    check_memory();
    list_positions();
    route();
    plan_.program.rate = io_rate(setup_.io, setup_.wafer, setup_.clock_ghz);
    plan_.program.column_fifo = column_fifo(setup_.io);
    plan_.program.full_duplex = setup_.io.duplex == IoDuplex::full;
    plan_.io_share =
        setup_.io.share > 0
            ? setup_.io.share.value()
            : std::min(1.0, static_cast<double>(columns_) / setup_.wafer.program_columns);
    if (job_.values) fill_values();
    return std::move(plan_);
  }

 private:
  StreamingKernel& stream() { return plan_.program.kernel; }
  GradientKernel& gradient() { return *plan_.program.gradient; }

  void set_formats() {
    StreamingKernel& k = stream();
    k.fp32 = fp32_;
    k.psum_fp32 = fp32_ || (job_.partials == Partials::automatic ? setup_.ws.psum == Precision::fp32
                                                                 : job_.partials == Partials::fp32);
    k.ring_fp32 = fp32_ || setup_.ws.ring == Precision::fp32;
    k.simd = fp32_ ? setup_.simd.fma32 : k.psum_fp32 ? setup_.simd.fma16_32 : setup_.simd.fma16;
    k.ring_elements = k.ring_fp32 ? 1 : 2;
    k.lookahead = setup_.ws.lookahead;
    k.steps = job_.m;
    gradient().results = setup_.ws.results;
    const std::uint32_t element = fp32_ ? 32 : 16;
    const auto cycles = [this](std::uint64_t read, std::uint64_t write) {
      if (setup_.mem.model == MemoryModel::none) return 1U;
      const std::uint64_t times = setup_.mem.port_cycles;
      return std::max({1U, ceil_u32(read * times, setup_.mem.read_bits),
                       ceil_u32(write * times, setup_.mem.write_bits)});
    };
    const bool conflict =
        setup_.mem.model == MemoryModel::rule && setup_.map.align == Alignment::bad;
    gradient().dot_cycles =
        std::max(cycles(std::uint64_t{k.simd} * 2 * element, 0), conflict ? 2U : 1U);
    const std::uint64_t moved =
        std::uint64_t{k.ring_elements} * setup_.core.fabric_words_per_issue * element;
    gradient().move_cycles = cycles(moved, moved);
  }

  void share() {
    const std::uint32_t active = std::min<std::uint32_t>(setup_.wafer.rows, job_.tokens);
    plan_.rows_off = setup_.wafer.rows - active;
    for (std::uint32_t r = 0; r < active; ++r) {
      stream().tokens.push_back(job_.tokens / active + (r < job_.tokens % active ? 1 : 0));
    }
    const KPartition kind = setup_.ws.k_partition == KPartition::balanced
                                ? KPartition::block
                                : setup_.ws.k_partition.value();
    owner_of_output_ = assign_features(kind, job_.m, columns_, {});
    owner_of_input_ = assign_features(kind, job_.n, columns_, {});
    index_.resize(job_.n);
    plan_.feature_of.resize(columns_);
    for (std::uint32_t j = 0; j < job_.n; ++j) {
      auto& mine = plan_.feature_of[owner_of_input_[j]];
      index_[j] = static_cast<std::uint32_t>(mine.size());
      mine.push_back(j);
    }
    outputs_.resize(columns_);
    plan_.row_of_step = order_rows(setup_.ws.row_order, owner_of_output_, columns_);
    for (const std::uint32_t row : plan_.row_of_step) {
      stream().final_column.push_back(owner_of_output_[row]);
      outputs_[owner_of_output_[row]].push_back(row);
    }
  }

  void check_memory() {
    const std::uint64_t tokens = stream().tokens.empty() ? 0 : stream().tokens.front();
    const std::uint64_t element = fp32_ ? 4 : 2;
    plan_.limit = std::uint64_t{setup_.mem.kib} * 1024;
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::uint64_t inputs = plan_.feature_of[c].size();
      const std::uint64_t outputs = outputs_[c].size();
      const std::uint64_t queues =
          4 * (std::uint64_t{setup_.queue.weights} + 2 * std::uint64_t{setup_.queue.ring_in} +
               2 * std::uint64_t{setup_.queue.ring_out});
      const std::uint64_t bytes = tokens * (inputs + outputs + stream().lookahead) * element +
                                  gradient().results * std::uint64_t{4} + queues +
                                  std::uint64_t{setup_.mem.code_kib} * 1024;
      plan_.bytes = std::max(plan_.bytes, bytes);
      if (bytes <= plan_.limit) continue;
      throw OutOfMemoryError(fmt::format(
          "a core of column {} needs {} bytes of {}: {} tokens x ({} input + {} output features + "
          "{} vectors of dY) x {} B + {} results x 4 B + queues {} B + code {} B",
          c, bytes, plan_.limit, tokens, inputs, outputs, stream().lookahead, element,
          gradient().results, queues, std::uint64_t{setup_.mem.code_kib} * 1024));
    }
    for (const auto& features : plan_.feature_of) {
      if (features.size() <= 65536) continue;
      throw UnsupportedError(fmt::format(
          "sddmm: a column would own {} input features, and an index of 16 bits tells 65536 apart",
          features.size()));
    }
  }

  void list_positions() {
    StreamingKernel& k = stream();
    std::vector<std::vector<std::uint32_t>> rows(job_.m);
    for_each_kept(job_.mask, job_.m, job_.n,
                  [&](std::uint32_t i, std::uint32_t j) { rows[i].push_back(j); });
    k.payloads.resize(columns_);
    for (const std::uint32_t row : plan_.row_of_step) {
      std::vector<std::uint32_t> counts(columns_, 0);
      for (const std::uint32_t j : rows[row]) {
        ++counts[owner_of_input_[j]];
        k.payloads[owner_of_input_[j]].push_back(index_[j]);
      }
      k.counts.insert(k.counts.end(), counts.begin(), counts.end());
      plan_.positions += rows[row].size();
    }
  }

  /// Routers differ by their column, the parity of their row, and whether it is first or last.
  void route() {
    Program& program = plan_.program;
    program.columns = columns_;
    program.rows = static_cast<std::uint32_t>(stream().tokens.size());
    const std::vector<RouterProgram> ring = ring_routes(stream(), columns_);
    for (std::uint32_t r = 0; r < program.rows; ++r) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        program.router_of.push_back(static_cast<std::uint32_t>(program.routers.size()));
        program.routers.push_back(router(r, ring[c]));
      }
    }
    for (std::uint32_t c = 0; c < columns_ && program.rows != 0; ++c) {
      program.outlets.push_back(
          {program.rows - 1, c, kSouth, gradient().down[(program.rows - 1) % 2]});
    }
    program.collects = true;
  }

  RouterProgram router(std::uint32_t r, const RouterProgram& ring) {
    const GradientKernel& g = gradient();
    const bool last_row = r + 1 == stream().tokens.size();
    RouterProgram made = ring;
    const auto down = static_cast<PortSet>(last_row ? bit(kRamp) : bit(kSouth) | bit(kRamp));
    made.routes.push_back({stream().weights, kNorth, down});
    if (r != 0) made.routes.push_back({g.down[(r - 1) % 2], kNorth, bit(kRamp)});
    made.routes.push_back({g.down[r % 2], kRamp, bit(kSouth)});
    return made;
  }

  void fill_values() {
    StreamingKernel& k = stream();
    std::uint32_t first = 0;
    for (const std::uint32_t tokens : k.tokens) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        std::vector<float> x;
        std::vector<float> dy;
        for (const std::uint32_t j : plan_.feature_of[c]) {
          for (std::uint32_t t = 0; t < tokens; ++t) {
            x.push_back(static_cast<float>(input_value(job_, j, first + t)));
          }
        }
        for (const std::uint32_t i : outputs_[c]) {
          for (std::uint32_t t = 0; t < tokens; ++t) {
            dy.push_back(static_cast<float>(gradient_value(job_, i, first + t)));
          }
        }
        k.activations.push_back(std::move(x));
        gradient().gradients.push_back(std::move(dy));
      }
      first += tokens;
    }
  }

  const GradientJob& job_;
  const StreamingSetup& setup_;
  std::uint32_t columns_;
  bool fp32_;
  GradientPlan plan_;
  std::vector<std::uint32_t> owner_of_output_, owner_of_input_, index_;
  std::vector<std::vector<std::uint32_t>> outputs_;  // by column, in the order of the stream
};

}  // namespace

GradientPlan plan_gradient(const GradientJob& job, const StreamingSetup& setup) {
  return Planner(job, setup).plan();
}

std::vector<std::vector<float>> gradient_reference(const Program& program) {
  const StreamingKernel& k = program.kernel;
  const auto round = [](double value, bool fp32) {
    const auto single = static_cast<float>(value);
    return fp32 ? single : to_float(to_half(single));
  };
  std::vector<std::vector<float>> sums(program.columns);
  std::vector<std::size_t> next(program.columns, 0);   // index of the stream
  std::vector<std::size_t> owned(program.columns, 0);  // rows of dY passed
  for (std::uint32_t s = 0; s < k.steps; ++s) {
    const std::uint32_t owner = k.final_column[s];
    for (std::uint32_t c = 0; c < program.columns; ++c) {
      for (std::uint32_t i = 0; i < k.count(s, c); ++i) {
        const std::size_t feature = k.payloads[c][next[c]++];
        float sum = 0;
        for (std::uint32_t r = 0; r < program.rows; ++r) {
          const std::size_t row = std::size_t{r} * program.columns;
          const float* const dy =
              program.gradient->gradients[row + owner].data() + owned[owner] * k.tokens[r];
          const float* const x = k.activations[row + c].data() + feature * k.tokens[r];
          float dot = 0;
          for (std::uint32_t t = 0; t < k.tokens[r]; ++t) {
            dot = round(static_cast<double>(dy[t]) * x[t] + dot, k.psum_fp32);
          }
          sum = round(sum + dot, k.ring_fp32);
        }
        sums[c].push_back(sum);
      }
    }
    ++owned[owner];
  }
  return sums;
}

std::vector<std::vector<std::int64_t>> exact_gradient(const GradientJob& job,
                                                      const GradientPlan& plan) {
  const StreamingKernel& k = plan.program.kernel;
  std::vector<std::vector<std::int64_t>> sums(plan.program.columns);
  std::vector<std::size_t> next(plan.program.columns, 0);
  for (std::uint32_t s = 0; s < k.steps; ++s) {
    for (std::uint32_t c = 0; c < plan.program.columns; ++c) {
      for (std::uint32_t i = 0; i < k.count(s, c); ++i) {
        const std::uint32_t j = plan.feature_of[c][k.payloads[c][next[c]++]];
        std::int64_t sum = 0;
        for (std::uint32_t t = 0; t < job.tokens; ++t) {
          sum += std::int64_t{gradient_value(job, plan.row_of_step[s], t)} * input_value(job, j, t);
        }
        sums[c].push_back(sum);
      }
    }
  }
  return sums;
}

}  // namespace lacuna::wse
