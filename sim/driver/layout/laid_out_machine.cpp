// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/laid_out_machine.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/layout/climb_rows.hpp"
#include "sim/driver/layout/known_layouts.hpp"
#include "sim/driver/layout/layout_entries.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/machines/lays_out_rows.hpp"
#include "sim/machines/machine_over.hpp"
#include "sim/machines/moves_operands.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "sim/machines/summary_rows.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/report/layout_note.hpp"
#include "workloads/trace/operand_sources.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

/// What the layouts of all rows of a workload are called in a cache.
constexpr const char* kRowsKind = "layouts of rows";
constexpr const char* kRowKind = "row as laid out";

std::string content_alone(LayerOp op, const Mask* mask, std::uint64_t seed) {
  op.sources.clear();
  return operation_content(op, mask, seed, {});
}

/// Whether a search has simulated as it is to be.
bool is_as_searched(const Execution& execution) {
  return asks_for_nothing(execution) && execution.engine == Engine::event && execution.fold;
}

/// How a layout was found, and what it gains.
std::string source_text(const LayoutFound& found) {
  if (found.cycles == 0) return "shared with the rows around it";
  std::string text =
      fmt::format("best of {} simulated{}; {} pruned by their bounds, {} cannot be{}",
                  found.simulated, found.kept ? " by an earlier run" : "", found.pruned,
                  found.impossible, found.cut_off ? ", others left over" : "");
  if (found.planned == 0) return text + "; as planned it cannot be";
  return text + fmt::format("; {:.4g} times as fast as planned ({} cycles)",
                            static_cast<double>(found.planned) / static_cast<double>(found.cycles),
                            found.planned);
}

class LaidOutMachine final : public MachineOver, public LaysOutRows {
 public:
  LaidOutMachine(std::unique_ptr<Machine> plain, LayoutRequest request)
      : MachineOver(std::move(plain)),
        plans_(dynamic_cast<const PlansLayouts*>(inner_.get())),
        request_(std::move(request)) {}

  const Machine& plain() const { return *inner_; }

  /// Every row with a choice has a layout.
  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override {
    chosen_.clear();
    related_ = {};
    shared_.clear();
    const bool follows =
        any_of(workload.ops, [](const LayerOp& op) { return !op.depends_on.empty(); });
    const bool best = request_.source == LayoutRequest::Source::best;
    if (!follows && best &&
        plans_ != nullptr) {  // what may stay is what may where the climb begins
      const std::unique_ptr<Machine> planned = inner_->clone();
      dynamic_cast<PlansLayouts&>(*planned).plan_layouts(true);
      return planned->relate(workload, mask_of, seed);
    }
    if (!follows) {
      inner_->relate(workload, mask_of, seed);
      for (const LayerOp& op : workload.ops) {
        if (!best) layout_entry(request_.entries, request_.file, *inner_, op);
      }
      return;
    }
    shared_ = best ? choose(workload, mask_of, seed) : take_from_file(workload);
    RelatedOn way = related_on(workload, mask_of, seed, shared_);
    workload = way.rows.workload;
    follow(way);
    related_ = std::move(way.rows);
    for (const LayerOp& op : related_.workload.ops) lay_out_row(op, mask_of(op), seed);
  }

