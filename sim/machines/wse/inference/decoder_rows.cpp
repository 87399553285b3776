// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/inference/decoder_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "models/wse/task_stats.hpp"
#include "sim/base/error.hpp"
#include "sim/base/ranges.hpp"
#include "sim/machines/wse/counts.hpp"
#include "sim/machines/wse/layers.hpp"
#include "sim/machines/wse/result.hpp"
#include "sim/machines/wse/tasks.hpp"
#include "workloads/mapping/wse/inference/decode_rows.hpp"
#include "workloads/mapping/wse/inference/decode_values.hpp"
#include "workloads/mapping/wse/inference/weight_forms.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

using wse::DecodeBlock;
using wse::DecodePhase;
using wse::DecodeRows;

/// A layer of a decoder, or a half of one, where it lies.
struct PlacedRows : RowGroup {
  struct Row {
    DecodePhase first{};
    DecodePhase last{};
    std::uint64_t work = 0;
    std::uint64_t macs = 0;    // useful ones
    std::uint64_t begun = 0;   // work of the rows of the same phases before it
    std::uint64_t shared = 0;  // work of all of them
    std::uint64_t before = 0;  // useful products of all rows before it
    std::optional<double> x_density = {};
  };
  wse::DecoderModel model;
  DecodeBlock block;
  std::vector<Row> rows;
  std::uint64_t macs = 0;  // useful ones of all rows
  std::uint64_t bytes = 0;
  std::string lies;  // where, in words
  std::shared_ptr<KnownRuns> known;
};

/// `x`: what of X is not zero.
std::uint64_t useful_macs(const LayerOp& op, const Mask* mask, const std::optional<Mask>& x) {
  if (op.op == "bmm") return std::uint64_t{op.m} * op.k * op.n * op.batch;
  if (!has_weights(op)) return 0;
  if (!x) return (mask == nullptr ? std::uint64_t{op.m} * op.k : mask->nnz()) * op.n;
  std::vector<std::uint64_t> outputs(op.k, mask == nullptr ? op.m : 0);  // of each input
  if (mask != nullptr) {
    for (const std::uint32_t input : mask->elements().columns) ++outputs[input];
  }
  std::uint64_t products = 0;
  for (std::uint32_t k = 0; k < op.k; ++k) {
    products += outputs[k] * (x->offsets[k + std::size_t{1}] - x->offsets[k]);
  }
  return products;
}

/// The masks of these rows one below the other, each whole where the row is dense. Nothing if all
/// are dense.
wse::NonZeros joined(const WorkloadTrace& workload, std::initializer_list<std::size_t> rows,
                     const MaskOf& mask_of, std::string& name) {
  wse::NonZeros all;
  bool any = false;
  for (const std::size_t row : rows) {
    const LayerOp& op = workload.ops[row];
    const Mask* const mask = mask_of(op);
    any = any || mask != nullptr;
    if (mask != nullptr) name += fmt::format(" {}", zeros_digest(*mask));
    all.append(mask == nullptr ? wse::NonZeros(op.m, op.k) : wse::NonZeros(*mask));
    name += ';';
  }
  return any ? all : wse::NonZeros();
}

/// The zeros of X of the products of a layer; UnsupportedError if its program does not leave them
/// out.
void add_inputs(const WseParams& params, const WorkloadTrace& workload, const DecodeRows& layer,
                std::uint64_t seed, wse::DecodeZeros& zeros) {
  using Product = DecodeRows::Product;
  const wse::LlmSkip skip = params.llm.skip;
  zeros.skip = skip == wse::LlmSkip::act || skip == wse::LlmSkip::both;
  for (const Product product : {Product::q, Product::k, Product::v, Product::o, Product::gate,
                                Product::up, Product::down}) {
    const LayerOp& op = workload.ops[layer.product(product)];
    const std::optional<Mask> x = make_x_mask(op, seed);
    if (!x) continue;
    if (!zeros.skip) {
      throw UnsupportedError(
          "x_pattern: a layer's program leaves zeros of X out with llm.skip=act");
    }
    if (product != Product::o && product != Product::down) {
      throw UnsupportedError(
          "x_pattern: q, k and v, or gate and up, take one X in a layer's program, and each of "
          "these rows has zeros of its own");
    }
    const auto what = product == Product::o ? wse::Projection::o : wse::Projection::down;
    zeros.inputs.at(static_cast<std::size_t>(what)) = wse::NonZeros(*x);
    zeros.name += fmt::format(" x{}", zeros_digest(*x));
  }
}

