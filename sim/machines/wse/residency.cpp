// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/cycle_limit.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

/// Why no row of the workload keeps its weights unless it is asked to; empty if they may.
std::string no_choice(const WseParams& params, const WorkloadTrace& workload) {
  if (params.fed_from_store) return "the store of the system streams them";
  for (const LayerOp& op : workload.ops) {
    if (op.phase == Phase::fwd && op.op != "optim") continue;
    return fmt::format("'{}' is a row of training, which changes them in every step", op.id);
  }
  return {};
}

/// What must be equal for two operations to need as much memory; of masked ones nothing is.
std::string shape_of(const LayerOp& op) {
  std::string text = fmt::format("{} {} {}x{}x{} {} {} {}", op.op, op.fn, op.m, op.k, op.n,
                                 op.batch, word(op.dtype), word(op.partials));
  for (const auto& [key, value] : op.args) text += fmt::format(" {}={}", key, value);
  return op.pattern.name == "dense" ? text : op.id;
}

class WaferShare {
 public:
  WaferShare(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
             const ResidentOn& resident_on)
      : params_(params),
        workload_(workload),
        mask_of_(mask_of),
        resident_on_(resident_on),
        reason_(no_choice(params, workload)) {}

  void fill() {
    for (LayerOp& op : workload_.ops) {
      op.share = {};
      if (has_weights(op) && !runs_as_tasks(params_, op)) add_product(op);
    }
    mark_taken();
    const bool left_open = any_of(rows_, [](const Row& row) { return row.automatic; });
    if (left_open && reason_.empty()) decide();
    const std::uint64_t staying = reason_.empty() ? asked_ + open_ : asked_;
    for (LayerOp& op : workload_.ops) op.share.beside = staying;
    for (const Row& row : rows_) {
      if (row.automatic && reason_.empty()) row.op->share.may_stay = true;
      if (row.automatic) row.op->share.reason = reason_;
      const bool counted = !row.automatic || reason_.empty();
      if (counted) row.op->share.beside -= row.need.weights;
    }
  }

 private:
  struct Row {
    LayerOp* op = nullptr;
    bool automatic = false;
    wse::StreamingNeed need;  // with resident weights
  };

  void add_product(LayerOp& op) {
    try {
      const Residency asked = wse::residency_of(op);
      if (asked == Residency::streamed) return;
      const bool automatic = asked == Residency::automatic;
      if (automatic && !reason_.empty()) {
        rows_.push_back({&op, true, {}});
        return;
      }
      const Mask* const mask = mask_of_(op);
      const wse::StreamingNeed need = wse::streaming_need(streaming_job(op, mask, true),
                                                          streaming_setup(resident_on_(op, mask)));
      rows_.push_back({&op, automatic, need});
      // Executions of one row are of as many products, each with weights of its own.
      (automatic ? open_ : asked_) += need.weights * op.repeat;
      working_ = std::max(working_, need.all - need.weights);
      limit_ = need.limit;
    } catch (const UnsupportedError&) {  // the run says why
    }
  }

  /// Results that later rows work on, where they lie.
  void mark_taken() {
    std::map<std::string, LayerOp*> products;
    for (LayerOp& op : workload_.ops) {
      if (!op.sources.empty()) {
        for (const std::string& id : op.depends_on) {
          const auto maker = products.find(id);
          if (maker != products.end()) maker->second->share.result_taken = true;
        }
      }
      if (has_weights(op)) products[op.id] = &op;
    }
  }

  /// Whether all weights fit beside what each row works on.
  void decide() {
    std::map<std::string, std::uint64_t> known;
    for (const LayerOp& op : workload_.ops) {
      if (has_weights(op)) continue;
      const auto [place, is_new] = known.try_emplace(shape_of(op), 0);
      if (is_new) place->second = estimated_beside(params_, op, mask_of_(op)).bytes;
      working_ = std::max(working_, place->second);
    }
    const std::uint64_t all = asked_ + open_;
    if (all + working_ <= limit_) return;
    reason_ = fmt::format(
        "those of {} rows would take {} B of the fullest core, of whose {} B the rows need up to "
        "{} B to work",
        rows_.size(), all, limit_, working_);
  }

