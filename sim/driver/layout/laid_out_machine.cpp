// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/laid_out_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/report/layout_note.hpp"
#include "workloads/trace/operand_sources.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {
namespace {

/// What a layout is called in a cache.
constexpr const char* kLayoutKind = "layout";

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

std::string row_text(const LayerOp& op) {
  return fmt::format("'{}' ({}, {} x {} x {}, {})", op.id, op.op, op.m, op.k, op.n,
                     pattern_label(op.pattern));
}

Layout layout_of(const LayoutEntry& entry) {
  Layout layout;
  for (const Setting& each : entry.layout) layout.emplace_back(each.path, each.value);
  return layout;
}

class LaidOutMachine final : public Machine {
 public:
  LaidOutMachine(std::unique_ptr<Machine> plain, LayoutRequest request)
      : plain_(std::move(plain)), request_(std::move(request)) {}

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
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override;

 private:
  struct Total {
    double cycles = 0;
    bool possible = true;
  };

  const LayoutEntry* entry_for(const LayerOp& op) const;
  OpResult run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                         const Execution& execution) const;
  OpResult run_best(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                    const Execution& execution) const;
  OpResult run_agreed(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                      const Execution& execution, const SeenForm& form) const;
  OpResult run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                        std::uint64_t seed, const Execution& execution,
                        const std::string& origin) const;
  const LayerOp* related(const LayerOp& op) const;
  void place(const Machine& machine, LayerOp& op) const;
  std::string cache_key(const LayoutSpace& space, const std::string& row) const;
  std::optional<LayoutFound> find(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                  const Execution& execution, const SeenForm& form) const;
  void take_form_of_file(bool follow) const;
  void choose_form(const MaskOf& mask_of, std::uint64_t seed) const;
  Total total_of(const SeenForm& form, const MaskOf& mask_of, std::uint64_t seed,
                 double most) const;

  std::unique_ptr<Machine> plain_;
  LayoutRequest request_;
  // of the workload that was related last, with all sources, and what was found of it
  mutable WorkloadTrace related_;
  mutable SeenForm form_;  // of rows that follow each other; empty: free
  mutable std::map<std::string, std::optional<LayoutFound>> found_;
  mutable std::map<std::string, OpResult> results_;  // of rows of one layout
};

/// The row with all that is known of its operands; null if it was not related to others.
const LayerOp* LaidOutMachine::related(const LayerOp& op) const {
  const auto known = std::find_if(related_.ops.begin(), related_.ops.end(),
                                  [&](const LayerOp& each) { return each.id == op.id; });
  return known == related_.ops.end() ? nullptr : &*known;
}

/// Where the operands of a related row come from if `machine` runs it.
void LaidOutMachine::place(const Machine& machine, LayerOp& op) const {
  const LayerOp* const row = related(op);
  if (row == nullptr) return;
  WorkloadTrace placed = related_;
  machine.place_operands(placed);
  op.sources = placed.ops[static_cast<std::size_t>(row - related_.ops.data())].sources;
}

std::optional<LayoutFound> LaidOutMachine::find(const LayerOp& op, const Mask* mask,
                                                std::uint64_t seed, const Execution& execution,
                                                const SeenForm& form) const {
  const LayoutSpace* const space = layout_space(*plain_, plain_->layout_kind(op, mask));
  if (space == nullptr) return std::nullopt;
  LayerOp row = op;
  if (const LayerOp* const known = related(op)) row.sources = known->sources;
  std::string key = operation_content(row, mask, seed, {});
  for (const auto& [choice, label] : form) key += fmt::format(" {}={}", choice, label);
  const auto known = found_.find(key);
  if (known != found_.end()) return known->second;
  const auto placed = [this](const Machine& machine, LayerOp& laid) { place(machine, laid); };
  // a file of activations is known by its name alone
  const bool keeps = request_.cache != nullptr && row.x_file.empty();
  const std::string kept_as = cache_key(*space, key);
  if (keeps) {
    if (const std::optional<std::string> kept = request_.cache->find(kLayoutKind, kept_as)) {
      if (const std::optional<LayoutFound> layout = decode_found(*kept)) {
        return found_[key] = layout;
      }
    }
  }
  const std::optional<LayoutFound> found =
      find_layout(*plain_, row, mask, seed, execution, *space, form, placed, request_.effort);
  if (keeps && found) request_.cache->keep(kLayoutKind, kept_as, encode_found(*found));
  return found_[key] = found;
}

/// What was found depends on the machine, the row, how long was searched, and the rows around it.
std::string LaidOutMachine::cache_key(const LayoutSpace& space, const std::string& row) const {
  const SearchEffort& effort = request_.effort;
  std::string key = fmt::format("{} {}\n{}{} {} {} {}\n{}\n", plain_->kind(), space.kind,
                                settings_text(plain_->parameters()), effort.seed, effort.budget,
                                effort.restarts, effort.batch, row);
  for (const LayerOp& op : related_.ops) {
    key += fmt::format("{} {} {}\n", op.id, op.repeat, operation_content(op, nullptr, 0, {}));
  }
  return key;
}

