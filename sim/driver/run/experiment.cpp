// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/idealisation.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/share.hpp"
#include "sim/driver/run/invariants.hpp"
#include "sim/driver/run/unit_view.hpp"
#include "sim/driver/run/workload.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/driver/system/wafer_run.hpp"
#include "sim/machines/machine_kind.hpp"
#include "sim/machines/summary_rows.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/report/interval_series.hpp"
#include "sim/report/unit_series.hpp"
#include "workloads/trace/matrix/given_masks.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {

namespace {

/// What two operations must have in common for a comparison of their speed to mean something. Where
/// weights live is asked for alike: `auto` compares the faster place of both.
std::string shape_key(const std::string& machine, const OpRecord& op) {
  const SummaryRow& row = op.row;
  // Operations that are no products differ in more than their shape.
  const std::string id = op.result.mac_algorithmic == 0 ? row.op_id : "";
  const std::string kind = row.op == "spmm" ? "gemm" : row.op == "sddmm" ? "bmm" : row.op;
  return fmt::format("{} {} {}x{}x{} {} {} {} {} {}", machine, kind, row.m.value_or(0),
                     row.k.value_or(0), row.n.value_or(0), row.dtype, op.result.mac_algorithmic, id,
                     asked(op, "residency"), asked(op, "partials"));
}

/// The machine of a run, all its parameters, and how it lays operations out if that varies.
std::string machine_key(const RunRecord& run) {
  std::string key = run.machine;
  for (const ParameterValue& parameter : run.parameters) key += ' ' + parameter.value;
  for (std::size_t i = 0; i < run.varying.size() && i < run.total.varying.size(); ++i) {
    if (run.varying[i] == "layout") key += " layout " + run.total.varying[i];
  }
  return key;
}

std::string place_key(const std::string& shape, const RunRecord& run, const OpRecord& op) {
  return shape + '\n' + run.workload + '\n' + op.row.op_id;
}

bool is_dense(const OpRecord& op) { return op.row.pattern == "dense" && !op.row.x_density; }

bool all_dense(const RunRecord& run) { return all_of(run.ops, is_dense); }

/// Dense operations. Those of a workload that is dense throughout have the neighbours that their
/// partners have: who shares the chip, and from where operands come. Others are of the shape alone.
struct DenseRows {
  std::map<std::string, SummaryRow> by_place;
  std::map<std::string, SummaryRow> by_shape;
  std::map<std::string, SummaryRow> totals;  // of workloads that are dense throughout

  /// Null if there is none.
  const SummaryRow* partner(const std::string& machine, const RunRecord& run,
                            const OpRecord& op) const {
    if (all_dense(run)) return &op.row;
    const std::string shape = shape_key(machine, op);
    const auto place = by_place.find(place_key(shape, run, op));
    if (place != by_place.end()) return &place->second;
    if (is_dense(op)) return &op.row;
    const auto alike = by_shape.find(shape);
    return alike == by_shape.end() ? nullptr : &alike->second;
  }
};

void collect_dense(const Runs& records, DenseRows& dense) {
  for (const RunRecord& run : records) {
    const std::string machine = machine_key(run);
    const bool throughout = all_dense(run);
    for (const OpRecord& op : run.ops) {
      if (!is_dense(op) || !op.row.cycles) continue;
      const std::string shape = shape_key(machine, op);
      if (throughout) dense.by_place.emplace(place_key(shape, run, op), op.row);
      dense.by_shape.emplace(shape, op.row);
    }
    if (throughout && run.total.time_s) {
      dense.totals.emplace(machine + '\n' + run.workload, run.total);
    }
  }
}

void compare_run(RunRecord& run, const DenseRows& dense) {
  double seconds = 0;
  double flop = 0;
  std::optional<JouleRange> joules = JouleRange{};
  bool all = !run.ops.empty();
  const std::string machine = machine_key(run);
  for (OpRecord& op : run.ops) {
    const SummaryRow* const partner = dense.partner(machine, run, op);
    if (partner == nullptr || !partner->time_s || !op.row.time_s) {
      all = false;
      continue;
    }
    const double partner_s = *partner->time_s;
    op.row.dense_tflops = partner->useful_tflops;
    if (*op.row.time_s > 0) op.row.speedup_vs_dense = partner_s / *op.row.time_s;
    op.row.energy_vs_dense = energy_over(op.row.energy_j, partner->energy_j);
    if (!partner->energy_j) joules.reset();
    if (joules) joules->add(*partner->energy_j);
    seconds += partner_s;
    flop += static_cast<double>(partner->useful_flop.value_or(0));
  }
  if (!all || !run.total.time_s || !(*run.total.time_s > 0) || !(seconds > 0)) return;
  const auto whole = dense.totals.find(machine + '\n' + run.workload);
  if (whole != dense.totals.end()) {  // of a system more than its rows
    seconds = *whole->second.time_s;
    flop = static_cast<double>(whole->second.useful_flop.value_or(0));
    joules = whole->second.energy_j;
  }
  if (flop > 0) run.total.dense_tflops = flop / seconds * 1e-12;
  run.total.speedup_vs_dense = seconds / *run.total.time_s;
  run.total.energy_vs_dense = energy_over(run.total.energy_j, joules);
}

/// Says in the result that no hardware is like this machine, if a setting makes it so.
void mark_idealised(const Machine& machine, OpResult& result) {
  std::string found;
  for_each_parameter(machine, [&](const std::string& path, const ParamBase& parameter) {
    if (!is_idealisation(path, parameter.value_text())) return;
    found += fmt::format("{}{}={}", found.empty() ? "" : ", ", path, parameter.value_text());
  });
  if (found.empty() || is_idealised(result)) return;
  result.remarks.push_back(fmt::format("idealised ({}): no hardware is like that", found));
}

OpResult simulate(const Machine& machine, const LayerOp& op, const Mask* mask, std::uint64_t seed,
                  const Execution& execution) {
  const auto without_values = [](Status status, const std::string& reason) {
    OpResult result;
    result.status = status;
    result.reason = reason;
    return result;
  };
  try {
    OpResult result = machine.run(op, mask, seed, execution);
    mark_idealised(machine, result);
    check_possible(result);
    check_intervals(result);
    return result;
  } catch (const OutOfMemoryError& error) {
    return without_values(Status::out_of_memory, error.what());
  } catch (const UnsupportedError& error) {
    return without_values(Status::unsupported, error.what());
  } catch (const SimulationError& error) {
    return without_values(Status::failed, error.what());
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("{}, {}: {}", machine.name(), op.id, error.what()));
  }
}