  std::string layouts_of(const LayerOp& op) const override {
    const auto layout = [this](const std::string& id) {
      const auto row = chosen_.find(id);
      const bool laid = row != chosen_.end() && row->second.found;
      return laid ? layout_text(row->second.found->layout) : std::string();
    };
    const std::optional<std::size_t> row = related_.row(op.id);
    if (!row) return {};
    std::string text = layout_text(shared_) + layout(op.id);
    const auto* const moves = dynamic_cast<const MovesOperands*>(inner_.get());
    const bool by_content = moves != nullptr && moves->lies_by_content();
    for (const std::string& id : related_.makers[*row]) {
      text += fmt::format("\n{}", layout(id));
      const auto maker = chosen_.find(id);
      if (by_content && maker != chosen_.end()) text += maker->second.alone;
    }
    return text;
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override {
    return request_.source != LayoutRequest::Source::best ? run_from_file(op, mask, seed, execution)
                                                          : run_best(op, mask, seed, execution);
  }

 private:
  /// How a row of the workload was laid out.
  struct Chosen {
    std::optional<LayoutFound> found;
    const LayoutEntry* entry = nullptr;  // of a file
    std::string content;                 // of the row
    std::string alone;                   // likewise, but for where its operands come from
    std::shared_ptr<const Machine> machine;
  };

  OpResult run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
    const LayoutEntry* const entry = layout_entry(request_.entries, request_.file, *inner_, op);
    if (entry == nullptr) {
      return with_idle(run_laid_out(shared_, op, mask, seed, execution, request_.file));
    }
    const Layout layout = layout_of(*entry);
    check_choices(*entry, *inner_, op, mask);
    OpResult result = with_idle(run_laid_out(layout, op, mask, seed, execution, entry->place));
    result.notes.emplace_back(kLayoutNote, layout_text(layout));
    result.notes.emplace_back(kLayoutSourceNote, entry->place);
    if (!entry->extent.empty() && entry->extent != inner_->extent()) {
      result.remarks.push_back(fmt::format(
          "layout {} ({}) was found for {}, and this is {}: it can be, and another may be faster",
          layout_text(layout), entry->place, entry->extent, inner_->extent()));
    }
    return result;
  }

  OpResult run_best(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                    const Execution& execution) const {
    const auto row = chosen_.find(op.id);
    // the dense form of a row, which it is compared with, has a layout of its own
    const bool is_row = row != chosen_.end() && row->second.content == pattern_label(op.pattern);
    const std::optional<LayoutFound> found = is_row ? row->second.found : find(op, mask, seed);
    if (!found) return with_idle(run_row(nullptr, op, mask, seed, execution));
    const bool known = !is_row && found->result != nullptr && is_as_searched(execution);
    OpResult result = known    ? *found->result
                      : is_row ? run_row(&*found, op, mask, seed, execution)
                               : run_laid_out(found->layout, op, mask, seed, execution, "best");
    result = with_idle(std::move(result));
    result.notes.emplace_back(kLayoutNote, layout_text(found->layout));
    result.notes.emplace_back(kLayoutSourceNote, source_text(*found));
    return result;
  }

