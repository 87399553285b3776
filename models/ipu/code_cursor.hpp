// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/ipu/program.hpp"

namespace lacuna::ipu {

/// Walks through a range of calls in the order of execution, stopping at each instruction that is
/// executed: an `issue` of at least one bundle, or a `run`. Bundles that take no time are passed.
class CodeCursor {
 public:
  /// Forgets where it was; next() goes to the first instruction of `range`. Bundles that are passed
  /// are counted in `passed`, by bundle, unless it is null.
  void start(const Program& program, CallRange range, std::uint64_t* passed = nullptr) {
    program_ = &program;
    passed_ = passed;
    call_ = program.calls.data() + range.first;
    calls_end_ = call_ + range.count;
    pc_ = size_ = depth_ = 0;
  }

  /// Goes on to the next instruction; false if there is none.
  bool next();

  bool is_run() const { return instr_->op == Instr::Op::run; }

  // of an issue
  std::uint32_t bundle() const { return instr_->what; }
  std::uint64_t count() const { return count_; }

  // of a run
  std::uint32_t set() const { return set_; }
  std::uint64_t ahead() const { return count_; }

 private:
  struct Loop {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint64_t left;  // passes, the present one included
  };
  static constexpr std::uint32_t kDepth = 8;

  void close_loops();
  void open_loop(const Instr& instr);

  const Program* program_ = nullptr;
  std::uint64_t* passed_ = nullptr;
  const Call* call_ = nullptr;  // the next one
  const Call* calls_end_ = nullptr;
  const Call* current_ = nullptr;
  const Instr* code_ = nullptr;
  const Instr* instr_ = nullptr;
  std::uint32_t pc_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t set_ = 0;
  std::uint64_t count_ = 0;
  std::array<Loop, kDepth> loops_{};
};

}  // namespace lacuna::ipu
