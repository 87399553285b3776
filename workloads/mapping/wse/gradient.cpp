// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/distribution.hpp"
#include "workloads/mapping/wse/group_use.hpp"
#include "workloads/mapping/wse/program.hpp"
#include "workloads/mapping/wse/stream_bound.hpp"
#include "workloads/mapping/wse/stream_memory.hpp"
#include "workloads/mapping/wse/stream_operands.hpp"

namespace lacuna::wse {
namespace {

/// dY and X of a job: small integers, as of any product; zeros of padding.
std::int32_t gradient_value(const GradientJob& job, std::uint32_t i, std::uint32_t t) {
  if (t >= job.tokens) return 0;
  return operand_value(job.seed, std::uint64_t{i} * job.tokens + t, false);
}
std::int32_t input_value(const GradientJob& job, std::uint32_t j, std::uint32_t t) {
  if (t >= job.tokens) return 0;
  return operand_value(job.seed + 1, std::uint64_t{t} * job.n + j, false);
}

class GradientPlanner {
 public:
  GradientPlanner(const GradientJob& job, const StreamingSetup& setup)
      : job_(job),
        setup_(setup),
        columns_(setup.wafer.columns),
        use_(use_groups(setup.wafer, setup.ws, false)),
        groups_(use_.groups) {
    check_groups();
    set_formats();
    share();
    check_memory();
    list_positions();
  }

  bool done() const { return begun_ && next_ == rows_.steps(); }

  GradientLayouts layouts() const {
    FeatureLayout x;
    x.column = owner_of_input_;
    x.tokens = formats_.tokens;
    for (std::uint32_t& each : x.tokens) each *= use_.element_shares();
    x.groups = groups_;
    x.split = use_.share_elements;
    FeatureLayout dy = x;
    dy.column = rows_.keepers();
    if (groups_.count != 1 && !use_.share_elements) dy.groups = {};
    return {dy, x};
  }

  /// The next part: as many rows of Y as leave room for their dot products.
  GradientPlan next() {
    begun_ = true;
    plan_ = GradientPlan{};
    plan_.program.kernel = formats_;
    plan_.program.gradient = gradient_;
    plan_.rows_off = rows_off_;
    plan_.limit = limit_;
    plan_.feature_of = feature_of_;
    plan_.element_shares = use_.element_shares();
    plan_.padding = padding_;
    fill_part();
    route();
    set_io(setup_, use_, plan_);
    if (use_.share_elements && !use_.copies) plan_.program.exit_words = groups_.count;
    // One stream for all columns may come to the owner of a row last, when others wait for its dY.
    gradient().begins_with_stream = gradient_.kept && plan_.program.column_fifo == 0;
    plan_.program.full_duplex = setup_.io.duplex == IoDuplex::full;
    if (job_.values) fill_values();
    return std::move(plan_);
  }

 private:
  StreamingKernel& stream() { return plan_.program.kernel; }
  GradientKernel& gradient() { return *plan_.program.gradient; }

  /// Rings of interleaved groups and the chain have colors of their own.
  void check_groups() {
    const unsigned rings = kRingColors * (groups_.interleaved ? groups_.count : 1);
    if (rings + 3 > kColors) {
      throw UnsupportedError(
          fmt::format("ws.groups = {}: the rings of interleaved groups (ws.lie) and the chain of a "
                      "weight gradient need {} colors, of which there are {}",
                      groups_.count, rings + 3, kColors));
    }
    gradient_.down = {Color{static_cast<std::uint8_t>(rings + 1)},
                      Color{static_cast<std::uint8_t>(rings + 2)}};
    use_.sums = rings + 2;
    use_.buses = 0;
    distribution_ = distribution_rows(setup_.ws, setup_.io, use_);
    if (distribution_ < setup_.wafer.rows) return;
    throw UnsupportedError(fmt::format(
        "ws.groups = {}: {} row of routers copies the indices to the groups, and wafer.rows = {} "
        "leaves none for tokens",
        groups_.count, distribution_, setup_.wafer.rows.value()));
  }

  void set_formats() {
    StreamingKernel& k = formats_;
    k.groups = groups_;
    set_types(job_.dtype, job_.partials, setup_, k);
    gradient_.kept = setup_.ws.gradient == GradientSums::kept;
    gradient_.results = setup_.ws.results;
    const std::uint64_t element = 8 * k.element_bytes();
    const MemoryPorts ports = setup_.mem.ports();
    const bool conflict =
        setup_.mem.model == MemoryModel::rule && setup_.map.align == Alignment::bad;
    gradient_.dot_cycles = std::max(ports.cycles(2 * element * k.simd, 0), conflict ? 2U : 1U);
    const std::uint64_t moved = element * k.ring_elements * setup_.core.fabric_words_per_issue;
    gradient_.move_cycles = ports.cycles(moved, moved);
  }