  const WseParams& params_;
  WorkloadTrace& workload_;
  const MaskOf& mask_of_;
  const ResidentOn& resident_on_;
  std::string reason_;
  std::vector<Row> rows_;
  std::uint64_t asked_ = 0;    // bytes of the fullest core: of rows that ask for it
  std::uint64_t open_ = 0;     // of those that leave it open
  std::uint64_t working_ = 0;  // beside weights, of the row that needs most
  std::uint64_t limit_ = 0;
};

/// A product with its weights in one of the two places.
class WeightsRun {
 public:
  explicit WeightsRun(const WaferRequest& request)
      : request_(request),
        params_(request.params),
        op_(request.op),
        mask_(request.mask),
        execution_(request.execution) {}

  OpResult in(Residency place) const { return in(place, execution_, nullptr); }

  OpResult faster() const;

 private:
  OpResult in(Residency place, const Execution& execution, RowSample* sample) const {
    const bool resident = place == Residency::resident;
    OpResult result = run_kept(request_.with(op_, execution), resident, sample);
    result.residency = word(place);
    result.mode = word(wse::kernel_of(mask_ != nullptr, place));
    add_moves(request_, resident, result);
    // its result has to be where streamed weights leave theirs
    if (resident && op_.share.result_taken) add_moves(request_, true, result, MoveSide::after);
    return result;
  }

  std::string held_text() const;

  Cycle least(Residency place) const {
    // what its mask leaves is not known here
    if (op_.x_pattern != "dense" && place == Residency::resident) return 0;
    return wse::least_cycles(
        streaming_job(op_, mask_, place == Residency::resident, op_.share.beside),
        streaming_setup(params_));
  }

  /// A place where weights may live, and what is known of it.
  struct Place {
    Residency residency;
    Cycle least = 0;
    Cycle most = kNever;  // of a sample: if all rows were the fullest
    std::optional<OpResult> result = {};
    std::string refused = {};
    std::string unknown = {};  // why it is not simulated
    bool in_part = false;      // simulated by a sample of rows

    std::optional<CycleLimitPassed> passed = {};  // it takes longer than anyone wants to know

    Cycle cycles() const { return result ? result->cycles : kNever; }
  };

  [[noreturn]] static void give_up(const std::vector<Place>& places);
  void simulate(Place& place, bool only) const;
  void sample(Place& place) const;
  Place* best_of(std::vector<Place>& places) const;
  void require_times(Residency place) const;
  std::string comparison(const Place& best, const Place& other) const;

  const WaferRequest& request_;
  const WseParams& params_;
  const LayerOp& op_;
  const Mask* mask_;
  const Execution& execution_;
};

/// Rows of a sample: so many tokens times cores, but no fewer than some and no more than others.
constexpr std::uint64_t kSampled = std::uint64_t{1} << 21U;
constexpr std::uint64_t kFewestRows = 8;
constexpr std::uint64_t kMostRows = 128;

/// How far a sample was from all rows, of 300 random products with the sample drawn at random too.
constexpr const char* kSampleErrors =
    "of 300 random products nine of ten samples were within 0.11 % of all rows, the worst 27 % off";

/// Tokens times cores, if they all differ.
std::uint64_t scattered_steps(const WseParams& params, const LayerOp& op, bool sparse) {
  if (!sparse || params.resident.storage != wse::ResidentStorage::nonzeros) return 0;
  return tokens_of(op) * params.cores();
}

bool takes_long(const WseParams& params, const LayerOp& op, const Mask* mask) {
  return scattered_steps(params, op, mask != nullptr) > kMostScattered;
}

/// Whether what is wanted of a run is there with a few rows.
bool wants_times(const Execution& execution) {
  return execution.fold && !execution.values && !execution.event_log && execution.interval == 0 &&
         execution.view == 0 && execution.jitter == 0;
}

