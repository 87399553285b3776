// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/laid_out_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/layout/joint_search.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/options.hpp"
#include "sim/machines/lays_out_rows.hpp"
#include "sim/machines/measure.hpp"
#include "sim/machines/moves_operands.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "sim/machines/system/store_system.hpp"
#include "sim/report/layout_note.hpp"
#include "workloads/trace/operand_sources.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

/// What a layout, and those of all rows of a workload, are called in a cache.
constexpr const char* kLayoutKind = "layout";
constexpr const char* kJointKind = "layouts of rows";
constexpr const char* kRowKind = "row as laid out";

/// A row as a file of layouts names it.
std::map<std::string, std::string> names_of(const Machine& machine, const LayerOp& op) {
  return {{"machine", machine.name()},
          {"id", op.id},
          {"op", op.op},
          {"m", std::to_string(op.m)},
          {"k", std::to_string(op.k)},
          {"n", std::to_string(op.n)},
          {"batch", std::to_string(op.batch)},
          {"type", word(op.dtype)},
          {"pattern", pattern_label(op.pattern)},
          {"mode", word(op.mode)}};
}

/// Whether a layout of a file is of an operation of these names.
bool fits(const LayoutEntry& entry, const std::map<std::string, std::string>& names) {
  return std::all_of(entry.of.begin(), entry.of.end(),
                     [&](const auto& word) { return names.at(word.first) == word.second; });
}

std::string row_text(const LayerOp& op) {
  return fmt::format("'{}' ({}, {} x {} x {}, {})", op.id, op.op, op.m, op.k, op.n,
                     pattern_label(op.pattern));
}

Layout layout_of(const LayoutEntry& entry) {
  Layout layout;
  for (const Setting& each : entry.layout) layout.emplace_back(each.path, each.value);
  return layout;
}

std::string content_alone(LayerOp op, const Mask* mask, std::uint64_t seed) {
  op.sources.clear();
  return operation_content(op, mask, seed, {});
}

/// Whether a search has simulated as it is to be.
bool is_as_searched(const Execution& execution) {
  return asks_for_nothing(execution) && execution.engine == Engine::event && execution.fold;
}

class LaidOutMachine final : public Machine, public LaysOutRows {
 public:
  LaidOutMachine(std::unique_ptr<Machine> plain, LayoutRequest request)
      : plain_(std::move(plain)),
        plans_(dynamic_cast<const PlansLayouts*>(plain_.get())),
        request_(std::move(request)) {}

  const Machine& plain() const { return *plain_; }

  const char* kind() const override { return plain_->kind(); }
  const std::string& name() const override { return plain_->name(); }
  const ParameterSet& parameters() const override { return plain_->parameters(); }
  const EnergyParams& energy() const override { return plain_->energy(); }
  std::vector<DeclaredStatistic> statistics() const override { return plain_->statistics(); }
  Silicon silicon() const override { return plain_->silicon(); }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    plain_->set(path, text, origin);
  }
  void check() const override { plain_->check(); }
  Mode default_mode() const override { return plain_->default_mode(); }
  std::string extent() const override { return plain_->extent(); }
  std::vector<std::string> slow_settings() const override { return plain_->slow_settings(); }
  std::string describe_unit(const std::string& name) const override {
    return plain_->describe_unit(name);
  }
  std::string no_room(const LayerOp& op) const override { return plain_->no_room(op); }
  const std::vector<LayoutSpace>& layouts() const override { return plain_->layouts(); }
  std::string layout_kind(const LayerOp& op, const Mask* mask) const override {
    return plain_->layout_kind(op, mask);
  }
  void place_operands(WorkloadTrace& workload) const override { plain_->place_operands(workload); }

  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override;

  std::string layouts_of(const LayerOp& op) const override;
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  /// How a row of the workload was laid out.
  struct Chosen {
    Layout layout;
    std::string content;  // of the row
    std::string alone;    // likewise, but for where its operands come from
    std::optional<LayoutFound> found;
    std::shared_ptr<const Machine> machine;
  };

  std::string of_that_name(const std::map<std::string, std::string>& names) const;
  const LayoutEntry* entry_for(const LayerOp& op) const;
  void check_one_layout(const LayerOp& op) const;
  OpResult run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const;
  OpResult run_best(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                    const Execution& execution) const;
  OpResult run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                        std::uint64_t seed, const Execution& execution, const std::string& origin,
                        const std::shared_ptr<ProductRuns>& runs = nullptr) const;
  OpResult run_row(const LayoutFound* found, const LayerOp& op, const Mask* mask,
                   std::uint64_t seed, const Execution& execution) const;
  bool shares(const LayerOp& op, const Mask* mask, std::uint64_t seed) const;
  std::unique_ptr<Machine> taking(std::unique_ptr<Machine> machine, LayerOp& op) const;
  std::string cache_key(const SearchEffort& effort, const std::string& what) const;
  std::optional<LayoutFound> find(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                  const Execution& execution) const;
  void choose(const MaskOf& mask_of, std::uint64_t seed) const;
  void take_from_file(bool follow, const MaskOf& mask_of, std::uint64_t seed) const;
  void check_choices(const LayoutEntry& entry, const LayerOp& op, const Mask* mask) const;
  void lay_out_row(const LayerOp& op, const Mask* mask, Layout layout,
                   std::optional<LayoutFound> found, const std::string& origin) const;

  std::unique_ptr<Machine> plain_;
  const PlansLayouts* plans_;  // the same; null if it has no rule
  LayoutRequest request_;
  // of the workload that was related last, if its rows follow each other, and what was found of it
  mutable RelatedRows related_;
  mutable std::map<std::string, Chosen> chosen_;  // by id
  mutable std::map<std::string, std::optional<LayoutFound>> found_;
};

