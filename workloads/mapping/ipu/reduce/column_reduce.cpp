// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reduce/column_reduce.hpp"

#include <algorithm>
#include <utility>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {
namespace {

std::uint32_t address(std::uint64_t words) { return static_cast<std::uint32_t>(words); }

/// Has `tile` sum `count` FP32 words from each of `sources` to `output`, in elements of `type`.
void sum(ProgramBuilder& builder, ReduceCodelets& reduce, TileId tile, std::uint64_t count,
         std::uint64_t output, DType type, std::vector<std::uint64_t> sources, bool values) {
  if (count == 0) return;
  const auto depth = static_cast<std::uint32_t>(sources.size());
  const std::uint32_t vertex =
      depth > 1 ? reduce.add_vertex({count, depth}) : reduce.cast_vertex(count);
  const std::uint32_t function =
      values ? builder.function(Reduction{DType::fp32, type, count, output, std::move(sources)})
             : kNone;
  builder.work(tile, vertex, function);
}

}  // namespace

ColumnReduce::ColumnReduce(std::vector<TileId> tiles, std::uint64_t size, std::uint32_t partials,
                           std::uint32_t scratch)
    : tiles_(std::move(tiles)), size_(size), partials_(partials), scratch_(scratch) {
  std::uint64_t root = 1;
  while (root * root < tiles_.size()) ++root;
  clusters_ = tiles_.size() / root;
  slice_words_ = round_up(ceil_div(size_, slices()), 2);
  part_words_ = round_up(ceil_div(slice_words_, clusters_), 2);
  sums_ = address(scratch_ + members(0) * slice_words_);
  parts_ = address(sums_ + slice_words_);
  output_ = address(parts_ + clusters_ * part_words_);
}

TileId ColumnReduce::tile(std::uint64_t cluster, std::uint64_t member) const {
  return tiles_[cluster * slices() + std::min(cluster, tiles_.size() % clusters_) + member];
}

std::uint64_t ColumnReduce::slice_begin(std::uint64_t slice) const {
  return std::min(size_, slice * slice_words_);
}

std::uint64_t ColumnReduce::part_begin(std::uint64_t slice, std::uint64_t part) const {
  return std::min(slice_begin(slice + 1), slice_begin(slice) + part * part_words_);
}

std::uint32_t ColumnReduce::received_slice(std::uint64_t source) const {
  return address(scratch_ + source * slice_words_);
}

std::uint32_t ColumnReduce::received_part(std::uint64_t from) const {
  return address(parts_ + from * part_words_);
}

void ColumnReduce::gather_slices(TransferList& list) const {
  for (std::uint64_t cluster = 0; cluster < clusters_; ++cluster) {
    for (std::uint64_t slice = 0; slice < slices(); ++slice) {
      const auto count = address(slice_begin(slice + 1) - slice_begin(slice));
      for (std::uint64_t member = 0; member < members(cluster) && count != 0; ++member) {
        if (member == slice) continue;
        list.add({tile(cluster, member), address(partials_ + slice_begin(slice))}, count,
                 {Place{tile(cluster, slice), received_slice(member)}});
      }
    }
  }
}

void ColumnReduce::sum_slices(ProgramBuilder& builder, ReduceCodelets& reduce, bool values) const {
  for (std::uint64_t cluster = 0; cluster < clusters_; ++cluster) {
    for (std::uint64_t slice = 0; slice < slices(); ++slice) {
      std::vector<std::uint64_t> sources;
      for (std::uint64_t member = 0; member < members(cluster); ++member) {
        sources.push_back(member == slice ? partials_ + slice_begin(slice)
                                          : received_slice(member));
      }
      sum(builder, reduce, tile(cluster, slice), slice_begin(slice + 1) - slice_begin(slice), sums_,
          DType::fp32, std::move(sources), values);
    }
  }
}

void ColumnReduce::gather_parts(TransferList& list) const {
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters_; ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      const auto count = address(part_begin(slice, part + 1) - begin);
      for (std::uint64_t cluster = 0; cluster < clusters_ && count != 0; ++cluster) {
        if (cluster == part) continue;
        list.add({tile(cluster, slice), address(sums_ + begin - slice_begin(slice))}, count,
                 {Place{tile(part, slice), received_part(cluster)}});
      }
    }
  }
}

void ColumnReduce::sum_parts(ProgramBuilder& builder, ReduceCodelets& reduce, DType type,
                             bool values) const {
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters_; ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      std::vector<std::uint64_t> sources;
      for (std::uint64_t cluster = 0; cluster < clusters_; ++cluster) {
        sources.push_back(cluster == part ? sums_ + begin - slice_begin(slice)
                                          : received_part(cluster));
      }
      sum(builder, reduce, tile(part, slice), part_begin(slice, part + 1) - begin,
          output_ * std::uint64_t{4} / bytes_of(type), type, std::move(sources), values);
    }
  }
}

std::vector<ColumnReduce::Piece> ColumnReduce::pieces() const {
  std::vector<Piece> result;
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters_; ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      const std::uint64_t end = part_begin(slice, part + 1);
      if (begin == end) continue;
      result.push_back({tile(part, slice), begin, end, output_});
    }
  }
  return result;
}

}  // namespace lacuna::ipu
