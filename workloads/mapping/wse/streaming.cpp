// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/streaming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/program.hpp"

namespace lacuna::wse {
namespace {

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

std::vector<std::uint32_t> assign_balanced(std::uint32_t features, std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load) {
  std::vector<std::uint32_t> heaviest(features);
  std::iota(heaviest.begin(), heaviest.end(), 0U);
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return load[a] > load[b]; });
  // Least work first; among equals the fewest features, then the lowest number.
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
  for (std::uint32_t c = 0; c < columns; ++c) places.emplace(0, 0, c);
  std::vector<std::uint32_t> owner(features);
  for (const std::uint32_t feature : heaviest) {
    const auto [work, count, column] = places.top();
    places.pop();
    owner[feature] = column;
    places.emplace(work + load[feature], count + 1, column);
  }
  return owner;
}

/// Visits the kept elements (row, column) of the weights in row-major order.
template <class Visit>
void for_each_weight(const GemmProblem& problem, const Visit& visit) {
  if (problem.mask == nullptr) {
    for (std::uint32_t i = 0; i < problem.m; ++i) {
      for (std::uint32_t j = 0; j < problem.k; ++j) visit(i, j);
    }
    return;
  }
  const Mask& mask = *problem.mask;
  for (std::uint32_t i = 0; i < mask.rows; ++i) {
    const std::uint32_t grid_row = i / mask.block_rows;
    for (std::uint64_t b = mask.offsets[grid_row]; b < mask.offsets[grid_row + 1]; ++b) {
      const std::uint32_t first = mask.columns[b] * mask.block_cols;
      const std::uint32_t last = std::min(mask.cols, first + mask.block_cols);
      for (std::uint32_t j = first; j < last; ++j) visit(i, j);
    }
  }
}

std::vector<std::uint64_t> feature_loads(const GemmProblem& problem) {
  std::vector<std::uint64_t> load(problem.k, 0);
  for_each_weight(problem, [&](std::uint32_t, std::uint32_t j) { ++load[j]; });
  return load;
}

class Planner {
 public:
  Planner(const GemmProblem& problem, const StreamingSetup& setup)
      : problem_(problem), setup_(setup), columns_(setup.wafer.columns) {}

  StreamingPlan plan() {
    set_formats();
    share_tokens();
    check_size();
    share_features();
    check_memory();
    order();
    count_weights();
    plan_.program.rate = io_rate(setup_.io, setup_.wafer, setup_.clock_ghz);
    plan_.io_share =
        setup_.io.share > 0
            ? setup_.io.share.value()
            : std::min(1.0, static_cast<double>(columns_) / setup_.wafer.program_columns);
    route_streaming(plan_.program, columns_);
    if (problem_.values) fill_values();
    return std::move(plan_);
  }

 private:
  StreamingKernel& kernel() { return plan_.program.kernel; }

  void set_formats() {
    StreamingKernel& k = kernel();
    const bool fp32 = problem_.partials == Partials::automatic
                          ? setup_.ws.psum == Precision::fp32
                          : problem_.partials == Partials::fp32;
    k.psum_fp32 = fp32;
    k.ring_fp32 = setup_.ws.ring == Precision::fp32;
    k.simd = fp32 ? setup_.simd.fma16_32 : setup_.simd.fma16;
    k.ring_elements = k.ring_fp32 ? 1 : 2;
    k.lookahead = setup_.ws.lookahead;
    set_beats();
    k.steps = problem_.m;
  }

  /// What a beat moves through the memory's ports decides how many cycles it takes; two reads of
  /// one cycle that meet in a bank cost one more.
  void set_beats() {
    StreamingKernel& k = kernel();
    const std::uint32_t psum = k.psum_fp32 ? 32 : 16;
    const std::uint32_t in_sram = setup_.core.psum_cache ? 0 : psum;
    const auto cycles = [this](std::uint32_t read, std::uint32_t write) {
      if (setup_.mem.model == MemoryModel::none) return 1U;
      return std::max(
          {1U, ceil_div(read, setup_.mem.read_bits), ceil_div(write, setup_.mem.write_bits)});
    };
    const bool conflict =
        setup_.mem.model == MemoryModel::rule && in_sram != 0 && setup_.map.align == Alignment::bad;
    const std::uint32_t e = k.ring_elements * setup_.core.fabric_words_per_issue;
    k.first_cycles = cycles(k.simd * 16, k.simd * in_sram);
    k.beat_cycles = std::max(cycles(k.simd * (16 + in_sram), k.simd * in_sram), conflict ? 2U : 1U);
    k.reduce_cycles = cycles(e * in_sram, e * 16);
  }

  /// The first rows, which are next to the injectors, take one token more if they do not divide.
  void share_tokens() {
    const std::uint32_t rows = setup_.wafer.rows;
    const std::uint32_t active = std::min(rows, problem_.n);
    plan_.rows_off = rows - active;
    for (std::uint32_t r = 0; r < active; ++r) {
      kernel().tokens.push_back(problem_.n / active + (r < problem_.n % active ? 1 : 0));
    }
  }