/// `machine`, which runs `op`, with the operands where the rows before it have left them.
std::unique_ptr<Machine> LaidOutMachine::taking(std::unique_ptr<Machine> machine,
                                                LayerOp& op) const {
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

/// By itself, among rows that have their layouts.
std::optional<LayoutFound> LaidOutMachine::find(const LayerOp& op, const Mask* mask,
                                                std::uint64_t seed,
                                                const Execution& execution) const {
  const LayoutSpace* const space = layout_space(*plain_, plain_->layout_kind(op, mask));
  if (space == nullptr) return std::nullopt;
  const std::string key = layouts_of(op) + operation_content(op, mask, seed, {});
  const auto known = found_.find(key);
  if (known != found_.end()) return known->second;
  // a file of activations is known by its name alone
  const bool keeps = request_.cache != nullptr && op.x_file.empty();
  const std::vector<Layout> planned =
      plans_ == nullptr ? std::vector<Layout>{} : plans_->planned(op, mask);
  std::string starts;
  for (const Layout& each : planned) starts += layout_text(each) + "\n";
  const std::string kept_as = cache_key(request_.effort, key + starts);
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
  const std::optional<LayoutFound> found =
      planned.empty()
          ? find_layout(*plain_, op, mask, seed, execution, *space, as_they_lie, request_.effort)
          : climb(*plain_, planned, op, mask, seed, execution, as_they_lie, request_.effort);
  if (keeps && found) request_.cache->keep(kLayoutKind, kept_as, encode_found(*found));
  return found_[key] = found;
}

/// What was found depends on the machine, how long was searched, and what it is of.
std::string LaidOutMachine::cache_key(const SearchEffort& effort, const std::string& what) const {
  return fmt::format("{}\n{}{} {} {} {} {} {}\n{}", plain_->kind(),
                     settings_text(plain_->parameters()), effort.seed, effort.budget,
                     effort.restarts, effort.batch, effort.gain, effort.patience, what);
}

void LaidOutMachine::lay_out_row(const LayerOp& op, const Mask* mask, Layout layout,
                                 std::optional<LayoutFound> found,
                                 const std::string& origin) const {
  Chosen chosen;
  LayerOp laid = op;
  chosen.machine = laid_out_row(*plain_, layout, laid, mask, origin);
  chosen.layout = std::move(layout);
  chosen.found = std::move(found);
  chosen.content = pattern_label(op.pattern);
  chosen_[op.id] = std::move(chosen);
}

/// The layouts of all rows together, or what was kept of them: a line for each row.
void LaidOutMachine::choose(const MaskOf& mask_of, std::uint64_t seed) const {
  const std::vector<LayerOp>& ops = related_.workload.ops;
  std::string key;
  bool keeps = request_.cache != nullptr;
  for (const LayerOp& op : ops) {
    key += fmt::format("{} {} {}\n", op.id, op.repeat,
                       operation_content(op, mask_of(op), row_seed(op, seed), {}));
    keeps = keeps && op.x_file.empty();
  }
  for (const auto& makers : related_.makers) key += fmt::format("{}\n", fmt::join(makers, " "));
  key = cache_key(request_.effort_of_rows, key);
  std::vector<std::optional<LayoutFound>> found;
  if (keeps) {
    std::istringstream lines(request_.cache->find(kJointKind, key).value_or(""));
    for (std::string line; std::getline(lines, line);) found.push_back(decode_found(line));
  }
  if (found.size() != ops.size()) {
    found = find_joint_layouts(*plain_, related_, mask_of, seed, request_.effort_of_rows);
    std::string text;
    for (const auto& each : found) text += (each ? encode_found(*each) : "one") + "\n";
    if (keeps) request_.cache->keep(kJointKind, key, text);
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!found[i]) continue;
    const Mask* const mask = mask_of(ops[i]);
    lay_out_row(ops[i], mask, found[i]->layout, found[i], "best");
    chosen_[ops[i].id].alone = content_alone(ops[i], mask, row_seed(ops[i], seed));
  }
}