  OpResult run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                        std::uint64_t seed, const Execution& execution, const std::string& origin,
                        const std::shared_ptr<ProductRuns>& runs = nullptr) const {
    LayerOp laid = op;
    std::unique_ptr<Machine> machine = laid_out(*inner_, layout, laid, origin);
    const std::unique_ptr<Machine> ready = taking(std::move(machine), laid);
    auto* const sharing = dynamic_cast<MovesOperands*>(ready.get());
    if (runs != nullptr && sharing != nullptr) sharing->share_runs(runs);
    try {
      return ready->run(laid, mask, seed, execution);
    } catch (const OutOfMemoryError& error) {
      throw OutOfMemoryError(
          fmt::format("layout {} ({}): {}", layout_text(layout), origin, error.what()));
    } catch (const UnsupportedError& error) {
      throw UnsupportedError(
          fmt::format("layout {} ({}): {}", layout_text(layout), origin, error.what()));
    }
  }

  /// A row by itself that has no layout of its own to choose.
  OpResult run_planned(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                       const Execution& execution) const {
    const std::unique_ptr<Machine> planned = inner_->clone();
    if (auto* const plans = dynamic_cast<PlansLayouts*>(planned.get())) plans->plan_layouts(true);
    return planned->run(op, mask, seed, execution);
  }

  /// A row among others, as laid out; null: as it is. What its search or an earlier run has
  /// simulated is not simulated again.
  OpResult run_row(const LayoutFound* found, const LayerOp& op, const Mask* mask,
                   std::uint64_t seed, const Execution& execution) const {
    const Layout layout = found == nullptr ? shared_ : found->layout;
    const std::optional<std::size_t> row = related_.row(op.id);
    if (!row && found == nullptr) return run_planned(op, mask, seed, execution);
    if (!row || !is_as_searched(execution)) {
      return run_laid_out(layout, op, mask, seed, execution, "best");
    }
    const bool shared = found != nullptr && shares(op, mask, seed);
    LayerOp placed = op;
    placed.sources = related_.workload.ops[*row].sources;
    const bool keeps = request_.cache != nullptr && op.x_file.empty();
    const std::string key =
        cache_key(request_.effort_of_rows,
                  fmt::format("{}\n{}\n{}\n{}\n{}", layout_text(layout), layouts_of(op), op.id,
                              operation_content(op, mask, seed, {}),
                              operation_content(placed, mask, seed, {})));
    if (keeps) {
      const std::optional<std::string> text = request_.cache->find(kRowKind, key);
      if (text) return std::move(decode_record(*text).ops.at(0).result);
    }
    RunRecord record;
    record.ops.emplace_back();
    OpResult& result = record.ops[0].result;
    result = shared && found->result != nullptr
                 ? *found->result
                 : run_laid_out(layout, op, mask, seed, execution, "best",
                                shared ? found->runs : nullptr);
    record.ops[0].row = describe_op(op, mask, default_mode());
    add_result(record.ops[0].row, result);  // which holds what is a row's of the record
    if (keeps) request_.cache->keep(kRowKind, key, encode_record(record));
    return std::move(result);
  }

  OpResult with_idle(OpResult result) const {
    if (plans_ != nullptr) plans_->add_idle(result);
    return result;
  }

  /// Whether an operation is, but for its operands' way, the row of its name that was laid out: a
  /// system may run a part of a row.
  bool shares(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    const auto row = chosen_.find(op.id);
    return row != chosen_.end() && row->second.alone == content_alone(op, mask, row_seed(op, seed));
  }

  /// `machine`, which runs `op`, with the operands where the rows before it have left them.
  std::unique_ptr<Machine> taking(std::unique_ptr<Machine> machine, LayerOp& op) const {
    const std::optional<std::size_t> row = related_.row(op.id);
    const auto* const moves = dynamic_cast<const MovesOperands*>(machine.get());
    if (!row || moves == nullptr) return machine;
    op.sources = related_.workload.ops[*row].sources;
    std::vector<const Machine*> makers;
    for (const std::string& id : related_.makers[*row]) {
      const auto maker = chosen_.find(id);
      makers.push_back(maker == chosen_.end() ? nullptr : maker->second.machine.get());
    }
    return moves->taking_from(makers);
  }

  std::string cache_key(const ClimbEffort& effort, const std::string& what) const {
    return layout_key(*inner_, effort, what);
  }

  /// By itself, among rows that have their layouts.
  std::optional<LayoutFound> find(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    const LayoutSpace* const space = layout_space(*inner_, inner_->layout_kind(op, mask));
    if (space == nullptr) return std::nullopt;
    const std::string key = layouts_of(op) + operation_content(op, mask, seed, {});
    const auto known = found_.find(key);
    if (known != found_.end()) return known->second;
    // a file of activations is known by its name alone
    const bool keeps = request_.cache != nullptr && op.x_file.empty();
    const std::string kept_as = cache_key(request_.effort, key);
    if (keeps) {
      if (const std::optional<std::string> kept = request_.cache->find(kLayoutKind, kept_as)) {
        if (const std::optional<LayoutFound> layout = decode_found(*kept)) {
          return found_[key] = layout;
        }
      }
    }
    const TakeOperands as_they_lie = [this](std::unique_ptr<Machine> machine, LayerOp& laid) {
      return taking(std::move(machine), laid);
    };
    if (plans_ == nullptr) return std::nullopt;
    const std::vector<Layout> starts =
        related_.row(op.id) ? plans_->of_row(op, mask, shared_) : plans_->planned(op, mask);
    const std::optional<LayoutFound> found =
        climb_alone(*inner_, starts, op, mask, seed, as_they_lie, request_.effort);
    if (keeps && found) request_.cache->keep(kLayoutKind, kept_as, encode_found(*found));
    return found_[key] = found;
  }

  /// The plain machine with what rows that follow each other share, and the rows as they are there.
  RelatedOn related_on(const WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed,
                       const Layout& words) const {
    RelatedOn way;
    way.words = words;
    LayerOp none;
    way.machine = laid_out(*inner_, shared_words(*inner_, words), none, "layout");
    way.rows.workload = workload;
    way.machine->relate(way.rows.workload, mask_of, seed);
    return way;
  }

  /// Takes the rows of a workload as they are related on a machine: all sources of their operands,
  /// as which of these make moves follows from layouts.
  static void follow(RelatedOn& way) {
    find_sources(way.rows.workload);
    way.rows.makers = source_makers(way.rows.workload);
    const auto* const moves = dynamic_cast<const MovesOperands*>(way.machine.get());
    if (moves != nullptr) moves->keep_moved(way.rows.workload, way.rows.makers);
  }

  /// The layouts of all rows together, or what was kept of them: a line for what they share, and
  /// one for each row.
  Layout choose(const WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const {
    std::string key;
    bool keeps = request_.cache != nullptr;
    for (const LayerOp& op : workload.ops) {
      key += fmt::format("{} {} {} {}\n", op.id, op.repeat, fmt::join(op.depends_on, " "),
                         operation_content(op, mask_of(op), row_seed(op, seed), {}));
      keeps = keeps && op.x_file.empty();
    }
    key = cache_key(request_.effort_of_rows, key);
    std::vector<std::optional<LayoutFound>> lines;
    if (keeps) {
      std::istringstream kept(request_.cache->find(kRowsKind, key).value_or(""));
      for (std::string line; std::getline(kept, line);) lines.push_back(decode_found(line));
    }
    RowsFound found;
    if (lines.size() == workload.ops.size() + 1 && lines[0]) {
      found.shared = lines[0]->layout;
      found.rows.assign(lines.begin() + 1, lines.end());
    } else {
      found = climb_together(workload, mask_of, seed);
      LayoutFound shared;
      shared.layout = found.shared;
      std::string text = encode_found(shared) + "\n";
      for (const auto& each : found.rows) text += (each ? encode_found(*each) : "one") + "\n";
      if (keeps) request_.cache->keep(kRowsKind, key, text);
    }
    for (std::size_t i = 0; i < workload.ops.size(); ++i) {
      chosen_[workload.ops[i].id].found = found.rows[i];
    }
    return found.shared;
  }

  RowsFound climb_together(const WorkloadTrace& workload, const MaskOf& mask_of,
                           std::uint64_t seed) const {
    std::vector<Layout> together = {{}};
    if (plans_ != nullptr) together = plans_->planned_together(workload, mask_of);
    std::vector<RelatedOn> ways;
    for (const Layout& words : together) {
      ways.push_back(related_on(workload, mask_of, seed, words));
      follow(ways.back());
    }
    return climb_rows(ways, mask_of, seed, request_.effort_of_rows);
  }

  /// What the layouts of a file share.
  Layout take_from_file(const WorkloadTrace& workload) const {
    std::optional<Layout> shared;
    const LayoutEntry* first = nullptr;
    for (const LayerOp& op : workload.ops) {
      const LayoutEntry* const entry = layout_entry(request_.entries, request_.file, *inner_, op);
      if (entry == nullptr) continue;
      LayoutFound found;
      found.layout = layout_of(*entry);
      const Layout mine = shared_words(*inner_, found.layout);
      if (shared && *shared != mine) {
        throw RequestError(fmt::format(
            "{}: rows that follow each other share a part of {}: found {}, and {} has {}",
            entry->place, inner_->name(), layout_text(mine), first->place, layout_text(*shared)));
      }
      shared = mine;
      first = entry;
      chosen_[op.id].found = found;
      chosen_[op.id].entry = entry;
    }
    return shared.value_or(Layout());
  }

  void lay_out_row(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    const auto row = chosen_.find(op.id);
    if (row == chosen_.end()) return;
    Chosen& chosen = row->second;
    if (!chosen.found) {
      chosen_.erase(row);
      return;
    }
    if (request_.source == LayoutRequest::Source::file)
      check_choices(*chosen.entry, *inner_, op, mask);
    const std::string origin = chosen.entry == nullptr ? "best" : chosen.entry->place;
    LayerOp laid = op;
    chosen.machine = laid_out_row(*inner_, chosen.found->layout, laid, mask, origin);
    chosen.content = pattern_label(op.pattern);
    chosen.alone = content_alone(op, mask, row_seed(op, seed));
  }

  const PlansLayouts* plans_;  // the same; null if it has no rule
  LayoutRequest request_;
  // of the workload that was related last, if its rows follow each other, and what was found of it
  mutable RelatedRows related_;
  mutable Layout shared_;                         // what its rows have in common
  mutable std::map<std::string, Chosen> chosen_;  // by id
  mutable std::map<std::string, std::optional<LayoutFound>> found_;
};

