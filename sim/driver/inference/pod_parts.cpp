// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/live_memory.hpp"

namespace lacuna {

namespace {

using system::ModelParts;
using system::Part;
using system::stored_bytes;

/// Of one position on one chip: keys and values, two bytes each.
std::uint64_t position_bytes(const LayerKind& kind, unsigned tensor) {
  return std::uint64_t{2} * 2 * ceil_div(kind.shape.kv_width(), tensor);
}

/// Positions of a sequence that the cache keeps.
std::uint64_t kept_positions(const LayerKind& kind, const PassRequest& request) {
  return kind.window == 0 ? request.capacity : std::min(kind.window, request.capacity);
}

/// What a row costs that has so many bytes on a tile anyway; of sizes alone nothing.
using CostOf = std::function<system::ChipCost(const LayerOp& op, const WorkloadTrace& trace,
                                              std::uint64_t there)>;

/// The row on a chip of so many tiles.
PodRow made_row(const LayerKind& kind, const LayerOp& op, const WorkloadTrace& trace,
                unsigned tiles, const CostOf& cost_of) {
  const std::uint64_t stored = stored_bytes(op, trace);
  PodRow row;
  row.name = op.layer.substr(op.layer.find('.') + 1);
  row.stored = stored * copies_stored(op, kind, trace);
  const std::uint64_t there = share_of_tile(stored + cache_operand(op), tiles);
  const system::ChipCost once = cost_of(op, trace, there);
  row.cost.add(once, op.repeat);
  row.working = once.tile_bytes - std::min(once.tile_bytes, there);
  return row;
}

/// What follows from the rows of a part.
void add_up(PodPart& part) {
  part.cost = {};
  part.stored = part.working = 0;
  for (const PodRow& row : part.rows) {
    part.cost += row.cost;
    part.stored += row.stored;
    part.working = std::max(part.working, row.working);
  }
}

class PartsMaker {
 public:
  PartsMaker(const PassRequest& request, unsigned tensor, unsigned tiles, CostOf cost)
      : request_(request), tensor_(tensor), tiles_(tiles), cost_(std::move(cost)) {}

  PodParts make(const std::vector<LayerKind>& kinds) {
    PodParts parts;
    parts.batch = request_.batch;
    for (const LayerKind& kind : kinds) {
      const ModelParts model = pass_rows(kind, request_, tensor_);
      PodParts::Kind made;
      made.attention = part(kind, model, Part::attention);
      made.ffn = part(kind, model, Part::ffn);
      made.cache = cache_bytes(kind, request_, tensor_);
      made.fresh = position_bytes(kind, tensor_) * request_.batch *
                   std::min<std::uint64_t>(request_.tokens, kept_positions(kind, request_));
      made.earlier = request_.decode ? made.cache - made.fresh : 0;  // nothing before a prompt
      parts.kinds.push_back(std::move(made));
      if (parts.kinds.size() > 1) continue;
      parts.embedding = part(kind, model, Part::embedding);
      parts.head = part(kind, model, Part::head);
      parts.hidden_bytes = model.boundary_bytes;
    }
    return parts;
  }

 private:
  PodPart part(const LayerKind& kind, const ModelParts& model, Part which) const {
    PodPart made;
    const system::PartRows& rows = model.of(which);
    made.live = system::live_bytes(rows, model.boundary_bytes, 0).forward;
    for (const LayerOp& op : rows.forward) {
      made.rows.push_back(made_row(kind, op, model.trace, tiles_, cost_));
      if (cache_operand(op) != 0 || (which == Part::attention && op.op == "softmax")) {
        made.rows.back().of = PodRow::Of::cache;
      } else if (stored_bytes(op, model.trace) != 0 && op.op == "gemm") {
        made.rows.back().of = PodRow::Of::weights;
      }
    }
    add_up(made);
    return made;
  }

