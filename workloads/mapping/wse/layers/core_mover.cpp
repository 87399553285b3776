// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/layers/core_mover.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "models/wse/pe/vector_unit.hpp"
#include "workloads/mapping/wse/kernels/line_route.hpp"

namespace lacuna::wse {
namespace {

/// What of a line decides what its cores do.
using LineKey = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;

LineKey key_of(const std::vector<LineVector>& vectors) {
  LineKey key;
  key.reserve(vectors.size());
  for (const LineVector& v : vectors) key.emplace_back(v.from, v.to, v.length);
  return key;
}

/// The lines of one direction, with the program of each kind once.
class StageMaker {
 public:
  explicit StageMaker(const std::string& name) { stage_.name = name; }

  void add(std::optional<TaskProgram> part) {
    if (part) stage_.parts.push_back(std::move(*part));
    used_ = part.has_value();
  }
  /// One more line like the last that was added.
  void place(const CorePlace& at) {
    if (used_) places_.emplace_back(static_cast<std::uint32_t>(stage_.parts.size() - 1), at);
  }
  void finish(std::vector<LayerStage>& stages) {
    if (stage_.parts.empty()) return;
    stage_.moves = true;
    for (const auto& [part, at] : places_) stage_.places.push_back({part, at.row, at.column});
    stages.push_back(std::move(stage_));
  }

 private:
  LayerStage stage_;
  bool used_ = false;
  std::vector<std::pair<std::uint32_t, CorePlace>> places_;
};

}  // namespace

void CoreMover::hold(const CorePlace& at, std::uint64_t bytes, std::uint64_t stay) {
  if (estimates()) return;
  const WaferParams& wafer = setup_.wafer;
  if (held_.empty()) held_.resize(std::size_t{wafer.columns} * wafer.rows);
  Held& held = held_[std::size_t{at.row} * wafer.columns + at.column];
  held.bytes += bytes;
  held.stay += stay;
}

std::uint64_t CoreMover::most_bytes(std::vector<std::uint64_t>& before,
                                    const std::vector<CorePlace>& origins) const {
  before.resize(std::max(before.size(), held_.size()));
  std::size_t end = held_.size();
  while (end != 0 && held_[end - 1].bytes == 0) --end;
  std::uint64_t most = 0;
  for (const CorePlace& origin : origins) {
    const std::size_t first = std::size_t{origin.row} * setup_.wafer.columns + origin.column;
    for (std::size_t core = 0; core < end; ++core) {
      most = std::max(most, before[first + core] + held_[core].bytes);
      before[first + core] += held_[core].stay;
    }
  }
  return most;
}

void CoreMover::add(const CorePlace& from, const CorePlace& to, std::uint64_t row,
                    std::uint32_t token, std::uint32_t length) {
  const std::uint64_t bytes = std::uint64_t{length} * source_bytes(element_);
  if (from.row != to.row || from.column != to.column) hold(from, bytes, 0);
  if (from.row != to.row && from.column != to.column) hold({from.row, to.column}, bytes, 0);
  hold(to, bytes, bytes);
  if (from.column != to.column) {
    line(rows_, from.row).push_back({row, token, {from.column, to.column, length, 0, 0}});
  }
  if (from.row != to.row) {
    line(columns_, to.column).push_back({row, token, {from.row, to.row, length, 0, 0}});
  }
}

void CoreMover::add_rows(const std::vector<std::uint32_t>& at,
                         const std::vector<LineVector>& vectors,
                         const std::vector<std::uint32_t>& first_token) {
  for (const std::uint32_t row : at) {
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      line(rows_, row).push_back({i, first_token[i], vectors[i]});
    }
    if (estimates()) return;
  }
}

void CoreMover::add_columns(const std::vector<std::uint32_t>& at,
                            const std::vector<LineVector>& vectors) {
  for (const std::uint32_t column : at) {
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      line(columns_, column).push_back({i, 0, vectors[i]});
    }
    if (estimates()) return;
  }
}

/// Whether the parts of two lines differ in nothing but the first of their tokens.
bool CoreMover::moves_alike(const std::vector<Part>& a, const std::vector<Part>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Part& one, const Part& two) {
    const LineVector& v = one.vector;
    const LineVector& w = two.vector;
    return one.row == two.row && one.token - a[0].token == two.token - b[0].token &&
           std::tie(v.from, v.to, v.length, v.from_at, v.to_at) ==
               std::tie(w.from, w.to, w.length, w.from_at, w.to_at);
  });
}