const std::string kPlanned = "planned";
const std::string kFirst = "first";
const std::string kBest = "best";

}  // namespace

bool is_layouts_file(const std::string& option) {
  return option != kPlanned && option != kFirst && option != kBest &&
         !starts_with(option, kBest + ":");
}

std::string content_of_layouts(const std::string& option) {
  constexpr std::size_t kLongest = std::size_t{1} << 30U;
  if (!is_layouts_file(option) || !std::filesystem::exists(option)) return option;
  return sha256(read_text(option, kLongest));
}

LayoutRequest layout_request(const std::optional<std::string>& option, bool no_cache) {
  LayoutRequest request;
  if (option == kFirst) return request;
  if (!option || *option == kPlanned) {
    request.source = LayoutRequest::Source::planned;
    return request;
  }
  if (!is_layouts_file(*option)) {
    request.source = LayoutRequest::Source::best;
    if (*option != kBest) {
      const std::uint64_t most =
          check_count("--layout best:N", option->substr(kBest.size() + 1), 1, 1000000);
      request.effort.budget = most;
      request.effort_of_rows.budget = most;
    }
    request.cache = std::make_shared<PartCache>(open_part_cache(no_cache));
    return request;
  }
  if (!std::filesystem::exists(*option)) {
    throw RequestError(fmt::format(
        "--layout: found '{}', and no file of that name; allowed: planned, first, best, "
        "best:N, or a file that `--layout best --out` or `search --out` wrote{}",
        *option, hint_of(*option, {kPlanned, kFirst, kBest})));
  }
  request.source = LayoutRequest::Source::file;
  request.file = *option;
  request.entries = read_layouts(*option);
  return request;
}