/// Every row with a choice has a layout.
void LaidOutMachine::take_from_file(bool follow, const MaskOf& mask_of, std::uint64_t seed) const {
  for (const LayerOp& op : related_.workload.ops) {
    const LayoutEntry* const entry = entry_for(op);
    if (entry == nullptr || !follow) continue;
    const Mask* const mask = mask_of(op);
    check_choices(*entry, op, mask);
    lay_out_row(op, mask, layout_of(*entry), std::nullopt, entry->place);
    chosen_[op.id].alone = content_alone(op, mask, row_seed(op, seed));
  }
}

void LaidOutMachine::relate(WorkloadTrace& workload, const MaskOf& mask_of,
                            std::uint64_t seed) const {
  plain_->relate(workload, mask_of, seed);
  related_ = {workload, {}};
  find_sources(related_.workload);  // all of them: which make moves follows from layouts
  related_.makers = source_makers(related_.workload);
  const auto* const moves = dynamic_cast<const MovesOperands*>(plain_.get());
  if (moves != nullptr) moves->keep_moved(related_.workload, related_.makers);
  chosen_.clear();
  const bool follow = std::any_of(workload.ops.begin(), workload.ops.end(),
                                  [](const LayerOp& op) { return !op.depends_on.empty(); });
  if (request_.source != LayoutRequest::Source::best) {
    take_from_file(follow, mask_of, seed);
  } else if (follow) {
    choose(mask_of, seed);
  }
  if (!follow) related_ = {};
}

/// A row with one layout has no other by its name; what a file says of a shape may be of other
/// rows.
void LaidOutMachine::check_one_layout(const LayerOp& op) const {
  for (const LayoutEntry& each : request_.entries) {
    const auto named = [&](const auto& word) { return word.first == "id" && word.second == op.id; };
    if (each.layout.empty() || std::none_of(each.of.begin(), each.of.end(), named)) continue;
    throw RequestError(fmt::format("{}: {} has one layout on {}; allowed: `layout: {{}}`, or none",
                                   each.place, row_text(op), plain_->name()));
  }
}

/// Of the entries with the name of a row that is otherwise the first, and what of it differs.
std::string LaidOutMachine::of_that_name(const std::map<std::string, std::string>& names) const {
  for (const LayoutEntry& each : request_.entries) {
    const auto id = each.of.find("id");
    const auto machine = each.of.find("machine");
    if (id == each.of.end() || id->second != names.at("id")) continue;
    if (machine != each.of.end() && machine->second != names.at("machine")) continue;
    std::string differs;
    for (const auto& [word, value] : each.of) {
      if (names.at(word) == value) continue;
      differs +=
          fmt::format("{}{} {}, not {}", differs.empty() ? "" : "; ", word, value, names.at(word));
    }
    return fmt::format(" (that of {} is of {})", each.place, differs);
  }
  return {};
}

