// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/stream_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/fp16.hpp"

namespace lacuna {
namespace {

using wse::StreamingJob;
using wse::StreamingPlan;
using wse::WaferOutcome;

/// The sums that cores keep.
ValueCheck check_sums(const StreamingJob& job, const StreamingPlan& plan,
                      const WaferOutcome& outcome) {
  ValueCheck check;
  const auto expected = wse::streaming_reference(plan.program);
  const std::vector<std::int64_t> exact = wse::exact_product(job);
  const wse::StreamingKernel& kernel = plan.program.kernel;
  const std::uint64_t elements = job.resident ? job.gemm.m : job.gemm.n;
  std::vector<std::size_t> next(outcome.results.size(), 0);
  for (std::size_t step = 0; step < plan.row_of_step.size(); ++step) {
    const bool empty = plan.row_of_step[step] == wse::kNoRow;  // of no weights: zeros are kept
    const std::uint32_t column = kernel.final_column[step];
    std::uint32_t before = 0;
    for (std::uint32_t r = 0; r < plan.program.rows; ++r) {
      const std::size_t core = std::size_t{r} * plan.program.columns + column;
      const std::uint32_t first = wse::first_element(plan.element_shares, before, kernel.tokens[r],
                                                     kernel.groups.group_of(column));
      before += kernel.tokens[r];
      for (std::uint32_t t = 0; t < kernel.tokens[r]; ++t) {
        const std::size_t place = next[core]++;
        if (empty) continue;
        const std::uint64_t element = first + t;
        if (element >= elements) continue;  // padding
        const bool there = place < outcome.results[core].size();
        const float y = there ? outcome.results[core][place] : 0.0F;
        ++check.compared;
        if (!there || y != expected[core][place]) ++check.wrong;
        const auto reference =
            static_cast<double>(exact[plan.row_of_step[step] * elements + element]);
        check.largest_error = std::max(check.largest_error, std::abs(y - reference));
      }
    }
  }
  return check;
}

/// Element `t` of results that a core took from its neighbours from word `first` on; not a number
/// if it did not take so many.
float taken_element(const wse::StreamingKernel& kernel, const std::vector<std::uint32_t>& words,
                    std::size_t first, std::uint32_t t) {
  const std::size_t word = first + t / kernel.ring_elements;
  if (word >= words.size()) return std::nanf("");
  const std::uint32_t bits = words[word];
  if (kernel.int8) return static_cast<float>(static_cast<std::int32_t>(bits));
  if (kernel.ring_fp32) return detail::float_of(bits);
  return to_float(static_cast<Half>(bits >> (16U * (t % 2)) & 0xffffU));
}

/// What core `core` took.
void check_taken(const StreamingPlan& plan, const WaferOutcome& outcome, std::size_t core,
                 ValueCheck& check) {
  const wse::StreamingKernel& kernel = plan.program.kernel;
  const wse::ExchangePlan& exchange = kernel.exchange;
  const std::size_t columns = plan.program.columns;
  const std::uint32_t tokens = kernel.tokens[core / columns];
  std::size_t word = 0;
  for (std::uint32_t packet = 0; packet < exchange.packets; ++packet) {
    for (const auto& [bus, sender] : exchange.columns[core % columns].takes) {
      const std::vector<float>& rows = outcome.results[core / columns * columns + sender];
      const bool kept = packet < exchange.columns[sender].keeps;
      for (std::uint32_t t = 0; kept && t < tokens; ++t) {
        ++check.compared;
        const float taken = taken_element(kernel, outcome.taken[core], word, t);
        const float there = kernel.fp32 || kernel.int8 ? taken : to_float(to_half(taken));
        if (!(there == rows[std::size_t{packet} * tokens + t])) ++check.wrong;
      }
      word += (tokens + kernel.ring_elements - 1) / kernel.ring_elements;
    }
  }
}

/// The words that cores took from other groups are those of the results that were kept there, in
/// the order of rounds and buses.
void check_exchange(const StreamingPlan& plan, const WaferOutcome& outcome, ValueCheck& check) {
  for (std::size_t core = 0; core < outcome.taken.size(); ++core) {
    check_taken(plan, outcome, core, check);
  }
}

}  // namespace

ValueCheck check_streamed(const StreamingJob& job, const StreamingPlan& plan,
                          const WaferOutcome& outcome) {
  ValueCheck check = check_sums(job, plan, outcome);
  check_exchange(plan, outcome, check);
  return check;
}

}  // namespace lacuna
