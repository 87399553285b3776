// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/system/live_memory.hpp"

namespace lacuna {

namespace {

using system::ModelParts;
using system::Part;

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
      const std::uint64_t stored = stored_bytes(op, model.trace);
      PodRow row;
      row.name = op.layer.substr(op.layer.find('.') + 1);
      row.stored = stored * copies_stored(op, kind, model.trace);
      system::ChipCost& cost = row.cost;
      const std::uint64_t there = share_of_tile(stored + cache_operand(op), tiles_);
      const system::ChipCost once = cost_(op, model.trace, there);
      for (std::uint32_t i = 0; i < op.repeat; ++i) cost += once;
      made.cost += cost;
      if (cache_operand(op) != 0 || (which == Part::attention && op.op == "softmax")) {
        made.of_cache += cost.cycles;
      } else if (stored != 0 && op.op == "gemm") {
        made.of_weights += cost.cycles;
      }
      row.working = once.tile_bytes - std::min(once.tile_bytes, there);
      made.stored += row.stored;
      made.working = std::max(made.working, row.working);
      made.rows.push_back(std::move(row));
    }
    return made;
  }

  const PassRequest& request_;
  unsigned tensor_;
  unsigned tiles_;
  CostOf cost_;
};

/// Puts the quicker rows of a denser model in place of its own; true if there are any.
bool take_quicker(PodPart& part, const PodPart& denser, const std::string& density) {
  bool any = false;
  for (std::size_t i = 0; i < part.rows.size(); ++i) {
    PodRow& own = part.rows[i];
    PodRow other = denser.rows.at(i);
    if (other.cost.cycles >= own.cost.cycles) continue;
    any = true;
    other.cost.flop = own.cost.flop;  // what it does with zeros is no use
    other.as_density = density;
    part.of_weights -= own.cost.cycles - other.cost.cycles;
    part.stored += other.stored - own.stored;
    own = std::move(other);
  }
  part.cost = {};
  part.working = 0;
  for (const PodRow& row : part.rows) {
    part.cost += row.cost;
    part.working = std::max(part.working, row.working);
  }
  return any;
}

}  // namespace

std::optional<PodParts> quicker_rows(const PodParts& parts, const PodParts& denser,
                                     const std::string& density) {
  PodParts made = parts;
  bool any = false;
  for (std::size_t i = 0; i < made.kinds.size(); ++i) {
    any = take_quicker(made.kinds[i].attention, denser.kinds.at(i).attention, density) || any;
    any = take_quicker(made.kinds[i].ffn, denser.kinds.at(i).ffn, density) || any;
  }
  return any ? std::make_optional(std::move(made)) : std::nullopt;
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

void add_alike(std::vector<Alike>& rows, Alike row, Part part, const std::string& name) {
  row.names = fmt::format("{}: {}", part_name(part), name);
  const auto like = std::find_if(rows.begin(), rows.end(),
                                 [&](const Alike& each) { return each.key == row.key; });
  if (like == rows.end()) {
    rows.push_back(std::move(row));
    return;
  }
  like->executions += row.executions;
  const bool same_part = like->names.rfind(std::string(part_name(part)) + ": ", 0) == 0;
  like->names += ", " + (same_part ? name : row.names);
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
      const Alike row{times.key(chip, op, model.trace), &op, &model.trace, "", layers * op.repeat};
      add_alike(rows, row, part, op.layer.substr(op.layer.find('.') + 1));
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

PodParts simulated_parts(const std::vector<LayerKind>& kinds, const PassRequest& request,
                         unsigned tensor, const RoomForRows& room, ChipTimes& times) {
  const auto simulate = [&](const LayerOp& op, const WorkloadTrace& trace, std::uint64_t there) {
    const system::ChipCost soonest = times.cost(room.chip(RoomForRows::kAll), op, trace);
    const bool has_room = room.working == RoomForRows::kAll ||
                          soonest.tile_bytes <= std::max(there, room.working + there);
    return has_room ? soonest : times.cost(room.chip(room.working + there), op, trace);
  };
  return PartsMaker(request, tensor, room.tiles, simulate).make(kinds);
}

}  // namespace lacuna