/// Null if the row has one layout only.
const LayoutEntry* LaidOutMachine::entry_for(const LayerOp& op) const {
  const Mask some;  // layout_kind() asks whether there is one
  const bool dense = op.pattern.name == "dense";
  if (plain_->layout_kind(op, dense ? nullptr : &some).empty()) {
    check_one_layout(op);
    return nullptr;
  }
  const std::map<std::string, std::string> names = names_of(*plain_, op);
  const LayoutEntry* found = nullptr;
  for (const LayoutEntry& each : request_.entries) {
    if (!fits(each, names)) continue;
    if (found != nullptr && layout_of(*found) != layout_of(each)) {
      throw RequestError(fmt::format("{}: also has a layout for {} on {}, other than {}",
                                     each.place, row_text(op), plain_->name(), found->place));
    }
    found = &each;
  }
  if (found == nullptr) {
    throw RequestError(fmt::format(
        "{}: has no layout for {} on {}{}; --layout best finds one, and `layout: {{}}` is as "
        "planned",
        request_.file, row_text(op), plain_->name(), of_that_name(names)));
  }
  return found;
}

OpResult LaidOutMachine::run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                                      std::uint64_t seed, const Execution& execution,
                                      const std::string& origin,
                                      const std::shared_ptr<ProductRuns>& runs) const {
  LayerOp laid = op;
  std::unique_ptr<Machine> machine = laid_out(*plain_, layout, laid, origin);
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

/// What a file says of a row are choices that it has.
void LaidOutMachine::check_choices(const LayoutEntry& entry, const LayerOp& op,
                                   const Mask* mask) const {
  if (request_.source != LayoutRequest::Source::file) return;
  const LayoutSpace* const space = layout_space(*plain_, plain_->layout_kind(op, mask));
  if (space == nullptr) return;
  std::vector<std::string> keys;
  for (const LayoutChoice& choice : space->choices) keys.push_back(choice.key);
  keys.insert(keys.end(), space->by_rule.begin(), space->by_rule.end());
  for (const Setting& each : entry.layout) {
    if (std::find(keys.begin(), keys.end(), each.path) != keys.end()) continue;
    throw RequestError(fmt::format("{}: '{}' is no choice of a {} of {}; allowed: {}{}",
                                   each.origin, each.path, space->kind, plain_->name(),
                                   fmt::join(keys, ", "), hint_of(each.path, keys)));
  }
}

OpResult LaidOutMachine::run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                       const Execution& execution) const {
  const LayoutEntry* const entry = entry_for(op);
  if (entry == nullptr) return run_laid_out({}, op, mask, seed, execution, request_.file);
  check_choices(*entry, op, mask);
  const Layout layout = layout_of(*entry);
  OpResult result = run_laid_out(layout, op, mask, seed, execution, entry->place);
  if (plans_ != nullptr) plans_->add_idle(result);
  result.notes.emplace_back(kLayoutNote, layout_text(layout));
  result.notes.emplace_back(kLayoutSourceNote, entry->place);
  if (!entry->extent.empty() && entry->extent != plain_->extent()) {
    result.remarks.push_back(fmt::format(
        "layout {} ({}) was found for {}, and this is {}: it can be, and another may be faster",
        layout_text(layout), entry->place, entry->extent, plain_->extent()));
  }
  return result;
}

/// What the end of the search may have cost.
std::string left_over(const LayoutFound& found) {
  if (std::isinf(found.at_most)) return ", others left over, of which nothing is known";
  return fmt::format(
      ", others left over, which differ in one choice and by counts are at most "
      "{:.3g} times as fast",
      found.at_most);
}

/// Whether an operation is, but for its operands' way, the row of its name that was laid out: a
/// system may run a part of a row.
bool LaidOutMachine::shares(const LayerOp& op, const Mask* mask, std::uint64_t seed) const {
  const auto row = chosen_.find(op.id);
  return row != chosen_.end() && row->second.alone == content_alone(op, mask, row_seed(op, seed));
}

/// A row among others, as laid out; null: as it is. What its search or an earlier run has simulated
/// is not simulated again.
OpResult LaidOutMachine::run_row(const LayoutFound* found, const LayerOp& op, const Mask* mask,
                                 std::uint64_t seed, const Execution& execution) const {
  const Layout layout = found == nullptr ? Layout() : found->layout;
  const std::optional<std::size_t> row = related_.row(op.id);
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
  result =
      shared && found->result != nullptr
          ? *found->result
          : run_laid_out(layout, op, mask, seed, execution, "best", shared ? found->runs : nullptr);
  record.ops[0].row = describe_op(op, mask, default_mode());
  add_result(record.ops[0].row, result);  // which holds what is a row's of the record
  if (keeps) request_.cache->keep(kRowKind, key, encode_record(record));
  return std::move(result);
}

