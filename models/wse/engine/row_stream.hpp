// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/edge/tokens.hpp"
#include "models/wse/program/program.hpp"

namespace lacuna::wse {

/// One stream for all columns, row by row: the words of column 0 and its command, those of column
/// 1, and so on, into a FIFO of each column. A full FIFO holds up the whole stream.
class RowStream {
 public:
  explicit RowStream(const Program& program) : program_(program) {
    while (!program_.has_stream(column_)) ++column_;
    begin_column();
  }

  /// Puts words into FIFOs while `tokens` pay for them and
  /// `room(column)` is true; `put(column)` puts one. Returns how many.
  template <class Room, class Put>
  std::uint64_t advance(TokenBucket& tokens, const Room& room, const Put& put) {
    std::uint64_t moved = 0;
    short_of_tokens_ = false;
    while (step_ != program_.kernel.steps && room(column_)) {
      short_of_tokens_ = !tokens.buy();
      if (short_of_tokens_) break;
      put(column_);
      ++moved;
      if (--left_ == 0) next_column();
    }
    return moved;
  }

  /// True if the last advance() ended for lack of tokens.
  bool short_of_tokens() const { return short_of_tokens_; }

 private:
  void begin_column() {
    if (step_ != program_.kernel.steps) left_ = program_.kernel.words(step_, column_) + 1;
  }
  void next_column() {
    do {
      if (++column_ == program_.columns) {
        column_ = 0;
        ++step_;
      }
    } while (!program_.has_stream(column_));
    begin_column();
  }

  const Program& program_;
  std::uint32_t step_ = 0;
  std::uint32_t column_ = 0;
  std::uint32_t left_ = 0;  // words of this step and column, the command included
  bool short_of_tokens_ = false;
};

}  // namespace lacuna::wse
