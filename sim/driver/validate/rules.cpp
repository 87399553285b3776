// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/validate/models.hpp"
#include "sim/driver/validate/wafer.hpp"
#include "sim/report/tables/csv_files.hpp"

namespace lacuna {

namespace {

enum class Quantity { rate, ratio, cycles, time };

struct MetricRule {
  const char* word;
  Quantity quantity;
};

constexpr std::array<MetricRule, 8> kMetrics = {{
    {"throughput", Quantity::rate},
    {"nonzero_throughput", Quantity::rate},
    {"nonzero_throughput_best_n", Quantity::rate},
    {"speedup_vs_dense", Quantity::ratio},
    {"speedup_vs_dense_IPU", Quantity::ratio},
    {"cycles", Quantity::cycles},
    {"clocks", Quantity::cycles},
    {"time", Quantity::time},
}};

struct UnitRule {
  const char* word;
  Quantity quantity;
  double scale;  // in FLOP/s, 1, cycles, s
};

constexpr std::array<UnitRule, 8> kUnits = {{
    {"TFLOP/s", Quantity::rate, 1e12},
    {"GFLOP/s", Quantity::rate, 1e9},
    {"x", Quantity::ratio, 1},
    {"cycles", Quantity::cycles, 1},
    {"clocks", Quantity::cycles, 1},
    {"s", Quantity::time, 1},
    {"ms", Quantity::time, 1e-3},
    {"us", Quantity::time, 1e-6},
}};

struct TypeRule {
  const char* word;  // small letters
  DType dtype;
  Partials partials;
};

constexpr std::array<TypeRule, 7> kTypes = {{
    {"fp16", DType::fp16, Partials::automatic},
    {"fp16.16", DType::fp16, Partials::fp16},
    {"fp16.32", DType::fp16, Partials::fp32},
    {"fp32", DType::fp32, Partials::automatic},
    {"bf16", DType::bf16, Partials::automatic},
    {"fp8", DType::fp8, Partials::automatic},
    {"int8", DType::int8, Partials::automatic},
}};

struct ModeRule {
  const char* word;
  Mode mode;
};

constexpr std::array<ModeRule, 4> kModes = {{
    {"dense", Mode::dense},
    {"static", Mode::static_},
    {"dynamic", Mode::dynamic},
    {"streamed", Mode::streamed},
}};

/// The n among which a best one is looked for, up to the largest of the published sweep. The
/// powers of four are the series of the published heat map.
constexpr std::array<std::uint32_t, 11> kBestOf = {4,    16,   64,    256,   1024, 2048,
                                                   4096, 8192, 16384, 32768, 65536};

bool is_power_of_four(std::uint32_t n) {
  while (n % 4 == 0) n /= 4;
  return n == 1;
}

/// The benchmark programs whose masks are known, by the remark behind a workload: the rule of their
/// points that do not name one.
struct RemarkRule {
  const char* word;
  const char* mask_rule;
};

constexpr std::array<RemarkRule, 1> kRemarks = {{{"popsparse", "popsparse"}}};

/// The row of `table` for `word`; Unsupported lists the words there are.
template <typename Table>
const typename Table::value_type& rule(const Table& table, const char* what,
                                       const std::string& word) {
  std::string words;
  for (const auto& row : table) {
    if (word == row.word) return row;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", row.word);
  }
  throw Unsupported{fmt::format("{} '{}' is not one of {}", what, word, words)};
}

/// A word without what stands in parentheses behind it: "spmm(popsparse)" is "spmm".
std::string plain(const std::string& word) {
  std::string text = word.substr(0, word.find('('));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// What stands in parentheses behind a word, or nothing.
std::string remark(const std::string& word) {
  const std::size_t open = word.find('(');
  const std::size_t close = word.find(')', open);
  if (close == std::string::npos) return {};
  return word.substr(open + 1, close - open - 1);
}

struct PointSystem {
  std::string machine;
  std::string clock;
};

/// A word for all chips or wafers of a maker.
bool is_kind(const std::string& name) {
  constexpr std::array<const char*, 5> kKinds = {"ipu", "wse", "cs", "wafer", "gpu"};
  return any_of(kKinds, [&name](const char* kind) { return name == kind; });
}

/// What a point measures is time, or something that follows from it: what training learns, and how
/// much work a publication says it was, no simulation of time can tell.
void require_simulated(const ValidationPoint& point) {
  const std::string metric = lower_case(point.metric);
  for (const char* const quality : {"loss", "accuracy", "perplexity", "quality"}) {
    if (metric.find(quality) == std::string::npos) continue;
    throw Unsupported{
        fmt::format("metric '{}': what training learns is not simulated", point.metric)};
  }
  if (metric.find("flops_metric") != std::string::npos) {
    throw Unsupported{fmt::format(
        "metric '{}': a count of operations by the publication's own rule; no time to compare",
        point.metric)};
  }
}

/// "Bow-IPUx1@1.85GHz" is one chip of the preset bow at 1.85 GHz.
PointSystem system_of(const ValidationPoint& point, const std::vector<std::string>& presets) {
  PointSystem system;
  std::string name = plain(point.system);
  if (const std::size_t at = name.find('@'); at != std::string::npos) {
    system.clock = name.substr(at + 1);
    name.erase(at);
    const std::size_t unit = system.clock.find("GHz");
    if (unit == std::string::npos || unit + 3 != system.clock.size()) {
      throw Unsupported{fmt::format("clock '{}' is not in GHz", system.clock)};
    }
    system.clock.erase(unit);
  }
  name = lower_case(name);
  for (const char* const ending : {"x1", "-ipu"}) {
    if (ends_with(name, ending)) name.erase(name.size() - std::string_view(ending).size());
  }
  if (!contains(presets, name)) {
    const std::string what = is_kind(name) ? "names a kind of machine and not which one of it"
                                           : "is not a machine of Lacuna";
    throw Unsupported{fmt::format("'{}' {}", plain(point.system), what)};
  }
  system.machine = name;
  return system;
}

/// How the mask of a point was drawn: "uniform", or "popsparse" with or without ":SEED".
std::string mask_rule_of(const ValidationPoint& point) {
  if (!point.mask_rule.empty()) return point.mask_rule;
  const std::string whose = remark(point.workload);
  for (const RemarkRule& known : kRemarks) {
    if (whose == known.word) return known.mask_rule;
  }
  return "uniform";
}

/// Which elements the point's matrix keeps: as many positions as make at least its density.
PatternSpec pattern_of(const ValidationPoint& point, Mode mode) {
  PatternSpec pattern;
  if (mode == Mode::dense) return pattern;
  pattern.name = point.block > 1 ? "block" : "unstructured";
  pattern.density = point.density ? *point.density : Decimal{1, 0};
  pattern.block_rows = std::max(point.block, 1U);
  pattern.block_cols = pattern.block_rows;
  pattern.args = {{"round", "ceil"}};
  const std::string rule = mask_rule_of(point);
  if (rule == "uniform") return pattern;
  const std::size_t colon = rule.find(':');
  pattern.args.emplace_back("mask_rule", rule.substr(0, colon));
  if (colon != std::string::npos) pattern.args.emplace_back("rule_seed", rule.substr(colon + 1));
  return pattern;
}

/// One product, as a point describes it; n is left open.
ValidationRun product_of(const ValidationPoint& point, const PointSystem& system) {
  ValidationRun run{system.machine, system.clock, {}};
  const TypeRule& type = rule(kTypes, "dtype", lower_case(point.dtype));
  run.op.dtype = type.dtype;
  run.op.partials = type.partials;
  run.op.mode = point.mode.empty() ? Mode::dense : rule(kModes, "mode", point.mode).mode;
  // a dense product may be credited with the non-zeros alone, if that is what the point says
  const bool sparse = point.block > 1 || (point.density && point.density->value() < 1);
  if (point.mode.empty() && sparse) {
    throw Unsupported{"the mode of a product with zeros is not given: dense, static or dynamic"};
  }
  if (!point.m || !point.k) throw Unsupported{"the shape is not given"};
  run.op.m = *point.m;
  run.op.k = *point.k;
  run.op.pattern = pattern_of(point, run.op.mode);
  const std::vector<PatternDiagnostic> problems = check_pattern(run.op.pattern, *point.m, *point.k);
  if (!problems.empty()) {
    throw TraceError(fmt::format("{}:{}: {} = {} is not possible: {}", point.file, point.line,
                                 problems.front().cell, problems.front().found,
                                 problems.front().allowed));
  }
  return run;
}

/// The same product without zeros left out.
ValidationRun dense_form(ValidationRun run) {
  run.op.mode = Mode::dense;
  run.op.pattern = PatternSpec{};
  return run;
}

std::vector<std::uint32_t> columns_of(const ValidationPoint& point) {
  if (point.best_n) return {kBestOf.begin(), kBestOf.end()};
  if (!point.n) throw Unsupported{"the shape is not given"};
  return {*point.n};
}

/// What distinguishes runs that are no plain products.
std::string further_name(const ValidationRun& run) {
  std::string text = run.settings.empty() ? "" : fmt::format(" {} {}", run.op.op, run.op.fn);
  for (const auto& [key, value] : run.op.args) text += fmt::format(" {}={}", key, value);
  for (const std::string& setting : run.settings) text += " " + setting;
  return run.statistic.empty() ? text : text + " " + run.statistic;
}

std::string rule_name(const PatternSpec& pattern) {
  std::string text;
  for (const auto& [key, value] : pattern.args) {
    if (key != "round") text += fmt::format(" {} {}", key, value);
  }
  return text;
}

std::string name_of(const ValidationRun& run) {
  const PatternSpec& pattern = run.op.pattern;
  return fmt::format("{} {} {}x{}x{} {}/{} {} {} block {} {}", run.machine, run.clock, run.op.m,
                     run.op.k, run.op.n, word(run.op.dtype), word(run.op.partials),
                     word(run.op.mode), pattern.name, pattern.block_rows,
                     pattern.density ? pattern.density->text() : "") +
         rule_name(pattern) +
         (run.op.op == "gemm" && run.op.batch == 1
              ? ""
              : fmt::format(" {} {} batch {}", run.op.op, run.op.fn, run.op.batch)) +
         further_name(run);
}

/// The products that count: a multiplication by a stored weight is two operations, and a dense
/// product at density d is credited with as many as a sparse one.
double flop_of(const ValidationPoint& point, const ValidationRun& run) {
  const double density = point.density ? point.density->value() : 1;
  return 2.0 * run.op.m * run.op.k * run.op.n * density;
}

/// What a point of this quantity is in, from one run.
double value_of(Quantity quantity, double flop, const ValidationRunResult& result) {
  const auto cycles = static_cast<double>(result.cycles);
  const double seconds = cycles / (result.clock_ghz * 1e9);
  switch (quantity) {
    case Quantity::rate:
    case Quantity::ratio:
      return flop / seconds;
    case Quantity::cycles:
      return cycles;
    case Quantity::time:
      return seconds;
  }
  return 0;
}

/// The best of several values: the fastest.
bool better(Quantity quantity, double value, double than) {
  const bool larger = quantity == Quantity::rate || quantity == Quantity::ratio;
  return larger ? value > than : value < than;
}

Pairs cells_of(const ValidationPoint& point) {
  return {{"m", cell_text(point.m)},
          {"k", cell_text(point.k)},
          {"n", point.best_n ? "best" : cell_text(point.n)},
          {"density", point.density ? point.density->text() : ""},
          {"block", point.block == 0 ? "" : fmt::format("{}", point.block)},
          {"dtype", point.dtype},
          {"mode", point.mode},
          {"seen", point.seen},
          {"best_n", ""},
          {"simulated_other_n", ""}};
}

/// The best of `runs` for a point, or the reason why there is none.
struct Best {
  std::optional<double> value;
  Status status = Status::out_of_memory;
  std::string reason;
  std::string n;
};

/// Which n a best one is looked for among.
enum class Among { all, powers_of_four };

/// Sparse products have the series of the published heat map, dense ones were measured at the
/// others too.
Among usual(Mode mode) { return mode == Mode::dense ? Among::all : Among::powers_of_four; }

Best best_of(const ValidationPoint& point, Quantity quantity, const std::vector<std::size_t>& which,
             const std::vector<ValidationRun>& runs,
             const std::vector<ValidationRunResult>& results, Among among = Among::all) {
  Best best;
  for (const std::size_t i : which) {
    if (among == Among::powers_of_four && !is_power_of_four(runs[i].op.n)) continue;
    const ValidationRunResult& result = results[i];
    if (result.status == Status::out_of_memory) {
      if (!best.value) best.reason = result.reason;
      continue;
    }
    // a run that should have been possible and was not leaves the best unknown
    if (result.status != Status::ok) return {{}, result.status, result.reason, ""};
    const double value = value_of(quantity, flop_of(point, runs[i]), result);
    if (best.value && !better(quantity, value, *best.value)) continue;
    best = {value, Status::ok, "", fmt::format("{}", runs[i].op.n)};
  }
  return best;
}

ValidationOutcome with_best(ValidationOutcome outcome, const Best& best, double scale) {
  outcome.status = best.status;
  outcome.reason = best.reason;
  if (best.value) outcome.simulated = *best.value / scale;
  return outcome;
}

void set_cell(ValidationOutcome& outcome, const std::string& column, const std::string& text) {
  for (auto& [name, value] : outcome.cells) {
    if (name == column) value = text;
  }
}

}  // namespace

ValidationPlan::ValidationPlan(ValidationPoints points, std::vector<std::string> presets)
    : points_(std::move(points)), presets_(std::move(presets)) {
  plan();
}

void ValidationPlan::plan() {
  recipes_.clear();
  runs_.clear();
  known_.clear();
  for (const ValidationPoint& point : points_) {
    try {
      recipes_.push_back(recipe_of(point));
    } catch (const Unsupported& unsupported) {
      Recipe recipe;
      recipe.unsupported = unsupported.reason;
      recipe.family = fmt::format("{} {} {}", plain(point.system), point.workload, point.metric);
      recipes_.push_back(std::move(recipe));
    }
  }
}

std::size_t ValidationPlan::run_of(const ValidationRun& run) {
  const std::string name = name_of(run);
  const auto [found, fresh] = known_.emplace(name, runs_.size());
  if (fresh) {
    runs_.push_back(run);
    runs_.back().op.id = name;
  }
  return found->second;
}

ValidationPlan::Recipe ValidationPlan::recipe_of(const ValidationPoint& point) {
  if (const std::optional<WaferRecipe> wafer = wafer_recipe(point)) {
    Recipe recipe;
    recipe.family = wafer->family;
    recipe.unsupported = wafer->unsupported;
    recipe.unread = wafer->unread;
    for (const ValidationRun& run : wafer->runs) recipe.runs.push_back(run_of(run));
    return recipe;
  }
  require_simulated(point);
  const PointSystem system = system_of(point, presets_);
  const std::string workload = plain(point.workload);
  if (is_model_inference(point)) return model_recipe(point, system.machine, system.clock);
  if (workload != "gemm" && workload != "spmm") {
    throw Unsupported{"the workload is not a product (gemm or spmm) or the inference of a model"};
  }
  const MetricRule& metric = rule(kMetrics, "metric", point.metric);
  const UnitRule& unit = rule(kUnits, "unit", point.unit);
  if (unit.quantity != metric.quantity) {
    throw Unsupported{fmt::format("unit '{}' does not fit metric '{}'", point.unit, point.metric)};
  }
  const ValidationRun product = product_of(point, system);
  const std::vector<std::uint32_t> columns = columns_of(point);  // before anything is enrolled
  Recipe recipe;
  recipe.family =
      fmt::format("{} {} {} {} {}{}", system.machine, workload, word(product.op.mode),
                  lower_case(point.dtype), point.metric, point.best_n ? ", best n" : "");
  for (const std::uint32_t n : columns) {
    ValidationRun run = product;
    run.op.n = n;
    recipe.runs.push_back(run_of(run));
    if (metric.quantity == Quantity::ratio) recipe.baseline.push_back(run_of(dense_form(run)));
  }
  return recipe;
}

ValidationPlan::Recipe ValidationPlan::model_recipe(const ValidationPoint& point,
                                                    const std::string& machine,
                                                    const std::string& clock) {
  const ModelInference model = model_inference(point);
  if (!model.unsupported.empty()) throw Unsupported{model.unsupported};
  Recipe recipe;
  recipe.family = fmt::format("{} {} inference {} {}", machine, model.name, lower_case(point.dtype),
                              point.metric);
  recipe.samples = model.samples;
  for (const LayerOp& op : model.ops) {
    const std::size_t run = run_of({machine, clock, op});
    const std::size_t known = place_in(recipe.runs, run).value_or(recipe.runs.size());
    if (known == recipe.runs.size()) {
      recipe.runs.push_back(run);
      recipe.times.push_back(0);
    }
    recipe.times[known] += op.repeat;
  }
  return recipe;
}

std::vector<std::string> ValidationPlan::families() const {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes_) {
    const bool known = contains(names, recipe.family);
    if (!known && recipe.unsupported.empty()) names.push_back(recipe.family);
  }
  return names;
}

void ValidationPlan::keep_families(const std::vector<std::string>& words) {
  if (words.empty()) return;
  ValidationPoints kept;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const bool wanted = any_of(words, [&](const std::string& word) {
      return recipes_[i].family.find(word) != std::string::npos;
    });
    if (wanted) kept.push_back(points_[i]);
  }
  points_ = std::move(kept);
  plan();
}