/// The zeros of a layer's weights and inputs, as its rows have them; null if there are none.
std::shared_ptr<const wse::DecodeZeros> zeros_of(const WseParams& params,
                                                 const WorkloadTrace& workload,
                                                 const DecodeRows& layer, const MaskOf& mask_of,
                                                 std::uint64_t seed,
                                                 const wse::DecodeShape& shape) {
  using Product = DecodeRows::Product;
  const auto row = [&](Product product) { return layer.product(product); };
  auto zeros = std::make_shared<wse::DecodeZeros>();
  std::string name = "rows";
  zeros->weights = {
      joined(workload, {row(Product::q), row(Product::k), row(Product::v)}, mask_of, name),
      joined(workload, {row(Product::o)}, mask_of, name),
      joined(workload, {row(Product::up), row(Product::gate)}, mask_of, name),
      joined(workload, {row(Product::down)}, mask_of, name)};
  zeros->name = name;
  add_inputs(params, workload, layer, seed, *zeros);
  const auto given = [](const wse::NonZeros& elements) { return elements.given(); };
  if (!any_of(zeros->weights, given) && !any_of(zeros->inputs, given)) {
    return nullptr;
  }
  find_fullest_tiles(shape, *zeros);
  const wse::CodeCosts costs = params.costs();
  choose_forms(shape, {costs, params.llm, params.datapath()}, *zeros);
  return zeros;
}

}  // namespace

DecodePlacement usual_placement(const WseParams& params, const wse::DecoderModel& decoder) {
  DecodePlacement placement(params.blocks);
  placement.fit(params);
  placement.columns = std::min(placement.columns, params.wafer.columns.value());
  placement.rows = std::min(placement.rows, params.wafer.rows.value());
  // a whole number of columns for each key and value head, and pairs of features to rotate
  for (std::uint32_t width = placement.columns; width >= decoder.kv_heads; --width) {
    if (width % decoder.kv_heads != 0) continue;
    if (wse::DecodeShape::ceil(decoder.head_dim, width / decoder.kv_heads) % 2 != 0) continue;
    placement.columns = width;
    break;
  }
  return placement;
}

namespace {

/// Groups the rows of a workload's layers.
class DecoderRows {
 public:
  DecoderRows(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
              std::uint64_t seed)
      : params_(params), workload_(workload), mask_of_(mask_of), seed_(seed) {}

  void group(const std::vector<DecodeRows>& layers) {
    const wse::DecoderModel& model = layers.front().model;
    const DecodePlacement placement = usual_placement(params_, model);
    try {
      for (const DecodeRows& layer : layers) {
        if (text_of(layer.model) != text_of(model)) {
          throw UnsupportedError("layers of a decoder have one size");
        }
      }
      add_kinds(layers, placement);
      place_layers<wse::DecodeShape>(model, placement, params_, placed_);
    } catch (const OutOfMemoryError& error) {
      return leave(layers, error.what());
    } catch (const UnsupportedError& error) {
      return leave(layers, error.what());
    }
    lies_ = fmt::format("{} x {} blocks of {} x {} cores, {} in a block", placement.blocks_x,
                        placement.blocks_y, placement.columns, placement.rows,
                        placed_.split ? "halves of layers" : "whole layers");
    make_groups(layers);
  }

 private:
  void leave(const std::vector<DecodeRows>& layers, const std::string& reason) {
    for (const DecodeRows& layer : layers) {
      workload_.ops[layer.rows.front().number].share.alone = reason;
    }
  }

  void add_kinds(const std::vector<DecodeRows>& layers, const DecodePlacement& placement) {
    std::map<std::string, std::size_t> known;
    for (std::uint32_t i = 0; i < layers.size(); ++i) {
      DecodeBlock block;
      block.columns = placement.columns;
      block.rows = placement.rows;
      block.context = layers[i].context;
      block.batch = layers[i].batch;
      block.exponentials = params_.llm.exp_positions;
      block.zeros =
          zeros_of(params_, workload_, layers[i], mask_of_, seed_, {layers[i].model, block});
      const auto [kind, fresh] =
          known.emplace(fmt::format("{} {} {}", block.context, block.batch,
                                    block.zeros == nullptr ? "" : block.zeros->name),
                        placed_.kinds.size());
      if (fresh) placed_.kinds.push_back({{}, block, {}});
      placed_.kinds[kind->second].numbers.push_back(i);
    }
  }

