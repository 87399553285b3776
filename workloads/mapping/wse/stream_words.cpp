// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_words.hpp"

#include <cstddef>
#include <utility>

#include "models/common/fp16.hpp"
#include "models/sparsity/mask.hpp"
#include "workloads/mapping/wse/feature_shares.hpp"

namespace lacuna::wse {
namespace {

class Words {
 public:
  Words(const StreamingJob& job, const StreamOperands& operands, const StreamPlaces& places,
        Program& program)
      : job_(job), operands_(operands), places_(places), program_(program) {}

  void fill_stream(bool filters) {
    StreamingKernel& k = program_.kernel;
    std::vector<std::vector<std::uint32_t>> rows(operands_.rows());
    const Mask* const sent = filters ? operands_.streamed_mask() : nullptr;
    for_each_kept(sent, operands_.rows(), operands_.features(),
                  [&](std::uint32_t i, std::uint32_t j) { rows[i].push_back(j); });
    std::vector<std::vector<std::uint32_t>> by_column(k.groups.width);
    k.payloads.resize(program_.columns);
    for (std::size_t place = 0; place < places_.row_of_step.size(); ++place) {
      const std::uint32_t step_row = places_.row_of_step[place];
      if (step_row == kNoRow) continue;
      const auto group = static_cast<std::uint32_t>(place % k.groups.count);
      const std::uint32_t b = step_row / operands_.rows();
      const std::uint32_t i = step_row % operands_.rows();
      for (auto& features : by_column) features.clear();
      for (const std::uint32_t j : rows[i]) by_column[places_.owner[j]].push_back(j);
      for (std::uint32_t c = 0; c < k.groups.width; ++c) {
        append_words(b, i, by_column[c], c, k.payloads[k.groups.column_of(group, c)]);
      }
    }
  }

  /// The bits of an FP16 or INT8 value.
  std::uint32_t small_value(float value) const {
    if (program_.kernel.int8) return static_cast<std::uint8_t>(static_cast<std::int8_t>(value));
    return to_half(value);
  }

  void append_words(std::uint32_t b, std::uint32_t i, const std::vector<std::uint32_t>& features,
                    std::uint32_t place, std::vector<std::uint32_t>& words) {
    const std::uint32_t column = program_.kernel.groups.column_of(0, place);
    const std::uint32_t all = places_.inputs[column];  // features of an instance
    const auto value = [&](std::uint32_t j) {
      return job_.gemm.values ? operands_.streamed(b, i, j) : 0.0F;
    };
    for (std::size_t n = 0; n < features.size(); ++n) {
      const std::uint32_t j = features[n];
      const std::uint32_t index = b * all + places_.index[j];
      switch (program_.kernel.form) {
        case StreamForm::indexed:
          words.push_back(index << 16U | small_value(value(j)));
          break;
        case StreamForm::packed: {
          const auto each = program_.kernel.weights_per_word();
          if (n % each == 0) words.push_back(0);
          words.back() |= small_value(value(j)) << (32 / each * (n % each));
          break;
        }
        case StreamForm::wide:
          words.push_back(index);
          words.push_back(detail::bits_of(value(j)));
          break;
        case StreamForm::plain:
          words.push_back(detail::bits_of(value(j)));
          break;
      }
    }
  }

  void fill_held() {
    StreamingKernel& k = program_.kernel;
    std::vector<std::vector<std::uint32_t>> features(k.groups.width);
    for (std::uint32_t j = 0; j < operands_.features(); ++j) {
      features[places_.owner[j]].push_back(j);
    }
    for (std::uint32_t r = 0; r < k.tokens.size(); ++r) {
      for (std::uint32_t c = 0; c < program_.columns; ++c) {
        std::vector<float> mine;
        const std::vector<std::uint32_t>& owned = features[k.groups.place_of(c)];
        const std::uint32_t first = first_element(places_.element_shares, places_.first_element[r],
                                                  k.tokens[r], k.groups.group_of(c));
        mine.reserve(std::size_t{k.tokens[r]} * owned.size() * job_.batch);
        for (std::uint32_t b = 0; b < job_.batch; ++b) {
          for (const std::uint32_t j : owned) {
            for (std::uint32_t t = 0; t < k.tokens[r]; ++t) {
              const bool there = first + t < operands_.elements();  // else padding
              mine.push_back(there ? operands_.held(b, j, first + t) : 0);
            }
          }
        }
        k.activations.push_back(std::move(mine));
      }
    }
  }

 private:
  const StreamingJob& job_;
  const StreamOperands& operands_;
  const StreamPlaces places_;
  Program& program_;
};

}  // namespace

void fill_stream(const StreamingJob& job, const StreamOperands& operands, bool filters,
                 const StreamPlaces& places, Program& program) {
  Words(job, operands, places, program).fill_stream(filters);
}

void fill_held(const StreamingJob& job, const StreamOperands& operands, const StreamPlaces& places,
               Program& program) {
  Words(job, operands, places, program).fill_held();
}

}  // namespace lacuna::wse
