// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/kernels/line_move.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {

/// A core of the rectangle.
struct CorePlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// Collects vectors that have to go from core to core: along the rows of cores to the column where
/// they belong, then along the columns to the row. Lines of which every core does the same have
/// one program.
class CoreMover {
 public:
  CoreMover(const LayerSetup& setup, Element element) : setup_(setup), element_(element) {}

  /// `length` tokens of `row`, a feature (of one matrix), from `token` on. What follows in the same
  /// row and goes the same way is one vector with it, and so are the same tokens of other features.
  void add(const CorePlace& from, const CorePlace& to, std::uint64_t row, std::uint32_t token,
           std::uint32_t length);

  /// The memory of a core: `bytes` leave it, come to it or wait in it on their way, of which
  /// `stay` are there in the end. add() says so itself.
  void hold(const CorePlace& at, std::uint64_t bytes, std::uint64_t stay);

  /// What the fullest core needs while all goes its way, if `before` bytes of each core, by core of
  /// the rectangle, are taken. Adds to these what stays.
  std::uint64_t most_bytes(std::vector<std::uint64_t>& before,
                           const std::vector<CorePlace>& origins = {{}}) const;

  /// The same vectors along all rows (columns) `at`. Those that go the same way are one vector if
  /// they begin with the same token of the row.
  void add_rows(const std::vector<std::uint32_t>& at, const std::vector<LineVector>& vectors,
                const std::vector<std::uint32_t>& first_token);
  void add_columns(const std::vector<std::uint32_t>& at, const std::vector<LineVector>& vectors);

  /// Whether one of lines that are alike, and no memory, is all that is asked for.
  bool estimates() const { return setup_.estimates; }

  /// A stage for each direction in which anything goes, each at `origins` of as many rectangles.
  std::vector<LayerStage> stages(const std::string& name,
                                 const std::vector<CorePlace>& origins = {{}}) const;

 private:
  struct Part {
    std::uint64_t row = 0;
    std::uint32_t token = 0;
    LineVector vector;
  };
  using Lines = std::vector<std::vector<Part>>;  // by line
  static bool moves_alike(const std::vector<Part>& a, const std::vector<Part>& b);

  static std::vector<Part>& line(Lines& lines, std::uint32_t at) {
    if (lines.size() <= at) lines.resize(at + std::size_t{1});
    return lines[at];
  }

  static std::vector<LineVector> joined(std::vector<Part> parts);

  /// Lines that have the same to move.
  struct Kind {
    std::vector<LineVector> vectors;
    std::vector<std::uint32_t> lines;
  };
  static std::vector<Kind> kinds_of(const Lines& lines);
  LineMove move_of(const std::vector<LineVector>& vectors, Direction direction) const;

  void add_stages(const Lines& lines, Direction direction, const std::string& name,
                  const std::vector<CorePlace>& origins, std::vector<LayerStage>& stages) const;

  struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t stay = 0;
  };

  const LayerSetup& setup_;
  Element element_;
  Lines rows_;
  Lines columns_;
  std::vector<Held> held_;  // by core of the rectangle, row-major; empty: none
};

}  // namespace lacuna::wse