  void make_groups(const std::vector<DecodeRows>& layers) {
    const auto count = static_cast<std::uint32_t>(layers.size());
    const std::vector<const DecodeLayers*> kinds = by_layer(placed_.kinds, count);
    std::uint32_t layer = 0;
    for (const std::uint32_t dealt : placed_.dealt) {
      for (std::uint32_t i = 0; i < dealt; ++i, ++layer) {
        DecodeBlock block = kinds[layer]->block;
        // the first layer of a block waits for the hidden vector, halves always do
        block.receives = placed_.split || i == 0;
        if (placed_.split) {
          block.ffn = false;
          make_group(layers[layer], block);
          block.ffn = true;
          block.attention = false;
        }
        make_group(layers[layer], block);
      }
    }
  }

  void make_group(const DecodeRows& layer, const DecodeBlock& block) {
    auto group = std::make_shared<PlacedRows>();
    group->model = layer.model;
    group->block = block;
    group->known = known_;
    group->lies = lies_;
    group->bytes = wse::decode_bytes({layer.model, block}, params_.llm);
    group->content = fmt::format("{} {} {} {} {} {} {} {} {}", text_of(layer.model), block.columns,
                                 block.rows, block.context, block.batch, block.attention, block.ffn,
                                 block.receives, block.zeros == nullptr ? "" : block.zeros->name);
    std::vector<LayerOp*> members;
    for (const DecodeRows::Row& row : layer.rows) {
      if (row.first >= DecodePhase::ffn_norm ? !block.ffn : !block.attention) continue;
      LayerOp& op = workload_.ops[row.number];
      const std::optional<Mask> x = make_x_mask(op, seed_);
      PlacedRows::Row made{row.first, row.last, row.work, useful_macs(op, mask_of_(op), x)};
      if (x) made.x_density = x->density();
      made.before = group->macs;
      group->macs += made.macs;
      group->rows.push_back(made);
      members.push_back(&op);
    }
    for (PlacedRows::Row& row : group->rows) {
      for (const PlacedRows::Row& other : group->rows) {
        if (other.first != row.first) continue;
        if (&other < &row) row.begun += other.work;
        row.shared += other.work;
      }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->share.group = group;
      members[i]->share.place = i;
    }
  }

  const WseParams& params_;
  WorkloadTrace& workload_;
  const MaskOf& mask_of_;
  std::uint64_t seed_;
  PlacedLayers placed_;
  std::string lies_;
  std::shared_ptr<KnownRuns> known_ = std::make_shared<KnownRuns>();
};

/// What a group's program has counted at a time of it, of all cores of the rectangle. Phases are
/// those of the first core; counters grow evenly between its first and its last stamp.
class RowCounts {
 public:
  RowCounts(const WseParams& params, const PlacedRows& group, const RunTotals& run)
      : units_(params.cores()), group_(group), run_(run) {
    const std::vector<DecodePhase> phases =
        wse::decode_phases(group.block, group.model.experts.count != 0);
    const Cycle begin = run.stamps.at(group.block.receives ? 1 : 0);
    all_ = run.stamps.back() - begin;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (phases[i] == DecodePhase::receive) continue;
      spans_[phases[i]] = {run.stamps.at(i) - begin, run.stamps.at(i + 1) - begin};
    }
  }

  /// When the time of a row begins, or ends.
  Cycle begin(const PlacedRows::Row& row) const { return within(row, row.begun); }
  Cycle end(const PlacedRows::Row& row) const { return within(row, row.begun + row.work); }

