// SPDX-License-Identifier: Apache-2.0
#include "sim/report/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "sim/base/contains.hpp"
#include "sim/base/split.hpp"
#include "sim/report/layout_note.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {
namespace {

std::string two_places(const std::optional<double>& number) {
  return number ? fmt::format("{:.2f}", *number) : "";
}

}  // namespace

std::string Why::first() const {
  std::string cause;
  double most = kNamedGain;
  const auto take = [&](const WhyStep& step) {
    if (step.faster < most) return;
    most = step.faster;
    cause = step.cause;
  };
  for (const WhyStep& step : work) take(step);
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    if (i + 1 == ladder.size() && ladder.size() > 2) break;  // all away
    take(ladder[i]);
    if (ladder[i].kind == "layout" || !cause.empty()) break;
  }
  return cause;
}

std::optional<double> zeros_gain(const WhyStep& step) {
  if (!step.dense_time || !(step.time > 0)) return std::nullopt;
  return *step.dense_time / step.time;
}

std::vector<std::string> laid_out_by(const OpResult& result) {
  std::vector<std::string> settings;
  for (const char* const note : {kLayoutNote, kPlannedLayoutNote}) {
    for (const std::string& each : split(note_of(result, note), ' ')) {
      if (each.find('=') != std::string::npos) settings.push_back(each);
    }
  }
  return settings;
}

std::vector<std::string> added_settings(const std::vector<std::string>& settings,
                                        const std::vector<std::string>& before) {
  std::vector<std::string> more;
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(more),
               [&](const auto& each) { return !contains(before, each); });
  return more;
}

std::string replay_words(const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& each : settings) {
    const std::size_t equals = each.find('=');
    const bool option = each.find('.') > equals;  // such as residency=streamed
    text += option ? fmt::format(" --{} {}", each.substr(0, equals), each.substr(equals + 1))
                   : " --set " + each;
  }
  return text.empty() ? text : text.substr(1);
}

std::vector<LadderLine> ladder_lines(const Why& why) {
  std::vector<LadderLine> lines;
  std::vector<std::string> before;
  for (const WhyStep& step : why.ladder) {
    const bool first = step.cause.empty();
    lines.push_back({first ? "nothing" : step.cause, step.time,
                     first ? "" : two_places(step.faster), two_places(zeros_gain(step)),
                     replay_words(added_settings(step.settings, before))});
    before = step.settings;
  }
  return lines;
}

std::string time_text(double time) {
  if (time < 10000 && time != std::floor(time)) return four_digits(time);
  std::string text = fmt::format("{:.0f}", time);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string time_text(double time, const std::string& unit) { return time_text(time) + " " + unit; }

std::string why_text(const Why& why) {
  std::string text;
  for (const std::string& sentence : why.sentences) text += sentence + "\n";
  using Align = TextTable::Align;
  TextTable table({"taken away|in this order<"});
  table.column("time", why.unit);
  table.column("faster", "x");
  table.column("zeros gain", "x");
  table.column("replayed by", "with those above", Align::left);
  for (const LadderLine& each : ladder_lines(why)) {
    table.row({each.taken, time_text(each.time), each.faster, each.gain, each.by});
  }
  text += "\n" + table.text();
  if (why.alone.empty()) return text;
  TextTable alone({"taken away|alone<"});
  alone.column("time", why.unit);
  alone.column("faster", "x");
  alone.column("not run", "", Align::left);
  for (const WhyAlone& each : why.alone) {
    const bool known = each.time > 0;
    alone.row({each.cause, known ? time_text(each.time) : "", known ? two_places(each.faster) : "",
               each.not_run});
  }
  return text + "\n" + alone.text();
}

}  // namespace lacuna
