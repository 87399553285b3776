// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <systemc>
#include <tuple>
#include <utility>

#include "models/ipu/ipu_chip.hpp"
#include "models/ipu/silicon.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "sim/base/ranges.hpp"
#include "sim/kernel/sim_context.hpp"
#include "sim/machines/ipu/explain.hpp"
#include "sim/machines/ipu/host.hpp"
#include "sim/machines/ipu/layouts.hpp"
#include "sim/machines/ipu/moves.hpp"
#include "sim/machines/ipu/phases.hpp"
#include "sim/machines/ipu/tile_series.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "sim/machines/result_builder.hpp"
#include "sim/machines/value_check.hpp"
#include "workloads/mapping/ipu/operation.hpp"
#include "workloads/mapping/ipu/product_bound.hpp"
#include "workloads/mapping/ipu/values.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

using ipu::PlannedOperation;

constexpr std::size_t kMostMarks = 2048;  // of a tile, for a view: two of each superstep

/// All parameters of an IPU: those of the chip, and what lies outside it.
struct IpuParams : ParameterSet {
  Param<double> clock = param(this, "clock", 1.325, range(0.001, 100.0), "GHz", "Tile clock.");
  Param<RoundMode> round = param(
      this, "round", RoundMode::nearest,
      Choices<RoundMode>{{"nearest", RoundMode::nearest}, {"stochastic", RoundMode::stochastic}},
      "How fp16 results of arithmetic are rounded; changes values, never cycles.");
  Group<ipu::FloorParams> ipu = group(this, "ipu", "The chip as a whole.");
  Group<ipu::TileParams> tile = group(this, "tile", "One tile.");
  Group<ipu::ExchangeParams> exchange = group(this, "exchange", "The fabric between tiles.");
  Group<ipu::SyncParams> sync = group(this, "sync", "The barrier of all tiles.");
  Group<ipu::WithoutParams> without =
      group(this, "without", "Idealisations, to see what a cost is worth; no hardware has them.");
  Group<ipu::PlannerParams> planner = group(this, "planner", "How products are cut over tiles.");
  Group<ipu::EncodeParams> activations =
      group(this, "activations", "Sparse operands that are made of activations.");
  Group<IpuHostParams> host = group(this, "host", "The host, for patterns that change.");
  Group<EnergyParams> energy = group(this, "energy", "What pricing needs to know of the chip.");

  lacuna::ipu::ChipParams chip() const {
    lacuna::ipu::ChipParams params;
    params.ipu = ipu;
    params.tile = tile;
    params.exchange = exchange;
    params.sync = sync;
    params.without = without;
    return params;
  }
};

/// What device profiles say of a run.
struct PhaseStats : StatGroup {
  PhaseStats() : StatGroup("chip") {}
  Counter kernel{this, "kernel_cycles", "cycles",
                 "Cycles of compute and exchange phases, waiting for barriers left out."};
};

/// The cycles in which some tile computes or exchanges, waiting for barriers left out: what device
/// profiles call the time of a kernel. Phases between which there is no barrier overlap; a cycle
/// of two of them counts once.
Cycle kernel_cycles(const std::vector<ipu::SuperstepTimes>& times) {
  Cycle total = 0;
  Cycle until = 0;
  const auto cover = [&](Cycle begin, Cycle end) {
    if (end <= until) return;
    total += end - std::max(begin, until);
    until = end;
  };
  for (const ipu::SuperstepTimes& step : times) {
    if (step.computed > step.begin) cover(step.begin, step.computed);
    if (step.released != kNever) cover(step.released, step.end);
  }
  return total;
}

CountsSoFar counts_of_tiles(const ipu::TileCycleStats& cycles, const ipu::TileWorkStats& work) {
  CountsSoFar counts = counts_of({&cycles, &work});
  counts.sram_bytes = work.bytes_sram_read.value() + work.bytes_sram_written.value();
  counts.fabric_bytes = work.exch_sent.value() * 4;
  return counts;
}

/// Runs one planned product on a chip and puts what happened into a result.
class IpuRun {
 public:
  IpuRun(const IpuParams& params, const GemmProblem& problem, const PlannedOperation& planned,
         const Execution& execution)
      : params_(params),
        problem_(problem),
        planned_(planned),
        execution_(execution),
        into_(execution, params.clock, params.ipu.tiles) {}

