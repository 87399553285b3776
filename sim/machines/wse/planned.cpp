// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/planned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
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
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

constexpr std::size_t kBest = 2;   // of the least estimates, simulated where that is short,
constexpr std::size_t kMore = 8;   // and where it is very short
constexpr std::size_t kSpare = 4;  // layouts that are taken if others are refused
constexpr double kDenser = 1.5;    // steps of density whose layouts are tried too
constexpr int kMostDenser = 5;
constexpr const char* kResidency = "residency";  // of the row
constexpr const char* kGroups = "ws.groups";
constexpr const char* kReduce = "ws.reduce";
constexpr std::uint64_t kFewCores = 1024;  // of programs that are simulated core by core
constexpr double kRival = 1.3;             // of the least estimate, and some cycles:
constexpr double kRivalCycles = 50;        // layouts that may be faster all the same
/// Columns times rows of the stream, of products that take a second at most to simulate.
constexpr double kShort = 1e5;
constexpr double kVeryShort = 1e4;

wse::WeightCounts counts_of(const LayerOp& op, const Mask* mask) {
  wse::WeightCounts counts = wse::weight_counts(mask);
  counts.even = op.pattern.name == "nm";
  return counts;
}

/// What the time of a simulation follows from.
double simulated_cells(const LayerOp& op, const wse::WeightCounts& counts,
                       const wse::StreamLayout& at) {
  const bool scattered = at.resident && counts.sparse && !at.keeps_zeros;
  const double rows = at.resident ? op.n : op.m;
  return rows * op.batch * at.columns * (scattered ? at.rows : 1);
}

/// What every layout of the rule has: of a sampled gradient, or of others.
using Words = std::vector<std::pair<const char*, const char*>>;
const Words& fixed_words(bool gradient) {
  static const Words of_gradient = {
      {"ws.row_order", "ring"}, {"ws.lie", "side_by_side"}, {"ws.gradient", "kept"}};
  static const Words words = {
      {"ws.reduce", "chain"}, {"ws.row_order", "natural"}, {"ws.lie", "interleaved"}};
  return gradient ? of_gradient : words;
}

/// Words of `ws` that the rule does not know: with one of them given it has nothing to say.
constexpr const char* kUnknown[] = {"ws.exchange", "ws.copies", "ws.buses"};

}  // namespace

bool LayoutRule::takes(const LayerOp& op) const {
  const bool product = wafer_layout_kind(params_, op) == kProductWithWeights ||
                       (is_dense_gradient(op) && op.x_pattern == "dense");
  const bool gradient = is_sampled_gradient(op);
  return (product || gradient) && !op.share.among_rows && speaks(gradient);
}

/// Whether nothing is given that the rule never takes.
bool LayoutRule::speaks(bool gradient) const {
  if (params_.fed_from_store) return false;
  if (std::any_of(std::begin(kUnknown), std::end(kUnknown),
                  [&](const char* path) { return given_.named(path); })) {
    return false;
  }
  if (params_.ws.inject == wse::Inject::west_edge) return false;
  if (gradient && given_.named("ws.share") && params_.ws.share != wse::Share::rows) return false;
  const Words& fixed = fixed_words(gradient);
  return std::all_of(fixed.begin(), fixed.end(), [&](const auto& word) {
    return !given_.named(word.first) || params_.find(word.first)->value_text() == word.second;
  });
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
                                               bool resident) const {
  wse::GivenLayout given = this->given();
  given.may_stream = !resident;
  given.may_stay = resident;
  std::vector<wse::StreamLayout> found = wse::stream_layouts(
      streaming_job(op, nullptr, resident), counts, given, streaming_setup(params_));
  // cores that all differ are all simulated
  const std::uint64_t tokens = std::uint64_t{op.n} * op.batch;
  const bool asked = op.residency == Residency::resident || op.mode == Mode::static_;
  const auto takes_long = [&](const wse::StreamLayout& at) {
    return resident && counts.sparse && !at.keeps_zeros && tokens * at.cores() > kMostScattered;
  };
  if (!asked) found.erase(std::remove_if(found.begin(), found.end(), takes_long), found.end());
  return found;
}