const char* phrase(Residency place) {
  return place == Residency::resident ? "stay in the cores" : "are streamed";
}

template <class Action>
void attempt(std::string& refused, const Action& action) {
  try {
    action();
  } catch (const OutOfMemoryError& error) {
    refused = error.what();
  } catch (const UnsupportedError& error) {
    refused = error.what();
  }
}

void WeightsRun::sample(Place& place) const {
  RowSample rows;
  rows.rows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      kSampled / (tokens_of(op_) * params_.wafer.columns), kFewestRows, kMostRows));
  const bool enough = wants_times(execution_);
  place.result = in(place.residency, enough ? execution_ : without_record(execution_), &rows);
  place.most = rows.fullest + (place.result->cycles - rows.cycles);  // and moves
  place.in_part = true;
}

/// Of all rows, which may take hours, only what asks for them by its residency is simulated.
void WeightsRun::require_times(Residency place) const {
  if (wants_times(execution_)) return;
  throw UnsupportedError(fmt::format(
      "residency auto: weights {}, as a sample of rows says, and --fold off, --values, --interval, "
      "--view and --event-log need all rows of {} cores that all differ, with {} tokens: minutes "
      "to hours; residency {} simulates them all, residency {} the other way",
      phrase(place), params_.cores(), tokens_of(op_), word(place),
      word(place == Residency::resident ? Residency::streamed : Residency::resident)));
}

void WeightsRun::simulate(Place& place, bool only) const {
  const bool resident = place.residency == Residency::resident;
  if (resident && op_.x_pattern == "dense" && takes_long(params_, op_, mask_)) {
    attempt(place.unknown, [&] { sample(place); });
    if (place.result || !only) return;
  }
  try {
    attempt(place.refused, [&] { place.result = in(place.residency); });
  } catch (const CycleLimitPassed& passed) {
    place.passed = passed;
  }
  if (place.result) place.least = place.most = place.result->cycles;
}

/// What a remark says of the place that was not taken.
std::string WeightsRun::comparison(const Place& best, const Place& other) const {
  if (!other.refused.empty()) return "it is not possible otherwise: " + other.refused;
  if (!other.unknown.empty() && other.least < best.most) {
    return fmt::format(
        "not compared with resident ones, of at least {} cycles: {}; residency "
        "resident does",
        other.least, other.unknown);
  }
  std::string text =
      other.result && !other.in_part
          ? fmt::format("{} cycles if they {}", other.result->cycles, phrase(other.residency))
      : other.least >= best.most || !other.result
          ? fmt::format("at least {} cycles if they {}", other.least, phrase(other.residency))
          : fmt::format("about {} cycles if they {}", other.cycles(), phrase(other.residency));
  if (best.most <= other.least) return text;
  const Place& part = best.in_part ? best : other;
  return text +
         fmt::format(
             ", by a sample of rows ({}): counts say at least {} of all, and {} if each held "
             "as much as any",
             kSampleErrors, part.least, part.most);
}

/// If one of them may be within the limit after all, that is unknown of the product too.
void WeightsRun::give_up(const std::vector<Place>& places) {
  CycleLimitPassed passed("weights in either place");
  for (const Place& place : places) {
    passed.unknown = passed.unknown || (place.passed && place.passed->unknown);
  }
  throw passed;
}

/// Simulates what may be the faster of `places`, which are in the order of their bounds: a place
/// only if its bound does not rule it out. Null if none has a result.
WeightsRun::Place* WeightsRun::best_of(std::vector<Place>& places) const {
  Place* best = nullptr;
  for (Place& place : places) {
    const bool wins_ties = place.residency == Residency::streamed;
    const Cycle to_beat = best == nullptr ? kNever : best->most;
    if (!place.refused.empty() || place.least > to_beat) continue;
    if (place.least == to_beat && !wins_ties) continue;
    if (params_.runs != nullptr && place.least > params_.runs->limit) {
      place.passed.emplace("the bound of a product");
      continue;
    }
    simulate(place, !places.back().refused.empty());
    if (!place.result) continue;
    const Cycle so_far = best == nullptr ? kNever : best->cycles();
    if (place.cycles() < so_far || (place.cycles() == so_far && wins_ties)) best = &place;
  }
  return best;
}