std::unique_ptr<Machine> with_layouts(std::unique_ptr<Machine> machine,
                                      const LayoutRequest& request) {
  if (request.source == LayoutRequest::Source::first) return machine;
  auto* const system = dynamic_cast<StoreSystem*>(machine.get());
  if (request.source == LayoutRequest::Source::planned) {
    Machine& chip = system == nullptr ? *machine : system->chip();
    if (auto* const plans = dynamic_cast<PlansLayouts*>(&chip)) plans->plan_layouts(true);
    return machine;
  }
  if (system != nullptr) {
    system->replace_chip([&](std::unique_ptr<Machine> chip) {
      return std::make_unique<LaidOutMachine>(std::move(chip), request);
    });
    return machine;
  }
  return std::make_unique<LaidOutMachine>(std::move(machine), request);
}

std::unique_ptr<Machine> plain_copy(const Machine& machine) {
  const auto* const laid = dynamic_cast<const LaidOutMachine*>(&machine);
  std::unique_ptr<Machine> copy = laid == nullptr ? machine.clone() : laid->plain().clone();
  if (auto* const plans = dynamic_cast<PlansLayouts*>(copy.get())) plans->plan_layouts(false);
  return copy;
}

void lay_out(std::vector<std::unique_ptr<Machine>>& machines, const LayoutRequest& request) {
  for (std::unique_ptr<Machine>& machine : machines) {
    machine = with_layouts(std::move(machine), request);
  }
}

}  // namespace lacuna