OpResult LaidOutMachine::run_best(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                  const Execution& execution) const {
  const auto row = chosen_.find(op.id);
  // the dense form of a row, which it is compared with, has a layout of its own
  const bool is_row = row != chosen_.end() && row->second.content == pattern_label(op.pattern);
  const std::optional<LayoutFound> found =
      is_row ? row->second.found : find(op, mask, seed, execution);
  if (!found) return run_row(nullptr, op, mask, seed, execution);
  const bool known = !is_row && found->result != nullptr && asks_for_nothing(execution);
  OpResult result = known    ? *found->result
                    : is_row ? run_row(&*found, op, mask, seed, execution)
                             : run_laid_out(found->layout, op, mask, seed, execution, "best");
  if (plans_ != nullptr) plans_->add_idle(result);
  result.notes.emplace_back(kLayoutNote, layout_text(found->layout));
  std::string source = fmt::format(
      "best of {} simulated; {} pruned by their bounds, {} cannot be{}", found->simulated,
      found->pruned, found->impossible, found->cut_off ? left_over(*found) : "");
  if (found->planned == 0) {
    source += "; as planned it cannot be";
  } else {
    source += fmt::format("; {:.4g} times as fast as planned ({} cycles)",
                          static_cast<double>(found->planned) / static_cast<double>(found->cycles),
                          found->planned);
  }
  result.notes.emplace_back(kLayoutSourceNote, source);
  return result;
}

OpResult LaidOutMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                             const Execution& execution) const {
  return request_.source != LayoutRequest::Source::best ? run_from_file(op, mask, seed, execution)
                                                        : run_best(op, mask, seed, execution);
}

std::string LaidOutMachine::layouts_of(const LayerOp& op) const {
  const auto layout = [this](const std::string& id) {
    const auto row = chosen_.find(id);
    return row == chosen_.end() ? std::string() : layout_text(row->second.layout);
  };
  const std::optional<std::size_t> row = related_.row(op.id);
  if (!row) return {};
  std::string text = layout(op.id);
  const auto* const moves = dynamic_cast<const MovesOperands*>(plain_.get());
  const bool by_content = moves != nullptr && moves->lies_by_content();
  for (const std::string& id : related_.makers[*row]) {
    text += fmt::format("\n{}", layout(id));
    const auto maker = chosen_.find(id);
    if (by_content && maker != chosen_.end()) text += maker->second.alone;
  }
  return text;
}

const std::string kPlanned = "planned";
const std::string kFirst = "first";
const std::string kBest = "best";

}  // namespace

bool is_layouts_file(const std::string& option) {
  return option != kPlanned && option != kFirst && option != kBest &&
         option.rfind(kBest + ":", 0) != 0;
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
  if (request.source == LayoutRequest::Source::planned) {
    if (auto* const plans = dynamic_cast<PlansLayouts*>(machine.get())) plans->plan_layouts(true);
    return machine;
  }
  if (auto* const system = dynamic_cast<StoreSystem*>(machine.get())) {
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

std::string unused_layouts(const LayoutRequest& request, const std::vector<Point>& points) {
  std::vector<std::string> places;
  for (const LayoutEntry& each : request.entries) {
    const bool used = std::any_of(points.begin(), points.end(), [&](const Point& point) {
      if (as_store_system(*point.machine) != nullptr) return true;
      const std::vector<LayerOp>& ops = point.workload.ops;
      return std::any_of(ops.begin(), ops.end(), [&](const LayerOp& op) {
        return fits(each, names_of(*point.machine, op));
      });
    });
    if (!used) places.push_back(each.place);
  }
  if (places.empty()) return "";
  const std::size_t shown = std::min<std::size_t>(places.size(), 3);
  return fmt::format("lacuna: {} of {} layouts of {} are of no row here: {}{}\n", places.size(),
                     request.entries.size(), request.file,
                     fmt::join(places.begin(), places.begin() + static_cast<int>(shown), ", "),
                     shown < places.size() ? ", ..." : "");
}

}  // namespace lacuna