  void share() {
    const auto each =  // of a group
        static_cast<std::uint32_t>(ceil_div(job_.tokens, use_.element_shares()));
    padding_ = each * use_.element_shares() - job_.tokens;
    formats_.tokens = deal_tokens(Inject::column_top, setup_.wafer.rows - distribution_, each);
    rows_off_ =
        setup_.wafer.rows - distribution_ - static_cast<std::uint32_t>(formats_.tokens.size());
    if (formats_.tokens.empty()) distribution_ = 0;
    formats_.tokens.insert(formats_.tokens.begin(), distribution_, 0);
    const KPartition kind = setup_.ws.k_partition == KPartition::balanced
                                ? KPartition::block
                                : setup_.ws.k_partition.value();
    rows_ = {use_, assign_features(kind, job_.m, groups_.width, {})};
    order_ = rows_.in(setup_.ws.row_order);
    owner_of_input_ = assign_features(kind, job_.n, groups_.width, {});
    index_.resize(job_.n);
    feature_of_.resize(columns_);
    for (std::uint32_t j = 0; j < job_.n; ++j) {
      for (std::uint32_t g = 0; g < groups_.count; ++g) {
        auto& mine = feature_of_[groups_.column_of(g, owner_of_input_[j])];
        index_[j] = static_cast<std::uint32_t>(mine.size());
        mine.push_back(j);
      }
    }
  }

  /// What the cores need beside dot products that are kept.
  void check_memory() {
    const std::uint64_t tokens = formats_.tokens.empty() ? 0 : formats_.tokens[distribution_];
    const std::uint64_t element = formats_.element_bytes();
    limit_ = std::uint64_t{setup_.mem.kib} * 1024;
    const std::uint64_t code = std::uint64_t{setup_.mem.code_kib} * 1024;
    const std::uint64_t queues = 4 * (std::uint64_t{setup_.queue.stream()} +
                                      2 * (setup_.queue.sums_in() + setup_.queue.sums_out()));
    const std::uint64_t results = gradient_.kept ? 1 : gradient_.results;
    const std::vector<std::uint32_t> outputs = rows_.outputs();
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::uint64_t inputs = feature_of_[c].size();
      const std::uint64_t rest =
          tokens * (inputs + outputs[c] + formats_.lookahead) * element + queues + code;
      const std::uint64_t bytes = rest + results * result_bytes();
      room_.push_back(limit_ < rest ? 0 : (limit_ - rest) / result_bytes());
      rest_.push_back(rest);
      if (bytes <= limit_) continue;
      throw OutOfMemoryError(fmt::format(
          "a core of column {} needs {} bytes of {}: {} tokens x ({} input + {} output features + "
          "{} vectors of dY) x {} B + {} results x {} B + queues {} B + code {} B",
          c, bytes, limit_, tokens, inputs, outputs[c], formats_.lookahead, element, results,
          result_bytes(), queues, code));
    }
    for (const auto& features : feature_of_) {
      if (features.size() <= 65536) continue;
      throw UnsupportedError(fmt::format(
          "sddmm: a column would own {} input features, and an index of 16 bits tells 65536 apart",
          features.size()));
    }
  }

  /// Of a dot product in memory: those that wait for the chain have a word each.
  std::uint64_t result_bytes() const { return gradient_.kept && !formats_.psum_fp32 ? 2 : 4; }

  void list_positions() {
    kept_.resize(job_.m);
    for_each_kept(job_.mask, job_.m, job_.n,
                  [&](std::uint32_t i, std::uint32_t j) { kept_[i].push_back(j); });
  }