  const PassRequest& request_;
  unsigned tensor_;
  unsigned tiles_;
  CostOf cost_;
};

CostOf costs_within(const RoomForRows& room, ChipTimes& times) {
  return [&](const LayerOp& op, const WorkloadTrace& trace, std::uint64_t there) {
    const auto cost_on = [&](const Machine& chip) {
      if (room.runs) return times.cost(chip, op, trace);
      system::ChipCost planned;
      planned.tile_bytes = times.tile_bytes(chip, op, trace);
      return planned;
    };
    const system::ChipCost soonest = cost_on(room.chip(RoomForRows::kAll));
    const bool has_room = room.working == RoomForRows::kAll ||
                          soonest.tile_bytes <= std::max(there, room.working + there);
    return has_room ? soonest : cost_on(room.chip(room.working + there));
  };
}

}  // namespace

PodPart& PodParts::Kind::of(system::Part part) { return part == Part::attention ? attention : ffn; }

PodParts sooner_parts(const std::vector<LayerKind>& kinds, const PassRequest& denser,
                      unsigned tensor, const RoomForRows& room, ChipTimes& times, PodParts parts) {
  const Machine& chip = room.chip(RoomForRows::kAll);
  const std::string as_density =
      denser.weights.density ? denser.weights.density->text() : denser.weights.name;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const ModelParts model = pass_rows(kinds[kind], denser, tensor);
    for (const Part part : {Part::attention, Part::ffn}) {
      PodPart& made = parts.kinds[kind].of(part);
      for (std::size_t i = 0; i < made.rows.size(); ++i) {
        const LayerOp& op = model.of(part).forward.at(i);
        PodRow& own = made.rows[i];
        if (own.of != PodRow::Of::weights) continue;
        if (op.repeat * times.least(chip, op, model.trace) >= own.cost.cycles) continue;
        PodRow row = made_row(kinds[kind], op, model.trace, room.tiles, costs_within(room, times));
        if (row.cost.cycles >= own.cost.cycles) continue;
        row.of = own.of;
        row.cost.flop = own.cost.flop;  // what it does with zeros is no use
        row.as_density = as_density;
        own = std::move(row);
      }
      add_up(made);
    }
  }
  return parts;
}

namespace {

/// A row that is simulated once, and what it stands for.
struct Alike {
  std::string key;
  const LayerOp* op = nullptr;
  const WorkloadTrace* trace = nullptr;
  std::string names;  // "attention: k, v"
  std::uint64_t executions = 0;
};

void add_alike(std::vector<Alike>& rows, const Alike& row, std::uint64_t executions,
               const std::string& of, const std::string& name) {
  Alike& like = find_or_add(
      rows, [&](const Alike& each) { return each.key == row.key; }, row);
  like.executions += executions;
  const bool same_part = starts_with(like.names, of);
  like.names += (like.names.empty() ? "" : ", ") + (same_part ? name : of + name);
}

}  // namespace

void see_rows(const std::vector<LayerKind>& kinds, const PassRequest& request, unsigned tensor,
              const Machine& chip, ChipTimes& times, const SeenRow& add) {
  std::vector<ModelParts> models;
  models.reserve(kinds.size());
  for (const LayerKind& kind : kinds) models.push_back(pass_rows(kind, request, tensor));
  std::vector<Alike> rows;
  const auto collect = [&](std::size_t kind, Part part, std::uint64_t layers) {
    const ModelParts& model = models[kind];
    for (const LayerOp& op : model.of(part).forward) {
      const Alike row{times.key(chip, op, model.trace), &op, &model.trace, "", 0};
      add_alike(rows, row, layers * op.repeat, fmt::format("{}: ", part_name(part)),
                op.layer.substr(op.layer.find('.') + 1));
    }
  };
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kind == 0) collect(kind, Part::embedding, 1);
    collect(kind, Part::attention, kinds[kind].layers.size());
    collect(kind, Part::ffn, kinds[kind].layers.size());
  }
  collect(0, Part::head, 1);
  for (const Alike& row : rows) {
    const std::string often =
        row.executions == 1 ? "once in a pass" : fmt::format("{} times in a pass", row.executions);
    add(fmt::format("{}, on each chip that has it; {}", row.names, often),
        times.seen(chip, *row.op, *row.trace));
  }
}

std::uint64_t share_of_tile(std::uint64_t bytes, unsigned tiles) {
  constexpr std::uint64_t kWord = 8;
  return ceil_div(ceil_div(bytes, kWord), tiles) * kWord;
}

std::uint64_t cache_bytes(const LayerKind& kind, const PassRequest& request, unsigned tensor) {
  return position_bytes(kind, tensor) * kept_positions(kind, request) * request.slots;
}

PodParts parts_of(const std::vector<LayerKind>& kinds, const PassRequest& request,
                  unsigned tensor) {
  const auto nothing = [](const LayerOp&, const WorkloadTrace&, std::uint64_t) {
    return system::ChipCost();
  };
  return PartsMaker(request, tensor, 1, nothing).make(kinds);
}

PodParts parts_within(const std::vector<LayerKind>& kinds, const PassRequest& request,
                      unsigned tensor, const RoomForRows& room, ChipTimes& times) {
  return PartsMaker(request, tensor, room.tiles, costs_within(room, times)).make(kinds);
}

}  // namespace lacuna
