// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wse/program/program.hpp"
#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// The words of a column's stream in the order in which they enter the wafer: for each step the
/// weights, each behind the zeros that are sent before it, then a command.
class SentWords {
 public:
  SentWords(const StreamingKernel& kernel, std::uint32_t column)
      : kernel_(&kernel), column_(column) {}

  bool over() const { return step_ == kernel_->steps; }

  /// The next one, of a stream that is not over.
  Wavelet next() {
    const Color color = kernel_->stream_color(column_);
    if (zeros_ != kernel_->zeros_before(column_, weights_ + step_)) {
      ++zeros_;
      return {0, color, false, 0, true};
    }
    zeros_ = 0;
    if (sent_ == kernel_->words(step_, column_)) {
      sent_ = 0;
      return {step_++, color, true};
    }
    ++sent_;
    const std::size_t number = weights_++;
    return {kernel_->payloads.empty() ? 0 : kernel_->payloads[column_][number], color, false};
  }

 private:
  const StreamingKernel* kernel_;
  std::uint32_t column_;
  std::uint32_t step_ = 0;
  std::uint32_t sent_ = 0;   // weights of this step, in words,
  std::size_t weights_ = 0;  // and of all
  std::uint32_t zeros_ = 0;  // since the last of them
};

}  // namespace lacuna::wse
