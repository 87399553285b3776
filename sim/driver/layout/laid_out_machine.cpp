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
#include "sim/machines/machine_over.hpp"
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

class LaidOutMachine final : public MachineOver {
 public:
  LaidOutMachine(std::unique_ptr<Machine> plain, LayoutRequest request)
      : MachineOver(std::move(plain)),
        plans_(dynamic_cast<const PlansLayouts&>(*inner_)),
        request_(std::move(request)) {}

  const Machine& plain() const { return *inner_; }

  /// Every row with a choice has a layout.
  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override {
    chosen_.clear();
    rows_ = {};
    const bool follows =
        any_of(workload.ops, [](const LayerOp& op) { return !op.depends_on.empty(); });
    if (!follows && is_best()) {  // what may stay is what may where the climb begins
      return by_rule()->relate(workload, mask_of, seed);
    }
    if (!follows) {
      inner_->relate(workload, mask_of, seed);
      for (const LayerOp& op : workload.ops) entry_of(op);
      return;
    }
    const Layout shared = is_best() ? choose(workload, mask_of, seed) : take_from_file(workload);
    rows_ = related_on(workload, mask_of, seed, shared);
    workload = rows_.workload;
    follow(rows_);
    for (const LayerOp& op : rows_.workload.ops) lay_out_row(op, mask_of(op), seed);
  }

  std::string layouts_of(const LayerOp& op) const override {
    const std::optional<std::size_t> row = rows_.row(op.id);
    if (!row) return {};
    const auto layout = [this](const std::string& id) {
      const auto chosen = chosen_.find(id);
      return chosen == chosen_.end() ? "" : layout_text(chosen->second.found.layout);
    };
    std::string text = layout_text(rows_.words) + layout(op.id);
    for (const std::string& id : rows_.makers[*row]) {
      text += fmt::format("\n{}", layout(id));
      const auto maker = chosen_.find(id);
      if (plans_.lies_by_content() && maker != chosen_.end()) text += maker->second.alone;
    }
    return text;
  }

  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override {
    return is_best() ? run_best(op, mask, seed, execution)
                     : run_from_file(op, mask, seed, execution);
  }

 private:
  /// How a row of the workload was laid out.
  struct Chosen {
    LayoutFound found;
    const LayoutEntry* entry = nullptr;  // of a file
    std::string alone;                   // content, but for where its operands come from
    std::shared_ptr<const Machine> machine;
  };

  bool is_best() const { return request_.source == LayoutRequest::Source::best; }

  const LayoutEntry* entry_of(const LayerOp& op) const {
    return layout_entry(request_.entries, request_.file, *inner_, op);
  }

  /// The machine as its rule has it.
  std::unique_ptr<Machine> by_rule() const {
    std::unique_ptr<Machine> planned = inner_->clone();
    dynamic_cast<PlansLayouts&>(*planned).plan_layouts(true);
    return planned;
  }

  OpResult run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const {
    const LayoutEntry* const entry = entry_of(op);
    if (entry == nullptr) {
      return with_idle(run_laid_out(rows_.words, op, mask, seed, execution, request_.file));
    }
    const Layout& layout = entry->layout;
    check_choices(*entry, *inner_, op, mask);
    OpResult result =
        noted(run_laid_out(layout, op, mask, seed, execution, entry->place), layout, entry->place);
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
    if (row != chosen_.end()) {
      const LayoutFound& found = row->second.found;
      return noted(run_row(&found, op, mask, seed, execution), found.layout, source_text(found));
    }
    if (rows_.row(op.id)) return with_idle(run_row(nullptr, op, mask, seed, execution));
    const std::optional<LayoutFound> found = find(op, mask, seed);
    if (!found) return with_idle(by_rule()->run(op, mask, seed, execution));
    const bool known = found->result != nullptr && execution.asks_for_nothing();
    return noted(
        known ? *found->result : run_laid_out(found->layout, op, mask, seed, execution, "best"),
        found->layout, source_text(*found));
  }

  OpResult noted(OpResult result, const Layout& layout, const std::string& source) const {
    result = with_idle(std::move(result));
    result.notes.emplace_back(kLayoutNote, layout_text(layout));
    result.notes.emplace_back(kLayoutSourceNote, source);
    return result;
  }

  OpResult with_idle(OpResult result) const {
    plans_.add_idle(result);
    return result;
  }

