// SPDX-License-Identifier: Apache-2.0
// What an answer says, in words.
#include <fmt/format.h>

#include "sim/base/ranges.hpp"
#include "sim/report/answer/answer.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// "6.531 us"; of several seeds with the interval of the mean, and the least and the most of them.
std::string time_text(const Mean& seconds) {
  struct Unit {
    double least;
    double scale;
    const char* name;
  };
  for (const Unit& unit : {Unit{1, 1, "s"}, Unit{1e-3, 1e3, "ms"}, Unit{0, 1e6, "us"}}) {
    if (seconds.mean < unit.least) continue;
    std::string text = mean_text(seconds, unit.scale) + " " + unit.name;
    if (!seconds.half) return text;
    return fmt::format("{} ({} seeds: {} to {})", text, seconds.count,
                       four_digits(seconds.least * unit.scale),
                       four_digits(seconds.most * unit.scale));
  }
  return {};
}

std::string share_text(const StackShare& part) {
  return fmt::format("{} ({}), {:.0f} %", layer_name(part.layer), part.kind, 100 * part.share);
}

/// The largest part of a stack, and the largest wait if it is another.
std::string parts_text(const Waits& waits, const char* then) {
  if (waits.largest() == nullptr) return "";
  const StackShare* const wait = waits.largest_wait();
  const bool other = wait != nullptr && wait != waits.largest();
  return share_text(*waits.largest()) + (other ? then + share_text(*wait) : "");
}

std::string area_text(const AnswerPoint& point) {
  return point.silicon_mm2 ? fmt::format(" on {} mm2", four_digits(point.silicon_mm2->nominal))
                           : "";
}

/// What was fastest, how sure that is, and what was fastest for its area.
std::string fastest_text(const Answer& answer) {
  const AnswerPoint& point = answer.points[*answer.fastest];
  if (answer.points.size() == 1) {
    const std::optional<Mean>& peak = point.mean(Quantity::of_peak);
    return fmt::format("{}: {}{}{}.", point.name, time_text(*point.mean(Quantity::time)),
                       area_text(point),
                       peak ? fmt::format(", {:.1f} % of peak", 100 * peak->mean) : "");
  }
  std::string text = answer.one_workload
                         ? fmt::format("Fastest: {}, {}{}", point.name,
                                       time_text(*point.mean(Quantity::time)), area_text(point))
                         : fmt::format("Most useful FLOP/s: {}, {} TFLOP/s{}", point.name,
                                       mean_text(point.mean(Quantity::useful)), area_text(point));
  if (!answer.not_told_apart.empty()) {
    text += fmt::format(" ({} within its spread over seeds)",
                        answer.not_told_apart.size() == 1
                            ? answer.points[answer.not_told_apart[0]].name + " is"
                            : fmt::format("{} others are", answer.not_told_apart.size()));
  }
  if (answer.fastest_for_area) {
    const AnswerPoint& small = answer.points[*answer.fastest_for_area];
    text += fmt::format("; for its area {}, {} GFLOP/s/mm2", &small == &point ? "too" : small.name,
                        mean_text(small.mean(Quantity::per_area)));
  }
  return text + ".";
}

/// Of a ratio: three digits are as much as it is good for.
std::string ratio_text(double value) { return fmt::format("{:.3g}", value); }

std::string ratio_text(const Mean& mean) {
  return ratio_text(mean.mean) + (mean.half ? " +- " + ratio_text(*mean.half) : "");
}

std::string joules_text(const AnswerPoint& point) {
  if (!point.energy_vs_dense) return "";
  return fmt::format(", {} to {} of its joules", ratio_text(point.energy_vs_dense->low),
                     ratio_text(point.energy_vs_dense->high));
}

/// What zeros gave in time and in joules.
std::string zeros_text(const Answer& answer) {
  if (!answer.most_from_zeros) return "";
  const AnswerPoint& point = answer.points[*answer.most_from_zeros];
  const Mean& factor = *point.mean(Quantity::speedup);
  const std::string times =
      fmt::format("{} times as fast as dense{}.", ratio_text(factor), joules_text(point));
  const char* const before = factor.mean > 1 ? "Most from zeros" : "Zeros gained no time; best";
  if (answer.points.size() > 1) return fmt::format("{}: {}, {}", before, point.name, times);
  return (factor.mean > 1 ? "Zeros: " : "Zeros gained no time: ") + times;
}

/// Why the run that the sentences before are of is not faster, if that was asked; else where its
/// units were.
std::string waits_text(const Answer& answer) {
  const std::size_t which = answer.most_from_zeros.value_or(*answer.fastest);
  const Why* const why = answer.why_of(which);
  if (why != nullptr && !why->sentences.empty()) {
    // the first says what zeros gave, which stands before this one
    const bool said = answer.most_from_zeros && why->sentences.size() > 1 &&
                      why->ladder.front().dense_time.has_value();
    return why->sentences[said ? 1 : 0];
  }
  const std::string parts = parts_text(answer.points[which].waits, "; the largest wait was ");
  return parts.empty() ? "" : fmt::format("Most of its cycles went to {}.", parts);
}

}  // namespace

std::string causes_text(const Answer& answer) {
  std::string text;
  for (const AnswerCause& each : answer.causes) {
    text += fmt::format("\nWhy run {} is not faster: {}\n\n{}", each.run->run, each.run->machine,
                        why_text(each.why()));
  }
  return text;
}

std::string largest_text(const Waits& waits) { return parts_text(waits, "; then "); }

namespace {

/// The patterns of an order of machines: up to three by name, more by their number.
std::string patterns_text(const std::vector<std::string>& patterns) {
  if (patterns.size() > 3) return fmt::format("{} patterns", patterns.size());
  return fmt::format("{}", fmt::join(patterns, ", "));
}

}  // namespace

std::string energy_rank_text(const Answer& answer) {
  std::vector<std::pair<std::string, std::vector<std::string>>> orders;
  std::size_t overlap = 0;
  for (const EnergyRank& rank : answer.energy_ranks) {
    if (!rank.is_ranked()) {
      ++overlap;
      continue;
    }
    std::string order;
    for (std::size_t i = 0; i < rank.points.size(); ++i) {
      order += (i == 0 ? "" : " < ") + answer.points[rank.points[i]].run().machine;
    }
    const auto same = [&](const auto& each) { return each.first == order; };
    find_or_add(orders, same, {order, {}}).second.push_back(rank.pattern);
  }
  std::string ranked;
  for (const auto& [order, patterns] : orders) {
    ranked += (ranked.empty() ? "" : "; ") + order + " for " + patterns_text(patterns);
  }
  if (ranked.empty() && overlap == 0) return "";
  if (ranked.empty()) {
    return "Energy per useful FLOP: no machine is surely less, for any pattern; price ranges "
           "overlap.";
  }
  return fmt::format(
      "Energy per useful FLOP: {}{}.", ranked,
      overlap == 0 ? "" : fmt::format("; price ranges overlap for {} other patterns", overlap));
}

std::vector<std::string> sentences(const Answer& answer) {
  if (!answer.fastest) return {"No run has finished."};
  std::vector<std::string> all = {fastest_text(answer)};
  for (const std::string& text : {zeros_text(answer), waits_text(answer)}) {
    if (!text.empty()) all.push_back(text);
  }
  return all;
}

}  // namespace lacuna