  OpResult run() {
    const SimContext context;
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    const sc_core::sc_time period(1000.0 / params_.clock, sc_core::SC_PS);
    ClockDomain clock("clock", period, execution_.engine);
    clock.shuffle(execution_.shuffle);
    const ipu::ChipParams chip_params = params_.chip();
    ipu::IpuChip chip("chip", clock, chip_params, planned_.lowered.program, execution_.engine,
                      execution_.event_log, execution_.interval,
                      execution_.view == 0 ? 0 : kMostMarks);
    result_.cycles = chip.run();
    result_.phases = ipu_phases(chip, planned_.lowered.program, execution_.explain);
    collect(chip);
    describe(chip);
    if (execution_.view != 0) {
      result_.units_in_time =
          std::make_shared<UnitSeries>(tile_series(chip, planned_.lowered.program, result_.cycles));
      check_units(*result_.units_in_time, result_);
    }
    if (!execution_.explain) {
      result_.phases.clear();  // what they moved is not known
    } else {
      result_.explanation =
          explain_ipu({chip, chip.costs(), chip_params, planned_.lowered.program, result_.cycles,
                       planned_.lowered.tile_bytes, planned_.notes, planned_.estimates});
    }
    if (execution_.values) {
      if (planned_.compare) {
        compare_values(chip);
      } else {
        check_values(chip);
      }
    }
    return into_.take();
  }

 private:
  void collect(const ipu::IpuChip& chip);
  void describe(const ipu::IpuChip& chip);
  void set_peaks();
  void check_values(const ipu::IpuChip& chip);
  void count_roundings(const ipu::IpuChip& chip);
  void compare_values(const ipu::IpuChip& chip);
  const IpuParams& params_;
  const GemmProblem& problem_;
  const PlannedOperation& planned_;
  const Execution& execution_;
  ResultBuilder into_;
  OpResult& result_ = into_.result;
};

void IpuRun::collect(const ipu::IpuChip& chip) {
  const ipu::TileWorkStats& work = chip.work_stats();
  into_.products(planned_.lowered.program.mac_algorithmic, planned_.mac_useful);
  into_.counted(counts_of_tiles(chip.cycle_stats(), work), work.bytes_sram_read.value(),
                work.bytes_sram_written.value());
  PhaseStats phases;
  phases.kernel += kernel_cycles(chip.times());
  into_.group(phases);
  set_peaks();
  if (execution_.interval != 0) {
    chip.for_each_border([&](Cycle at, const auto& cycles, const auto& so_far) {
      into_.border(at, counts_of_tiles(cycles, so_far));
    });
  }
  if (!execution_.event_log) return;
  into_.events(chip.events());
  std::vector<std::string> units;
  for (unsigned tile = 0; tile < params_.ipu.tiles; ++tile) {
    units.push_back(fmt::format("tile{}", tile));
  }
  units.emplace_back("chip");
  into_.event_names(std::move(units), ipu::event_kind_names());
}

void IpuRun::set_peaks() {
  const double tiles = params_.ipu.tiles;
  const ipu::AmpParams& amp = params_.tile.amp;
  // of the operands' type, whatever the partial sums are: kernels are compared by it
  unsigned macs = std::max(amp.fp16_macs.value(), amp.fp16_fp32_macs.value());
  if (planned_.types.data == DType::fp32) macs = amp.fp32_macs;
  if (planned_.types.data == DType::fp8) macs = amp.fp8_macs;
  result_.peaks.flop_per_cycle = 2.0 * macs * tiles;
  result_.peaks.sram_bytes_per_cycle =
      tiles * (params_.tile.memory.load_bytes + params_.tile.memory.store_bytes);
  result_.peaks.fabric_bytes_per_cycle = 4.0 * tiles;
}

