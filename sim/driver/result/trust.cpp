// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/trust.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/files/config_table.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/report/chip_parameters.hpp"

namespace lacuna {

namespace {

const char* const kNotHere = "not validated here";
const char* const kBefore = "measured before this model";
const char* const kRatio = "ratio of rates";

/// Settings that change neither what was measured nor its cycles.
const std::vector<std::string>& beside() {
  static const std::vector<std::string> kBeside = {"energy.", "host.", "round"};
  return kBeside;
}

bool begins(const std::string& path, const std::vector<std::string>& beginnings) {
  return any_of(beginnings, [&](const std::string& each) { return starts_with(path, each); });
}

/// Parameters of the measured presets, each read once.
class Presets {
 public:
  /// True if `run` has the hardware of the preset: all that could change the cycles of a kernel.
  bool alike(const RunRecord& run, const MachineKind& kind, const TrustPlace& place) {
    const std::map<std::string, std::string>& preset = values(place.machine);
    const std::vector<ParameterValue> chip = chip_parameters(run);
    return all_of(chip, [&](const auto& each) {
      if (begins(each.path, beside()) || begins(each.path, kind.of_kernels)) return true;
      const auto found = preset.find(each.path);
      return found != preset.end() && found->second == each.value;
    });
  }

 private:
  const std::map<std::string, std::string>& values(const std::string& name) {
    const auto known = presets_.find(name);
    if (known != presets_.end()) return known->second;
    std::map<std::string, std::string>& values = presets_[name];
    const std::unique_ptr<Machine> machine = make_machine(standard_machines(), name);
    machine->parameters().for_each(
        [&](const std::string& path, const ParamBase& each) { values[path] = each.value_text(); });
    return values;
  }

  std::map<std::string, std::map<std::string, std::string>> presets_;
};

/// Where nine of ten published values lie, for a simulated one: of errors of a rate, a time is
/// between t(1 + p5) and t(1 + p95); of cycles or time, between t/(1 + p95) and t/(1 + p5).
std::pair<double, double> time_interval(double seconds, const TrustErrors& errors) {
  if (errors.quantity == "rate") return {seconds * (1 + errors.p5), seconds * (1 + errors.p95)};
  return {seconds / (1 + errors.p95), seconds / (1 + errors.p5)};
}

std::string text_of(const TrustErrors& errors) {
  return fmt::format("{} {}: {} points at {}{}", errors.family, errors.regime, errors.points,
                     errors.commit, errors.moved ? std::string("; ") + kBefore : "");
}

void add_errors(OpRecord& op, const TrustErrors& errors) {
  SummaryRow& row = op.row;
  op.trust = errors;
  row.trust = text_of(errors);
  if (errors.quantity != kRatio) {
    std::tie(row.time_low_s, row.time_high_s) = time_interval(*row.time_s, errors);
  } else if (row.speedup_vs_dense) {
    row.speedup_low = *row.speedup_vs_dense / (1 + errors.p95);
    row.speedup_high = *row.speedup_vs_dense / (1 + errors.p5);
  }
}

/// An operation alone is its own total; a sum of times has the sums of their ends, as errors of one
/// kernel go together, if all have some.
void add_to_total(RunRecord& run) {
  SummaryRow& total = run.total;
  if (run.ops.size() == 1) {
    const SummaryRow& row = run.ops.front().row;
    if (row.time_s != total.time_s) return;  // a system, of which no time is measured
    total.time_low_s = row.time_low_s;
    total.time_high_s = row.time_high_s;
    total.speedup_low = row.speedup_low;
    total.speedup_high = row.speedup_high;
    total.trust = row.trust;
    return;
  }
  double low = 0;
  double high = 0;
  for (const OpRecord& op : run.ops) {
    if (!op.row.time_low_s || !op.row.time_high_s) return;
    low += *op.row.time_low_s;
    high += *op.row.time_high_s;
  }
  if (run.ops.empty()) return;
  total.time_low_s = low;
  total.time_high_s = high;
  total.trust = "sum of the ends of its operations";
}

}  // namespace

Trust::Trust(const std::filesystem::path& folder) {
  const ConfigTable table(folder / "blind_errors.csv",
                          {"machine", "family", "regime", "quantity", "points", "p5_percent",
                           "median_percent", "p95_percent", "median_absolute_percent", "commit"});
  const ConfigTable cycles(folder / "trust_cycles.csv",
                           {"machine", "family", "regime", "measured", "now"});
  std::set<std::string> moved;
  const auto key = [](const ConfigTable& rows, std::size_t row) {
    return rows.text(row, "machine") + '|' + rows.text(row, "family") + '|' +
           rows.text(row, "regime");
  };
  for (std::size_t row = 0; row < cycles.size(); ++row) {
    if (cycles.count(row, "measured") != cycles.count(row, "now")) moved.insert(key(cycles, row));
  }
  for (std::size_t row = 0; row < table.size(); ++row) {
    BlindErrors blind;
    TrustErrors& errors = blind.errors;
    errors.machine = table.text(row, "machine");
    errors.family = table.text(row, "family");
    errors.regime = table.text(row, "regime");
    errors.quantity = table.text(row, "quantity");
    errors.points = table.count(row, "points");
    errors.p5 = table.number(row, "p5_percent") / 100;
    errors.median = table.number(row, "median_percent") / 100;
    errors.p95 = table.number(row, "p95_percent") / 100;
    blind.median_absolute = table.number(row, "median_absolute_percent") / 100;
    errors.commit = table.text(row, "commit");
    errors.moved = moved.count(key(table, row)) != 0;
    all_.push_back(std::move(blind));
  }
}

const TrustErrors* Trust::find(const std::string& machine, const std::string& family,
                               const std::string& regime) const {
  const auto* const found = find_where(all_, [&](const BlindErrors& each) {
    const TrustErrors& errors = each.errors;
    return errors.machine == machine && errors.family == family && errors.regime == regime;
  });
  return found == nullptr ? nullptr : &found->errors;
}

void add_trust(Runs& records, const Trust& trust) {
  Presets presets;
  for (RunRecord& run : records) {
    const MachineKind* const kind = known_kind(run.kind);
    const bool measured = kind != nullptr && kind->trust != nullptr;
    for (OpRecord& op : run.ops) {
      if (!measured || op.row.status != Status::ok || !op.row.time_s) continue;
      const std::optional<TrustPlace> place = kind->trust(run, op);
      if (!place) continue;
      const TrustErrors* const errors = trust.find(place->machine, place->family, place->regime);
      if (errors == nullptr || !presets.alike(run, *kind, *place)) {
        op.row.trust = kNotHere;
      } else {
        add_errors(op, *errors);
      }
    }
    if (run.total.status == Status::ok) add_to_total(run);
  }
}

std::string trust_notes(const Runs& records) {
  std::set<std::string> said;
  std::string text;
  for (const RunRecord& run : records) {
    for (const OpRecord& op : run.ops) {
      if (!op.row.time_low_s && !op.row.speedup_low) continue;
      if (!said.insert(op.row.trust).second) continue;
      text += fmt::format("{} (simulated over published, {}: {:+.1f} to {:+.1f} %)\n", op.row.trust,
                          op.trust->quantity, 100 * op.trust->p5, 100 * op.trust->p95);
    }
  }
  if (text.empty()) return "";
  return "5 to 95 %: where nine of ten published values lie, by points that the model has not "
         "seen\n" +
         text;
}

}  // namespace lacuna
