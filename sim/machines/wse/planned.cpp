// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/planned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "sim/base/contains.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/product_runs.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/rows.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "sim/report/layout_note.hpp"
#include "workloads/mapping/wse/gradient_rule.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/mapping/wse/rule_grid.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kBest = 2;   // of the least estimates, simulated where that is short,
constexpr std::size_t kMore = 8;   // and where it is very short
constexpr std::size_t kSpare = 8;  // layouts that are taken if others are refused
constexpr double kDenser = 1.5;    // steps of density whose layouts are tried too
constexpr int kMostDenser = 5;
constexpr double kRivalCycles = 50;  // beside kRival
/// Columns times rows of the stream, of products that take a second at most to simulate.
constexpr double kShort = 1e5;
constexpr double kVeryShort = 1e4;

/// What the time of a simulation follows from: rows of cores that all differ, or get their words
/// from the side, are simulated one by one.
double simulated_cells(const LayerOp& op, const wse::WeightCounts& counts,
                       const wse::StreamLayout& at) {
  const bool scattered = at.resident && counts.sparse && !at.keeps_zeros;
  const bool one_by_one = scattered || at.inject == wse::Inject::west_edge;
  const double rows = at.resident ? op.n : op.m;
  return rows * op.batch * at.columns * (one_by_one ? at.rows : 1);
}

/// Products whose layouts are simulated where estimates know little of them.
constexpr double kRatherShort = 1e6;

/// Words that are in no space: the rule leaves them as they are declared.
constexpr std::array kLeft = {"ws.exchange", "ws.copies"};

}  // namespace

/// Layouts of an operation by itself, the most promising first, of which the first are simulated.
struct LayoutRule::Candidates {
  std::vector<wse::StreamLayout> layouts;
  std::size_t simulated = 0;
  bool as_set = false;  // the wafer as it is set is simulated too: estimates know too little
};

wse::WeightCounts counts_of(const LayerOp& op, const Mask* mask) {
  wse::WeightCounts counts = wse::weight_counts(mask);
  counts.even = op.pattern.name == "nm";
  return counts;
}

bool LayoutRule::takes(const LayerOp& op) const {
  const bool product = wafer_layout_kind(params_, op) == kProductWithWeights ||
                       (is_dense_gradient(op) && op.x_pattern == "dense");
  const bool gradient = is_sampled_gradient(op);
  if (op.share.among_rows || !(product || gradient)) return false;
  return !gradient || !given_.named("ws.share") || params_.ws.share == wse::Share::rows;
}

/// What every layout has, of a sampled gradient or of others, but for what is given: the way of the
/// sums, and the order of rows that goes with it.
Pairs LayoutRule::fixed_words(bool gradient) const {
  const auto word = [&](const char* path, const char* otherwise) {
    return std::pair<std::string, std::string>(
        path, given_.named(path) ? params_.find(path)->value_text() : otherwise);
  };
  if (gradient) {
    return {word(kOrderWord, "ring"), word(kLieWord, "side_by_side"), word("ws.gradient", "kept")};
  }
  const auto sums = word(kReduceWord, "chain");
  return {sums, word(kOrderWord, sums.second == "ring" ? "ring" : "natural"),
          word(kLieWord, "interleaved")};
}

/// What is given of the words of an operation's layouts.
std::vector<std::string> LayoutRule::given_words(const LayerOp& op) const {
  std::vector<std::string> words(std::begin(kLeft), std::end(kLeft));
  for (const LayoutChoice& choice : wafer_layout_space(params_, op)->choices) {
    words.push_back(choice.key);
  }
  const auto is_free = [&](const std::string& word) {
    return !given_.named(word) || word.rfind("wafer.", 0) == 0 || word == kIoShareWord;
  };
  erase_where(words, is_free);
  return words;
}

/// Whether estimates are of layouts with what is given.
bool LayoutRule::estimates(bool gradient) const {
  const LayoutRule free(params_, {});
  const bool left = all_of(kLeft, [&](const char* path) {
    return params_.find(path)->value_text() == params_.find(path)->initial_text();
  });
  Pairs fixed = fixed_words(gradient);
  for (auto& [path, value] : fixed) {
    if (value == "idealised") value = "chain";  // where sums that take time are laid out
  }
  return left && params_.ws.inject != wse::Inject::west_edge && fixed == free.fixed_words(gradient);
}