void IpuRun::describe(const ipu::IpuChip& chip) {
  for (const auto& [name, text] : planned_.notes) into_.note(name, text);
  unsigned used = 0;
  for (unsigned tile = 0; tile < params_.ipu.tiles; ++tile) {
    if (chip.used(tile)) ++used;
  }
  into_.note("tiles used", fmt::format("{} of {}", used, params_.ipu.tiles.value()));
  into_.note("memory of a tile", fmt::format("{} of {} B", planned_.lowered.tile_bytes,
                                             params_.tile.memory.kib * 1024U));
  std::string estimates;
  for (const auto& [phase, cycles] : planned_.estimates) {
    estimates += fmt::format("{}{} {}", estimates.empty() ? "" : ", ", phase, cycles);
  }
  if (!estimates.empty()) into_.note("planner estimate", estimates);
  std::string phases;
  for (const PhaseTraffic& phase : result_.phases) {
    phases += fmt::format("{}{} {}", phases.empty() ? "" : ", ", phase.name, phase.cycles);
  }
  into_.note("phases", phases);
  into_.note("kernel cycles", fmt::format("{}", kernel_cycles(chip.times())));
}

/// Small integers are exact until a sum in FP16 passes 2048, from where on it may be rounded.
void IpuRun::check_values(const ipu::IpuChip& chip) {
  const FoundElement found = [&](std::uint32_t row, std::uint32_t column) -> double {
    const ipu::OutputPlace place = planned_.lowered.place(row, column);
    return ipu::read_element(chip.memory(place.tile), planned_.lowered.output, place.index);
  };
  const bool single =
      planned_.types.partials == DType::fp32 && planned_.lowered.output == DType::fp32;
  const double off = params_.round == RoundMode::stochastic ? 2 : 1;  // a whole place, or half
  if (problem_.sigma == 0) {
    result_.values = check_integers(problem_, found, [&](double exact) {
      // A rounding costs at most 2^-11 of the sum; sums of this length are rounded few times.
      const bool never = single || problem_.k <= 128;
      return never ? 0 : off * std::max(std::abs(exact), 2048.0) * 0x1p-9;
    });
  } else {
    const double lost = single ? 0 : off * 0x1p-25 * (problem_.k + 16.0);
    result_.values = check_reals(problem_, found, {single ? 0x1p-24 : off * 0x1p-11, lost});
  }
  count_roundings(chip);
  // FP32 sums may overflow where nothing is rounded to FP16; numbers that large are asked for
  const bool lost = problem_.sigma > 0 && !single && result_.values->overflows == 0;
  if (lost) result_.values->wrong += result_.values->not_finite;
}

void IpuRun::count_roundings(const ipu::IpuChip& chip) {
  for (ipu::TileId tile = 0; tile < params_.ipu.tiles; ++tile) {
    result_.values->overflows += chip.memory(tile).rounding().overflows();
    result_.values->underflows += chip.memory(tile).rounding().underflows();
  }
}

/// Operations whose results are not exact know their own reference and what roundings explain.
void IpuRun::compare_values(const ipu::IpuChip& chip) {
  const Comparison found = planned_.compare(
      [&](ipu::TileId tile) -> const ipu::TileMemory& { return chip.memory(tile); });
  ValueCheck check;
  check.compared = found.compared;
  check.wrong = found.wrong;
  check.largest_error = found.largest_error;
  check.sigma = problem_.sigma;
  check.not_finite = found.not_finite;
  check.rms_error =
      std::sqrt(found.squares / static_cast<double>(std::max<std::uint64_t>(check.finite(), 1)));
  result_.values = check;
  count_roundings(chip);
}

/// What of its mode and residency a row cannot have on an IPU.
void check_kernel(const LayerOp& op, const Mask* mask) {
  const bool of_x = op.mode == Mode::dynamic && op.x_pattern != "dense";
  const bool sparse_kernel = op.mode == Mode::static_ || (op.mode == Mode::dynamic && !of_x);
  if (sparse_kernel && mask == nullptr) {
    throw UnsupportedError(
        fmt::format("mode '{}' of a dense row: it names a kernel for sparse operands; auto has the "
                    "dense one, and pattern unstructured with density 1 the sparse one; "
                    "weights stay on the tiles of an IPU in any case (residency resident)",
                    word(op.mode)));
  }
  if (op.residency == Residency::streamed && has_weights(op)) {
    throw UnsupportedError(
        "residency 'streamed': weights of a product lie in the memory of an IPU's tiles before it "
        "begins; a system streams those of a layer in from outside (--system-config)");
  }
}

class IpuMachine final : public Machine, public PlansLayouts {
 public:
  explicit IpuMachine(std::string name) : name_(std::move(name)) {}

