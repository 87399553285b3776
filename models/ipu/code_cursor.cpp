// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/code_cursor.hpp"

#include "sim/base/error.hpp"

namespace lacuna::ipu {

bool CodeCursor::next() {
  for (;;) {
    close_loops();
    if (pc_ == size_) {
      if (call_ == calls_end_) return false;
      current_ = call_++;
      const Codelet& codelet = program_->codelets[current_->codelet];
      code_ = codelet.data();
      size_ = static_cast<std::uint32_t>(codelet.size());
      pc_ = 0;
      continue;
    }
    instr_ = code_ + pc_++;
    if (instr_->op == Instr::Op::loop) {
      open_loop(*instr_);
      continue;
    }
    count_ = instr_count(*instr_, *current_);
    if (instr_->op == Instr::Op::run) {
      set_ = run_set(*instr_, *current_);
      if (program_->free_ahead) count_ = 0;
      return true;
    }
    if (count_ > 0 && is_free(*program_, instr_->what)) {
      if (passed_ != nullptr) passed_[instr_->what] += count_;
      continue;
    }
    if (count_ > 0) return true;
  }
}

void CodeCursor::close_loops() {
  while (depth_ > 0 && pc_ == loops_.at(depth_ - 1).end) {
    Loop& loop = loops_.at(depth_ - 1);
    if (--loop.left > 0) {
      pc_ = loop.begin;
      return;
    }
    --depth_;
  }
}

void CodeCursor::open_loop(const Instr& instr) {
  const std::uint64_t passes = instr_count(instr, *current_);
  const std::uint32_t end = pc_ + instr.what;
  if (passes == 0 || instr.what == 0) {
    pc_ = end;
    return;
  }
  if (depth_ == kDepth) throw InternalError("loops of a codelet are nested too deep");
  loops_.at(depth_++) = {pc_, end, passes};
}

}  // namespace lacuna::ipu