/// What all rows take if they agree on a form; given up when it is more than `most`.
LaidOutMachine::Total LaidOutMachine::total_of(const SeenForm& form, const MaskOf& mask_of,
                                               std::uint64_t seed, double most) const {
  Total total;
  LayerOp ignored;
  const Layout settings = settings_of(*plain_, form);
  const std::unique_ptr<Machine> agreed = laid_out(*plain_, settings, ignored, "layout");
  std::map<std::string, double> known;
  std::vector<LayerOp> rows = related_.ops;
  // those of one layout first: they refuse a form before anything is searched
  std::stable_partition(rows.begin(), rows.end(), [&](const LayerOp& row) {
    return plain_->layout_kind(row, mask_of(row)).empty();
  });
  for (const LayerOp& row : rows) {
    const Mask* const mask = mask_of(row);
    LayerOp op = row;
    place(*agreed, op);
    const std::uint64_t op_seed = row_seed(row, seed);
    const auto [at, is_new] = known.try_emplace(operation_content(op, mask, op_seed, {}), 0);
    if (is_new) {
      try {
        const std::optional<LayoutFound> found = find(row, mask, op_seed, {}, form);
        at->second = static_cast<double>(found ? found->cycles
                                               : run_agreed(op, mask, op_seed, {}, form).cycles);
      } catch (const SimulationError&) {
        total.possible = false;
        return total;
      }
    }
    total.cycles += at->second * row.repeat;
    if (total.cycles >= most) {
      total.possible = false;
      return total;
    }
  }
  return total;
}

void LaidOutMachine::choose_form(const MaskOf& mask_of, std::uint64_t seed) const {
  const std::vector<SeenForm> forms = seen_forms(*plain_);
  form_ = forms.front();
  if (forms.size() == 1) return;
  double least = std::numeric_limits<double>::infinity();
  for (const SeenForm& form : forms) {
    const Total total = total_of(form, mask_of, seed, least);
    if (!total.possible || total.cycles >= least) continue;
    least = total.cycles;
    form_ = form;
  }
}

/// Every row with a choice has a layout, and if rows follow each other these have one form.
void LaidOutMachine::take_form_of_file(bool follow) const {
  const LayoutEntry* first = nullptr;
  for (const LayerOp& op : related_.ops) {
    const LayoutEntry* const entry = entry_for(op);
    if (entry == nullptr || !follow) continue;
    const SeenForm form = form_of(*plain_, layout_of(*entry));
    if (first == nullptr) form_ = form;
    if (first == nullptr) first = entry;
    for (const auto& [key, label] : form) {
      if (form_.at(key) == label) continue;
      throw RequestError(fmt::format(
          "{}: rows of a trace that follow each other have operands in the same places: by {} they "
          "lie in {} here, and in {} at {}",
          entry->place, key, label, form_.at(key), first->place));
    }
  }
  if (first == nullptr) form_ = form_of(*plain_, {});
}

void LaidOutMachine::relate(WorkloadTrace& workload, const MaskOf& mask_of,
                            std::uint64_t seed) const {
  plain_->relate(workload, mask_of, seed);
  related_ = workload;
  find_sources(related_);  // all of them: which make moves follows from a layout
  form_.clear();
  const bool follow = std::any_of(workload.ops.begin(), workload.ops.end(),
                                  [](const LayerOp& op) { return !op.depends_on.empty(); });
  if (request_.source == LayoutRequest::Source::file) {
    take_form_of_file(follow);
  } else if (follow) {
    choose_form(mask_of, seed);
  }
  if (!follow) return;
  // rows that have one layout are where the form leaves their operands
  LayerOp ignored;
  const std::unique_ptr<Machine> agreed =
      laid_out(*plain_, settings_of(*plain_, form_), ignored, "layout");
  agreed->place_operands(workload);
}

/// Null if the row has one layout only.
const LayoutEntry* LaidOutMachine::entry_for(const LayerOp& op) const {
  const Mask some;  // layout_kind() asks whether there is one
  const bool dense = op.pattern.name == "dense";
  if (plain_->layout_kind(op, dense ? nullptr : &some).empty()) return nullptr;
  const std::map<std::string, std::string> names = names_of(*plain_, op);
  const LayoutEntry* found = nullptr;
  for (const LayoutEntry& each : request_.entries) {
    const bool fits = std::all_of(each.of.begin(), each.of.end(), [&](const auto& word) {
      return names.at(word.first) == word.second;
    });
    if (!fits) continue;
    if (found != nullptr && layout_of(*found) != layout_of(each)) {
      throw RequestError(fmt::format("{}: also has a layout for {} on {}, other than {}",
                                     each.place, row_text(op), plain_->name(), found->place));
    }
    found = &each;
  }
  if (found == nullptr) {
    throw RequestError(fmt::format(
        "{}: has no layout for {} on {}; --layout best finds one, and `layout: {{}}` is as planned",
        request_.file, row_text(op), plain_->name()));
  }
  return found;
}