  void fill_part() {
    StreamingKernel& k = stream();
    k.payloads.resize(columns_);
    outputs_.assign(columns_, {});
    std::vector<std::uint64_t> sums(columns_, 0);
    for (; next_ != rows_.steps(); ++next_) {
      const std::uint32_t* const rows = &order_[std::size_t{next_} * groups_.count];  // by group
      std::vector<std::uint32_t> counts(columns_, 0);
      each_position(rows, [&](std::uint32_t column, std::uint32_t /*j*/) { ++counts[column]; });
      if (gradient_.kept && !has_room(sums, counts)) break;
      each_position(rows, [&](std::uint32_t column, std::uint32_t j) {
        k.payloads[column].push_back(index_[j]);
      });
      k.counts.insert(k.counts.end(), counts.begin(), counts.end());
      for (std::uint32_t g = 0; g < groups_.count; ++g) add_row(g, rows[g]);
    }
    k.steps = static_cast<std::uint32_t>(plan_.row_of_step.size() / groups_.count);
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::uint64_t results = gradient_.kept ? sums[c] : gradient_.results;
      plan_.bytes = std::max(plan_.bytes, rest_[c] + results * result_bytes());
    }
    if (!gradient_.kept) return;
    const std::uint64_t most = *std::max_element(sums.begin(), sums.end());
    gradient().results = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most));
  }

  /// The kept positions of a row of each group: their columns, and features.
  template <class Visit>
  void each_position(const std::uint32_t* rows, const Visit& visit) const {
    for (std::uint32_t g = 0; g < groups_.count; ++g) {
      if (rows[g] == kNoRow) continue;
      for (const std::uint32_t j : kept_[rows[g]]) {
        visit(groups_.column_of(g, owner_of_input_[j]), j);
      }
    }
  }

  void add_row(std::uint32_t group, std::uint32_t row) {
    const std::uint32_t column = rows_.keeper(group, row);
    stream().final_column.push_back(column);
    outputs_[column].push_back(row);
    plan_.row_of_step.push_back(row);
    if (row == kNoRow || (use_.share_elements && group != 0)) return;  // once for all groups
    ++plan_.outputs;
    plan_.positions += kept_[row].size();
  }

  /// Adds the dot products of a row to those of each column if there is room for all.
  bool has_room(std::vector<std::uint64_t>& sums, const std::vector<std::uint32_t>& counts) const {
    for (std::uint32_t c = 0; c < columns_; ++c) {
      if (sums[c] + counts[c] <= room_[c]) continue;
      if (!plan_.row_of_step.empty()) return false;
      throw OutOfMemoryError(fmt::format(
          "a core of column {} has room for {} dot products of {} B beside {} bytes of {}, and a "
          "row has {} there",
          c, room_[c], result_bytes(), rest_[c], limit_, counts[c]));
    }
    for (std::uint32_t c = 0; c < columns_; ++c) sums[c] += counts[c];
    return true;
  }

  /// Routers differ by their column, the parity of their row, and whether it is first or last.
  void route() {
    Program& program = plan_.program;
    program.columns = columns_;
    program.rows = static_cast<std::uint32_t>(stream().tokens.size());
    const std::vector<RouterProgram> ring = group_ring_routes(stream());
    program.source = stream_sources(setup_.ws, use_);
    program.from_north = true;
    program.distribution_rows = program.entry = distribution_;
    if (distribution_ != 0) choose_distribution(program);
    for (std::uint32_t r = 0; r < distribution_; ++r) add_distribution_row(program, r);
    std::array<std::uint32_t, 8> variant{};  // 1 more than the first router of its kind of row
    for (std::uint32_t r = distribution_; r < program.rows; ++r) {
      std::uint32_t& first =
          variant.at((r == distribution_ ? 4U : 0U) + (r + 1 == program.rows ? 2U : 0U) + r % 2);
      if (first == 0) {
        first = static_cast<std::uint32_t>(program.routers.size()) + 1;
        for (std::uint32_t c = 0; c < columns_; ++c)
          program.routers.push_back(router(r, c, ring[c]));
      }
      for (std::uint32_t c = 0; c < columns_; ++c) program.router_of.push_back(first - 1 + c);
    }
    for (std::uint32_t c = 0; c < columns_ && program.rows != 0; ++c) {
      program.outlets.push_back(
          {program.rows - 1, c, kSouth, gradient().down[(program.rows - 1) % 2]});
    }
    program.collects = true;
  }

  RouterProgram router(std::uint32_t r, std::uint32_t column, const RouterProgram& ring) {
    const GradientKernel& g = gradient();
    const bool last_row = r + 1 == stream().tokens.size();
    RouterProgram made = ring;
    const auto down = static_cast<PortSet>(last_row ? bit(kRamp) : bit(kSouth) | bit(kRamp));
    made.routes.push_back({stream().stream_color(column), kNorth, down});
    if (r != distribution_) made.routes.push_back({g.down[(r - 1) % 2], kNorth, bit(kRamp)});
    made.routes.push_back({g.down[r % 2], kRamp, bit(kSouth)});
    return made;
  }

  void fill_values() {
    StreamingKernel& k = stream();
    std::uint32_t before = 0;
    for (const std::uint32_t tokens : k.tokens) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        const std::uint32_t first =
            first_element(plan_.element_shares, before, tokens, groups_.group_of(c));
        std::vector<float> x;
        std::vector<float> dy;
        for (const std::uint32_t j : feature_of_[c]) {
          for (std::uint32_t t = 0; t < tokens; ++t) {
            x.push_back(static_cast<float>(input_value(job_, j, first + t)));
          }
        }
        for (const std::uint32_t i : outputs_[c]) {
          for (std::uint32_t t = 0; t < tokens; ++t) {
            const bool empty = i == kNoRow;
            dy.push_back(empty ? 0.0F : static_cast<float>(gradient_value(job_, i, first + t)));
          }
        }
        k.activations.push_back(std::move(x));
        gradient().gradients.push_back(std::move(dy));
      }
      before += tokens;
    }
  }

  const GradientJob& job_;
  const StreamingSetup& setup_;
  std::uint32_t columns_;
  GroupUse use_;
  const ColumnGroups groups_;
  GradientPlan plan_;
  StreamingKernel formats_;  // what all parts share
  GradientKernel gradient_;
  std::uint32_t rows_off_ = 0;
  std::uint32_t distribution_ = 0;  // rows that copy indices to the groups
  std::uint32_t padding_ = 0;       // tokens
  std::uint64_t limit_ = 0;
  std::vector<std::vector<std::uint32_t>> feature_of_;
  std::vector<std::uint32_t> owner_of_input_, index_;
  GroupRows rows_;                                // of Y
  std::vector<std::uint32_t> order_;              // by step and group: the row of Y
  std::vector<std::vector<std::uint32_t>> kept_;  // by row of Y
  std::vector<std::uint64_t> room_;               // by column: for dot products,
  std::vector<std::uint64_t> rest_;               // beside so many bytes
  std::uint32_t next_ = 0;                        // step
  bool begun_ = false;
  std::vector<std::vector<std::uint32_t>> outputs_;  // by column, in the order of the stream
};

}  // namespace

