// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ranges.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/wse/balance.hpp"

namespace lacuna {
namespace {

using wse::CoreCounters;
using wse::RouterCounters;

constexpr std::size_t kMostPlaces = 128;  // of a map in a direction; larger rectangles are averaged
constexpr std::size_t kColumnsListed = 5;

/// What a cycle of a core went to, in the words of the cycle stack.
constexpr std::array<std::pair<wse::CoreCycle, const char*>, 7> kWaits{
    {{wse::kConflict, "conflicts in its memory banks"},
     {wse::kResidual, "residual stalls of its datapath"},
     {wse::kDispatch, "the dispatch of handlers"},
     {wse::kWaitWeights, "words of the stream"},
     {wse::kWaitRingIn, "partial sums of other columns"},
     {wse::kWaitRingOut, "room in an output queue of sums"},
     {wse::kWaitBuffer, "a free partial-sum vector"}}};

/// What a core waited for longest.
const std::pair<wse::CoreCycle, const char*>& longest_wait(const CoreCounters& core) {
  return *std::max_element(kWaits.begin(), kWaits.end(), [&](auto& a, auto& b) {
    return core.cycles[a.first] < core.cycles[b.first];
  });
}

/// That a core waited so long for `what`, and what held the injector of its column back.
void add_waits(const char* what, std::uint64_t waited, const wse::InjectorCounters& injector,
               double window, ExplainSection& section) {
  const auto share = [&](std::uint64_t cycles) {
    return per_cent(static_cast<double>(cycles), window);
  };
  section.fact("otherwise it waited for",
               fmt::format("{}: {} % of all cycles", what, share(waited)));
  section.fact("its injector was held back",
               fmt::format("{} % by the I/O rate, {} % by the column", share(injector.no_token),
                           share(injector.closed)));
}

class WseExplainer {
 public:
  explicit WseExplainer(const WseExplainInput& input)
      : in_(input), kernel_(input.plan.program.kernel), columns_(input.plan.program.columns) {}

  Explanation explain() {
    if (kernel_.steps == 0 || in_.cycles == 0) return {};
    bounds();
    limiting();
    maps();
    return std::move(result_);
  }

 private:
  void bounds();
  void limiting();
  void maps();
  void add_map(const char* name, const char* title, const char* quantity,
               const std::function<double(std::size_t)>& value);

  std::uint32_t most_tokens() const { return kernel_.tokens[in_.plan.program.entry]; }
  /// Of the instruction of a weight.
  std::uint64_t cycles_of_weight() const {
    return kernel_.held.empty() ? kernel_.beats_that_add.cycles_of(most_tokens(), kernel_.simd) : 0;
  }
  /// A column's core in the row where words enter, and the issue slots that it used.
  const CoreCounters& core_of(std::size_t column) const {
    return in_.outcome.cores[in_.fold.kept_entry * columns_ + column];
  }
  std::uint64_t slots(std::size_t column) const { return busy(core_of(column)); }
  static std::uint64_t busy(const CoreCounters& core) {
    return core.cycles[wse::kFma] + core.cycles[wse::kScalar] + core.cycles[wse::kReduce];
  }
  std::uint64_t words(std::size_t column) const { return in_.outcome.injectors[column].words; }