std::vector<LineVector> CoreMover::joined(std::vector<Part> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.row < b.row; });
  std::vector<Part> runs;
  for (const Part& part : parts) {
    Part* const last = runs.empty() ? nullptr : &runs.back();
    if (last != nullptr && last->row == part.row &&
        last->token + last->vector.length == part.token && last->vector.from == part.vector.from &&
        last->vector.to == part.vector.to) {
      last->vector.length += part.vector.length;
    } else {
      runs.push_back(part);
    }
  }
  // The same tokens of several features: a second dimension of the instruction's operand.
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;
  std::vector<Way> ways;
  ways.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const LineVector& v = runs[i].vector;
    ways.emplace_back(v.from, v.to, runs[i].token, v.length, i);
  }
  std::sort(ways.begin(), ways.end());
  std::size_t first = 0;  // of the same way
  for (std::size_t i = 1; i < ways.size(); ++i) {
    const auto way = [&](std::size_t at) {
      const auto& [from, to, token, length, run] = ways[at];
      return std::tie(from, to, token, length);
    };
    if (way(i) != way(first)) {
      first = i;
      continue;
    }
    LineVector& one = runs[std::get<4>(ways[i])].vector;
    runs[std::get<4>(ways[first])].vector.length += one.length;
    one.length = 0;
  }
  std::vector<LineVector> vectors;
  for (const Part& run : runs) {
    if (run.vector.length != 0) vectors.push_back(run.vector);
  }
  return vectors;
}

std::vector<LayerStage> CoreMover::stages(const std::string& name,
                                          const std::vector<CorePlace>& origins) const {
  std::vector<LayerStage> stages;
  add_stages(rows_, Direction::columns, name, origins, stages);
  add_stages(columns_, Direction::rows, name, origins, stages);
  return stages;
}

std::vector<CoreMover::Kind> CoreMover::kinds_of(const Lines& lines) {
  std::map<LineKey, Kind> kinds;
  const std::vector<Part>* before = nullptr;  // parts of the line before, which are of this kind
  Kind* same = nullptr;
  for (std::uint32_t line = 0; line < lines.size(); ++line) {
    if (lines[line].empty()) continue;
    if (before != nullptr && moves_alike(*before, lines[line])) {
      same->lines.push_back(line);
      continue;
    }
    std::vector<LineVector> vectors = joined(lines[line]);
    Kind& kind = kinds[key_of(vectors)];
    if (kind.lines.empty()) kind.vectors = std::move(vectors);
    kind.lines.push_back(line);
    before = &lines[line];
    same = &kind;
  }
  std::vector<Kind> all;
  all.reserve(kinds.size());
  for (auto& [key, kind] : kinds) all.push_back(std::move(kind));
  return all;
}

/// Through the cores of a line, or past them where that can be routed.
LineMove CoreMover::move_of(const std::vector<LineVector>& vectors, Direction direction) const {
  std::uint32_t cores = 0;
  for (const LineVector& v : vectors) cores = std::max({cores, v.from + 1, v.to + 1});
  LineMove move = move_along(vectors, cores, direction, element_, setup_);
  for (const bool way : {true, false}) {
    auto routed = route_along(vectors, cores, direction, way, element_, setup_);
    if (routed) (way ? move.ahead : move.back) = std::move(routed);
  }
  return move;
}

void CoreMover::add_stages(const Lines& lines, Direction direction, const std::string& name,
                           const std::vector<CorePlace>& origins,
                           std::vector<LayerStage>& stages) const {
  if (estimates()) {
    const Cycle start = setup_.costs.next(2);
    Cycle most[2] = {};  // by way: all lines go ahead before one goes back
    for (const std::vector<Part>& parts : lines) {
      const std::vector<LineVector> vectors = joined(parts);
      for (const bool way : {true, false}) {
        most[way] = std::max(most[way], estimated_move(vectors, element_, start, way));
      }
    }
    LayerStage stage;
    stage.estimate = most[true] + most[false];
    stages.push_back(std::move(stage));
    return;
  }
  StageMaker ahead(name);
  StageMaker back(name);
  for (const Kind& kind : kinds_of(lines)) {
    LineMove move = move_of(kind.vectors, direction);
    ahead.add(std::move(move.ahead));
    back.add(std::move(move.back));
    for (const CorePlace& origin : origins) {
      for (const std::uint32_t line : kind.lines) {
        const CorePlace at = direction == Direction::columns
                                 ? CorePlace{origin.row + line, origin.column}
                                 : CorePlace{origin.row, origin.column + line};
        ahead.place(at);
        back.place(at);
      }
    }
  }
  ahead.finish(stages);
  back.finish(stages);
}

}  // namespace lacuna::wse
