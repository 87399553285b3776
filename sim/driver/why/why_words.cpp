// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/why/why_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace lacuna {
namespace {

/// What zeros buy, of a run with a dense one.
std::string zeros_sentence(const WhyStep& as_is, std::optional<double> density) {
  const std::optional<double> gain = zeros_gain(as_is);
  if (!gain) return "";
  if (*gain > 0.99 && *gain < 1.01) return "Zeros gain nothing: the dense run takes as long.";
  if (*gain < 1) {
    return fmt::format("Zeros lose: the dense run takes {:.2f} of the time.", *gain);
  }
  if (!(density.value_or(0) > 0)) {
    return fmt::format("Zeros make it {:.2f} times as fast as the dense run.", *gain);
  }
  return fmt::format("{:.3g} times fewer weights make it {:.2f} times as fast as the dense run.",
                     1 / *density, *gain);
}

/// "; zeros then gain 1.90" if that is more than before, or that it is less.
std::string zeros_then(const WhyStep& step, const WhyStep& before) {
  const std::optional<double> now = zeros_gain(step);
  const std::optional<double> then = zeros_gain(before);
  if (!now && then.value_or(0) > kMostDense) {
    return fmt::format("; what zeros then gain was not run: dense takes {:.3g} times as long",
                       *then);
  }
  if (!now || !then) return "";
  if (*now > 1.02 * *then) return fmt::format("; zeros then gain {:.2f}", *now);
  if (*now < *then / 1.02) return fmt::format(", but zeros then gain only {:.2f}", *now);
  return ", with zeros and without";
}

/// Other causes that gain as much by themselves as the first step.
std::string ties(const Why& why, const WhyStep& step, double from) {
  std::string text;
  for (const WhyAlone& each : why.alone) {
    if (each.cause == step.cause || !each.not_run.empty()) continue;
    if (each.time > kTie * step.time || from < kNamedGain * each.time) continue;
    text += fmt::format(" or {}", each.cause);
  }
  return text;
}

class Sentences {
 public:
  Sentences(const Why& why, std::optional<double> density) : why_(why), density_(density) {}

  std::vector<std::string> say() {
    add(zeros_sentence(why_.ladder.front(), density_));
    for (const WhyStep& step : why_.work) {
      if (!step.is_named) continue;
      add(
          fmt::format("{:.0f} % of the time is operations without zeros: the others alone are "
                      "{:.2f} times as fast.",
                      100 * (1 - 1 / step.faster), step.faster));
    }
    std::size_t at = 1;
    if (at < why_.ladder.size() && why_.ladder[at].kind == "layout") say_layout(at++);
    say_costs(at);
    say_rest();
    return std::move(said_);
  }

 private:
  void add(std::string sentence) {
    if (!sentence.empty()) said_.push_back(std::move(sentence));
  }

  void say_layout(std::size_t at) {
    const WhyStep& step = why_.ladder[at];
    const WhyStep& before = why_.ladder[at - 1];
    add(fmt::format("The layout costs most: {} makes it {:.2f} times faster{}.",
                    replay_words(added_settings(step.settings, before.settings)), step.faster,
                    zeros_then(step, before)));
    after_ = "There ";
  }

  void say_costs(std::size_t at) {
    if (at + 1 >= why_.ladder.size()) return;
    const WhyStep& before = why_.ladder[at - 1];
    const WhyStep& first = why_.ladder[at];
    if (!first.is_named) {
      std::string order = time_text(before.time);
      for (std::size_t i = at; i + 1 < why_.ladder.size(); ++i) {
        order +=
            fmt::format(", {} without {}", time_text(why_.ladder[i].time), why_.ladder[i].cause);
      }
      return add(fmt::format("{}no single cost gains 3 %, as they hide behind each other: {}.",
                             after_, order));
    }
    add(fmt::format("The largest cost{}: without {}{} it is {:.2f} times faster{}.",
                    after_.empty() ? "" : " there", first.cause, ties(why_, first, before.time),
                    first.faster, zeros_then(first, before)));
    for (std::size_t i = at + 1; i + 1 < why_.ladder.size(); ++i) {
      const WhyStep& step = why_.ladder[i];
      if (!step.is_named) continue;
      add(fmt::format("Without {} too it is {:.2f} times faster again{}.", step.cause, step.faster,
                      zeros_gain(step) ? zeros_then(step, why_.ladder[i - 1]) : ""));
      break;
    }
  }

  void say_rest() {
    if (why_.ladder.size() < 2 || why_.ladder.back().cause != kAllAway) return;
    double from = why_.ladder.front().time;
    for (const WhyStep& step : why_.ladder) {
      if (step.kind == "layout") from = step.time;
    }
    const double off = why_.ladder.back().time;
    if (from < 1.05 * off) {
      return add(fmt::format(
          "{}no cost that can be switched off gains 5 %: the rest is distance and order.", after_));
    }
    add(fmt::format("Without all costs that can be switched off {} of {} remain.", time_text(off),
                    time_text(from, why_.unit)));
  }

  const Why& why_;
  std::optional<double> density_;
  std::string after_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> why_sentences(const Why& why, std::optional<double> density) {
  std::vector<std::string> said = Sentences(why, density).say();
  for (std::string& each : said) {
    if (!each.empty() && each[0] >= 'a' && each[0] <= 'z') {
      each[0] = static_cast<char>(each[0] - 'a' + 'A');
    }
  }
  return said;
}

}  // namespace lacuna
