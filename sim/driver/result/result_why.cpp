// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_why.hpp"

#include <vector>

#include "sim/driver/result/result_cells.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

/// What a time is called: "cycles", or "time" of another unit.
std::string name_of_time(const Why& why) { return why.unit == "cycles" ? "cycles" : "time"; }

Json steps_json(const Why& why, const std::vector<WhyStep>& steps) {
  Json json = Json::array();
  for (const WhyStep& step : steps) {
    json.push_back({{"cause", step.cause},
                    {"kind", step.kind},
                    {"settings", step.settings},
                    {name_of_time(why), step.time},
                    {"faster", step.faster},
                    {"dense_" + name_of_time(why), or_null(step.dense_time)},
                    {"zeros_gain", or_null(zeros_gain(step))},
                    {"named", step.is_named}});
  }
  return json;
}

std::vector<WhyStep> parse_steps(const Why& why, const Json& json) {
  std::vector<WhyStep> steps;
  for (const Json& each : json) {
    WhyStep step;
    take(each, "cause", step.cause);
    take(each, "kind", step.kind);
    take(each, "settings", step.settings);
    take(each, name_of_time(why).c_str(), step.time);
    take(each, "faster", step.faster);
    take(each, ("dense_" + name_of_time(why)).c_str(), step.dense_time);
    take(each, "named", step.is_named);
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Json why_json(const Why& why) {
  Json alone = Json::array();
  for (const WhyAlone& each : why.alone) {
    alone.push_back({{"cause", each.cause},
                     {"settings", each.settings},
                     {name_of_time(why), each.time},
                     {"faster", each.faster},
                     {"not_run", each.not_run}});
  }
  return {{"first", why.first()},
          {"unit", why.unit},
          {"sentences", why.sentences},
          {"work", steps_json(why, why.work)},
          {"ladder", steps_json(why, why.ladder)},
          {"alone", std::move(alone)}};
}

Why parse_why(const Json& json) {
  Why why;
  if (json.contains("unit")) take(json, "unit", why.unit);
  take(json, "sentences", why.sentences);
  why.work = parse_steps(why, json.at("work"));
  why.ladder = parse_steps(why, json.at("ladder"));
  for (const Json& each : json.at("alone")) {
    WhyAlone alone;
    take(each, "cause", alone.cause);
    take(each, "settings", alone.settings);
    take(each, name_of_time(why).c_str(), alone.time);
    take(each, "faster", alone.faster);
    take(each, "not_run", alone.not_run);
    why.alone.push_back(std::move(alone));
  }
  return why;
}

}  // namespace lacuna
