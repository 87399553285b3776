// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/wse/edge/tokens.hpp"
#include "models/wse/program/program.hpp"
#include "models/wse/program/sent_words.hpp"

namespace lacuna::wse {

/// One stream for all columns, row by row: the words of column 0 and its command, those of column
/// 1, and so on, into a FIFO of each column. A full FIFO holds up the whole stream.
class RowStream {
 public:
  explicit RowStream(const Program& program) : program_(program) {
    for (std::uint32_t c = 0; c < program_.columns; ++c) words_.emplace_back(program_.kernel, c);
    while (!program_.has_stream(column_)) ++column_;
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
      if (words_[column_].next().control) next_column();
    }
    return moved;
  }

  /// True if the last advance() ended for lack of tokens.
  bool short_of_tokens() const { return short_of_tokens_; }

 private:
  void next_column() {
    do {
      if (++column_ == program_.columns) {
        column_ = 0;
        ++step_;
      }
    } while (!program_.has_stream(column_));
  }

  const Program& program_;
  std::uint32_t step_ = 0;
  std::uint32_t column_ = 0;
  std::vector<SentWords> words_;  // by column
  bool short_of_tokens_ = false;
};

}  // namespace lacuna::wse