wse::GivenLayout LayoutRule::given() const {
  const wse::StreamingParams& ws = params_.ws;
  wse::GivenLayout given;
  if (given_.named("ws.groups")) given.groups = ws.groups;
  if (given_.named("ws.lookahead")) given.lookahead = ws.lookahead;
  if (given_.named("ws.share")) given.share = ws.share;
  if (given_.named("ws.inject")) given.inject = ws.inject;
  if (given_.named("ws.k_partition")) given.partition = ws.k_partition;
  // a filter that takes time, or is at the cores, goes through the rows of one group
  const bool filter =
      params_.zero_filter.at == wse::FilterAt::receiver || params_.zero_filter.scan_width != 0U;
  if (filter && !given.groups) given.groups = 1;
  given.may_keep_zeros = !filter && params_.ws.zero_filter && !given_.named("ws.zero_filter") &&
                         !given_.named("resident.storage");
  return given;
}

std::vector<wse::StreamLayout> LayoutRule::all(const LayerOp& op, const wse::WeightCounts& counts,
                                               const wse::GivenLayout& given, bool resident) const {
  std::vector<wse::StreamLayout> found = wse::stream_layouts(
      streaming_job(op, nullptr, resident), counts, given, streaming_setup(params_));
  // cores that all differ are all simulated
  const std::uint64_t tokens = tokens_of(op);
  const bool asked = op.residency == Residency::resident || op.mode == Mode::static_;
  const auto takes_long = [&](const wse::StreamLayout& at) {
    return resident && counts.sparse && !at.keeps_zeros && tokens * at.cores() > kMostScattered;
  };
  if (!asked) erase_where(found, takes_long);
  return found;
}

/// By their estimates, wherever the weights may live. A sampled gradient may be made whole.
std::vector<wse::StreamLayout> LayoutRule::all(const LayerOp& op, const wse::WeightCounts& counts,
                                               const wse::GivenLayout& given) const {
  const Residency asked = wse::residency_of(op);
  std::vector<wse::StreamLayout> found;
  if (is_sampled_gradient(op)) {
    found = wse::gradient_layouts_by_rule(gradient_job(op, nullptr), counts, given,
                                          streaming_setup(params_));
    if (!given.may_keep_zeros || !estimates(false)) return found;
    for (wse::StreamLayout& whole : all(op, {}, given, false)) {
      whole.keeps_zeros = true;
      found.push_back(whole);
    }
  } else if (asked != Residency::resident) {
    found = all(op, counts, given, false);
  }
  if (asked == Residency::resident ||
      (asked == Residency::automatic && has_weights(op) && op.share.may_stay)) {
    std::vector<wse::StreamLayout> staying = all(op, counts, given, true);
    // beside weights of other rows they take no more than was counted for them
    if (op.share.beside != 0 && !staying.empty()) {
      const wse::StreamLayout counted = wse::least_of(staying);
      const wse::RowBytes bytes =
          wse::staying_bytes(streaming_job(op, nullptr, true), counts, streaming_setup(params_));
      erase_where(staying, [&](const auto& at) {
        return at.keeps_zeros > counted.keeps_zeros || bytes(at).weights > bytes(counted).weights;
      });
    }
    append(found, staying);
  }
  wse::sort_by_cycles(found);
  return found;
}

std::vector<wse::StreamLayout> LayoutRule::resident(const LayerOp& op, const Mask* mask) const {
  if (!takes(op) || !estimates(false)) return {};
  const std::vector<wse::StreamLayout> found = all(op, counts_of(op, mask), given(), true);
  if (found.empty()) return {};
  return {wse::least_of(found)};
}

