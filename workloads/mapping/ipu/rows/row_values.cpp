// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/row_values.hpp"

#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

/// A tile's memory; rows and elements count from those of the tile.
class TileRows final : public RowReader {
 public:
  TileRows(const RowPart& part, const TileMemory& memory) : part_(part), memory_(memory) {}

  double operand(unsigned tensor, std::uint64_t row, std::uint64_t i) const override {
    return element(part_.operands[tensor], part_.offsets[row] + i);
  }
  double vector(unsigned which, std::uint64_t i) const override {
    return element(part_.vectors[which], part_.begin + i);
  }
  double saved(std::uint64_t row, unsigned which) const override {
    return memory_.real(part_.saved + row * kRowStats + which);
  }

 private:
  double element(std::uint32_t address, std::uint64_t i) const {
    return read_element(memory_, part_.type, address * std::uint64_t{4} / bytes_of(part_.type) + i);
  }

  const RowPart& part_;
  const TileMemory& memory_;
};

}  // namespace

std::vector<RowStats> RowPart::found(const TileMemory& memory, std::uint64_t r,
                                     std::size_t last) const {
  std::vector<RowStats> result;
  for (std::size_t s = 0; s < last; ++s) {
    const RowStage& stage = function->stages[s];
    RowStats all = nothing_found(stage);
    for (std::uint64_t p = 0; p < parts; ++p) {
      for (unsigned i = 0; i < stage.stats; ++i) {
        combine(stage, all, i, memory.real(stats[s] + (p * most_rows + r) * stage.stats + i));
      }
    }
    result.push_back(all);
  }
  return result;
}

void RowPart::run_stages(TileMemory& memory, std::size_t first, std::size_t last) const {
  const TileRows reader(*this, memory);
  for (std::size_t s = first; s < last; ++s) {
    const RowStage& stage = function->stages[s];
    for (std::uint64_t r = 0; r < rows; ++r) {
      const std::vector<RowStats> before = found(memory, r, s);
      RowStats mine = nothing_found(stage);
      for (std::uint64_t i = 0; i < counts[r]; ++i) {
        const RowElement e = read_row_element(*function, reader, r, i, lengths[r]);
        for (unsigned j = 0; j < stage.stats; ++j) {
          combine(stage, mine, j, function->partial(e, static_cast<unsigned>(s), j, before.data()));
        }
        if (s + 1 == function->stages.size() && function->output()) {
          write_element(memory, type, output * std::uint64_t{4} / bytes_of(type) + offsets[r] + i,
                        static_cast<float>(function->result(e, before.data())));
        }
      }
      for (unsigned j = 0; j < stage.stats; ++j) {
        memory.set_real(stats[s] + (part * most_rows + r) * stage.stats + j,
                        static_cast<float>(mine.at(j)));
      }
    }
  }
}

void RowPart::sum_columns(TileMemory& memory) const {
  const TileRows reader(*this, memory);
  for (unsigned j = 0; j < function->sums; ++j) {
    for (std::uint64_t i = 0; rows > 0 && i < counts[0]; ++i) {
      double sum = 0;
      for (std::uint64_t r = 0; r < rows; ++r) {
        sum += function->column(read_row_element(*function, reader, r, i, lengths[r]), j);
      }
      memory.set_real(columns + j * column_stride + i, static_cast<float>(sum));
    }
  }
}

}  // namespace lacuna::ipu