/// The same point with some of its runs as their machines plan them.
std::optional<LaidOutPoint> ValidationPlan::laid_out_point(
    const ValidationPoint& point, const Recipe& recipe,
    const std::vector<ValidationRunResult>& results) const {
  const ValidationRunResult& product = results[recipe.runs[0]];
  if (product.layout.empty()) return std::nullopt;
  LaidOutPoint laid{product.layout, product.layout_from, product.all_cycles, product.all_planned};
  const UnitRule& unit = rule(kUnits, "unit", point.unit);
  const auto value = [&](bool of_product) -> std::optional<double> {
    std::vector<ValidationRunResult> as = results;
    const auto plan = [&as](std::size_t i) {
      if (as[i].layout.empty()) return;
      as[i].cycles = as[i].planned;
      if (as[i].planned == 0) as[i].status = Status::out_of_memory;
    };
    if (of_product) plan(recipe.runs[0]);
    for (const std::size_t i : recipe.baseline) plan(i);
    const Best best = best_of(point, unit.quantity, recipe.runs, runs_, as);
    if (!best.value || recipe.baseline.empty()) return best.value;
    const Best dense = best_of(point, unit.quantity, recipe.baseline, runs_, as);
    return dense.value ? std::optional(*best.value / *dense.value) : std::nullopt;
  };
  const auto scaled = [&](std::optional<double> of) {
    return of ? std::optional(*of / unit.scale) : of;
  };
  laid.as_planned = scaled(value(true));
  laid.alone = scaled(value(false));
  return laid;
}

