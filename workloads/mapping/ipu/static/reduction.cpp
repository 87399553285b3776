// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/static/reduction.hpp"

#include <algorithm>
#include <utility>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {

StaticReduction::StaticReduction(const Target& target, const Types& types, const StaticPlan& plan,
                                 const std::map<unsigned, StaticRuns>& runs,
                                 std::uint32_t grid_rows, const LinearMap& home)
    : target_(target),
      types_(types),
      of_(plan),
      home_(home),
      plan_(target, types, plan, runs, grid_rows, home),
      buffers_(target.tiles) {
  for (TileId id = 0; id < target.tiles; ++id) take_room(id);
}

/// Whether what the vertex sums at home is side by side in the result.
bool StaticReduction::is_contiguous(const TileSums& tile, const SumVertex& vertex) const {
  const SumClass& sums = class_of(vertex);
  const SumSegment* const segment = tile.segments.data() + vertex.first;
  const auto output = [&](std::uint32_t s) {
    return plan_.first_output(sums.rows[segment[s].row]) + segment[s].begin;
  };
  for (std::uint32_t s = 1; s < vertex.segments; ++s) {
    if (output(s - 1) + segment[s - 1].elements != output(s)) return false;
  }
  return true;
}

void StaticReduction::take_room(TileId id) {
  const TileSums& tile = plan_.tiles()[id];
  std::uint64_t received = 0;
  std::uint64_t summed = 0;
  for (const SumVertex& vertex : tile.vertices) {
    Buffers at{received, summed, class_of(vertex).at_home && is_contiguous(tile, vertex)};
    received += vertex.elements * class_of(vertex).depth;
    if (!at.in_place) summed += vertex.elements;
    buffers_[id].push_back(at);
  }
  received_ = std::max(received_, received);
  summed_ = std::max(summed_, summed);
}

/// The elements from `begin` on of one contribution to a row.
Place StaticReduction::partial(const RowSum& row, const RunUse& use, std::uint64_t begin) const {
  const ColumnPart& part = of_.parts[row.part];
  return {part.first_tile + use.run, places_.partials + words(use.slot * row.elements + begin)};
}

/// Sends, or notes a copy of what is on the right tile already.
void StaticReduction::move(Place from, Place to, std::uint64_t elements, TransferList& list) {
  if (from.tile != to.tile) {
    list.add(from, words(elements), {to});
  } else {
    copies_[to.tile].push_back({from.address, to.address, words(elements)});
  }
}

/// Sums of one partial are that partial.
void StaticReduction::send_single(TransferList& list) {
  if (plan_.classes().empty() || plan_.classes().front().depth != 1) return;
  for (const RowSum& row : plan_.classes().front().rows) {
    const std::uint64_t first = plan_.first_output(row);
    home_.for_each(
        first, first + row.elements, [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
          move(partial(row, *plan_.uses(row), begin - first),
               {tile, places_.output + words(begin - home_.begin(tile))}, end - begin, list);
        });
  }
}

void StaticReduction::send_partials(TileId id, const SumVertex& vertex, const Buffers& at,
                                    TransferList& list) {
  const SumClass& sums = class_of(vertex);
  const SumSegment* const segment = plan_.tiles()[id].segments.data() + vertex.first;
  std::uint64_t before = 0;  // in a row of the stack
  for (std::uint32_t s = 0; s < vertex.segments; ++s) {
    const RowSum& row = sums.rows[segment[s].row];
    const RunUse* const use = plan_.uses(row);
    for (std::uint32_t d = 0; d < sums.depth; ++d) {
      const std::uint64_t to = at.stack + d * vertex.elements + before;
      move(partial(row, use[d], segment[s].begin), {id, places_.received + words(to)},
           segment[s].elements, list);
    }
    before += segment[s].elements;
  }
}

void StaticReduction::send_sums(TileId id, const SumVertex& vertex, const Buffers& at,
                                TransferList& list) {
  if (at.in_place) return;
  const SumClass& sums = class_of(vertex);
  const SumSegment* const segment = plan_.tiles()[id].segments.data() + vertex.first;
  std::uint64_t from = at.sums;
  for (std::uint32_t s = 0; s < vertex.segments; ++s) {
    const std::uint64_t first = plan_.first_output(sums.rows[segment[s].row]) + segment[s].begin;
    home_.for_each(first, first + segment[s].elements,
                   [&](unsigned tile, std::uint64_t begin, std::uint64_t end) {
                     move({id, places_.sums + words(from)},
                          {tile, places_.output + words(begin - home_.begin(tile))}, end - begin,
                          list);
                     from += end - begin;
                   });
  }
}