  void share_features() {
    const KPartition kind = setup_.ws.k_partition;
    const auto load =
        kind == KPartition::balanced ? feature_loads(problem_) : std::vector<std::uint64_t>{};
    owner_of_input_ = assign_features(kind, problem_.k, columns_, load);
    // Nothing is known of the layer that follows, so `balanced` gives outputs in blocks.
    const KPartition outputs = kind == KPartition::balanced ? KPartition::block : kind;
    owner_of_output_ = assign_features(outputs, problem_.m, columns_, {});
    index_.resize(problem_.k);
    inputs_.assign(columns_, 0);
    outputs_.assign(columns_, 0);
    for (std::uint32_t j = 0; j < problem_.k; ++j) index_[j] = inputs_[owner_of_input_[j]]++;
    for (const std::uint32_t column : owner_of_output_) ++outputs_[column];
    plan_.most_features = *std::max_element(inputs_.begin(), inputs_.end());
    plan_.most_outputs = *std::max_element(outputs_.begin(), outputs_.end());
    check_index(plan_.most_features);
  }

  static void check_index(std::uint32_t features) {
    if (features <= 65536) return;
    throw UnsupportedError(fmt::format(
        "streamed: a column would own {} input features, and an index of 16 bits tells 65536 apart",
        features));
  }

  /// Before anything is made whose size depends on the product: no way to share the features
  /// leaves the fullest column less than the mean.
  void check_size() {
    const std::uint32_t inputs = ceil_div(problem_.k, columns_);
    const std::uint32_t outputs = ceil_div(problem_.m, columns_);
    check_index(inputs);
    const std::uint64_t bytes = core_bytes(inputs, outputs);
    if (bytes > std::uint64_t{setup_.mem.kib} * 1024) refuse_memory(0, inputs, outputs, bytes);
  }

  std::uint64_t tokens() const {
    const std::vector<std::uint32_t>& all = plan_.program.kernel.tokens;
    return all.empty() ? 0 : all.front();
  }
  std::uint64_t sum_bytes() const { return plan_.program.kernel.psum_fp32 ? 4 : 2; }
  std::uint64_t queue_bytes() const {
    return 4 * (std::uint64_t{setup_.queue.weights} + setup_.queue.ring_in + setup_.queue.ring_out);
  }

  /// Of the fullest core of a column.
  std::uint64_t core_bytes(std::uint32_t inputs, std::uint32_t outputs) const {
    const std::uint64_t features = std::uint64_t{inputs} + outputs;
    return tokens() * features * 2 + plan_.program.kernel.lookahead * tokens() * sum_bytes() +
           queue_bytes() + std::uint64_t{setup_.mem.code_kib} * 1024;
  }

  [[noreturn]] void refuse_memory(std::uint32_t column, std::uint32_t inputs, std::uint32_t outputs,
                                  std::uint64_t bytes) const {
    throw OutOfMemoryError(fmt::format(
        "a core of column {} needs {} bytes of {}: {} tokens x ({} input + {} output features) x "
        "2 B + {} partial-sum vectors x {} tokens x {} B + queues {} B + code {} B",
        column, bytes, std::uint64_t{setup_.mem.kib} * 1024, tokens(), inputs, outputs,
        plan_.program.kernel.lookahead, tokens(), sum_bytes(), queue_bytes(),
        std::uint64_t{setup_.mem.code_kib} * 1024));
  }

  void check_memory() {
    for (std::uint32_t c = 0; c < columns_; ++c) {
      const std::uint64_t bytes = core_bytes(inputs_[c], outputs_[c]);
      if (bytes <= plan_.bytes) continue;
      plan_.bytes = bytes;
      plan_.fullest_column = c;
    }
    plan_.limit = std::uint64_t{setup_.mem.kib} * 1024;
    const std::uint32_t fullest = plan_.fullest_column;
    if (plan_.bytes > plan_.limit) {
      refuse_memory(fullest, inputs_[fullest], outputs_[fullest], plan_.bytes);
    }
  }

  void order() {
    plan_.row_of_step = order_rows(setup_.ws.row_order, owner_of_output_, columns_);
    for (const std::uint32_t row : plan_.row_of_step) {
      kernel().final_column.push_back(owner_of_output_[row]);
    }
  }

  void count_weights() {
    if (problem_.mask == nullptr) {
      for (std::uint32_t s = 0; s < problem_.m; ++s) {
        kernel().counts.insert(kernel().counts.end(), inputs_.begin(), inputs_.end());
      }
      for (const std::uint64_t features : inputs_) {
        plan_.column_weights.push_back(features * problem_.m);
      }
      plan_.weights = std::uint64_t{problem_.m} * problem_.k;
      return;
    }
    std::vector<std::uint32_t> step_of_row(problem_.m);
    for (std::uint32_t s = 0; s < problem_.m; ++s) step_of_row[plan_.row_of_step[s]] = s;
    kernel().counts.assign(std::size_t{problem_.m} * columns_, 0);
    plan_.column_weights.assign(columns_, 0);
    for_each_weight(problem_, [&](std::uint32_t i, std::uint32_t j) {
      const std::uint32_t column = owner_of_input_[j];
      ++kernel().counts[std::size_t{step_of_row[i]} * columns_ + column];
      ++plan_.column_weights[column];
      ++plan_.weights;
    });
  }