/// The layouts that it has with nothing given, as far as they obey what is given: a word that is
/// what the rule takes changes nothing. Others too, if none does that would be simulated, or those
/// that do are far from the least estimate of what obeys.
LayoutRule::Candidates LayoutRule::candidates(const LayerOp& op, const Mask* mask) const {
  if (!takes(op)) return {};
  const wse::WeightCounts counts = counts_of(op, mask);
  const std::vector<std::string> given = given_words(op);
  if (given.empty()) return chosen(op, counts);
  WseParams params = params_;
  for (const std::string& word : given) params.set(word, params.find(word)->initial_text());
  const LayoutRule free(params, {});
  const auto obeys = [&](const wse::StreamLayout& layout) {
    const WseParams made = free.laid_out(layout);
    return all_of(given, [&](const std::string& word) {
      return made.find(word)->value_text() == params_.find(word)->value_text();
    });
  };
  const Candidates all = free.chosen(op, counts);
  Candidates planned;
  for (std::size_t i = 0; i < all.layouts.size(); ++i) {
    if (!obeys(all.layouts[i])) continue;
    planned.layouts.push_back(all.layouts[i]);
    planned.simulated += i < all.simulated ? 1 : 0;
  }
  const Candidates own = chosen(op, counts);
  const double least = own.layouts.empty() ? 0 : own.layouts[0].cycles;
  for (std::size_t i = 0; i < planned.simulated; ++i) {
    if (planned.layouts[i].cycles < kRival * least + kRivalCycles || least == 0) return planned;
  }
  planned.layouts.resize(planned.simulated);
  append(planned.layouts, own.layouts);
  planned.simulated += own.simulated;
  planned.as_set = own.as_set;
  return planned;
}

LayoutRule::Candidates LayoutRule::chosen(const LayerOp& op,
                                          const wse::WeightCounts& counts) const {
  const std::vector<wse::StreamLayout> found = all(op, counts, given());
  if (found.empty()) return {};
  Candidates planned;
  planned.as_set = !estimates(is_sampled_gradient(op));
  const auto add = [&](const wse::StreamLayout& layout) {
    if (!contains(planned.layouts, layout)) planned.layouts.push_back(layout);
  };
  const auto is_short = [&](const wse::StreamLayout& at) {
    return simulated_cells(op, counts, at) < (planned.as_set ? kRatherShort : kShort);
  };
  add(wse::least_of(found));
  if (is_short(planned.layouts[0])) {
    for (const wse::StreamLayout& each : rivals(op, counts, found)) {
      if (is_short(each)) add(each);
    }
  } else if (params_.ws.inject == wse::Inject::west_edge) {
    planned.as_set = false;
  }
  planned.simulated = planned.layouts.size();
  for (std::size_t i = 0; i < std::min(kSpare, found.size()); ++i) add(found[i]);
  return planned;
}

/// Layouts that may be faster than the one with the least estimate: those that denser weights would
/// have, and the next with the weights in either place and with zeros kept or not: all that a dense
/// product would try. Where estimates know too little, the best of each number of groups.
std::vector<wse::StreamLayout> LayoutRule::rivals(
    const LayerOp& op, const wse::WeightCounts& counts,
    const std::vector<wse::StreamLayout>& found) const {
  std::vector<wse::StreamLayout> rivals;
  if (!estimates(is_sampled_gradient(op))) {
    std::set<std::uint32_t> groups;
    for (const wse::StreamLayout& each : found) {
      if (groups.insert(each.groups).second) rivals.push_back(each);
    }
    return rivals;
  }
  const double most = kRival * found[0].cycles + kRivalCycles;
  wse::GivenLayout given = this->given();
  given.may_keep_zeros = false;
  wse::WeightCounts denser = counts;
  for (int step = 0; step < kMostDenser && denser.sparse && denser.density < 1; ++step) {
    denser.density = std::min(1.0, denser.density * kDenser);
    denser.blocks = nullptr;  // which are not those of the mask
    const std::vector<wse::StreamLayout> theirs = all(op, denser, given);
    if (theirs.empty()) break;
    const auto mine = std::find(found.begin(), found.end(), wse::least_of(theirs));
    if (mine != found.end() && mine->cycles < most) rivals.push_back(*mine);
  }
  std::vector<wse::StreamLayout> kept = found;
  erase_where(kept, [](const wse::StreamLayout& each) { return !each.keeps_zeros; });
  if (!kept.empty()) rivals.push_back(wse::least_of(kept));
  std::map<std::pair<bool, bool>, std::size_t> left;  // to be tried
  for (const wse::StreamLayout& each : found) {
    const double cells =
        std::min(simulated_cells(op, counts, each), simulated_cells(op, counts, found[0]));
    const std::pair kind(each.resident, each.keeps_zeros);
    std::size_t& more = left.try_emplace(kind, cells < kVeryShort ? kMore : kBest).first->second;
    if (more == 0) continue;
    --more;
    rivals.push_back(each);
  }
  return rivals;
}