/// The place with the smaller bound first. Equal times leave them outside.
OpResult WeightsRun::faster() const {
  std::vector<Place> places = {{Residency::streamed}, {Residency::resident}};
  for (Place& place : places) attempt(place.refused, [&] { place.least = least(place.residency); });
  const auto before = [](const Place& a, const Place& b) {
    return std::pair(!a.refused.empty(), a.least) < std::pair(!b.refused.empty(), b.least);
  };
  sort_all(places, before);
  Place* best = best_of(places);
  const bool passed = any_of(places, [](const Place& place) { return place.passed.has_value(); });
  if (passed && best != nullptr) {  // a remark compares the two
    params_.runs->limit = kNever;
    return faster();
  }
  if (passed) give_up(places);
  if (best == nullptr) return in(Residency::streamed);  // says what it lacks
  const Place& other = best == places.data() ? places.back() : places[0];
  const std::string against = comparison(*best, other);
  if (best->in_part) require_times(best->residency);
  OpResult result = std::move(*best->result);
  result.remarks.push_back(fmt::format("weights {} (residency auto): {} cycles, {}{}",
                                       phrase(best->residency), result.cycles, against,
                                       held_text()));
  return result;
}

/// What resident weights take of memory, or would; empty if they cannot be, as in some groups of
/// columns in which they can be streamed.
std::string WeightsRun::held_text() const {
  try {
    const wse::StreamingNeed need =
        wse::streaming_need(streaming_job(op_, mask_, true), streaming_setup(params_));
    return fmt::format(
        "; {} B of the fullest core, which has {} B and would hold {} B with those of all rows",
        need.weights, need.limit, need.weights + op_.share.beside);
  } catch (const UnsupportedError&) {
    return "";
  }
}

}  // namespace

bool may_stay(const LayerOp& op) {
  const bool asked = op.residency == Residency::resident || op.mode == Mode::static_;
  return has_weights(op) && (asked || op.share.may_stay);
}

OpResult run_kept(const WaferRequest& request, bool resident, RowSample* sample) {
  ProductRuns* const runs = request.params.runs.get();
  if (runs == nullptr || request.op.x_pattern != "dense" || !request.execution.asks_for_nothing()) {
    return run_streamed(request, resident, sample);
  }
  const std::pair key(resident, sample == nullptr ? 0U : sample->rows);
  auto known = runs->kept.find(key);
  if (known != runs->kept.end()) {
    ++runs->found;
  } else {
    ProductRuns::Kept made;
    made.result = run_streamed(request, resident, sample);
    if (sample != nullptr) made.sampled = sample->cycles;
    if (sample != nullptr) made.fullest = sample->fullest;
    known = runs->kept.emplace(key, std::move(made)).first;
  }
  if (sample != nullptr) sample->cycles = known->second.sampled;
  if (sample != nullptr) sample->fullest = known->second.fullest;
  return known->second.result;
}

void share_wafer(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
                 const ResidentOn& resident_on) {
  WaferShare(params, workload, mask_of, resident_on).fill();
}

