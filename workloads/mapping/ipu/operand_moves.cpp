// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/operand_moves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

constexpr std::uint64_t kLongPiece = 16;  // words: sent as it lies

/// Elements that follow each other where they are and where they go.
struct MovedPiece {
  TileId from = 0;
  TileId to = 0;
  std::uint32_t source = 0;  // in elements, of the region of results
  std::uint32_t home = 0;
  std::uint32_t count = 0;
};

/// A copy of elements within a tile.
struct ElementCopy {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t count = 0;
};

/// What a tile copies in one step.
struct TileCopies {
  std::uint64_t bytes = 0;     // of whole words
  std::uint64_t elements = 0;  // one by one
  std::vector<ElementCopy> copies = {};
};

class OperandMove {
 public:
  OperandMove(const ChipParams& chip, const Target& target, const MovedOperand& operand,
              PlannedOperation& planned)
      : chip_(chip),
        target_(target),
        operand_(operand),
        planned_(planned),
        types_{operand.to->type(), operand.to->type()},
        per_word_(4 / types_.bytes()),
        builder_(chip),
        values_(planned.lowered.program.values) {
    const auto program_words = static_cast<std::uint64_t>(planned.lowered.program.memory_words);
    const std::uint64_t plan_words = ceil_div(planned.lowered.tile_bytes, 4);
    region_ = round_up(std::max(program_words, plan_words), 2);
    builder_.program() = std::move(planned.lowered.program);
  }

  void add() {
    collect();
    if (stays()) {
      planned_.lowered.program = std::move(builder_.program());
      return;
    }
    reduce_ = std::make_unique<ReduceCodelets>(builder_, target_, types_, types_.data);
    place_regions();
    if (values_) move_images();
    for (std::size_t begin = 0; begin < pieces_.size();) {
      std::size_t end = begin;
      while (end < pieces_.size() && pieces_[end].from == pieces_[begin].from &&
             pieces_[end].to == pieces_[begin].to) {
        ++end;
      }
      move(begin, end);
      begin = end;
    }
    finish();
  }

 private:
  void collect();
  bool stays() const;
  void collect_column(const MovedRows& rows, std::uint32_t column);
  void take(const OutputPlace& from, const OutputPlace& to, std::uint32_t count);
  void place_regions();
  void move_images();
  void move(std::size_t begin, std::size_t end);
  void send_as_they_lie(std::size_t begin, std::size_t end);
  void copy_all(std::map<TileId, TileCopies>& into, TileId tile, std::size_t begin, std::size_t end,
                const std::function<ElementCopy(const MovedPiece&, std::uint64_t)>& places);
  std::uint32_t copies_of(const std::map<TileId, TileCopies>& all, const char* name);
  void finish();

  bool is_whole(std::uint64_t element) const { return element % per_word_ == 0; }
  std::uint64_t source_element(std::uint64_t index) const {
    return region_ * per_word_ + index - first_;
  }

  const ChipParams& chip_;
  const Target& target_;
  const MovedOperand& operand_;
  PlannedOperation& planned_;
  const Types types_;
  const std::uint64_t per_word_;
  ProgramBuilder builder_;
  const bool values_;
  std::unique_ptr<ReduceCodelets> reduce_;
  std::vector<MovedPiece> pieces_;
  std::uint64_t region_ =
      0;  // word of a tile where the result of before begins, and its first index
  std::uint64_t first_ = 0;
  std::uint64_t sending_ = 0;  // words where what is sent, and what came, begins
  std::uint64_t receiving_ = 0;
  std::uint64_t end_ = 0;
  std::map<TileId, std::uint64_t> sent_;  // words
  std::map<TileId, std::uint64_t> came_;
  std::map<TileId, TileCopies> gathers_;
  std::map<TileId, TileCopies> scatters_;
  TransferList transfers_;
};

/// Adds to the last piece, if it goes on there.
void OperandMove::take(const OutputPlace& from, const OutputPlace& to, std::uint32_t count) {
  if (!pieces_.empty()) {
    MovedPiece& last = pieces_.back();
    if (last.from == from.tile && last.to == to.tile && last.source + last.count == from.index &&
        last.home + last.count == to.index) {
      last.count += count;
      return;
    }
  }
  pieces_.push_back({from.tile, to.tile, static_cast<std::uint32_t>(from.index),
                     static_cast<std::uint32_t>(to.index), count});
}

/// Runs of rows that lie as runs in both places are looked up by their ends.
void OperandMove::collect_column(const MovedRows& rows, std::uint32_t column) {
  static constexpr std::array<std::uint32_t, 3> kRuns = {16, 4, 1};
  for (std::uint32_t row = 0; row < rows.rows;) {
    const OutputPlace from = rows.from->result(rows.first + row, column);
    const OutputPlace to = operand_.to->input(rows.place + row, column);
    for (const std::uint32_t run : kRuns) {
      if (run > rows.rows - row) continue;
      const OutputPlace from_end = rows.from->result(rows.first + row + run - 1, column);
      const OutputPlace to_end = operand_.to->input(rows.place + row + run - 1, column);
      const bool lies = from_end.tile == from.tile && from_end.index == from.index + run - 1;
      if (!lies || to_end.tile != to.tile || to_end.index != to.index + run - 1) continue;
      take(from, to, run);
      row += run;
      break;
    }
  }
}