Reduction StaticReduction::reduction_of(TileId id, const SumVertex& vertex,
                                        const Buffers& at) const {
  const std::uint64_t per_word = 4 / types_.bytes();
  const SumClass& sums = class_of(vertex);
  Reduction result{types_.partials, types_.data, vertex.elements, 0, {}};
  if (at.in_place) {
    const SumSegment& segment = plan_.tiles()[id].segments[vertex.first];
    const std::uint64_t first = plan_.first_output(sums.rows[segment.row]) + segment.begin;
    result.output = places_.output * per_word + first - home_.begin(id);
  } else {
    result.output = places_.sums * per_word + at.sums;
  }
  for (std::uint32_t d = 0; d < sums.depth; ++d) {
    result.sources.push_back(places_.received * per_word + at.stack + d * vertex.elements);
  }
  return result;
}

void StaticReduction::add_sums(TileId id, ProgramBuilder& builder, ReduceCodelets& codelets) {
  const TileSums& tile = plan_.tiles()[id];
  if (tile.vertices.empty()) return;
  std::vector<std::vector<ReducePiece>> of_workers(target_.workers);
  std::vector<Reduction> sums;
  for (std::size_t v = 0; v < tile.vertices.size(); ++v) {
    const SumVertex& vertex = tile.vertices[v];
    of_workers[vertex.worker].push_back({vertex.elements, class_of(vertex).depth});
    if (values_) sums.push_back(reduction_of(id, vertex, buffers_[id][v]));
  }
  std::uint32_t function = kNone;
  if (values_) {
    function = builder.function([list = std::move(sums)](TileMemory& memory) {
      for (const Reduction& one : list) one(memory);
    });
  }
  builder.work(id, codelets.strided_vertex(of_workers), function);
}

/// Puts the copies noted so far into a compute set; without copy_sums they take one clock.
std::uint32_t StaticReduction::flush_copies(ProgramBuilder& builder, ReduceCodelets& codelets,
                                            const char* name) {
  for (TileId id = 0; id < copies_.size(); ++id) {
    if (copies_[id].empty()) continue;
    std::uint64_t bytes = 0;
    for (const LocalCopy& one : copies_[id]) bytes += one.words * std::uint64_t{4};
    std::uint32_t function = kNone;
    if (values_) {
      function = builder.function([list = copies_[id]](TileMemory& memory) {
        for (const LocalCopy& one : list) one(memory);
      });
    }
    builder.work(id, target_.copy_sums ? codelets.copy_vertex(bytes) : codelets.empty_vertex(),
                 function);
    copies_[id].clear();
  }
  return builder.compute_set(name);
}

void StaticReduction::lower(ProgramBuilder& builder, ReduceCodelets& codelets, const Places& places,
                            std::uint32_t multiply, bool values) {
  places_ = places;
  values_ = values;
  copies_.assign(target_.tiles, {});
  const auto for_each_vertex = [&](const auto& visit) {
    for (TileId id = 0; id < target_.tiles; ++id) {
      const std::vector<SumVertex>& vertices = plan_.tiles()[id].vertices;
      for (std::size_t v = 0; v < vertices.size(); ++v) visit(id, vertices[v], buffers_[id][v]);
    }
  };
  TransferList partials;
  send_single(partials);
  std::uint32_t before = multiply;
  if (target_.single_step) {
    builder.superstep(before, builder.exchange("single partials", std::move(partials)));
    partials = {};
    before = flush_copies(builder, codelets, "copy of single partials");
  }
  std::size_t messages = 0;
  for_each_vertex([&](TileId, const SumVertex& vertex, const Buffers&) {
    messages += std::size_t{vertex.segments} * class_of(vertex).depth;
  });
  partials.transfers.reserve(partials.transfers.size() + messages);
  partials.destinations.reserve(partials.destinations.size() + messages);
  for_each_vertex([&](TileId id, const SumVertex& vertex, const Buffers& at) {
    send_partials(id, vertex, at, partials);
  });
  builder.superstep(before, builder.exchange("partials", std::move(partials)));
  builder.superstep(flush_copies(builder, codelets, "copy of local partials"), kNone);
  for (TileId id = 0; id < target_.tiles; ++id) add_sums(id, builder, codelets);
  const std::uint32_t reduce = builder.compute_set("reduce");
  TransferList sums;
  for_each_vertex([&](TileId id, const SumVertex& vertex, const Buffers& at) {
    send_sums(id, vertex, at, sums);
  });
  builder.superstep(reduce, builder.exchange("sums", std::move(sums)));
  builder.superstep(flush_copies(builder, codelets, "copy of local sums"), kNone);
}

}  // namespace lacuna::ipu
