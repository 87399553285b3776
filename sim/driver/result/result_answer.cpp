// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_answer.hpp"

#include "sim/driver/result/result_fields.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

Json range_json(const std::optional<EnergyRange>& range) {
  if (!range) return nullptr;
  return {{"low", range->low}, {"nominal", range->nominal}, {"high", range->high}};
}

Json part_json(const StackShare* part) {
  if (part == nullptr) return nullptr;
  return {{"layer", layer_name(part->layer)}, {"kind", part->kind}, {"share", part->share}};
}

Json point_json(const AnswerPoint& point) {
  Json runs = Json::array();
  Json seeds = Json::array();
  for (const RunRecord* const run : point.runs) {
    runs.push_back(run->run);
    seeds.push_back(run->seed);
  }
  Json json = {{"name", point.name},
               {"machine", point.run().machine},
               {"pattern", or_null(point.pattern)},
               {"runs", runs},
               {"seeds", seeds}};
  for (const QuantityWords& words : quantity_words()) {
    const std::optional<Mean>& mean = point.mean(words.quantity);
    json[words.column] =
        mean ? Json{{"mean", mean->mean}, {"half95", or_null(mean->half)}} : Json(nullptr);
  }
  json["energy_j_range"] = range_json(point.energy);
  json["pj_per_useful_flop_range"] = range_json(point.energy_per_flop);
  json["energy_vs_dense_range"] = range_json(point.energy_vs_dense);
  json["silicon_mm2"] = range_json(point.silicon_mm2);
  Json waits = Json::object();
  for (const Layer layer : kLayers) waits[layer_name(layer)] = point.waits.share(layer);
  json["where_cores_waited"] = point.waits.parts.empty() ? Json(nullptr) : waits;
  json["largest_part"] = part_json(point.waits.largest());
  json["largest_wait"] = part_json(point.waits.largest_wait());
  return json;
}

}  // namespace

Json answer_json(const Answer& answer) {
  Json json = {{"sentences", sentences(answer)}, {"points", Json::array()}};
  for (const AnswerPoint& point : answer.points) json["points"].push_back(point_json(point));
  for (const AnswerCause& each : answer.causes) {
    json["causes"].push_back({{"point", each.point},
                              {"run", each.run->run},
                              {"first", each.why().first()},
                              {"sentences", each.why().sentences}});
  }
  json["fastest"] = or_null(answer.fastest);
  json["not_told_apart"] = answer.not_told_apart;
  json["fastest_for_area"] = or_null(answer.fastest_for_area);
  json["most_from_zeros"] = or_null(answer.most_from_zeros);
  json["energy_ranks"] = Json::array();
  for (const EnergyRank& rank : answer.energy_ranks) {
    json["energy_ranks"].push_back(
        {{"pattern", or_null(rank.pattern)}, {"points", rank.points}, {"apart", rank.apart}});
  }
  json["notes"] = Json::array();
  for (const NoteCount& note : answer.notes) {
    json["notes"].push_back({{"kind", note.kind},
                             {"operations", note.operations},
                             {"runs", note.runs},
                             {"first", note.first}});
  }
  return json;
}

}  // namespace lacuna