void OperandMove::collect() {
  for (const MovedRows& rows : operand_.rows) {
    for (std::uint32_t column = 0; column < operand_.columns; ++column) {
      collect_column(rows, column);
    }
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const MovedPiece& a, const MovedPiece& b) {
    return std::tie(a.from, a.to, a.home) < std::tie(b.from, b.to, b.home);
  });
  // pieces of different columns may go on in both places
  std::vector<MovedPiece> sorted;
  sorted.swap(pieces_);
  for (const MovedPiece& each : sorted) {
    take({each.from, each.source}, {each.to, each.home}, each.count);
  }
}

/// Whether every tile has what it takes, in its order: its region of results is that of the
/// operand.
bool OperandMove::stays() const {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].from != pieces_[i].to) return false;
    if (i > 0 && pieces_[i].to == pieces_[i - 1].to) return false;
  }
  return true;
}

/// Behind the product, whose own memory is not in use yet: what the product before has left, then
/// what is sent, then what came.
void OperandMove::place_regions() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  std::uint64_t homes = 0;
  std::map<TileId, std::uint64_t> out;
  std::map<TileId, std::uint64_t> in;
  std::uint64_t most_out = 0;
  std::uint64_t most_in = 0;
  for (const MovedPiece& each : pieces_) {
    least = std::min<std::uint64_t>(least, each.source);
    most = std::max<std::uint64_t>(most, each.source + each.count);
    homes = std::max<std::uint64_t>(homes, each.home + each.count);
    if (each.from == each.to) continue;
    most_out = std::max(most_out, out[each.from] += ceil_div(each.count, per_word_) + 2);
    most_in = std::max(most_in, in[each.to] += ceil_div(each.count, per_word_) + 2);
  }
  first_ = pieces_.empty() ? 0 : least - least % (2 * per_word_);
  const std::uint64_t results = round_up(ceil_div(most - first_, per_word_), 2);
  sending_ = region_ + results;
  receiving_ = sending_ + round_up(most_out, 2);
  end_ = receiving_ + round_up(most_in, 2);
  const std::uint64_t bytes = (end_ - region_ + ceil_div(homes, per_word_)) * 4;
  const std::uint64_t room = std::uint64_t{chip_.tile.memory.kib} * 1024;
  if (bytes <= room) return;
  throw OutOfMemoryError(fmt::format(
      "operand from where another product left it: {} bytes on a tile that has {}", bytes, room));
}

/// The words at home are where the product before has left them instead.
void OperandMove::move_images() {
  std::map<std::pair<TileId, std::uint64_t>, std::uint32_t*> words;
  for (Image& image : builder_.program().images) {
    for (std::size_t i = 0; i < image.words.size(); ++i) {
      words[{image.place.tile, image.place.address + i}] = &image.words[i];
    }
  }
  const unsigned bits = 32 / static_cast<unsigned>(per_word_);
  const std::uint32_t mask = bits == 32 ? 0xffffffffU : (1U << bits) - 1;
  std::map<TileId, std::vector<std::uint32_t>> left;
  for (const MovedPiece& each : pieces_) {
    std::vector<std::uint32_t>& region = left[each.from];
    region.resize(sending_ - region_, 0);
    for (std::uint32_t e = 0; e < each.count; ++e) {
      const std::uint64_t home = each.home + e;
      const std::uint64_t source = each.source + e - first_;
      std::uint32_t* const word = words.at({each.to, home / per_word_});
      const auto shift = static_cast<unsigned>(home % per_word_) * bits;
      const std::uint32_t value = *word >> shift & mask;
      *word &= ~(mask << shift);
      region[source / per_word_] |= value << static_cast<unsigned>(source % per_word_) * bits;
    }
  }
  for (auto& [tile, region] : left) {
    const Place place{tile, static_cast<std::uint32_t>(region_)};
    builder_.program().images.push_back({place, std::move(region)});
  }
}

/// Copies of pieces, as words if all of them are of whole ones.
void OperandMove::copy_all(
    std::map<TileId, TileCopies>& into, TileId tile, std::size_t begin, std::size_t end,
    const std::function<ElementCopy(const MovedPiece&, std::uint64_t)>& places) {
  TileCopies& copies = into[tile];
  std::uint64_t done = 0;
  bool whole = true;
  for (std::size_t i = begin; i < end; ++i) {
    const ElementCopy copy = places(pieces_[i], done);
    whole = whole && is_whole(copy.from) && is_whole(copy.to) && is_whole(copy.count);
    if (values_) copies.copies.push_back(copy);
    done += pieces_[i].count;
  }
  if (whole) {
    copies.bytes += done * types_.bytes();
  } else {
    copies.elements += done;
  }
}

