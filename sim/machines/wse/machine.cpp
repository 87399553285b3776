// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/sparsity/mask.hpp"
#include "models/wse/fabric/lane_limits.hpp"
#include "models/wse/fabric/queue.hpp"
#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "sim/machines/system/takes_streams.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/gradient.hpp"
#include "sim/machines/wse/inference/decoder_rows.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/layouts.hpp"
#include "sim/machines/wse/params.hpp"
#include "sim/machines/wse/planned.hpp"
#include "sim/machines/wse/residency.hpp"
#include "sim/machines/wse/rows.hpp"
#include "sim/machines/wse/silicon.hpp"
#include "sim/machines/wse/streaming.hpp"
#include "sim/machines/wse/target.hpp"
#include "sim/machines/wse/units.hpp"
#include "workloads/mapping/wse/residency.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/operand_sources.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

/// Whether rows are simulated in a second at most: by columns times rows of streams, and cores.
bool is_short(const WorkloadTrace& workload, const wse::StreamLayout& at) {
  constexpr std::uint64_t kShort = 100000;
  std::uint64_t cells = at.cores();
  for (const LayerOp& op : workload.ops) cells += std::uint64_t{op.m} * at.columns;
  return cells < kShort;
}

class WseMachine final : public Machine, public TakesStreams, public PlansLayouts {
 public:
  explicit WseMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "wse"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  std::vector<DeclaredStatistic> statistics() const override { return wafer_statistics(); }
  Silicon silicon() const override { return wafer_silicon(params_); }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    setter_.set(params_, path, text, origin);
  }
  Mode default_mode() const override { return Mode::streamed; }
  void plan_layouts(bool by_rule) override { by_rule_ = by_rule; }
  void take_as_not_given() override { setter_ = {}; }
  void begin_layout() override {
    if (!whole_) whole_ = std::make_shared<const WseParams>(params_);
  }
  std::vector<Pairs> planned(const LayerOp& op, const Mask* mask,
                             const Pairs& together) const override;
  std::vector<Pairs> planned_together(const WorkloadTrace& workload,
                                      const MaskOf& mask_of) const override;
  std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                            const Pairs& layout) const override {
    return rule().around(op, mask, layout);
  }
  void add_idle(OpResult& result) const override { add_idle_cores(params_, result); }
  void feed_from_store() override { params_.fed_from_store = true; }
  bool takes_while_it_gives() const override { return params_.io.duplex == wse::IoDuplex::full; }
  std::uint64_t memory_bytes() const override {
    const std::uint64_t kib = params_.mem.kib - std::min(params_.mem.code_kib, params_.mem.kib);
    return 1024 * kib * params_.cores();
  }

  void check() const override {
    const unsigned words = params_.core.fabric_words_per_issue;
    const unsigned sums = params_.queue.sums_in();
    if (wse::QueueShapes(params_.router).ramp_down(sums).capacity < words) {
      throw ParameterError(fmt::format(
          "queue.in: number 3 of {} words with router.ramp = {} can never hold the {} words that "
          "core.fabric_words_per_issue asks for",
          sums, params_.router.ramp.value(), words));
    }
    if (params_.router.link_cycles < params_.router.link_words) {
      throw ParameterError(
          fmt::format("router.link_cycles = {} is less than router.link_words = {}: a link passes "
                      "a word a cycle",
                      params_.router.link_cycles.value(), params_.router.link_words.value()));
    }
    if (params_.queue.sums_out() < 2) {
      throw ParameterError("queue.out: number 2, of partial sums, needs 2 words at least");
    }
    if (params_.mem.conflict_bytes != 8 && params_.mem.conflict_bytes != 16) {
      throw ParameterError(fmt::format("mem.conflict_bytes = {}: banks repeat after 8 or 16 bytes",
                                       params_.mem.conflict_bytes.value()));
    }
    if (params_.wafer.modules == wse::Modules::per_core &&
        (params_.wafer.columns > 64 || params_.wafer.rows > 64)) {
      throw ParameterError(fmt::format(
          "wafer.modules = per_core allows up to 64 x 64 cores, and wafer.columns x wafer.rows is "
          "{} x {}",
          params_.wafer.columns.value(), params_.wafer.rows.value()));
    }
    const std::uint64_t columns = params_.wafer.columns;
    const std::uint64_t cores = params_.wafer.cores;
    if (columns * params_.wafer.rows > cores) {
      throw ParameterError(fmt::format(
          "wafer.rows = {} is more than the {} that fit: {} columns of a wafer of {} cores; "
          "set wafer.rows={}, fewer wafer.columns or more wafer.cores",
          params_.wafer.rows.value(), cores / columns, columns, cores, cores / columns));
    }
    if (params_.wafer.columns > params_.wafer.program_columns) {
      throw ParameterError(fmt::format("wafer.columns = {} is more than wafer.program_columns = {}",
                                       params_.wafer.columns.value(),
                                       params_.wafer.program_columns.value()));
    }
  }

  std::string extent() const override {
    return fmt::format("{} x {} of {} cores", params_.wafer.columns.value(),
                       params_.wafer.rows.value(), params_.wafer.cores.value());
  }

  std::unique_ptr<Machine> clone() const override { return std::make_unique<WseMachine>(*this); }
  std::unique_ptr<Machine> taking_from(const std::vector<const Machine*>& makers) const override;
  Cycle operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t seed) const override;
  void share_runs(std::shared_ptr<ProductRuns> runs) override { params_.runs = std::move(runs); }
  const std::vector<LayoutSpace>& layouts() const override { return wafer_layout_spaces(); }
  const LayoutSpace* layout_space(const LayerOp& op, const Mask* /*mask*/) const override {
    return wafer_layout_space(params_, op);
  }

  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override;
  void place_operands(WorkloadTrace& workload) const override;

  std::vector<std::string> slow_settings() const override;
  std::string takes_long(const LayerOp& op) const override { return long_run(params_, op); }

  std::string describe_unit(const std::string& name) const override {
    return describe_wafer_unit(params_, name_, name);
  }

  std::optional<Cycle> least_cycles(const LayerOp& op, const Mask* mask) const override {
    const std::string kind = wafer_layout_kind(params_, op);
    if (kind.empty() || kind == kOnRectangle || kind == kMaskedProduct) return std::nullopt;
    return least_of_layouts(op, mask);
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  Cycle least_of_layouts(const LayerOp& op, const Mask* mask) const;
  LayoutRule rule() const { return {params_, setter_}; }

  std::string name_;
  WseParams params_;
  TargetSetter setter_;
  bool by_rule_ = false;                    // operations are laid out by LayoutRule
  std::shared_ptr<const WseParams> whole_;  // before its layout; null: it has none
  WseParams among_rows() const { return shared_ ? rule().laid_out(*shared_) : params_; }
  double cycles_of(const WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const;
  std::vector<wse::StreamLayout> together(WorkloadTrace& workload, const MaskOf& mask_of) const;

  /// As the rows of the workload that was related last are laid out together; nothing: as set.
  mutable std::optional<wse::StreamLayout> shared_;
};

/// What keeps rows from being simulated once for all that are alike, or a row from being stepped
/// as a whole, in the words of those who refuse to.
std::vector<std::string> WseMachine::slow_settings() const {
  std::vector<std::string> settings;
  const std::string lanes = wse::reason_against_lanes(params_.router);
  if (!lanes.empty()) settings.push_back(lanes + ", so that no row is stepped as a whole");
  if (!wse::QueueShapes(params_.router).flows()) {
    settings.emplace_back(
        "words stop in every router (router.entries = 1), so that no row is stepped as a whole");
  }
  if (params_.core.init_cycles != 0) {
    settings.emplace_back(
        "cores begin at a cycle, not with their first word (core.init_cycles), so that no row "
        "repeats another");
  }
  if (params_.wafer.modules == wse::Modules::per_core) {
    settings.emplace_back("each router and each core is a module of its own (wafer.modules)");
  }
  return settings;
}

void WseMachine::relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const {
  const bool follow =
      any_of(workload.ops, [](const LayerOp& op) { return !op.depends_on.empty(); });
  const ResidentOn resident_on = [&](const LayerOp& op, const Mask* mask) {
    if (!by_rule_ || follow) return among_rows();
    const std::vector<wse::StreamLayout> layouts = rule().resident(op, mask);
    return layouts.empty() ? params_ : rule().laid_out(layouts[0]);
  };
  shared_.reset();
  const auto share = [&] {
    find_sources(workload);  // an earlier way may have left some out
    share_wafer(among_rows(), workload, mask_of, resident_on);
    for (LayerOp& op : workload.ops) {
      op.share.among_rows = follow;
      if (!has_weights(op) || may_stay(op)) continue;
      op.share.beside = 0;  // streamed weights leave results where they are, beside nothing
      op.share.result_taken = false;
    }
    group_decoder_rows(params_, workload, mask_of, seed);
  };
  std::vector<wse::StreamLayout> layouts;
  if (by_rule_ && follow) layouts = together(workload, mask_of);
  std::optional<wse::StreamLayout> fastest;
  double least = 0;
  for (const wse::StreamLayout& layout : layouts) {
    shared_ = layout;
    if (layouts.size() == 1 || !is_short(workload, layout)) break;
    share();
    place_operands(workload);
    const double cycles = cycles_of(workload, mask_of, seed);
    if (fastest && cycles >= least) continue;
    fastest = layout;
    least = cycles;
  }
  if (fastest) shared_ = fastest;
  share();
  if (shared_ &&
      any_of(workload.ops, [](const LayerOp& op) { return op.share.group != nullptr; })) {
    // a group has a placement of its own, and rows beside it the wafer
    shared_.reset();
    share();
  }
  place_operands(workload);
}

/// What the rule says of all rows, of which those may stay that have room on the whole wafer.
std::vector<wse::StreamLayout> WseMachine::together(WorkloadTrace& workload,
                                                    const MaskOf& mask_of) const {
  find_sources(workload);
  wse::StreamLayout all;
  all.columns = params_.wafer.columns;
  all.rows = params_.wafer.rows;
  WseParams whole = rule().laid_out(all);
  share_wafer(whole, workload, mask_of, [&](const LayerOp&, const Mask*) { return whole; });
  return rule().shared(workload, mask_of);
}

/// Of all rows, one after the other; infinite if one cannot be.
double WseMachine::cycles_of(const WorkloadTrace& workload, const MaskOf& mask_of,
                             std::uint64_t seed) const {
  double sum = 0;
  for (const LayerOp& op : workload.ops) {
    try {
      sum += static_cast<double>(run(op, mask_of(op), row_seed(op, seed), {}).cycles) * op.repeat;
    } catch (const SimulationError&) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return sum;
}

/// Whole operands that lie in blocks wherever they come from make no difference.
void WseMachine::place_operands(WorkloadTrace& workload) const {
  find_sources(workload);
  const wse::StreamingParams ws = among_rows().ws;
  if (ws.k_partition != wse::KPartition::block) return;
  if (ws.inject != wse::Inject::column_top) return;
  const bool grouped = ws.groups != 1;
  if (grouped && ws.exchange == wse::Exchange::next) return;
  for (LayerOp& op : workload.ops) {
    const bool product = has_weights(op);
    if (op.batch != 1 || may_stay(op)) continue;
    const std::uint32_t width = product ? op.k : op.m;
    const std::uint32_t unit = op.fn == "rope" ? 2 : 1;
    // Groups of columns lie otherwise than what functions take and leave.
    const auto lies_there = [&](const OperandSource& source) {
      const bool alike = !grouped || product == source.of_product;
      return alike && source.features == width && source.unit == unit;
    };
    auto& sources = op.sources;
    if (is_gradient(op)) {  // which tells its two operands by their places
      const bool lie =
          all_of(sources, [&](const OperandSource& each) { return !grouped && each.unit == 1; });
      if (lie) sources.clear();
      continue;
    }
    erase_where(sources, lies_there);
  }
}

std::unique_ptr<Machine> WseMachine::taking_from(const std::vector<const Machine*>& makers) const {
  auto made = std::make_unique<WseMachine>(*this);
  made->params_.makers.clear();
  for (const Machine* const maker : makers) {
    const auto* const wafer = dynamic_cast<const WseMachine*>(maker);
    made->params_.makers.push_back(
        wafer == nullptr ? nullptr : std::make_shared<const WseParams>(wafer->params_));
  }
  return made;
}

Cycle WseMachine::operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
  if (op.sources.empty()) return 0;
  const bool resident = wse::residency_of(op) == Residency::resident;
  const Execution plain;
  return run_moves({name_, params_, op, mask, seed, plain}, resident).cycles;
}

std::vector<Pairs> WseMachine::planned(const LayerOp& op, const Mask* mask,
                                       const Pairs& together) const {
  std::vector<Pairs> words;
  if (wafer_layout_kind(params_, op).empty()) return words;
  const RowWays ways = rule().ways(op, mask, together);
  for (std::size_t i = 0; i < ways.simulated; ++i) words.push_back(ways.all[i].words);
  return words;
}

std::vector<Pairs> WseMachine::planned_together(const WorkloadTrace& workload,
                                                const MaskOf& mask_of) const {
  constexpr std::size_t kTried = 4;  // rectangles on which long rows are all simulated
  std::vector<Pairs> words;
  WorkloadTrace related = workload;
  for (const wse::StreamLayout& layout : together(related, mask_of)) {
    if (words.size() < kTried || is_short(workload, layout)) words.push_back(rule().words(layout));
  }
  if (words.empty()) words.emplace_back();
  return words;
}

/// What may run is the most promising layout that is not refused.
Cycle WseMachine::least_of_layouts(const LayerOp& op, const Mask* mask) const {
  const auto in = [&](const WseParams& params, const LayerOp& row) {
    const wse::StreamingSetup setup = streaming_setup(params);
    if (is_whole_gradient(params, op)) {
      return wse::least_cycles(streaming_job(row, nullptr, false), setup);
    }
    return is_sampled_gradient(op) ? wse::least_gradient_cycles(gradient_job(row, mask), setup)
                                   : least_cycles_of_weights(params, row, mask);
  };
  Cycle least = kNever;
  const auto add = [&](const WseParams& params, const LayerOp& row) {
    try {
      least = std::min(least, in(params, row));
    } catch (const OutOfMemoryError&) {
    } catch (const UnsupportedError&) {
    }
  };
  if (!by_rule_) return in(params_, op);
  const RowWays ways = rule().ways(op, mask, {});
  for (std::size_t i = 0; i < ways.all.size(); ++i) {
    const Pairs& words = ways.all[i].words;
    if (words.empty() && i >= ways.simulated) continue;
    const LaidRow row = rule().laid_out(op, {}, words);
    add(row.params, row.op);
  }
  return least != kNever ? least : in(params_, op);
}

OpResult WseMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
  OpResult result;
  const bool as_whole = whole_ && has_all_cores(op);
  const WaferRequest request{name_, as_whole ? *whole_ : params_, op, mask, seed, execution};
  const bool together = op.share.among_rows && shared_;
  result = together || by_rule_
               ? run_planned(request, rule(), together ? rule().words(*shared_) : Pairs())
               : run_wafer_row(request);
  if (params_.target != Target::none) {
    result.notes.emplace_back("target", params_.target.value_text());
  }
  return result;
}

}  // namespace

std::unique_ptr<Machine> make_wse_machine(std::string name) {
  return std::make_unique<WseMachine>(std::move(name));
}

}  // namespace lacuna
