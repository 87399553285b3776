// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/pod_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
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

/// The layer as the request has it, then with ever more of its weights, at last with all.
std::vector<DenserModel> denser_models(const LayerKind& kind, PassRequest request,
                                       unsigned tensor) {
  std::vector<DenserModel> all;
  for (;;) {
    PatternSpec& weights = request.weights;
    const bool dense = weights.name == "dense";
    all.push_back({weights.density && !dense ? weights.density->text() : weights.name,
                   std::make_shared<ModelParts>(pass_rows(kind, request, tensor))});
    if (dense) return all;
    const double density = weights.density ? weights.density->value() : 1;
    if (density > 0 && 2 * density < 1) {
      weights.density->mantissa *= 2;
    } else {
      weights = PatternSpec();
    }
  }
}

/// Of a row that takes `cycles` the two models as which it is most likely sooner over, if it may
/// be. Plans leave out what the start of a phase takes, so that what they expect of two models is
/// up to three tenths of that apart in draws; more than a tenth beyond it is seldom gained.
DenserRow may_be_sooner(const std::vector<DenserModel>& models, Part part, std::size_t row,
                        Cycle cycles, const Machine& chip, ChipTimes& times) {
  DenserRow made{0, part, row, {}, 0};
  const auto expected = [&](const DenserModel& model) {
    const Cycle found =
        times.expected(chip, model.parts->of(part).forward.at(row), model.parts->trace);
    return found == kNever ? std::numeric_limits<double>::infinity() : static_cast<double>(found);
  };
  if (models[0].parts->of(part).forward[row].pattern.name == "dense") return made;
  constexpr std::size_t kMost = 2;
  const auto took = static_cast<double>(cycles);
  const double own = expected(models[0]);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 1; i < models.size(); ++i) {
    const double gain = own - expected(models[i]);
    if (gain > -0.3 * took) order.emplace_back(-gain, i);
  }
  sort_all(order);
  order.resize(std::min(order.size(), kMost));
  for (const auto& [loss, model] : order) made.models.push_back(models[model]);
  if (!order.empty()) made.gain = 0.1 * took + std::max(0.0, -order[0].first);
  return made;
}

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

std::vector<DenserRow> denser_rows(const std::vector<LayerKind>& kinds, const PassRequest& request,
                                   unsigned tensor, PodParts& parts, const Machine& chip,
                                   ChipTimes& times) {
  std::vector<DenserRow> all;
  if (request.weights.name == "dense") return all;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const std::vector<DenserModel> models = denser_models(kinds[kind], request, tensor);
    for (const Part part : {Part::attention, Part::ffn}) {
      const std::vector<PodRow>& rows = parts.kinds[kind].of(part).rows;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        DenserRow row = may_be_sooner(models, part, i, rows[i].cost.cycles, chip, times);
        if (row.models.empty()) continue;
        row.kind = kind;
        row.gain *= static_cast<double>(kinds[kind].layers.size());
        all.push_back(std::move(row));
      }
    }
  }
  sort_all(all, [](const DenserRow& a, const DenserRow& b) { return a.gain > b.gain; });
  return all;
}

void take_denser(const DenserRow& denser, const LayerKind& kind, const RoomForRows& room,
                 ChipTimes& times, DensityOfShape& known, PodParts& parts) {
  PodPart& part = parts.kinds.at(denser.kind).of(denser.part);
  PodRow& own = part.rows.at(denser.row);
  const auto row_of = [&](const DenserModel& model) -> const LayerOp& {
    return model.parts->of(denser.part).forward.at(denser.row);
  };
  const LayerOp& op = row_of(denser.models[0]);
  const auto [as, is_first] = known.try_emplace(fmt::format("{}x{}x{}", op.m, op.k, op.n));
  PodRow best = own;
  for (const DenserModel& model : denser.models) {
    if (!is_first && model.density != as->second) continue;
    PodRow row =
        made_row(kind, row_of(model), model.parts->trace, room.tiles, costs_within(room, times));
    if (row.cost.cycles >= best.cost.cycles) continue;
    best = std::move(row);
    best.as_density = model.density;
  }
  if (is_first) as->second = best.as_density;
  best.of = own.of;
  best.cost.flop = own.cost.flop;  // what it does with zeros is no use
  own = std::move(best);
  add_up(part);
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