/// By their estimates, wherever the weights may live.
std::vector<wse::StreamLayout> LayoutRule::all(const LayerOp& op,
                                               const wse::WeightCounts& counts) const {
  if (is_sampled_gradient(op)) {
    return wse::gradient_layouts_by_rule(gradient_job(op, nullptr), counts, given(),
                                         streaming_setup(params_));
  }
  const Residency asked = wse::residency_of(op);
  std::vector<wse::StreamLayout> found;
  if (asked != Residency::resident) found = all(op, counts, false);
  const bool may_stay = has_weights(op) && op.share.may_stay;
  if (asked == Residency::resident || (asked == Residency::automatic && may_stay)) {
    std::vector<wse::StreamLayout> staying = all(op, counts, true);
    // beside weights of other rows they take what was counted for them
    if (op.share.beside != 0 && !staying.empty()) staying = {wse::least_of(staying)};
    found.insert(found.end(), staying.begin(), staying.end());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  return found;
}

std::vector<wse::StreamLayout> LayoutRule::resident(const LayerOp& op, const Mask* mask) const {
  if (!takes(op)) return {};
  const std::vector<wse::StreamLayout> found = all(op, counts_of(op, mask), true);
  if (found.empty()) return {};
  return {wse::least_of(found)};
}

/// Of a layout that may be none of those which are `known`.
double LayoutRule::estimate(const LayerOp& op, const wse::WeightCounts& counts,
                            const std::vector<wse::StreamLayout>& known,
                            const wse::StreamLayout& layout) const {
  const auto same = std::find(known.begin(), known.end(), layout);
  if (same != known.end()) return same->cycles;
  if (layout.gradient) return std::numeric_limits<double>::infinity();
  return wse::estimated_cycles(streaming_job(op, nullptr, layout.resident), counts, layout,
                               streaming_setup(params_));
}

PlannedLayouts LayoutRule::layouts(const LayerOp& op, const Mask* mask) const {
  if (!takes(op)) return {};
  const wse::WeightCounts counts = counts_of(op, mask);
  const std::vector<wse::StreamLayout> found = all(op, counts);
  if (found.empty()) return {};
  PlannedLayouts planned;
  const auto add = [&](const wse::StreamLayout& layout) {
    const auto& known = planned.layouts;
    if (std::find(known.begin(), known.end(), layout) == known.end()) {
      planned.layouts.push_back(layout);
    }
  };
  add(wse::least_of(found));
  const double most = kRival * found[0].cycles + kRivalCycles;
  wse::WeightCounts denser = counts;
  for (int step = 0; step < kMostDenser && denser.sparse && denser.density < 1; ++step) {
    denser.density = std::min(1.0, denser.density * kDenser);
    denser.blocks = nullptr;  // which are not those of the mask
    const std::vector<wse::StreamLayout> theirs = all(op, denser);
    if (theirs.empty()) break;
    wse::StreamLayout layout = wse::least_of(theirs);
    layout.cycles = estimate(op, counts, found, layout);
    if (layout.cycles < most) add(layout);
  }
  const auto keeps =
      std::find_if(found.begin(), found.end(), [](const auto& each) { return each.keeps_zeros; });
  if (keeps != found.end() && keeps->cycles < most) add(*keeps);
  const std::size_t best = simulated_cells(op, counts, found[0]) < kVeryShort ? kMore : kBest;
  for (std::size_t i = 0; i < std::min(best, found.size()); ++i) add(found[i]);
  const bool is_short = std::all_of(
      planned.layouts.begin(), planned.layouts.end(),
      [&](const wse::StreamLayout& at) { return simulated_cells(op, counts, at) < kShort; });
  planned.simulated = is_short ? planned.layouts.size() : 1;
  for (std::size_t i = 0; i < std::min(kSpare, found.size()); ++i) add(found[i]);
  return planned;
}

namespace {

/// Core cycles of an element of an update: 22,140 cycles of 192 elements a core.
constexpr double kUpdateCycles = 115;

/// What may be laid out together: nothing that has a program, a filter or a layout of its own, and
/// no weights that are asked to stay, of which as many cores as there are hold the most.
bool shares(const WseParams& params, const LayerOp& op) {
  if (op.x_pattern != "dense" || runs_as_tasks(params, op)) return false;
  return !has_weights(op) || wse::residency_of(op) != Residency::resident;
}

/// Rectangles of which one is as good as simulated with the other.
bool are_near(const wse::StreamLayout& a, const wse::StreamLayout& b) {
  const auto near = [](double x, double y) { return std::max(x, y) < 1.3 * std::min(x, y); };
  return a.groups == b.groups && near(a.columns, b.columns) && near(a.rows, b.rows);
}

/// Whether a function or a product of activations that has a program on `whole` has one here too.
bool runs_on(const WseParams& whole, const WseParams& here, const LayerOp& op, const Mask* mask) {
  const std::uint64_t bytes = layer_bytes(here, op, mask);
  if (bytes == 0) return layer_bytes(whole, op, mask) == 0;
  return bytes <= std::uint64_t{1024} * here.mem.kib;
}

}  // namespace

std::vector<wse::StreamLayout> LayoutRule::shared(const WorkloadTrace& workload,
                                                  const MaskOf& mask_of, std::size_t most) const {
  const auto may = [&](const LayerOp& op) { return shares(params_, op); };
  if (!speaks(false) || !std::all_of(workload.ops.begin(), workload.ops.end(), may)) return {};
  std::map<std::string, wse::SharedRow> rows;
  double work = 0;
  for (const LayerOp& op : workload.ops) {
    if (op.op == "optim") work += kUpdateCycles * op.m * std::max(1U, op.k) * op.repeat;
    if (!has_weights(op) && !is_dense_gradient(op)) continue;
    const Mask* const mask = mask_of(op);
    wse::SharedRow row{streaming_job(op, nullptr, false), counts_of(op, mask), 0, false};
    row.counts.blocks = nullptr;  // of a mask that is gone when the next is asked for
    const std::string key = fmt::format("{} {} {} {} {} {} {}", op.op, op.m, op.k, op.n, op.batch,
                                        word(op.dtype), row.counts.density);
    rows.emplace(key, row).first->second.times += op.repeat;
  }
  std::vector<wse::StreamLayout> found;
  if (rows.empty()) return found;
  std::vector<wse::SharedRow> all;
  for (const auto& [key, row] : rows) all.push_back(row);
  wse::GivenLayout words = given();
  for (const wse::StreamLayout& layout :
       wse::shared_layouts(all, work, words, streaming_setup(params_))) {
    if (found.size() == most) break;
    const auto is_near = [&](const wse::StreamLayout& each) { return are_near(each, layout); };
    if (std::any_of(found.begin(), found.end(), is_near)) continue;
    const WseParams made = laid_out(layout);
    const bool fits = std::all_of(workload.ops.begin(), workload.ops.end(), [&](const LayerOp& op) {
      if (has_weights(op) || is_dense_gradient(op)) return true;
      return runs_on(params_, made, op, mask_of(op));
    });
    if (fits) found.push_back(layout);
  }
  return found;
}

Pairs LayoutRule::words(const wse::StreamLayout& layout) const {
  Pairs words = {{"wafer.columns", fmt::format("{}", layout.columns)},
                 {"wafer.rows", fmt::format("{}", layout.rows)},
                 {"ws.groups", fmt::format("{}", layout.groups)}};
  if (!layout.gradient) {
    words.emplace_back("ws.share", layout.share == wse::Share::rows ? "rows" : "tokens");
  }
  for (const auto& [path, text] : fixed_words(layout.gradient)) words.emplace_back(path, text);
  const bool middle = layout.inject == wse::Inject::middle_row;
  if (!layout.gradient) words.emplace_back("ws.inject", middle ? "middle_row" : "column_top");
  const std::map<wse::KPartition, const char*> parts = {{wse::KPartition::block, "block"},
                                                        {wse::KPartition::cyclic, "cyclic"},
                                                        {wse::KPartition::balanced, "balanced"}};
  words.emplace_back("ws.k_partition", parts.at(layout.partition));
  words.emplace_back("ws.lookahead", fmt::format("{}", layout.lookahead));
  if (layout.keeps_zeros) {
    words.emplace_back(layout.resident ? "resident.storage" : "ws.zero_filter",
                       layout.resident ? "all" : "false");
  }
  if (params_.io.share == 0) {  // all that the wafer gets: idle columns ask for none
    const double share = std::min(1.0, static_cast<double>(params_.wafer.columns.value()) /
                                           params_.wafer.program_columns.value());
    words.emplace_back("io.share", fmt::format("{}", share));
  }
  return words;
}

namespace {

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

/// What a layout of these words is, as far as the rule knows them.
wse::StreamLayout parsed(const Pairs& words) {
  const auto value = [&](const char* key) {
    const std::string* const found = find_value(words, key);
    return found == nullptr ? std::string() : *found;
  };
  wse::StreamLayout at;
  at.resident = value(kResidency) == "resident";
  at.columns = number(value("wafer.columns"));
  at.rows = number(value("wafer.rows"));
  at.groups = std::max(1U, number(value("ws.groups")));
  at.share = value("ws.share") == "tokens" ? wse::Share::tokens : wse::Share::rows;
  at.keeps_zeros = value("ws.zero_filter") == "false" || value("resident.storage") == "all";
  return at;
}

/// The numbers of an ascending list that are up to two places from `at`.
std::set<std::uint32_t> near(const std::set<std::uint32_t>& all, std::uint32_t at) {
  constexpr int kPlaces = 2;
  std::set<std::uint32_t> found;
  auto up = all.upper_bound(at);
  for (int i = 0; i < kPlaces && up != all.end(); ++i) found.insert(*up++);
  auto down = all.lower_bound(at);
  for (int i = 0; i < kPlaces && down != all.begin(); ++i) found.insert(*--down);
  return found;
}

/// The same layout with another word.
Pairs with(Pairs words, const std::string& key, const std::string& value) {
  for (auto& [each, text] : words) {
    if (each != key) continue;
    text = value;
    return words;
  }
  words.emplace_back(key, value);
  return words;
}

}  // namespace

std::string LayoutRule::value_of(const Pairs& words, const std::string& key,
                                 const LayerOp& op) const {
  if (const std::string* const found = find_value(words, key)) return *found;
  return key == kResidency ? word(op.residency) : params_.find(key)->value_text();
}

/// Whether another value makes a difference, and is simulated in a time that is worth it.
bool LayoutRule::may_change(const std::string& key, const LayerOp& op, const Mask* mask,
                            const Pairs& at) const {
  const bool grouped = value_of(at, kGroups, op) != "1";
  const std::uint64_t cores = std::uint64_t{number(value_of(at, "wafer.columns", op))} *
                              number(value_of(at, "wafer.rows", op));
  if (given_.named(key)) return false;
  if (key == "ws.share" || key == "ws.lie" || key == "ws.buses") return grouped;
  if (key == kGroups) return !takes(op);  // the rectangle goes with them
  if (key == "kernel.gemm") return mask == nullptr && cores <= kFewCores;
  if (key == "ws.gradient") return cores <= kFewCores;  // whose rows are all simulated
  if (key != kResidency) return true;
  const bool may = op.residency == Residency::automatic && op.mode == Mode::automatic;
  const bool scattered =
      mask != nullptr && params_.resident.storage == wse::ResidentStorage::nonzeros;
  const std::uint64_t work = std::uint64_t{op.n} * op.batch * cores;
  return may && op.share.may_stay && !takes(op) && !(scattered && work > kMostScattered);
}

void LayoutRule::add_words(const LayerOp& op, const Mask* mask, const Pairs& at,
                           std::vector<Pairs>& steps) const {
  for (const LayoutChoice& choice : wafer_layout_space(params_, op)->choices) {
    if (choice.values.empty() || !may_change(choice.key, op, mask, at)) continue;
    const std::string now = value_of(at, choice.key, op);
    const std::uint32_t columns = number(value_of(at, "wafer.columns", op));
    if (choice.key == kReduce && !given_.named("ws.row_order")) {  // the order goes with the sums
      const bool ring = now == "ring";
      steps.push_back(with(with(at, kReduce, ring ? "chain" : "ring"), "ws.row_order",
                           ring ? "natural" : "ring"));
    }
    for (const std::string& value : choice.values) {
      if (value == now || (choice.key == kGroups && columns % number(value) != 0)) continue;
      steps.push_back(with(at, choice.key, value));
    }
  }
}

std::vector<Pairs> LayoutRule::around(const LayerOp& op, const Mask* mask, const Pairs& at) const {
  std::vector<Pairs> steps;
  if (takes(op)) add_rectangles(op, mask, at, steps);
  add_words(op, mask, at, steps);
  return steps;
}

/// Those next to it of the rule, and the best with the weights elsewhere.
void LayoutRule::add_rectangles(const LayerOp& op, const Mask* mask, const Pairs& at,
                                std::vector<Pairs>& steps) const {
  const wse::StreamLayout here = parsed(at);
  const std::vector<wse::StreamLayout> found = all(op, counts_of(op, mask));
  const auto width = [](const wse::StreamLayout& each) { return each.columns / each.groups; };
  std::set<std::uint32_t> widths;
  std::set<std::uint32_t> rows;
  for (const wse::StreamLayout& each : found) {
    widths.insert(width(each));
    rows.insert(each.rows);
  }
  widths = near(widths, width(here));
  rows = near(rows, here.rows);
  bool elsewhere = false;
  for (const wse::StreamLayout& each : found) {
    const bool other_place = each.resident != here.resident || each.keeps_zeros != here.keeps_zeros;
    if (other_place && !elsewhere) steps.push_back(words_of(*this, op, each));
    elsewhere = elsewhere || other_place;
    if (other_place) continue;
    const bool same_width = width(each) == width(here);
    const bool same_rows = each.rows == here.rows;
    const bool same_groups = each.groups == here.groups;
    const bool same_share = each.share == here.share || each.groups == 1;
    const int differ = !same_width + !same_rows + !same_groups + !same_share;
    if (differ != 1) continue;
    if (!same_width && widths.count(width(each)) == 0) continue;
    if (!same_rows && rows.count(each.rows) == 0) continue;
    steps.push_back(words_of(*this, op, each));
  }
}

WseParams LayoutRule::laid_out(const wse::StreamLayout& layout) const {
  WseParams made = params_;
  for (const auto& [path, text] : words(layout)) made.set(path, text, "layout");
  return made;
}

LayerOp placed(LayerOp op, const wse::StreamLayout& layout) {
  if (layout.gradient) return op;
  op.residency = layout.resident ? Residency::resident : Residency::streamed;
  return op;
}

void add_idle_cores(const WseParams& whole, OpResult& result) {
  if (result.units == 0 || result.units >= whole.cores()) return;
  result.idle_units = whole.cores() - result.units;
  const double times = static_cast<double>(whole.cores()) / static_cast<double>(result.units);
  result.peaks.flop_per_cycle *= times;
  result.peaks.sram_bytes_per_cycle *= times;
  result.peaks.fabric_bytes_per_cycle *= times;
}

void note_words(const WseParams& whole, const WseParams& laid_out, OpResult& result) {
  std::string words;
  laid_out.for_each([&](const std::string& path, const ParamBase& parameter) {
    if (whole.find(path)->value_text() == parameter.value_text()) return;
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", path, parameter.value_text());
  });
  result.notes.emplace_back(kPlannedLayoutNote, words);
}

Pairs words_of(const LayoutRule& rule, const LayerOp& op, const wse::StreamLayout& layout) {
  Pairs words = rule.words(layout);
  if (has_weights(op)) words.emplace_back(kResidency, layout.resident ? "resident" : "streamed");
  return words;
}

namespace {

void say(const WaferRequest& request, const LayoutRule& rule, const wse::StreamLayout& layout,
         OpResult& result) {
  std::string words;
  for (const auto& [path, text] : words_of(rule, request.op, layout)) {
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", path, text);
  }
  result.notes.emplace_back(kPlannedLayoutNote, words);
  result.notes.emplace_back("estimate", fmt::format("{:.0f} cycles by counts", layout.cycles));
  add_idle_cores(request.params, result);
  result.remarks.push_back(fmt::format(
      "planned: {} x {} cores{}{}; {} others stand idle and draw power", layout.columns,
      layout.rows, layout.groups == 1 ? "" : fmt::format(" in {} groups", layout.groups),
      layout.keeps_zeros ? ", zeros kept as that is faster" : "", result.idle_units));
}

}  // namespace

namespace {

/// Runs a layout, without record if that is not `whole`; nothing if it is refused, or takes more
/// cycles than `limit`.
std::optional<OpResult> attempt(const WaferRequest& request, const LayoutRule& rule,
                                const wse::StreamLayout& layout, bool whole, Cycle limit) {
  WseParams params = rule.laid_out(layout);
  if (limit != kNever) {
    params.runs = std::make_shared<ProductRuns>();
    params.runs->limit = limit;
  }
  const Execution plain;  // how a row is run is no part of its layout
  try {
    return run_wafer_row({request.machine, params, placed(request.op, layout), request.mask,
                          request.seed, whole ? request.execution : plain});
  } catch (const OutOfMemoryError&) {  // counts of a mask are not even
  } catch (const UnsupportedError&) {
  } catch (const CycleLimitPassed&) {
  }
  return std::nullopt;
}

/// The fastest of those that are simulated; their number if all are refused.
std::size_t fastest(const WaferRequest& request, const LayoutRule& rule,
                    const PlannedLayouts& planned) {
  if (planned.simulated == 1) return 0;
  std::size_t best = planned.simulated;
  Cycle least = kNever;
  for (std::size_t i = 0; i < planned.simulated; ++i) {
    const auto result = attempt(request, rule, planned.layouts[i], false, least);
    if (!result || result->cycles >= least) continue;
    least = result->cycles;
    best = i;
  }
  return best;
}

}  // namespace

OpResult run_planned(const WaferRequest& request, const LayoutRule& rule) {
  const PlannedLayouts planned = rule.layouts(request.op, request.mask);
  if (planned.layouts.empty()) return run_wafer_row(request);
  std::size_t at = fastest(request, rule, planned);
  for (; at < planned.layouts.size(); ++at) {
    std::optional<OpResult> result = attempt(request, rule, planned.layouts[at], true, kNever);
    if (!result) continue;
    say(request, rule, planned.layouts[at], *result);
    return *std::move(result);
  }
  return run_wafer_row(request);
}

}  // namespace lacuna