namespace {

OpResult run_placed(const WaferRequest& request) {
  const auto& [machine, params, op, mask, seed, execution] = request;
  const WeightsRun run(request);
  const Residency asked = wse::residency_of(op);
  if (asked == Residency::automatic && op.share.may_stay) return run.faster();
  OpResult result = run.in(asked == Residency::resident ? asked : Residency::streamed);
  if (asked == Residency::automatic && !op.share.reason.empty()) {
    result.remarks.push_back("weights are streamed (residency auto): " + op.share.reason);
  }
  if (op.mode == Mode::static_ && mask == nullptr) {
    result.remarks.emplace_back(
        "mode static of dense weights means residency resident on a wafer, and was run as that");
  }
  if (asked == Residency::resident && op.share.beside != 0) {
    const wse::StreamingNeed need =
        wse::streaming_need(streaming_job(op, mask, true), streaming_setup(params));
    result.remarks.push_back(
        fmt::format("weights stay in the cores: {} B of the fullest, {} B with those of all rows, "
                    "of {} B",
                    need.weights, need.weights + op.share.beside, need.limit));
  }
  return result;
}

}  // namespace

OpResult run_weights(const WaferRequest& request) {
  OpResult result = run_placed(request);
  if (request.op.x_pattern == "dense") return result;
  if (result.residency == word(Residency::streamed)) {
    result.remarks.emplace_back(
        "no zero of X is left out: X is at rest, and an instruction that a weight starts covers "
        "all tokens of a core");
  } else {
    LayerOp held = request.op;
    held.residency = Residency::resident;
    add_filter_remark(request.with(held, request.execution), run_placed, result);
  }
  return result;
}

void add_filter_remark(const WaferRequest& request, OpResult (*run)(const WaferRequest&),
                       OpResult& result) {
  const WseParams& params = request.params;
  LayerOp op = request.op;
  op.x_pattern = "dense";
  const OpResult whole = run(request.with(op, without_record(request.execution)));
  if (!params.ws.zero_filter) {
    result.remarks.push_back(
        fmt::format("ws.zero_filter = false: all of X is sent, its zeros too: {} cycles, where X "
                    "without zeros takes {}",
                    result.cycles, whole.cycles));
    return;
  }
  const double times =
      static_cast<double>(whole.cycles) / static_cast<double>(std::max<Cycle>(result.cycles, 1));
  result.remarks.push_back(
      fmt::format("{:.4g} % of X is zero and {}: {} cycles, {:.4g} times as fast as with all of X "
                  "({} cycles)",
                  100 * (1 - result.x_density.value_or(1)),
                  params.zero_filter.at == wse::FilterAt::receiver ? "dropped where it arrives"
                                                                   : "never leaves the sender",
                  result.cycles, times, whole.cycles));
}

std::string long_run(const WseParams& params, const LayerOp& op) {
  if (!has_weights(op) || op.mode == Mode::dynamic) return {};  // the latter is software
  if (wse::residency_of(op) != Residency::resident) return {};
  const std::uint64_t steps = scattered_steps(params, op, op.pattern.name != "dense");
  if (steps <= kMostScattered) return {};
  // 8 s for a token of 4096 x 4096 at 2:4 on 752,500 cores, on the machine where this was written
  constexpr double kSecondsOfAStep = 1e-5;
  const double seconds = kSecondsOfAStep * static_cast<double>(steps);
  const std::string time = seconds < 5400 ? fmt::format("{:.0f} minutes", std::ceil(seconds / 60))
                                          : fmt::format("{:.0f} hours", seconds / 3600);
  return fmt::format(
      "residency resident: {} cores whose non-zeros all differ, with {} tokens, are all "
      "simulated, which takes some {}; residency auto takes a sample of their rows and says so, "
      "and fewer tokens or cores (wafer.columns, wafer.rows) take less",
      params.cores(), tokens_of(op), time);
}

Cycle least_cycles_of_weights(const WseParams& params, const LayerOp& op, const Mask* mask) {
  const auto in = [&](bool resident) {
    return wse::least_cycles(streaming_job(op, mask, resident, 0), streaming_setup(params));
  };
  const Residency asked = wse::residency_of(op);
  if (asked != Residency::automatic) return in(asked == Residency::resident);
  std::string refused;
  Cycle least = kNever;
  for (const bool resident : {false, true}) {
    attempt(refused, [&] { least = std::min(least, in(resident)); });
  }
  return least != kNever ? least : in(false);
}

}  // namespace lacuna
