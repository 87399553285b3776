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
  while (cluster_ * cluster_ < tiles_.size()) ++cluster_;
  slots_ = ceil_div(cluster_, members(clusters() - 1));
  slice_words_ = round_up(ceil_div(size_, slices()), 2);
  part_words_ = round_up(ceil_div(slice_words_, clusters()), 2);
  sums_ = address(scratch_ + slots_ * cluster_ * slice_words_);
  parts_ = address(sums_ + slots_ * slice_words_);
  output_ = address(parts_ + slots_ * clusters() * part_words_);
  output_words_ = address(slots_ * part_words_);
}

std::uint64_t ColumnReduce::clusters() const { return ceil_div(tiles_.size(), cluster_); }

std::uint64_t ColumnReduce::members(std::uint64_t cluster) const {
  return std::min<std::uint64_t>(cluster_, tiles_.size() - cluster * cluster_);
}

TileId ColumnReduce::owner(std::uint64_t cluster, std::uint64_t slice) const {
  return tiles_[cluster * cluster_ + slice % members(cluster)];
}

std::uint64_t ColumnReduce::slice_begin(std::uint64_t slice) const {
  return std::min(size_, slice * slice_words_);
}

std::uint64_t ColumnReduce::part_begin(std::uint64_t slice, std::uint64_t part) const {
  return std::min(slice_begin(slice + 1), slice_begin(slice) + part * part_words_);
}

std::uint32_t ColumnReduce::received_slice(std::uint64_t cluster, std::uint64_t slice,
                                           std::uint64_t source) const {
  return address(scratch_ + (slot(cluster, slice) * cluster_ + source) * slice_words_);
}

std::uint32_t ColumnReduce::sum_of_slice(std::uint64_t cluster, std::uint64_t slice) const {
  return address(sums_ + slot(cluster, slice) * slice_words_);
}

std::uint32_t ColumnReduce::received_part(std::uint64_t to, std::uint64_t slice,
                                          std::uint64_t from) const {
  return address(parts_ + (slot(to, slice) * clusters() + from) * part_words_);
}

std::uint32_t ColumnReduce::output_of(std::uint64_t cluster, std::uint64_t slice) const {
  return address(output_ + slot(cluster, slice) * part_words_);
}

void ColumnReduce::gather_slices(TransferList& list) const {
  for (std::uint64_t cluster = 0; cluster < clusters(); ++cluster) {
    for (std::uint64_t slice = 0; slice < slices(); ++slice) {
      const auto count = address(slice_begin(slice + 1) - slice_begin(slice));
      const TileId to = owner(cluster, slice);
      for (std::uint64_t member = 0; member < members(cluster) && count != 0; ++member) {
        const TileId from = tiles_[cluster * cluster_ + member];
        if (from == to) continue;
        list.add({from, address(partials_ + slice_begin(slice))}, count,
                 {Place{to, received_slice(cluster, slice, member)}});
      }
    }
  }
}

void ColumnReduce::sum_slices(ProgramBuilder& builder, ReduceCodelets& reduce, bool values) const {
  for (std::uint64_t cluster = 0; cluster < clusters(); ++cluster) {
    for (std::uint64_t slice = 0; slice < slices(); ++slice) {
      const TileId tile = owner(cluster, slice);
      std::vector<std::uint64_t> sources;
      for (std::uint64_t member = 0; member < members(cluster); ++member) {
        const bool own = tiles_[cluster * cluster_ + member] == tile;
        sources.push_back(own ? partials_ + slice_begin(slice)
                              : received_slice(cluster, slice, member));
      }
      sum(builder, reduce, tile, slice_begin(slice + 1) - slice_begin(slice),
          sum_of_slice(cluster, slice), DType::fp32, std::move(sources), values);
    }
  }
}

void ColumnReduce::gather_parts(TransferList& list) const {
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters(); ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      const auto count = address(part_begin(slice, part + 1) - begin);
      const TileId to = owner(part, slice);
      for (std::uint64_t cluster = 0; cluster < clusters() && count != 0; ++cluster) {
        if (cluster == part) continue;
        const auto from = address(sum_of_slice(cluster, slice) + begin - slice_begin(slice));
        list.add({owner(cluster, slice), from}, count,
                 {Place{to, received_part(part, slice, cluster)}});
      }
    }
  }
}

void ColumnReduce::sum_parts(ProgramBuilder& builder, ReduceCodelets& reduce, DType type,
                             bool values) const {
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters(); ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      std::vector<std::uint64_t> sources;
      for (std::uint64_t cluster = 0; cluster < clusters(); ++cluster) {
        sources.push_back(cluster == part ? sum_of_slice(part, slice) + begin - slice_begin(slice)
                                          : received_part(part, slice, cluster));
      }
      sum(builder, reduce, owner(part, slice), part_begin(slice, part + 1) - begin,
          output_of(part, slice) * std::uint64_t{4} / bytes_of(type), type, std::move(sources),
          values);
    }
  }
}

std::vector<ColumnReduce::Piece> ColumnReduce::pieces() const {
  std::vector<Piece> result;
  for (std::uint64_t slice = 0; slice < slices(); ++slice) {
    for (std::uint64_t part = 0; part < clusters(); ++part) {
      const std::uint64_t begin = part_begin(slice, part);
      const std::uint64_t end = part_begin(slice, part + 1);
      if (begin == end) continue;
      result.push_back({owner(part, slice), begin, end, output_of(part, slice)});
    }
  }
  return result;
}

}  // namespace lacuna::ipu
