// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/wse/decode_bench.hpp"
#include "tests/support/wse/prefill_values.hpp"

namespace lacuna::wse {

/// Runs a layer of a prompt part by part on a whole block, memory going from each to the next.
class PrefillBench {
 public:
  PrefillBench(const PrefillShape& shape, const DecodeValues& numbers, bool both_engines = false)
      : shape_(shape),
        parts_(shape_, costs_, params_, {}, shape.block().columns),
        values_(shape_, parts_, numbers),
        both_engines_(both_engines),
        memory_(values_.memory()) {}
  PrefillBench(const PrefillBench&) = delete;

  /// The hidden vectors of the next chunk after the layer.
  std::vector<std::vector<double>> next(const std::vector<std::vector<double>>& hidden) {
    values_.enter(memory_, chunk_, hidden);
    PrefillScope scope{true, chunk_, 0};
    run(PrefillPart::norm, PrefillPart::clear, scope);
    for (scope.keys = 0; scope.keys <= chunk_; ++scope.keys) {
      run(PrefillPart::score, PrefillPart::fold, scope);
    }
    run(PrefillPart::context, PrefillPart::ffn_residual, scope);
    ++chunk_;
    return values_.hidden(memory_);
  }

  /// Keys or values of a token, head by head, as the banks have them.
  std::vector<double> cached(bool value, std::uint32_t token) const {
    const std::uint32_t chunk = shape_.block().tokens;
    return values_.cached(memory_, value, token / chunk, token % chunk);
  }

  const PrefillMemory& memory() const { return memory_; }
  const PrefillParts& parts() const { return parts_; }

 private:
  void run(PrefillPart first, PrefillPart last, const PrefillScope& scope) {
    for (auto i = static_cast<unsigned>(first); i <= static_cast<unsigned>(last); ++i) {
      const auto part = static_cast<PrefillPart>(i);
      if (part == PrefillPart::mask && scope.keys != scope.chunk) continue;
      for (TaskProgram& program : parts_.in(scope).plan(part)) {
        program.memory = std::move(memory_);
        TaskOutcome outcome = run_tasks(program);
        if (both_engines_) {
          EXPECT_EQ(difference(outcome, run_tasks(program, Engine::clocked)), "") << word(part);
        }
        memory_ = std::move(outcome.memory);
      }
    }
  }

  CodeCosts costs_;
  InferenceParams params_;
  const PrefillShape shape_;
  const PrefillParts parts_;
  const PrefillValues values_;
  bool both_engines_;
  PrefillMemory memory_;
  std::uint32_t chunk_ = 0;
};

}  // namespace lacuna::wse