Pairs LayoutRule::words(const wse::StreamLayout& layout) const {
  Pairs words = {{kColumnsWord, fmt::format("{}", layout.columns)},
                 {kRowsWord, fmt::format("{}", layout.rows)},
                 {kGroupsWord, fmt::format("{}", layout.groups)}};
  if (!layout.gradient) {
    words.emplace_back("ws.share", layout.share == wse::Share::rows ? "rows" : "tokens");
  }
  const Pairs fixed = fixed_words(layout.gradient);
  append(words, fixed);
  wse::StreamingParams ws = params_.ws;
  ws.inject = layout.inject;
  ws.k_partition = layout.partition;
  if (!layout.gradient) words.emplace_back(kInjectWord, ws.inject.value_text());
  words.emplace_back("ws.k_partition", ws.k_partition.value_text());
  words.emplace_back("ws.lookahead", fmt::format("{}", layout.lookahead));
  if (layout.keeps_zeros) {
    words.emplace_back(layout.resident ? "resident.storage" : "ws.zero_filter",
                       layout.resident ? "all" : "false");
  }
  if (params_.io.share == 0) {  // all that the wafer gets: idle columns ask for none
    const double share = std::min(1.0, static_cast<double>(params_.wafer.columns.value()) /
                                           params_.wafer.program_columns.value());
    words.emplace_back(kIoShareWord, fmt::format("{}", share));
  }
  return words;
}

WseParams LayoutRule::laid_out(const wse::StreamLayout& layout) const {
  WseParams made = params_;
  for (const auto& [path, text] : words(layout)) made.set(path, text, "layout");
  return made;
}

Pairs LayoutRule::words_of(const LayerOp& op, const wse::StreamLayout& layout) const {
  Pairs words = this->words(layout);
  if (has_weights(op)) {
    words.emplace_back(kResidencyWord, layout.resident ? "resident" : "streamed");
  }
  return words;
}

LaidRow LayoutRule::laid_out(const LayerOp& op, const Pairs& together, const Pairs& words) const {
  LaidRow made{params_, op};
  WseParams& params = made.params;
  for (const auto& [path, text] : together) params.set(path, text, "layout");
  const WseParams all = params;
  for (const auto& [path, text] : words) {
    if (path == kResidencyWord) {
      made.op.residency = text == "resident" ? Residency::resident : Residency::streamed;
    } else {
      params.set(path, text, "layout");
    }
  }
  if (params.ws.lie != all.ws.lie) {  // its operands move from where they lie
    params.makers.assign(op.sources.size(), std::make_shared<const WseParams>(all));
  }
  return made;
}

/// Of what reads no other words.
Pairs rectangle_words(const wse::StreamLayout& layout) {
  return {{kColumnsWord, fmt::format("{}", layout.columns)},
          {kRowsWord, fmt::format("{}", layout.rows)}};
}

RowWays LayoutRule::ways(const LayerOp& op, const Mask* mask, const Pairs& together) const {
  // the layouts of a whole X; its zeros are left out where weights stay, if all are not sent
  const bool filters = op.x_pattern != "dense" && has_weights(op);
  LayerOp whole = op;
  whole.x_pattern = "dense";
  Candidates planned = candidates(whole, mask);
  RowWays ways;
  if (planned.layouts.empty() && together.empty() &&
      wafer_layout_kind(params_, op) == kOnRectangle && wse::is_layer_operation(op)) {
    WorkloadTrace alone;
    alone.ops = {op};
    for (const wse::StreamLayout& layout : shared(alone, [&](const LayerOp&) { return mask; })) {
      ways.all.push_back({rectangle_words(layout), layout});
    }
    ways.all.emplace_back();
    ways.simulated = ways.all.size();
    return ways;
  }
  if (planned.layouts.empty()) {
    for (Pairs& words : of_row(op, mask, together)) ways.all.push_back({std::move(words)});
    ways.simulated = ways.all.size();
    return ways;
  }
  if (filters && op.residency == Residency::automatic && op.share.may_stay) {
    whole.residency = Residency::resident;
    const Candidates stay = candidates(whole, mask);
    const auto end = stay.layouts.begin() + static_cast<std::ptrdiff_t>(stay.simulated);
    planned.layouts.insert(planned.layouts.begin(), stay.layouts.begin(), end);
    planned.simulated += stay.simulated;
  }
  for (std::size_t place = 0; place < planned.layouts.size(); ++place) {
    const wse::StreamLayout& layout = planned.layouts[place];
    if (planned.as_set && place == planned.simulated) ways.all.emplace_back();
    ways.all.push_back({words_of(op, layout), layout});
    if (filters && layout.resident && given().may_keep_zeros) {
      ways.all.push_back(ways.all.back());
      ways.all.back().words.emplace_back("ws.zero_filter", "false");
    }
    if (place < planned.simulated) ways.simulated = ways.all.size();
  }
  ways.all.emplace_back();
  ways.simulated += planned.as_set ? 1 : 0;
  return ways;
}