std::string text_of(const OperandSource& source) {
  return fmt::format("{}:{}x{}+{}+{}/{}/{}{}{};", static_cast<int>(source.kind), source.features,
                     source.tokens, source.first, source.place, source.unit, source.shared,
                     source.of_product ? 'p' : 'f', source.transposed ? 't' : 'n');
}

/// All that a machine's relate() says of a row: where operands come from, and what of the chip is
/// left for it.
std::string relations_text(const LayerOp& op) {
  std::string text;
  for (const OperandSource& source : op.sources) text += text_of(source);
  const ChipShare& share = op.share;
  if (share.group != nullptr) text += fmt::format("{} of {};", share.place, share.group->content);
  return text + fmt::format(" {} {}{}{}{} {}{}", word(op.residency), share.beside,
                            share.may_stay ? 's' : ' ', share.result_taken ? 't' : ' ',
                            share.among_rows ? 'r' : ' ', share.reason, share.alone);
}

}  // namespace

std::string operation_content(const LayerOp& op, const Mask* mask, std::uint64_t run_seed,
                              const Execution& execution) {
  // numbers of their own are asked for, or events by the name of the operation
  const bool own = execution.values || execution.event_log;
  const bool drawn = op.x_pattern != "dense" || op.op == "embed" || op.op == "repattern";
  std::string args;
  for (const auto& [key, value] : op.args) args += fmt::format("{}={};", key, value);
  args += relations_text(op);
  return fmt::format("{} {} {} {}x{}x{} {} {} {} {} {} {} {} {} {} {}", own ? op.id : "", op.op,
                     word(op.phase), op.m, op.k, op.n, op.batch, word(op.dtype), word(op.partials),
                     word(op.mode), op.fn, args, op.x_pattern + op.x_file,
                     op.x_density ? op.x_density->text() : "", drawn ? row_seed(op, run_seed) : 0,
                     mask == nullptr ? op.pattern.name : digest(*mask));
}