  std::uint64_t share(std::uint64_t value, Cycle at) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{value} * at / std::max<Cycle>(all_, 1));
  }

  /// Products of the rows up to `at`, which is in `row`.
  std::uint64_t useful(const PlacedRows::Row& row, Cycle at) const {
    const Cycle from = begin(row);
    const Cycle length = end(row) - from;
    if (length == 0) return row.before;
    __extension__ using Wide = unsigned __int128;
    return row.before + static_cast<std::uint64_t>(Wide{row.macs} * (at - from) / length);
  }

  CountsSoFar at(const PlacedRows::Row& row, Cycle at) const {
    CountsSoFar counts;
    const std::uint64_t products = useful(row, at);
    counts.statistics = run_.statistics;
    for (StatEntry& entry : counts.statistics) entry.value = share(entry.value, at);
    // products that leave zeros out stand in the program as scalar code of as many cycles
    const std::uint64_t all = of_run("mac_actual_fp16_acc32");
    value(counts, "mac_actual_fp16_acc32") = products + share(all - std::min(all, group_.macs), at);
    std::uint64_t formed = 0;
    for (const StatEntry& entry : counts.statistics) {
      if (entry.name.rfind("mac_actual_", 0) == 0) formed += entry.value;
    }
    value(counts, "mac_edge") = formed - products;
    value(counts, "wavelets_ejected") =
        value(counts, "wavelet_deliveries") + value(counts, "filter_drops");
    value(counts, "idle_cycles") = units_ * at - value(counts, "busy_cycles");
    add_stack(counts, at);
    counts.sram_bytes = share(run_.sram_read_bytes, at) + share(run_.sram_write_bytes, at);
    counts.fabric_bytes = share(run_.fabric_bytes, at);
    return counts;
  }

 private:
  Cycle within(const PlacedRows::Row& row, std::uint64_t work) const {
    const Cycle from = spans_.at(row.first).first;
    return from +
           (spans_.at(row.last).second - from) * work / std::max<std::uint64_t>(row.shared, 1);
  }

  static std::uint64_t& value(CountsSoFar& counts, const std::string& name) {
    StatEntry* const found =
        find_where(counts.statistics, [&](const StatEntry& entry) { return entry.name == name; });
    if (found == nullptr) throw InternalError("no statistic " + name);
    return found->value;
  }
  std::uint64_t of_run(const std::string& name) const {
    for (const StatEntry& entry : run_.statistics) {
      if (entry.name == name) return entry.value;
    }
    return 0;
  }

  /// Cores that have ended, or are not used, are idle: the rest of the stack.
  void add_stack(CountsSoFar& counts, Cycle at) const {
    counts.stack = run_.stack;
    std::uint64_t left = units_ * at;
    StackPart* idle = nullptr;
    for (StackPart& part : counts.stack) {
      if (part.layer == Layer::idle) {
        idle = &part;
        continue;
      }
      part.cycles = std::min(share(part.cycles, at), left);
      left -= part.cycles;
    }
    if (idle == nullptr) throw InternalError("a stack without idle cycles");
    idle->cycles = left;
  }

  std::uint64_t units_;
  const PlacedRows& group_;
  const RunTotals& run_;
  Cycle all_ = 0;
  std::map<DecodePhase, std::pair<Cycle, Cycle>> spans_;
};

/// What lies between two looks at the same counters, modulo 2^64.
CountsSoFar difference(CountsSoFar later, const CountsSoFar& earlier) {
  add(later, earlier, ~std::uint64_t{0});
  return later;
}

std::string phases_text(const PlacedRows::Row& row) {
  const std::string first = word(row.first);
  return row.first == row.last ? first : first + " to " + word(row.last);
}

bool is_product(const LayerOp& op) { return op.op == "bmm" || has_weights(op); }

/// What a row's time of the program has counted, and where borders of intervals fall in it.
void add_row(const WseParams& params, const LayerOp& op, const RowCounts& counts,
             const RunTotals& run, const PlacedRows::Row& row, const Execution& execution,
             WaferResult& into) {
  const Cycle begin = counts.begin(row);
  const Cycle end = counts.end(row);
  const CountsSoFar before = counts.at(row, begin);
  OpResult& result = into.result;
  result.cycles = end - begin;
  into.products(is_product(op) ? std::uint64_t{op.m} * op.k * op.n * op.batch : 0, row.macs);
  CountsSoFar mine = difference(counts.at(row, end), before);
  std::uint64_t busy = 0;
  for (StatEntry& entry : mine.statistics) {
    if (entry.name == "mac_skipped") entry.value = result.mac_algorithmic - result.mac_useful;
    if (entry.name == "busy_cycles") busy += entry.value;
  }
  const auto of = [&](std::uint64_t value) {
    return counts.share(value, end) - counts.share(value, begin);
  };
  into.counted(std::move(mine), of(run.sram_read_bytes), of(run.sram_write_bytes));
  wse::LimitStats limits("wafer.limits");
  limits.busiest += std::min(of(run.busiest), result.cycles);
  limits.multiplies += std::min(of(run.multiplies), result.cycles);
  limits.mean += busy / params.cores();
  into.group(limits);
  result.peaks = core_peaks(params, params.simd.fma16, params.cores());
  result.peaks.io_bytes_per_cycle = params.io.gbit / 8.0 / params.clock;
  for (Cycle at = execution.interval; execution.interval != 0 && at < result.cycles;
       at += execution.interval) {
    into.border(at, difference(counts.at(row, begin + at), before));
  }
}

