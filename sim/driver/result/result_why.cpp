// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_why.hpp"

#include <vector>

#include "sim/driver/result/result_cells.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

Json steps_json(const std::vector<WhyStep>& steps) {
  Json json = Json::array();
  for (const WhyStep& step : steps) {
    json.push_back({{"cause", step.cause},
                    {"kind", step.kind},
                    {"settings", step.settings},
                    {"cycles", step.cycles},
                    {"faster", step.faster},
                    {"dense_cycles", or_null(step.dense_cycles)},
                    {"zeros_gain", or_null(zeros_gain(step))},
                    {"named", step.is_named}});
  }
  return json;
}

std::vector<WhyStep> parse_steps(const Json& json) {
  std::vector<WhyStep> steps;
  for (const Json& each : json) {
    WhyStep step;
    take(each, "cause", step.cause);
    take(each, "kind", step.kind);
    take(each, "settings", step.settings);
    take(each, "cycles", step.cycles);
    take(each, "faster", step.faster);
    take(each, "dense_cycles", step.dense_cycles);
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
                     {"cycles", each.cycles},
                     {"faster", each.faster},
                     {"not_run", each.not_run}});
  }
  return {{"first", why.first()},
          {"sentences", why.sentences},
          {"work", steps_json(why.work)},
          {"ladder", steps_json(why.ladder)},
          {"alone", std::move(alone)}};
}

Why parse_why(const Json& json) {
  Why why;
  take(json, "sentences", why.sentences);
  why.work = parse_steps(json.at("work"));
  why.ladder = parse_steps(json.at("ladder"));
  for (const Json& each : json.at("alone")) {
    WhyAlone alone;
    take(each, "cause", alone.cause);
    take(each, "settings", alone.settings);
    take(each, "cycles", alone.cycles);
    take(each, "faster", alone.faster);
    take(each, "not_run", alone.not_run);
    why.alone.push_back(std::move(alone));
  }
  return why;
}

}  // namespace lacuna