  void fill_values() {
    StreamingKernel& k = kernel();
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> rows(problem_.m);
    for_each_weight(problem_, [&](std::uint32_t i, std::uint32_t j) {
      const std::uint64_t place = std::uint64_t{i} * problem_.k + j;
      const auto value = static_cast<float>(operand_value(problem_.seed, place, true));
      rows[i].emplace_back(owner_of_input_[j], index_[j] << 16U | to_half(value));
    });
    k.payloads.resize(columns_);
    for (const std::uint32_t row : plan_.row_of_step) {
      for (const auto& [column, payload] : rows[row]) k.payloads[column].push_back(payload);
    }
    std::vector<std::vector<std::uint32_t>> features(columns_);
    for (std::uint32_t j = 0; j < problem_.k; ++j) features[owner_of_input_[j]].push_back(j);
    std::uint32_t first = 0;
    for (const std::uint32_t tokens : k.tokens) {
      for (std::uint32_t c = 0; c < columns_; ++c) {
        k.activations.push_back(activations(features[c], first, tokens));
      }
      first += tokens;
    }
  }

  std::vector<std::uint16_t> activations(const std::vector<std::uint32_t>& features,
                                         std::uint32_t first, std::uint32_t tokens) const {
    std::vector<std::uint16_t> x;
    x.reserve(std::size_t{tokens} * features.size());
    for (const std::uint32_t j : features) {
      for (std::uint32_t t = first; t < first + tokens; ++t) {
        const std::uint64_t place = std::uint64_t{j} * problem_.n + t;
        x.push_back(to_half(static_cast<float>(operand_value(problem_.seed + 1, place, false))));
      }
    }
    return x;
  }

  const GemmProblem& problem_;
  const StreamingSetup& setup_;
  std::uint32_t columns_;
  StreamingPlan plan_;
  std::vector<std::uint32_t> owner_of_input_;
  std::vector<std::uint32_t> owner_of_output_;
  std::vector<std::uint32_t> index_;  // of a feature within its column
  std::vector<std::uint32_t> inputs_;
  std::vector<std::uint32_t> outputs_;
};

}  // namespace

std::vector<std::uint32_t> assign_features(KPartition kind, std::uint32_t features,
                                           std::uint32_t columns,
                                           const std::vector<std::uint64_t>& load) {
  if (kind == KPartition::balanced) return assign_balanced(features, columns, load);
  std::vector<std::uint32_t> owner(features);
  const std::uint32_t each = ceil_div(features, columns);
  for (std::uint32_t j = 0; j < features; ++j) {
    owner[j] = kind == KPartition::block ? j / each : j % columns;
  }
  return owner;
}

std::vector<std::uint32_t> order_rows(RowOrder order, const std::vector<std::uint32_t>& owner,
                                      std::uint32_t columns) {
  std::vector<std::uint32_t> rows(owner.size());
  std::iota(rows.begin(), rows.end(), 0U);
  if (order == RowOrder::natural) return rows;
  std::vector<std::uint32_t> position(columns);
  std::iota(position.begin(), position.end(), 0U);
  if (order == RowOrder::ring) position = ring_positions(ring_order(columns));
  std::vector<std::uint32_t> owned(columns, 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key;  // turn, place in it
  key.reserve(owner.size());
  for (const std::uint32_t column : owner) key.emplace_back(owned[column]++, position[column]);
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  return rows;
}

Rate io_rate(const IoParams& io, const WaferParams& wafer, double clock_ghz) {
  // Words per cycle: gbit / 32 bits / clock, times the share. Clock and share count in millionths.
  constexpr std::uint64_t kMillion = 1'000'000;
  std::uint64_t words = io.gbit * kMillion;
  std::uint64_t per = 32 * static_cast<std::uint64_t>(std::llround(clock_ghz * 1e6));
  std::uint64_t part = std::min<std::uint32_t>(wafer.columns, wafer.program_columns);
  std::uint64_t whole = wafer.program_columns;
  if (io.share > 0) {
    part = static_cast<std::uint64_t>(std::llround(io.share * 1e6));
    whole = kMillion;
  }
  const std::uint64_t g1 = std::gcd(words, per);
  const std::uint64_t g2 = std::gcd(part, whole);
  words = words / g1 * (part / g2);
  per = per / g1 * (whole / g2);
  const std::uint64_t g = std::gcd(words, per);
  return {words / g, per / g};
}

StreamingPlan plan_streaming(const GemmProblem& problem, const StreamingSetup& setup) {
  return Planner(problem, setup).plan();
}

}  // namespace lacuna::wse