/// The hidden vector in all columns. Halves have 11 bits: of some hundred roundings of numbers
/// below 4 the sum stays under 2^-7.
wse::LayerComparison compare_hidden(const wse::DecodeValues& values, const DecodeBlock& block,
                                    const wse::WaferMemory& memory) {
  constexpr double kHalves = 1.0 / 128;
  const std::vector<double> expected = values.reference();
  double largest = 0;
  for (const double each : expected) largest = std::max(largest, std::abs(each));
  wse::LayerComparison found;
  for (std::uint32_t s = 0; s < block.batch; ++s) {
    for (std::uint32_t column = 0; column < block.columns; ++column) {
      const std::vector<double> here = values.found(memory, column, s);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::abs(here[i] - expected[i]);
        ++found.compared;
        found.wrong += error <= kHalves * largest ? 0 : 1;
        found.largest_error = std::max(found.largest_error, error);
      }
    }
  }
  return found;
}

/// What is recorded on request, of the row whose time of the program this is; what is of the whole
/// layer stands with its first row.
void add_records(const WaferRequest& request, const PlacedRows& group, Cycle begin, Cycle end,
                 WaferResult& into) {
  const WseParams& params = request.params;
  Execution records = request.execution;
  const bool values = records.values;
  const bool first = request.op.share.place == 0;
  records.values = values && first;
  records.explain = records.explain && first;
  records.interval = 0;
  records.view = 0;
  if (!records.values && !records.explain && !records.event_log) return;
  const wse::DecodeShape shape(group.model, group.block);
  const wse::CodeCosts costs = params.costs();
  const wse::Datapath pieces = params.datapath();
  const wse::DecodeValues numbers(shape, request.seed);
  wse::TaskProgram program =
      wse::DecodeLayer(shape, costs, params.llm).plan(values ? nullptr : &pieces);
  if (values) numbers.fill(program);
  wse::LayerPlan plan;
  plan.kernel.emplace();
  plan.stages.push_back({"layer of a decoder", {std::move(program)}, {{0, 0, 0}}});
  plan.compare = [&](const wse::WaferMemory& memory) {
    return compare_hidden(numbers, group.block, memory);
  };
  OpResult layer = run_task_plan(request.with(request.op, records), std::move(plan));
  if (records.values) into.result.values = layer.values;
  if (records.explain) into.result.explanation = std::move(layer.explanation);
  if (!records.event_log) return;
  for (Event event : layer.events) {
    if (event.cycle < begin || event.cycle >= end) continue;
    event.cycle -= begin;
    into.result.events.push_back(event);
  }
  into.event_names(group.block.rows, group.block.columns, 0);
}

}  // namespace

void group_decoder_rows(const WseParams& params, WorkloadTrace& workload, const MaskOf& mask_of,
                        std::uint64_t seed) {
  std::vector<DecodeRows> layers = wse::find_decode_rows(workload);
  const auto other = [&](const DecodeRows& layer) {
    return any_of(layer.rows, [&](const DecodeRows::Row& row) {
      return runs_as_tasks(params, workload.ops[row.number]);
    });
  };
  erase_where(layers, other);
  if (!layers.empty()) DecoderRows(params, workload, mask_of, seed).group(layers);
}

OpResult run_decoder_row(const WaferRequest& request) {
  const auto& [machine, params, op, mask, seed, execution] = request;
  const auto& group = static_cast<const PlacedRows&>(*op.share.group);  // NOLINT(*-downcast): ours
  const PlacedRows::Row& row = group.rows.at(op.share.place);
  wse::RunOptions options = run_options(params, execution);
  options.event_log = false;
  DecodeTimes times(params, options, group.known);
  const RunTotals& run = times.layer_run(group.model, group.block);
  const RowCounts counts(params, group, run);
  WaferResult into(params, execution, params.cores());
  add_row(params, op, counts, run, row, execution, into);
  into.rectangle();
  into.note("plan",
            fmt::format("{} of a decoder's layer as one program of {} x {} cores; {}",
                        phases_text(row), group.block.columns, group.block.rows, group.lies));
  into.memory(group.bytes, params.core_bytes());
  into.note("fold", fmt::format("the layer's cores are all simulated; its counters are shared by "
                                "time among its {} rows",
                                group.rows.size()));
  into.one_phase(phases_text(row));
  OpResult& result = into.result;
  result.x_density = row.x_density;
  if (execution.values) result.values.emplace();
  const Cycle from = run.stamps.at(group.block.receives ? 1 : 0);
  add_records(request, group, from + counts.begin(row), from + counts.end(row), into);
  if (is_product(op)) result.mode = word(mask != nullptr ? Mode::static_ : Mode::dense);
  if (has_weights(op)) result.residency = word(Residency::resident);
  return into.take();
}

}  // namespace lacuna