void OperandMove::send_as_they_lie(std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const MovedPiece& each = pieces_[i];
    const auto words = static_cast<std::uint32_t>(ceil_div(each.count, per_word_));
    transfers_.add({each.from, static_cast<std::uint32_t>(source_element(each.source) / per_word_)},
                   words, {Place{each.to, static_cast<std::uint32_t>(each.home / per_word_)}});
  }
}

/// Pieces from one tile to one, in the order in which they lie at home.
void OperandMove::move(std::size_t begin, std::size_t end) {
  const MovedPiece& first = pieces_[begin];
  std::uint64_t elements = 0;
  bool whole = true;
  bool in_order = true;  // where they lie
  bool lands = true;     // one behind the other
  for (std::size_t i = begin; i < end; ++i) {
    const MovedPiece& each = pieces_[i];
    whole = whole && is_whole(each.source - first_) && is_whole(each.home) && is_whole(each.count);
    in_order = in_order && each.source == first.source + elements;
    lands = lands && each.home == first.home + elements;
    elements += each.count;
  }
  if (first.from == first.to) {
    copy_all(scatters_, first.to, begin, end, [&](const MovedPiece& piece, std::uint64_t) {
      return ElementCopy{source_element(piece.source), piece.home, piece.count};
    });
    return;
  }
  const std::uint64_t words = ceil_div(elements, per_word_);
  if (whole && words >= kLongPiece * (end - begin)) {
    send_as_they_lie(begin, end);
    return;
  }
  in_order = in_order && is_whole(first.source - first_);
  lands = lands && is_whole(first.home) && is_whole(elements);
  std::uint64_t from = source_element(first.source);
  std::uint64_t to = first.home;
  if (!in_order) {
    std::uint64_t& sent = sent_[first.from];
    from = (sending_ + sent) * per_word_;
    sent += words;
    copy_all(gathers_, first.from, begin, end, [&](const MovedPiece& piece, std::uint64_t done) {
      return ElementCopy{source_element(piece.source), from + done, piece.count};
    });
  }
  if (!lands) {
    std::uint64_t& came = came_[first.to];
    to = (receiving_ + came) * per_word_;
    came += words;
    copy_all(scatters_, first.to, begin, end, [&](const MovedPiece& piece, std::uint64_t done) {
      return ElementCopy{to + done, piece.home, piece.count};
    });
  }
  transfers_.add({first.from, static_cast<std::uint32_t>(from / per_word_)},
                 static_cast<std::uint32_t>(words),
                 {Place{first.to, static_cast<std::uint32_t>(to / per_word_)}});
}

std::uint32_t OperandMove::copies_of(const std::map<TileId, TileCopies>& all, const char* name) {
  for (const auto& [tile, copies] : all) {
    std::uint32_t function = kNone;
    if (values_) {
      function = builder_.function([list = copies.copies, type = types_.data](TileMemory& memory) {
        for (const ElementCopy& one : list) {
          for (std::uint64_t i = 0; i < one.count; ++i) {
            write_element(memory, type, one.to + i, read_element(memory, type, one.from + i));
          }
        }
      });
    }
    const bool both = copies.bytes != 0 && copies.elements != 0;
    if (copies.bytes != 0) {
      builder_.work(tile, reduce_->copy_vertex(copies.bytes), both ? kNone : function);
    }
    if (copies.elements != 0)
      builder_.work(tile, reduce_->reorder_vertex(copies.elements), function);
  }
  return builder_.compute_set(name);
}

void OperandMove::finish() {
  std::uint64_t moved = 0;
  for (const MovedPiece& each : pieces_) moved += each.from == each.to ? 0 : each.count;
  const std::uint32_t gather = copies_of(gathers_, "gather operand");
  const std::uint32_t exchange = builder_.exchange("operand", std::move(transfers_));
  const std::uint32_t scatter = copies_of(scatters_, "place operand");
  Program& program = builder_.program();
  std::vector<Superstep> steps;
  if (gather != kNone || exchange != kNone) steps.push_back({gather, exchange});
  if (scatter != kNone) steps.push_back({scatter, kNone});
  program.supersteps.insert(program.supersteps.begin(), steps.begin(), steps.end());
  if (!program.conflicts.empty()) program.conflicts.resize(program.bundles.size(), 0);
  if (values_) program.memory_words = static_cast<std::uint32_t>(end_);
  planned_.lowered.program = std::move(program);
  planned_.notes.emplace_back(
      kOperandMoves, fmt::format("{} elements, from where the row before left them", moved));
}

}  // namespace

void move_operand_first(const ChipParams& chip, const Target& target, const MovedOperand& operand,
                        PlannedOperation& planned) {
  OperandMove(chip, target, operand, planned).add();
}

PlannedOperation plan_operand_move(const ChipParams& chip, const Target& target,
                                   const MovedOperand& operand) {
  PlannedOperation planned;
  planned.lowered.program = ProgramBuilder(chip).take();
  move_operand_first(chip, target, operand, planned);
  return planned;
}

}  // namespace lacuna::ipu