namespace {

/// The zeros of X as they were asked for.
std::string x_label(const LayerOp& op) {
  if (op.x_density) return op.x_pattern + ":" + op.x_density->text();
  return op.x_file.empty() ? op.x_pattern : op.x_pattern + ":" + op.x_file;
}

/// What is known of an operation before it is run; without a mask if it is dense, or refused.
OpRecord start_record(const Point& point, const LayerOp& op, const Mask* mask,
                      const RunSettings& settings) {
  const Machine& machine = *point.machine;
  OpRecord record;
  record.repeat = op.repeat;
  record.row = describe_op(op, mask, machine.default_mode());
  record.row.run = point.run;
  record.row.machine = machine.name();
  record.row.engine = engine_name(settings.execution.engine);
  record.row.workload = point.workload.name;
  record.row.seed = settings.seed;
  record.request = {{"pattern", pattern_label(op.pattern)},
                    {"mode", word(op.mode)},
                    {"residency", word(op.residency)},
                    {"x_pattern", x_label(op)},
                    {"partials", word(op.partials)},
                    {"batch", fmt::format("{}", op.batch)},
                    {"row_seed", fmt::format("{}", row_seed(op, settings.seed))}};
  if (!op.fn.empty()) record.request.emplace_back("fn", op.fn);
  return record;
}

/// The record of an operation that no mask makes small enough, so that none is made.
OpRecord refused_op(const Point& point, const LayerOp& op, const RunSettings& settings,
                    const std::string& reason) {
  OpRecord record = start_record(point, op, nullptr, settings);
  if (op.pattern.density) record.row.density = op.pattern.density->value();
  record.result.status = Status::out_of_memory;
  record.result.reason = reason;
  add_result(record.row, record.result);
  return record;
}

/// What the page of --view has of an operation, of one execution of it; empty if its machine does
/// not know what each unit did, of which the operation then has a remark.
std::string view_of(const Point& point, const OpRecord& record, const Pricing& pricing,
                    OpResult& once) {
  if (once.status != Status::ok) return {};
  if (once.units_in_time == nullptr) {
    once.remarks.emplace_back(
        "--view: what each unit did over time is not known of this operation");
    return {};
  }
  std::string view = packed_view(
      *point.machine, pricing,
      fmt::format("run {}: {}, {}{}{}", point.run, record.row.machine,
                  point.pattern.empty() ? "" : point.pattern + ", ", record.row.op_id,
                  record.repeat == 1 ? "" : fmt::format(", one of {} executions", record.repeat)),
      once);
  once.units_in_time.reset();
  return view;
}

/// `same` is an operation of this record with the same content, or null.
OpRecord run_op(const Point& point, const LayerOp& op, const Mask* mask, const OpRecord* same,
                const RunSettings& settings, const Pricing& pricing) {
  const Machine& machine = *point.machine;
  OpRecord record = start_record(point, op, mask, settings);
  const std::uint64_t op_seed = row_seed(op, settings.seed);
  if (same != nullptr && same->repeat == op.repeat) {
    record.result = same->result;
    record.request.emplace_back("same_as", same->row.op_id);
  } else {
    OpResult once = simulate(machine, op, mask, op_seed, settings.execution);
    if (settings.execution.view != 0) record.view = view_of(point, record, pricing, once);
    record.result = repeated(std::move(once), op.repeat);
  }
  add_result(record.row, record.result);
  if (record.result.status == Status::ok) pricing.price(machine, record);
  return record;
}

}  // namespace

std::vector<ParameterValue> values_of(const ParameterSet& parameters) {
  std::vector<ParameterValue> values;
  parameters.for_each([&](const std::string& path, const ParamBase& parameter) {
    values.push_back({path, parameter.value_text(), parameter.unit(), parameter.is_plain()});
  });
  return values;
}

const char* engine_name(Engine engine) { return engine == Engine::clocked ? "clocked" : "event"; }

const Mask* MaskStore::mask(const LayerOp& op, const WorkloadTrace& workload, std::uint64_t seed) {
  if (op.pattern.name == "dense") return nullptr;
  const std::string key = mask_key(op, workload, seed);
  const auto known = masks_.find(key);
  if (known != masks_.end()) return known->second ? &*known->second : nullptr;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;
  if (bytes_ > kMostBytes) {
    masks_.clear();
    bytes_ = 0;
  }
  const std::optional<Mask>& mask =
      masks_.emplace(key, make_mask(op, workload, seed)).first->second;
  if (!mask) return nullptr;
  bytes_ += mask->columns.size() * sizeof(mask->columns[0]) +
            mask->offsets.size() * sizeof(mask->offsets[0]);
  return &*mask;
}

std::string Point::name() const {
  std::string text = machine->name() + ", " + (pattern.empty() ? workload.name : pattern);
  return label.empty() ? text : text + ", " + label;
}

RunRecord new_record(const Point& point, const RunSettings& common) {
  const RunSettings& settings = point.settings_or(common);
  RunRecord record;
  record.run = point.run;
  record.machine = point.machine->name();
  record.kind = point.machine->kind();
  record.extent = point.machine->extent();
  record.engine = engine_name(settings.execution.engine);
  record.seed = settings.seed;
  record.workload = point.workload.name;
  record.pattern = point.pattern;
  return record;
}

