// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "workloads/mapping/wse/streaming.hpp"

namespace lacuna::wse {
namespace {

class Reference {
 public:
  explicit Reference(const Program& program)
      : program_(program), kernel_(program.kernel), next_(program.columns, 0) {}

  std::vector<std::vector<float>> product() {
    std::vector<std::vector<float>> result(std::size_t{program_.rows} * program_.columns);
    for (std::uint32_t step = 0; step < kernel_.steps; ++step) {
      for (std::uint32_t r = 0; r < program_.rows; ++r) {
        for (std::uint32_t group = 0; group < kernel_.groups.count; ++group) {
          const std::uint32_t keeper = kernel_.keeper(step, kernel_.groups.column_of(group, 0));
          for (const float y : of_row(step, r, keeper)) {
            result[std::size_t{r} * program_.columns + keeper].push_back(y);
          }
        }
      }
      for (std::uint32_t c = 0; c < program_.columns; ++c) next_[c] += kernel_.words(step, c);
    }
    return result;
  }

 private:
  float round_sum(double value) const {
    const auto sum = static_cast<float>(value);
    return kernel_.psum_fp32 ? sum : to_float(to_half(sum));
  }
  float round_ring(float value) const {
    return kernel_.ring_fp32 ? value : to_float(to_half(value));
  }

  /// Index and value of the i-th weight of this step for column c.
  std::pair<std::uint32_t, double> weight(std::uint32_t step, std::uint32_t c,
                                          std::uint32_t i) const {
    const std::uint32_t place = kernel_.first_feature(step, c) + i;
    const std::uint32_t* const word = kernel_.payloads[c].data() + next_[c];
    switch (kernel_.form) {
      case StreamForm::packed:
        return {place, kernel_.value(word[i / kernel_.weights_per_word()],
                                     i % kernel_.weights_per_word())};
      case StreamForm::wide:
        return {word[2 * std::size_t{i}], detail::float_of(word[2 * std::size_t{i} + 1])};
      case StreamForm::plain:
        return {place, detail::float_of(word[i])};
      case StreamForm::indexed:
        break;
    }
    return {word[i] >> 16U, kernel_.value(word[i])};
  }

  std::vector<float> partial_sums(std::uint32_t step, std::uint32_t r, std::uint32_t c) const {
    const std::uint32_t tokens = kernel_.tokens[r];
    const auto& x = kernel_.activations[std::size_t{r} * program_.columns + c];
    std::vector<float> sums(tokens, 0);
    for (std::uint32_t i = 0; i < kernel_.count(step, c); ++i) {
      const auto [index, w] = weight(step, c, i);
      for (std::uint32_t t = 0; t < tokens; ++t) {
        const double product = w * x[std::size_t{index} * tokens + t];
        sums[t] = round_sum(i == 0 ? product : product + sums[t]);
      }
    }
    return sums;
  }

  /// The total that a column of a ReducePlan hands on: its own sums take all inputs but the last.
  std::vector<float> total(std::uint32_t step, std::uint32_t r, std::uint32_t c) const {
    const ReducePlan& plan = kernel_.reduce;
    const ReducePlan::Role& role = kernel_.role(kernel_.keeper(step, c), c);
    std::vector<float> sums = partial_sums(step, r, c);
    for (std::uint32_t i = 0; i < role.inputs; ++i) {
      const std::vector<float> in =
          total(step, r, kernel_.peer(c, plan.inputs[role.first + i].from));
      const bool last = i + 1 == role.inputs;
      for (std::size_t t = 0; t < sums.size(); ++t) {
        sums[t] = last ? in[t] + sums[t] : round_sum(in[t] + sums[t]);
      }
    }
    for (float& sum : sums) sum = round_ring(sum);
    return sums;
  }

  std::vector<float> of_row(std::uint32_t step, std::uint32_t r, std::uint32_t keeper) const {
    std::vector<float> sums = total(step, r, keeper);
    if (kernel_.fp32 || kernel_.int8) return sums;
    for (float& y : sums) y = to_float(to_half(y));
    return sums;
  }

  const Program& program_;
  const StreamingKernel& kernel_;
  std::vector<std::size_t> next_;  // of each column, the first word of the step
};

}  // namespace

std::vector<std::vector<float>> streaming_reference(const Program& program) {
  return Reference(program).product();
}

}  // namespace lacuna::wse