void plan_gradient_parts(const GradientJob& job, const StreamingSetup& setup,
                         const std::function<void(const GradientPlan&)>& visit) {
  for (GradientPlanner planner(job, setup); !planner.done();) visit(planner.next());
}

GradientLayouts gradient_layouts(const GradientJob& job, const StreamingSetup& setup) {
  return GradientPlanner(job, setup).layouts();
}

Cycle least_gradient_cycles(const GradientJob& job, const StreamingSetup& setup) {
  Cycle least = 0;
  plan_gradient_parts(job, setup, [&](const GradientPlan& plan) {
    least += least_cycles_of_gradient(plan.program, setup.core, setup.hop, setup.ramp);
  });
  return least;
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
    for (std::uint32_t c = 0; c < program.columns; ++c) {
      const std::uint32_t owner = k.keeper(s, c);
      for (std::uint32_t i = 0; i < k.count(s, c); ++i) {
        const std::size_t feature = k.payloads[c][next[c]++];
        float sum = 0;
        for (std::uint32_t r = 0; r < program.rows; ++r) {
          const std::size_t row = std::size_t{r} * program.columns;
          const float* const dy =
              program.gradient->gradients[row + owner].data() + owned[owner] * k.tokens[r];
          const float* const x = k.activations[row + c].data() + feature * k.tokens[r];
          if (k.tokens[r] == 0) continue;  // no core works there
          float dot = 0;
          for (std::uint32_t t = 0; t < k.tokens[r]; ++t) {
            dot = round(static_cast<double>(dy[t]) * x[t] + dot, k.psum_fp32);
          }
          sum = round(sum + dot, k.ring_fp32);
        }
        sums[c].push_back(sum);
      }
    }
    for (std::uint32_t g = 0; g < k.groups.count; ++g) {
      ++owned[k.final_column[std::size_t{s} * k.groups.count + g]];
    }
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
      const std::uint32_t row =
          plan.row_of_step[std::size_t{s} * k.groups.count + k.groups.group_of(c)];
      for (std::uint32_t i = 0; i < k.count(s, c); ++i) {
        const std::uint32_t j = plan.feature_of[c][k.payloads[c][next[c]++]];
        std::int64_t sum = 0;
        for (std::uint32_t t = 0; t < job.tokens; ++t) {
          sum += std::int64_t{gradient_value(job, row, t)} * input_value(job, j, t);
        }
        sums[c].push_back(sum);
      }
    }
  }
  return sums;
}

}  // namespace lacuna::wse
