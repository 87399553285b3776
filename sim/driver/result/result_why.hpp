// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/driver/result/result_fields.hpp"
#include "sim/report/why.hpp"

namespace lacuna {

/// Steps of a ladder; times are `time` of a unit that is not cycles.
template <class Io, class Steps>
void step_fields(const Io& io, const char* key, const std::string& time, Steps& steps) {
  io.each(key, steps, [&](const auto& of_step, auto& step) {
    of_step("cause", step.cause);
    of_step("kind", step.kind);
    of_step("settings", step.settings);
    of_step(time, step.time);
    of_step("faster", step.faster);
    of_step("dense_" + time, step.dense_time);
    if constexpr (!Io::kReads) of_step("zeros_gain", zeros_gain(step));
    of_step("named", step.is_named);
  });
}

/// Why a run is not faster.
inline constexpr auto kWhyFields = [](const auto& io, auto& why) {
  using Io = std::decay_t<decltype(io)>;
  if constexpr (!Io::kReads) io("first", why.first());
  io.may("unit", why.unit);
  const std::string time = why.unit == "cycles" ? "cycles" : "time";
  io("sentences", why.sentences);
  step_fields(io, "work", time, why.work);
  step_fields(io, "ladder", time, why.ladder);
  io.each("alone", why.alone, [&](const auto& of_cause, auto& alone) {
    of_cause("cause", alone.cause);
    of_cause("settings", alone.settings);
    of_cause(time, alone.time);
    of_cause("faster", alone.faster);
    of_cause("not_run", alone.not_run);
  });
};

}  // namespace lacuna