OpResult LaidOutMachine::run_laid_out(const Layout& layout, const LayerOp& op, const Mask* mask,
                                      std::uint64_t seed, const Execution& execution,
                                      const std::string& origin) const {
  LayerOp laid = op;
  const std::unique_ptr<Machine> machine = laid_out(*plain_, layout, laid, origin);
  place(*machine, laid);
  try {
    return machine->run(laid, mask, seed, execution);
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(
        fmt::format("layout {} ({}): {}", layout_text(layout), origin, error.what()));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(
        fmt::format("layout {} ({}): {}", layout_text(layout), origin, error.what()));
  }
}

OpResult LaidOutMachine::run_from_file(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                       const Execution& execution) const {
  const LayoutEntry* const entry = entry_for(op);
  if (entry == nullptr) return run_agreed(op, mask, seed, execution, form_);
  const LayoutSpace* const space = layout_space(*plain_, plain_->layout_kind(op, mask));
  for (const Setting& each : entry->layout) {
    std::vector<std::string> keys;
    for (const LayoutChoice& choice : space->choices) keys.push_back(choice.key);
    if (std::find(keys.begin(), keys.end(), each.path) != keys.end()) continue;
    throw RequestError(fmt::format("{}: '{}' is no choice of a {} of {}; allowed: {}{}",
                                   each.origin, each.path, space->kind, plain_->name(),
                                   fmt::join(keys, ", "), hint_of(each.path, keys)));
  }
  const Layout layout = layout_of(*entry);
  OpResult result = run_laid_out(layout, op, mask, seed, execution, entry->place);
  result.notes.emplace_back(kLayoutNote, layout_text(layout));
  result.notes.emplace_back(kLayoutSourceNote, entry->place);
  return result;
}

/// A row of one layout, its operands where a form leaves them.
OpResult LaidOutMachine::run_agreed(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                    const Execution& execution, const SeenForm& form) const {
  const Layout settings = form.empty() ? Layout{} : settings_of(*plain_, form);
  const bool may_know = asks_for_nothing(execution);
  std::string key = operation_content(op, mask, seed, {});
  for (const auto& [choice, value] : settings) key += fmt::format(" {}={}", choice, value);
  const auto known = results_.find(key);
  if (may_know && known != results_.end()) return known->second;
  OpResult result = run_laid_out(settings, op, mask, seed, execution, "best");
  if (may_know) results_[key] = result;
  return result;
}

OpResult LaidOutMachine::run_best(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                                  const Execution& execution) const {
  const std::optional<LayoutFound> found = find(op, mask, seed, execution, form_);
  if (!found) return run_agreed(op, mask, seed, execution, form_);
  const bool known = found->result != nullptr && asks_for_nothing(execution);
  OpResult result =
      known ? *found->result : run_laid_out(found->layout, op, mask, seed, execution, "best");
  result.notes.emplace_back(kLayoutNote, layout_text(found->layout));
  std::string source = fmt::format(
      "best of {} simulated; {} pruned by their bounds, {} cannot be{}", found->simulated,
      found->pruned, found->impossible, found->cut_off ? ", others left over by the budget" : "");
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
  return request_.source == LayoutRequest::Source::file ? run_from_file(op, mask, seed, execution)
                                                        : run_best(op, mask, seed, execution);
}

}  // namespace

LayoutRequest layout_request(const std::optional<std::string>& option, bool no_cache) {
  LayoutRequest request;
  if (!option || *option == "planned") return request;
  if (*option == "best") {
    request.source = LayoutRequest::Source::best;
    request.cache = std::make_shared<PartCache>(open_part_cache(no_cache));
    return request;
  }
  if (!std::filesystem::exists(*option)) {
    throw RequestError(
        fmt::format("--layout: found '{}'; allowed: planned, best, or a file that "
                    "`--layout best --out` or `search --out` wrote{}",
                    *option, hint_of(*option, {"planned", "best"})));
  }
  request.source = LayoutRequest::Source::file;
  request.file = *option;
  request.entries = read_layouts(*option);
  return request;
}

std::unique_ptr<Machine> with_layouts(std::unique_ptr<Machine> machine,
                                      const LayoutRequest& request) {
  if (request.source == LayoutRequest::Source::planned) return machine;
  return std::make_unique<LaidOutMachine>(std::move(machine), request);
}

void lay_out(std::vector<std::unique_ptr<Machine>>& machines, const LayoutRequest& request) {
  for (std::unique_ptr<Machine>& machine : machines) {
    machine = with_layouts(std::move(machine), request);
  }
}

}  // namespace lacuna