ValidationOutcome ValidationPlan::outcome_of(
    const ValidationPoint& point, const Recipe& recipe,
    const std::vector<ValidationRunResult>& results) const {
  ValidationOutcome outcome{
      point.id,    point.system, point.workload, point.metric, point.unit, recipe.family,
      point.value, {},           Status::ok,     "",           false,      cells_of(point)};
  if (!recipe.unsupported.empty()) {
    outcome.status = Status::unsupported;
    outcome.reason = recipe.unsupported;
    return outcome;
  }
  outcome.unread = recipe.unread;
  if (recipe.samples > 0) {
    add_model(recipe.runs, recipe.times, recipe.samples, results, outcome);
    return outcome;
  }
  const UnitRule& unit = rule(kUnits, "unit", point.unit);
  outcome.ratio = unit.quantity == Quantity::ratio;
  if (recipe.runs.size() == 1) outcome.laid_out = laid_out_point(point, recipe, results);
  const auto found = [&](Among among) {
    Best best = best_of(point, unit.quantity, recipe.runs, runs_, results, among);
    if (!outcome.ratio || !best.value) return best;
    const Best dense = best_of(point, unit.quantity, recipe.baseline, runs_, results);
    if (!dense.value) return Best{{}, dense.status, "the dense product: " + dense.reason, ""};
    *best.value /= *dense.value;
    return best;
  };
  if (!point.best_n) return with_best(outcome, found(Among::all), unit.scale);
  const Among among = usual(runs_[recipe.runs.front()].op.mode);
  const Best best = found(among);
  const Best other = found(among == Among::all ? Among::powers_of_four : Among::all);
  set_cell(outcome, "best_n", best.n);
  if (other.value) set_cell(outcome, "simulated_other_n", cell_text(*other.value / unit.scale));
  return with_best(outcome, best, unit.scale);
}

Outcomes ValidationPlan::outcomes(const std::vector<ValidationRunResult>& results) const {
  Outcomes all;
  all.reserve(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    all.push_back(outcome_of(points_[i], recipes_[i], results));
  }
  return all;
}

}  // namespace lacuna