void add_idle_cores(const WseParams& whole, OpResult& result) {
  if (result.units == 0 || result.units >= whole.cores()) return;
  result.idle_units = whole.cores() - result.units;
  const double times = static_cast<double>(whole.cores()) / static_cast<double>(result.units);
  result.peaks.flop_per_cycle *= times;
  result.peaks.sram_bytes_per_cycle *= times;
  result.peaks.fabric_bytes_per_cycle *= times;
}

namespace {

void say(const WaferRequest& request, const RowWay& way, OpResult& result) {
  if (way.words.empty()) return;
  std::string text;
  for (const auto& [path, value] : way.words) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", path, value);
  }
  result.notes.emplace_back(kPlannedLayoutNote, text);
  add_idle_cores(request.params, result);
  if (!way.layout) return;
  const wse::StreamLayout& layout = *way.layout;
  result.notes.emplace_back("estimate", fmt::format("{:.0f} cycles by counts", layout.cycles));
  result.remarks.push_back(fmt::format(
      "planned: {} x {} cores{}{}; {} others stand idle and draw power", layout.columns,
      layout.rows, layout.groups == 1 ? "" : fmt::format(" in {} groups", layout.groups),
      layout.keeps_zeros ? ", zeros kept as that is faster" : "", result.idle_units));
}

/// Nothing if it is refused.
std::optional<OpResult> attempt(const WaferRequest& request) {
  try {
    return run_wafer_row(request);
  } catch (const OutOfMemoryError&) {  // counts of a mask are not even
  } catch (const UnsupportedError&) {
  }
  return std::nullopt;
}

/// The fastest of the first `most` that are not refused, or the last; the first, without a
/// simulation, if one is asked for. What falls behind is given up; what was simulated is kept.
std::size_t fastest_of(const WaferRequest& request, std::vector<LaidRow>& rows, std::size_t most) {
  if (most == 1 || rows.size() == 1) return 0;
  const Execution plain;  // how it is run is no part of its layout
  std::size_t best = rows.size() - 1;
  Cycle least = kNever;
  for (std::size_t i = 0; i < rows.size() && most != 0; ++i) {
    auto& [params, op] = rows[i];
    params.runs = std::make_shared<ProductRuns>();
    params.runs->limit = least;
    try {
      const auto result = attempt({request.machine, params, op, request.mask, request.seed, plain});
      if (!result) continue;
      if (result->cycles < least) {
        least = result->cycles;
        best = i;
      }
    } catch (const CycleLimitPassed&) {
    }
    --most;
  }
  for (const LaidRow& row : rows) {
    if (row.params.runs) row.params.runs->limit = kNever;
  }
  return best;
}

}  // namespace

OpResult run_planned(const WaferRequest& request, const LayoutRule& rule, const Pairs& together) {
  const auto& [machine, whole, op, mask, seed, execution] = request;
  if (has_all_cores(op)) return run_wafer_row(request);
  const RowWays ways = rule.ways(op, mask, together);
  std::vector<LaidRow> rows;
  for (const RowWay& way : ways.all) rows.push_back(rule.laid_out(op, together, way.words));
  for (std::size_t at = fastest_of(request, rows, ways.simulated);; ++at) {
    const WaferRequest laid{machine, rows[at].params, rows[at].op, mask, seed, execution};
    const bool last = at + 1 == rows.size();
    std::optional<OpResult> result = last ? run_wafer_row(laid) : attempt(laid);
    if (!result) continue;
    say(request, ways.all[at], *result);
    return *std::move(result);
  }
}

}  // namespace lacuna