  const char* kind() const override { return "ipu"; }
  const std::string& name() const override { return name_; }
  const ParameterSet& parameters() const override { return params_; }
  const EnergyParams& energy() const override { return params_.energy; }
  std::vector<DeclaredStatistic> statistics() const override {
    const ipu::TileCycleStats cycles("tile.cycles");
    const ipu::TileWorkStats work("tile");
    const PhaseStats phases;
    std::vector<DeclaredStatistic> all = declared({&cycles, &work, &phases});
    for (StatEntry& entry : host_statistics()) all.push_back({std::move(entry), ""});
    return all;
  }
  Silicon silicon() const override {
    return ipu::silicon(params_.chip(), params_.energy.chip_units, params_.host.link_gbs);
  }
  Mode default_mode() const override { return Mode::static_; }

  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    params_.set(path, text, origin);
  }

  void check() const override {
    params_.chip().check();
    if (params_.ipu.tiles % 2 != 0) {
      throw ParameterError(
          fmt::format("ipu.tiles = {} is odd; tiles come in pairs", params_.ipu.tiles.value()));
    }
  }

  std::string extent() const override { return fmt::format("{} tiles", params_.ipu.tiles.value()); }

  std::string no_room(const LayerOp& op) const override {
    const bool product = op.op == "gemm" || op.op == "spmm";
    return product ? ipu::no_room_for_product(params_.chip(), op) : std::string();
  }

  std::optional<Cycle> least_cycles(const LayerOp& op, const Mask* mask) const override;

  std::unique_ptr<Machine> clone() const override { return std::make_unique<IpuMachine>(*this); }
  const std::vector<LayoutSpace>& layouts() const override { return ipu::layout_spaces(); }
  const LayoutSpace* layout_space(const LayerOp& op, const Mask* mask) const override {
    return ipu::layout_space(op, mask);
  }
  void begin_layout() override {
    planned_ = std::make_shared<const ipu::PlannerParams>(params_.planner);
  }
  /// Its planner is the rule.
  std::vector<Pairs> planned(const LayerOp& op, const Mask* mask,
                             const Pairs& /*together*/) const override {
    return std::vector<Pairs>(layout_space(op, mask) == nullptr ? 0 : 1);
  }
  std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                            const Pairs& layout) const override;

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

  std::optional<std::uint64_t> tile_bytes(const LayerOp& op, const Mask* mask,
                                          std::uint64_t seed) const override {
    return ipu::plan_operation({params_.chip(), params_.planner, op, mask, seed})
        .lowered.tile_bytes;
  }

  std::unique_ptr<Machine> taking_from(const std::vector<const Machine*>& makers) const override;
  Cycle operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t seed) const override;
  void share_runs(std::shared_ptr<ProductRuns> /*runs*/) override {}
  void keep_moved(WorkloadTrace& workload,
                  std::vector<std::vector<std::string>>& makers) const override {
    ipu::keep_moved_operands(workload, makers);
  }
  void stand_for(const LayerOp& op, const Mask* mask) override { own_ = lying(op, mask); }
  bool lies_by_content() const override { return true; }

 private:
  void require_encodable(const LayerOp& op, const Mask* mask) const;
  OpResult run_sparse_x(const LayerOp& op, std::uint64_t seed, const Execution& execution) const;
  OpResult run_planned(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                       const Execution& execution, bool encode) const;

  ipu::LaidProduct lying(const LayerOp& op, const Mask* mask) const;
  ipu::MovedOperand moved(const LayerOp& op, const Mask* mask) const;

  std::string name_;
  IpuParams params_;
  std::shared_ptr<const ipu::PlannerParams> planned_;  // before a layout; null: it has none
  ipu::LaidProduct own_;                               // of the row it stands for, if any
  std::vector<ipu::LaidProduct> makers_;               // of its operands
};

std::unique_ptr<Machine> IpuMachine::taking_from(const std::vector<const Machine*>& makers) const {
  auto made = std::make_unique<IpuMachine>(*this);
  made->makers_.clear();
  for (const Machine* const maker : makers) {
    const auto* const chip = dynamic_cast<const IpuMachine*>(maker);
    made->makers_.push_back(chip == nullptr ? ipu::LaidProduct() : chip->own_);
  }
  return made;
}