  OpResult run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                        std::uint64_t seed, const Execution& execution, const std::string& origin,
                        const std::shared_ptr<ProductRuns>& runs = nullptr) const {
    LayerOp laid = op;
    const std::unique_ptr<Machine> machine = taking(layout, laid, origin);
    if (runs != nullptr) dynamic_cast<PlansLayouts&>(*machine).share_runs(runs);
    const auto place = [&](const std::exception& error) {
      return fmt::format("layout {} ({}): {}", layout_text(layout), origin, error.what());
    };
    try {
      return machine->run(laid, mask, seed, execution);
    } catch (const OutOfMemoryError& error) {
      throw OutOfMemoryError(place(error));
    } catch (const UnsupportedError& error) {
      throw UnsupportedError(place(error));
    }
  }

  /// A row among others, as laid out; null: as it is. What its search or an earlier run has
  /// simulated is not simulated again.
  OpResult run_row(const LayoutFound* found, const LayerOp& op, const Mask* mask,
                   std::uint64_t seed, const Execution& execution) const {
    const Layout& layout = found == nullptr ? rows_.words : found->layout;
    const std::optional<std::size_t> row = rows_.row(op.id);
    if (!row || !execution.asks_for_nothing()) {
      return run_laid_out(layout, op, mask, seed, execution, "best");
    }
    LayerOp placed = op;
    placed.sources = rows_.workload.ops[*row].sources;
    PartCache& cache = this->cache(is_known(op));
    const std::string key =
        layout_key(*inner_, request_.effort_of_rows,
                   fmt::format("{}\n{}\n{}\n{}\n{}", layout_text(layout), layouts_of(op), op.id,
                               operation_content(op, mask, seed, {}),
                               operation_content(placed, mask, seed, {})));
    const std::optional<std::string> text = cache.find(kRowKind, key);
    if (text) return std::move(decode_record(*text).ops.at(0).result);
    RunRecord record;
    record.ops.emplace_back();
    OpResult& result = record.ops[0].result;
    result = run_laid_out(layout, op, mask, seed, execution, "best",
                          found != nullptr && shares(op, mask, seed) ? found->runs : nullptr);
    record.ops[0].row = describe_op(op, mask, default_mode());
    add_result(record.ops[0].row, result);  // which holds what is a row's of the record
    cache.keep(kRowKind, key, encode_record(record));
    return std::move(result);
  }

  /// Whether an operation is, but for its operands' way, the row of its name that was laid out: a
  /// system may run a part of a row.
  bool shares(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    return chosen_.at(op.id).alone == content_alone(op, mask, row_seed(op, seed));
  }

  /// A file of activations is known by its name alone.
  static bool is_known(const LayerOp& op) { return op.x_file.empty(); }

  PartCache& cache(bool keeps) const { return keeps ? *request_.cache : closed_; }

  /// A machine that lays `op` out so, with the operands where the rows before it have left them.
  std::unique_ptr<Machine> taking(const Layout& layout, LayerOp& op,
                                  const std::string& origin) const {
    std::unique_ptr<Machine> machine = laid_out(*inner_, layout, op, origin);
    const std::optional<std::size_t> row = rows_.row(op.id);
    if (!row) return machine;
    op.sources = rows_.workload.ops[*row].sources;
    std::vector<const Machine*> makers;
    for (const std::string& id : rows_.makers[*row]) {
      const auto maker = chosen_.find(id);
      makers.push_back(maker == chosen_.end() ? nullptr : maker->second.machine.get());
    }
    return dynamic_cast<const PlansLayouts&>(*machine).taking_from(makers);
  }

  /// By itself.
  std::optional<LayoutFound> find(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    if (plans_.layout_space(op, mask) == nullptr) return std::nullopt;
    const std::string key = operation_content(op, mask, seed, {});
    const auto [known, is_new] = found_.try_emplace(key);
    std::optional<LayoutFound>& found = known->second;
    if (!is_new) return found;
    PartCache& cache = this->cache(is_known(op));
    const std::string kept_as = layout_key(*inner_, request_.effort, key);
    const std::optional<std::string> kept = cache.find(kLayoutKind, kept_as);
    if (kept) found = decode_found(*kept);
    if (found) return found;
    found = climb_alone(*inner_, op, mask, seed, request_.effort);
    if (found) cache.keep(kLayoutKind, kept_as, encode_found(*found));
    return found;
  }

  /// The plain machine with what rows that follow each other share, and the rows as they are there.
  RelatedOn related_on(const WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed,
                       const Layout& words) const {
    LayerOp none;
    RelatedOn way{
        words, laid_out(*inner_, shared_words(plans_, words), none, "layout"), workload, {}};
    way.machine->relate(way.workload, mask_of, seed);
    return way;
  }

  /// Takes the rows of a workload as they are related on a machine: all sources of their operands,
  /// as which of these make moves follows from layouts.
  void follow(RelatedOn& way) const {
    find_sources(way.workload);
    way.makers = source_makers(way.workload);
    plans_.keep_moved(way.workload, way.makers);
  }

  /// The layouts of all rows together, or what was kept of them: a line for what they share, which
  /// is returned, and one for each row.
  Layout choose(const WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const {
    std::string key;
    for (const LayerOp& op : workload.ops) {
      key += fmt::format("{} {} {} {}\n", op.id, op.repeat, fmt::join(op.depends_on, " "),
                         operation_content(op, mask_of(op), row_seed(op, seed), {}));
    }
    key = layout_key(*inner_, request_.effort_of_rows, key);
    PartCache& cache = this->cache(all_of(workload.ops, is_known));
    std::vector<std::optional<LayoutFound>> lines;
    std::istringstream kept(cache.find(kRowsKind, key).value_or(""));
    for (std::string line; std::getline(kept, line);) lines.push_back(decode_found(line));
    if (lines.size() != workload.ops.size() + 1 || !lines[0]) {
      std::vector<RelatedOn> ways;
      for (const Layout& words : plans_.planned_together(workload, mask_of)) {
        ways.push_back(related_on(workload, mask_of, seed, words));
        follow(ways.back());
      }
      const RowsFound found = climb_rows(ways, mask_of, seed, request_.effort_of_rows);
      lines = {LayoutFound()};
      lines[0]->layout = found.shared;
      append(lines, found.rows);
      std::string text;
      for (const auto& each : lines) text += (each ? encode_found(*each) : "one") + "\n";
      cache.keep(kRowsKind, key, text);
    }
    for (std::size_t i = 0; i < workload.ops.size(); ++i) {
      if (lines[i + 1]) chosen_[workload.ops[i].id].found = *lines[i + 1];
    }
    return lines[0]->layout;
  }

  /// What the layouts of a file share.
  Layout take_from_file(const WorkloadTrace& workload) const {
    std::optional<Layout> shared;
    const LayoutEntry* first = nullptr;
    for (const LayerOp& op : workload.ops) {
      const LayoutEntry* const entry = entry_of(op);
      if (entry == nullptr) continue;
      Chosen& chosen = chosen_[op.id];
      chosen.found.layout = entry->layout;
      chosen.entry = entry;
      const Layout mine = shared_words(plans_, chosen.found.layout);
      if (shared && *shared != mine) {
        throw RequestError(fmt::format(
            "{}: rows that follow each other share a part of {}: found {}, and {} has {}",
            entry->place, inner_->name(), layout_text(mine), first->place, layout_text(*shared)));
      }
      shared = mine;
      first = entry;
    }
    return shared.value_or(Layout());
  }

  void lay_out_row(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
    const auto row = chosen_.find(op.id);
    if (row == chosen_.end()) return;
    Chosen& chosen = row->second;
    if (chosen.entry != nullptr) check_choices(*chosen.entry, *inner_, op, mask);
    LayerOp laid = op;
    chosen.machine = laid_out_row(*inner_, chosen.found.layout, laid, mask,
                                  chosen.entry == nullptr ? "best" : chosen.entry->place);
    chosen.alone = content_alone(op, mask, row_seed(op, seed));
  }

  const PlansLayouts& plans_;  // the same
  LayoutRequest request_;
  mutable PartCache closed_;  // keeps nothing
  // of the workload that was related last, if its rows follow each other, and what was found of it
  mutable RelatedOn rows_;
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
  auto* const system = dynamic_cast<StoreSystem*>(machine.get());
  auto* const plans =
      dynamic_cast<PlansLayouts*>(system == nullptr ? machine.get() : &system->chip());
  if (request.source == LayoutRequest::Source::first || plans == nullptr) return machine;
  if (request.source == LayoutRequest::Source::planned) {
    plans->plan_layouts(true);
    return machine;
  }
  const auto over = [&](std::unique_ptr<Machine> chip) -> std::unique_ptr<Machine> {
    return std::make_unique<LaidOutMachine>(std::move(chip), request);
  };
  if (system == nullptr) return over(std::move(machine));
  system->replace_chip(over);
  return machine;
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