  const WseExplainInput& in_;
  const wse::StreamingKernel& kernel_;
  std::size_t columns_;
  Explanation result_;
};

/// What the run could not have beaten: each resource by itself, as if all others were free.
void WseExplainer::bounds() {
  ExplainSection& section = result_.section("What bounds it");
  struct Bound {
    const char* name;
    std::uint64_t cycles;
  };
  std::vector<Bound> all{{"handlers of the busiest core", 0},
                         {"issue slots of the busiest core", 0},
                         {"words down the fullest column", 0}};
  std::uint64_t sent = 0;
  for (std::size_t c = 0; c < columns_; ++c) {
    const CoreCounters& core = core_of(c);
    const std::uint64_t each = std::max<std::uint64_t>(
        cycles_of_weight() * kernel_.weights_per_word(), in_.params.core.dispatch);
    all[0].cycles =
        std::max(all[0].cycles, core.words * each + core.commands * in_.params.core.cmd_cycles);
    all[1].cycles = std::max(all[1].cycles,
                             slots(c) + core.cycles[wse::kConflict] + core.cycles[wse::kResidual]);
    all[2].cycles = std::max(all[2].cycles, words(c));
    sent += words(c);
  }
  const wse::Rate& rate = in_.plan.program.rate;
  if (rate.per != 0) {
    all.push_back({"I/O of the rectangle", ceil_div(sent * rate.per, rate.words)});
  }
  Bound link{"words over the fullest link of a row", 0};
  for (std::size_t c = 0; c < columns_; ++c) {
    const auto& carried = in_.outcome.routers[in_.fold.kept_entry * columns_ + c].sent;
    link.cycles = std::max({link.cycles, carried[wse::kEast], carried[wse::kWest]});
  }
  all.push_back(link);
  const auto tightest = std::max_element(
      all.begin(), all.end(), [](const Bound& a, const Bound& b) { return a.cycles < b.cycles; });
  section.fact("cycles", fmt::format("{}", in_.cycles));
  section.fact("tightest bound",
               fmt::format("{}: {} cycles, {} % of the run", tightest->name, tightest->cycles,
                           per_cent(static_cast<double>(tightest->cycles),
                                    static_cast<double>(in_.cycles))));
  section.fact("balance of the columns",
               fmt::format("{:.3f} row by row, {:.3f} over blocks of {} rows (mean over heaviest)",
                           wse::column_balance(kernel_, 1),
                           wse::column_balance(kernel_, kernel_.lookahead), kernel_.lookahead));
  ExplainTable table{"", {{"bound", ""}, {"cycles", "cycles"}, {"of the run", "%"}}, {}};
  for (const Bound& bound : all) {
    table.rows.push_back(
        {bound.name, fmt::format("{}", bound.cycles),
         per_cent(static_cast<double>(bound.cycles), static_cast<double>(in_.cycles))});
  }
  section.tables.push_back(std::move(table));
}

void WseExplainer::limiting() {
  std::vector<std::size_t> order(columns_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_all(order, [&](std::size_t a, std::size_t b) { return slots(a) > slots(b); });
  const std::size_t top = order.front();
  const CoreCounters& core = core_of(top);
  const auto window = static_cast<double>(in_.cycles);
  std::uint64_t all = 0;
  for (std::size_t c = 0; c < columns_; ++c) all += slots(c);
  const double mean = static_cast<double>(all) / static_cast<double>(columns_);

  ExplainSection& section = result_.section("The limiting column");
  section.fact("column", fmt::format("{}, whose cores issue most: {} % of all cycles, {:.3f} times "
                                     "the mean column",
                                     top, per_cent(static_cast<double>(slots(top)), window),
                                     mean > 0 ? static_cast<double>(slots(top)) / mean : 0));
  const auto& [wait, for_what] = longest_wait(core);
  add_waits(for_what, core.cycles[wait], in_.outcome.injectors[top], window, section);
  ExplainTable table{"Columns with the most work",
                     {{"column", ""},
                      {"words", "wavelets"},
                      {"issue", "%"},
                      {"dispatch", "%"},
                      {"no words", "%"},
                      {"ring in", "%"},
                      {"ring out", "%"},
                      {"no vector", "%"}},
                     {}};
  for (std::size_t i = 0; i < std::min(columns_, kColumnsListed); ++i) {
    const CoreCounters& mine = core_of(order[i]);
    std::vector<std::string> row{fmt::format("{}", order[i]), fmt::format("{}", words(order[i])),
                                 per_cent(static_cast<double>(slots(order[i])), window)};
    for (const wse::CoreCycle kind : {wse::kDispatch, wse::kWaitWeights, wse::kWaitRingIn,
                                      wse::kWaitRingOut, wse::kWaitBuffer}) {
      row.push_back(per_cent(static_cast<double>(mine.cycles[kind]), window));
    }
    table.rows.push_back(std::move(row));
  }
  section.tables.push_back(std::move(table));
}

/// A map of `value` by core of the kept rows.
void WseExplainer::add_map(const char* name, const char* title, const char* quantity,
                           const std::function<double(std::size_t)>& value) {
  result_.maps.push_back(
      averaged_map(name, title, quantity, columns_, in_.plan.program.rows, [&](std::size_t core) {
        return value(in_.fold.representative[core / columns_] * columns_ + core % columns_);
      }));
}

void WseExplainer::maps() {
  const auto window = static_cast<double>(in_.cycles);
  const auto share = [window](std::uint64_t cycles) {
    return 100 * static_cast<double>(cycles) / window;
  };
  add_map("core_use", "Use of the cores", "Issue slots used, % of all cycles",
          [&](std::size_t core) { return share(busy(in_.outcome.cores[core])); });
  add_map("links_x", "Use of the links along rows", "Words east and west, % of both links",
          [&](std::size_t core) {
            const RouterCounters& router = in_.outcome.routers[core];
            return share(router.sent[wse::kEast] + router.sent[wse::kWest]) / 2;
          });
  const bool both = in_.plan.program.both_ways();
  add_map("links_y", "Use of the links along columns",
          both ? "Words on to the next row, % of the link" : "Words south, % of the link",
          [&](std::size_t core) {
            const RouterCounters& router = in_.outcome.routers[core];
            return share(std::max(router.sent[wse::kSouth], router.sent[wse::kNorth]));
          });
}

}  // namespace

UnitMap averaged_map(const char* name, const std::string& title, const char* quantity,
                     std::size_t columns, std::size_t rows,
                     const std::function<double(std::size_t)>& value) {
  const std::size_t wide = ceil_div(columns, kMostPlaces);
  const std::size_t high = ceil_div(rows, kMostPlaces);
  UnitMap map;
  map.name = name;
  map.title = wide * high == 1 ? title : fmt::format("{} (means of {} x {})", title, wide, high);
  map.quantity = quantity;
  map.columns = ceil_div(columns, wide);
  std::vector<double> sums(map.columns * ceil_div(rows, high), 0);
  std::vector<double> cores(sums.size(), 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t place = r / high * map.columns + c / wide;
      sums[place] += value(r * columns + c);
      ++cores[place];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] /= cores[i];
  map.values = std::move(sums);
  return map;
}

Explanation explain_gradient(const wse::Program& program, const wse::WaferOutcome& outcome) {
  Explanation result;
  if (outcome.cycles == 0) return result;
  const auto slots = [](const CoreCounters& core) {
    return core.cycles[wse::kFma] + core.cycles[wse::kReduce];
  };
  const auto top = std::max_element(
      outcome.cores.begin(), outcome.cores.end(),
      [&](const CoreCounters& a, const CoreCounters& b) { return slots(a) < slots(b); });
  const auto place = static_cast<std::size_t>(top - outcome.cores.begin());
  const std::size_t column = place % program.columns;
  const auto& [wait, for_what] = longest_wait(*top);
  const auto window = static_cast<double>(outcome.cycles);
  ExplainSection& section = result.section("The limiting column");
  section.fact("column", fmt::format("{}, whose core wafer.r{}.c{}.core issues most: {} % of all "
                                     "cycles",
                                     column, place / program.columns, column,
                                     per_cent(static_cast<double>(slots(*top)), window)));
  add_waits(wait == wse::kWaitRingIn    ? "dY on the ring, or the chain from the north"
            : wait == wse::kWaitRingOut ? "room for dY on the ring or for its sums to the south"
                                        : for_what,
            top->cycles[wait], outcome.injectors[column], window, section);
  result.maps.push_back(
      averaged_map("core_use", "Use of the cores", "Issue slots used, % of all cycles",
                   program.columns, program.rows, [&](std::size_t core) {
                     return 100 * static_cast<double>(slots(outcome.cores[core])) / window;
                   }));
  return result;
}

Explanation explain_wse(const WseExplainInput& input) { return WseExplainer(input).explain(); }

}  // namespace lacuna