/// Of each choice the value that the planner expects to be fastest, then the next of each.
std::vector<Pairs> IpuMachine::around(const LayerOp& op, const Mask* mask,
                                      const Pairs& layout) const {
  std::vector<std::tuple<std::size_t, Cycle, Pairs>> all;  // by their place among those of a choice
  for (const auto& values : ipu::layouts_around(*layout_space(op, mask), params_, layout)) {
    std::vector<std::pair<Cycle, Pairs>> steps;
    for (const Pairs& step : values) {
      IpuParams laid = params_;
      for (const auto& [key, value] : step) laid.set(key, value, "layout");
      const auto cycles = ipu::expected_cycles(laid.chip(), laid.planner, op, mask);
      steps.emplace_back(cycles.value_or(kNever), step);  // of which there may be no plan
    }
    sort_all(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      all.emplace_back(i, steps[i].first, steps[i].second);
    }
  }
  sort_all(all);
  std::vector<Pairs> sorted;
  sorted.reserve(all.size());
  for (auto& step : all) sorted.push_back(std::move(std::get<2>(step)));
  return sorted;
}

ipu::MovedOperand IpuMachine::moved(const LayerOp& op, const Mask* mask) const {
  if (!params_.planner.operand_moves || op.sources.empty() || makers_.empty()) return {};
  return ipu::moved_operand(op, own_.homes ? own_ : lying(op, mask), makers_);
}

ipu::LaidProduct IpuMachine::lying(const LayerOp& op, const Mask* mask) const {
  const auto homes = [&](const ipu::PlannerParams& planner) {
    return ipu::product_homes(params_.chip(), planner, op, mask);
  };
  ipu::LaidProduct laid{homes(params_.planner)};
  if (laid.homes == nullptr || planned_ == nullptr) return laid;
  const auto planned = homes(*planned_);
  laid.as_planned = planned && ipu::lie_alike(*laid.homes, *planned, op);
  return laid;
}

Cycle IpuMachine::operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t /*seed*/) const {
  const ipu::MovedOperand operand = moved(op, mask);
  if (operand.rows.empty()) return 0;
  const ipu::ChipParams chip = params_.chip();
  const PlannedOperation planned =
      ipu::plan_operand_move(chip, ipu::make_target(chip, params_.planner), operand);
  if (planned.lowered.program.supersteps.empty()) return 0;
  return IpuRun(params_, {}, planned, {}).run().cycles;
}

/// All tiles form as many products in every cycle as the matrix unit or, of single elements, two
/// vectors of four can. Zeros of activations may be left out, so that nothing is known of them.
std::optional<Cycle> IpuMachine::least_cycles(const LayerOp& op, const Mask* mask) const {
  const bool product = op.op == "gemm" || op.op == "spmm";
  if (!product || op.x_pattern != "dense") return std::nullopt;
  const ipu::AmpParams& amp = params_.tile.amp;
  const unsigned macs = std::max({amp.fp16_macs.value(), amp.fp16_fp32_macs.value(),
                                  amp.fp32_macs.value(), amp.fp8_macs.value(), 8U});
  const std::uint64_t weights = mask == nullptr ? std::uint64_t{op.m} * op.k : mask->nnz();
  const std::uint64_t products = weights * op.n * op.batch;
  const std::uint64_t each = std::uint64_t{macs} * params_.ipu.tiles;
  const Cycle least = (products + each - 1) / each;
  if (layout_space(op, mask) == nullptr || op.phase != Phase::fwd) return least;
  return std::max(least, ipu::least_cycles(params_.chip(), params_.planner, op, mask).value_or(0));
}

void IpuMachine::require_encodable(const LayerOp& op, const Mask* mask) const {
  const auto refuse = [&](const std::string& reason) {
    throw UnsupportedError(fmt::format("x_pattern '{}': {}", op.x_pattern, reason));
  };
  if (mask != nullptr) refuse("an IPU has no product of two sparse operands, and W is sparse too");
  if (op.fn == "l1" || op.fn == "l2") refuse("distances have dense operands on an IPU");
  if (params_.activations.encode == ipu::Encoder::none) {
    refuse(
        "an IPU multiplies all of X unless its zeros are found first: activations.encode=device or "
        "host (of the chips of a system chip.activations.encode) makes a dynamic sparse operand of "
        "it; x_pattern dense runs it as it is");
  }
}