RunRecord run_point(const Point& point, const RunSettings& common, MaskStore& masks,
                    const Pricing& pricing, const OpKeeper& keeper) {
  const RunSettings& settings = point.settings_or(common);
  RunRecord record = new_record(point, common);
  record.parameters = parameter_values(*point.machine);
  record.silicon = pricing.areas().unit(*point.machine);
  std::map<std::string, std::size_t> simulated;  // where each content was first
  WorkloadTrace workload = point.workload;
  point.machine->relate(
      workload, [&](const LayerOp& op) { return masks.mask(op, point.workload, settings.seed); },
      settings.seed);
  for (const LayerOp& op : workload.ops) {
    const std::size_t place = record.ops.size();
    const SharePart share(static_cast<double>(place), static_cast<double>(workload.ops.size()));
    const std::string no_room = point.machine->no_room(op);
    if (!no_room.empty()) {
      record.ops.push_back(refused_op(point, op, settings, no_room));
      continue;
    }
    const Mask* const mask = masks.mask(op, point.workload, settings.seed);
    const std::string content = operation_content(op, mask, settings.seed, settings.execution) +
                                point.machine->layouts_of(op);
    const auto [first, is_new] = simulated.emplace(content, place);
    const OpRecord* const same = is_new ? nullptr : &record.ops[first->second];
    std::optional<OpRecord> kept = keeper.find ? keeper.find(place, content) : std::nullopt;
    const bool is_kept = kept.has_value();
    record.ops.push_back(is_kept ? *std::move(kept)
                                 : run_op(point, op, mask, same, settings, pricing));
    OpRecord& made = record.ops.back();
    made.content = content;
    // power over time is not among what is kept: it follows from what is
    if (is_kept && made.result.status == Status::ok) pricing.price(*point.machine, made);
    if (!is_kept && keeper.add) keeper.add(place, made);
    say_share(1);
  }
  record.total = total_of(record.ops);
  if (settings.completes) {
    system::SystemExecution system;
    system.engine = settings.execution.engine;
    complete_total(*point.machine, point.workload, system, pricing, record);
  }
  add_varying(record, point);
  return record;
}

void add_varying(RunRecord& record, const Point& point) {
  record.varying = point.varying;
  for (OpRecord& op : record.ops) op.row.varying = point.values;
  record.total.varying = point.values;
}

std::string repeated_note(const RunRecord& record) {
  std::size_t same = 0;
  for (const OpRecord& op : record.ops) {
    const bool repeats = !op.request.empty() && op.request.back().first == "same_as";
    same += repeats ? 1 : 0;
  }
  if (same == 0) return "";
  return fmt::format(
      "lacuna: note: {} of {} operations have the shape, types and mask of an earlier one: "
      "simulated "
      "once\n",
      same, record.ops.size());
}

LayerOp dense_form(const LayerOp& op) {
  LayerOp dense = op;
  dense.pattern = PatternSpec{};
  dense.mode = Mode::automatic;
  dense.x_pattern = "dense";
  dense.x_density.reset();
  dense.x_file.clear();
  if (dense.op == "spmm") dense.op = "gemm";
  return dense;
}

void compare_with_dense(Runs& records, const Runs& extra) {
  DenseRows dense;
  collect_dense(records, dense);
  collect_dense(extra, dense);
  for (RunRecord& run : records) compare_run(run, dense);
}

namespace {

/// The workload with all weights and all of X; rows of other patterns, which nothing is compared
/// with, are left out.
WorkloadTrace dense_workload(const WorkloadTrace& workload) {
  WorkloadTrace dense = with_all_weights(workload);
  std::vector<LayerOp> ops;
  for (const LayerOp& op : dense.ops) {
    if (has_weights(op)) {
      ops.push_back(dense_form(op));
    } else if (op.pattern.name == "dense" && op.x_pattern == "dense") {
      ops.push_back(op);
    }
  }
  dense.ops = std::move(ops);
  return dense;
}

}  // namespace

std::vector<Point> missing_dense_points(const std::vector<Point>& points) {
  const auto key = [](const Point& point, const WorkloadTrace& workload) {
    std::string text = fmt::format("{} {}", fmt::ptr(point.machine), workload.name);
    for (const LayerOp& op : workload.ops) {
      text +=
          fmt::format("\n{} {} {} {} {} {} {} {} {} {}", op.id, op.op, op.m, op.k, op.n,
                      word(op.dtype), word(op.partials), word(op.residency), op.batch, op.repeat);
    }
    return text;
  };
  const auto leaves_out = [](const LayerOp& op) {
    return has_weights(op) && (op.pattern.name != "dense" || op.x_pattern != "dense");
  };
  const auto sparse = [&](const Point& point) { return any_of(point.workload.ops, leaves_out); };
  std::set<std::string> known;
  for (const Point& point : points) {
    if (!sparse(point)) known.insert(key(point, dense_workload(point.workload)));
  }
  std::vector<Point> missing;
  for (const Point& point : points) {
    if (!sparse(point)) continue;
    WorkloadTrace dense = dense_workload(point.workload);
    if (!known.insert(key(point, dense)).second) continue;
    missing.push_back({points.size() + missing.size(), point.machine, "dense", std::move(dense),
                       point.settings, point.varying, point.values});
  }
  return missing;
}

}  // namespace lacuna