/// Y^T = X^T W^T: the sparse operand of a dynamic product is the left one.
OpResult IpuMachine::run_sparse_x(const LayerOp& op, std::uint64_t seed,
                                  const Execution& execution) const {
  if (execution.interval != 0 && params_.activations.encode == ipu::Encoder::host) {
    throw UnsupportedError(
        "--interval with activations.encode = host: the chip waits for the host");
  }
  LayerOp seeded = op;
  seeded.seed = seed;
  const Mask x = make_x_mask(seeded, seed)->transposed().elements();
  LayerOp turned = op;
  turned.m = op.n;
  turned.n = op.m;
  turned.mode = Mode::dynamic;
  turned.phase = Phase::fwd;
  turned.x_pattern = "dense";
  turned.pattern.name = "unstructured";
  OpResult result = run_planned(turned, &x, seed, execution, true);
  result.x_density = x.density();
  if (has_weights(op)) result.residency = word(Residency::resident);
  Execution plain;
  plain.engine = execution.engine;
  LayerOp whole = op;
  whole.x_pattern = "dense";
  whole.mode = Mode::automatic;
  const OpResult dense = run_planned(whole, nullptr, seed, plain, false);
  result.remarks.push_back(fmt::format(
      "{:.4g} % of X is zero, found by the {}: {} cycles, {:.4g} times as fast as a dense product "
      "with all of X ({} cycles)",
      100 * (1 - x.density()),
      params_.activations.encode == ipu::Encoder::device ? "tiles (inferred cost)" : "host",
      result.cycles, static_cast<double>(dense.cycles) / static_cast<double>(result.cycles),
      dense.cycles));
  return result;
}

OpResult IpuMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
  check_kernel(op, mask);
  if (op.x_pattern == "dense") return run_planned(op, mask, seed, execution, false);
  require_encodable(op, mask);
  return run_sparse_x(op, seed, execution);
}

OpResult IpuMachine::run_planned(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                 const Execution& execution, bool encode) const {
  const ipu::ChipParams chip = params_.chip();
  const bool on_device = encode && params_.activations.encode == ipu::Encoder::device;
  PlannedOperation planned =
      ipu::plan_operation({chip, params_.planner, op, mask, seed, execution.values, execution.sigma,
                           on_device ? &params_.activations : nullptr});
  const ipu::MovedOperand operand = moved(op, mask);
  if (!operand.rows.empty()) {
    ipu::move_operand_first(chip, ipu::make_target(chip, params_.planner), operand, planned);
  }
  GemmProblem problem;
  problem.m = op.m;
  problem.k = op.k;
  problem.n = op.n;
  problem.mask = mask;
  problem.dtype = op.dtype;
  const bool product = op.op == "gemm" || op.op == "spmm" || op.op == "bmm";
  problem.sigma = execution.sigma;
  problem.seed = seed;
  planned.lowered.program.round = planned.round.value_or(params_.round);
  planned.lowered.program.round_seed = stream_seed(seed, "rounding");
  OpResult result = IpuRun(params_, problem, planned, execution).run();
  if (const std::string* const moves = find_value(planned.notes, ipu::kOperandMoves)) {
    result.remarks.push_back(fmt::format(
        "moves {}, and pays for it as layouts are chosen (planner.operand_moves)", *moves));
  }
  if (const std::string* const mode = find_value(planned.notes, "mode")) result.mode = *mode;
  if (has_weights(op)) result.residency = word(Residency::resident);
  if (encode) {
    if (on_device) return result;
    const std::uint64_t x_bytes = std::uint64_t{op.m} * op.k * op.batch * bytes_of(op.dtype);
    add_host_encoding(params_.host, planned, x_bytes, result);
  } else if (product && mask != nullptr) {
    add_host_side(params_.host, *mask, op, planned, result);
  } else if (op.op == "sddmm" && mask != nullptr) {
    add_sparse_result(params_.host, *mask, op, result);
  }
  return result;
}

}  // namespace

std::unique_ptr<Machine> make_ipu_machine(std::string name) {
  return std::make_unique<IpuMachine>(std::move(name));
}

}  // namespace lacuna
