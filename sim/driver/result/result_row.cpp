// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_row.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "sim/driver/result/result_cells.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<Status, 5> kStatuses = {Status::ok, Status::out_of_memory, Status::unsupported,
                                             Status::failed, Status::interrupted};

/// Calls `visit(key, member)` for the cells of a row, in the order of summary.csv, but for energy
/// and status, which are more than a cell. One list serves writing and reading.
template <class Row, class Visit>
void for_each_cell(Row& row, const Visit& visit) {
  visit("run", row.run);
  visit("machine", row.machine);
  visit("engine", row.engine);
  visit("exact", row.exact);
  visit("workload", row.workload);
  visit("op_id", row.op_id);
  visit("op", row.op);
  visit("m", row.m);
  visit("k", row.k);
  visit("n", row.n);
  visit("dtype", row.dtype);
  visit("pattern", row.pattern);
  visit("density", row.density);
  visit("block", row.block);
  visit("mode", row.mode);
  visit("residency", row.residency);
  visit("x_kept", row.x_density);
  visit("seed", row.seed);
  visit("cycles", row.cycles);
  visit("time_s", row.time_s);
  visit("useful_flop", row.useful_flop);
  visit("useful_tflops", row.useful_tflops);
  visit("dense_tflops", row.dense_tflops);
  visit("speedup_vs_dense", row.speedup_vs_dense);
  visit("utilisation", row.utilisation);
  visit("sram_read_bytes", row.sram_read_bytes);
  visit("sram_write_bytes", row.sram_write_bytes);
  visit("fabric_bytes", row.fabric_bytes);
  visit("io_bytes", row.io_bytes);
  visit("sram_gbps", row.sram_gbps);
  visit("fabric_gbps", row.fabric_gbps);
  visit("io_gbps", row.io_gbps);
}

/// Likewise those after the energy.
template <class Row, class Visit>
void for_each_late_cell(Row& row, const Visit& visit) {
  visit("power_w", row.power_w);
  visit("pj_per_useful_flop", row.pj_per_useful_flop);
  visit("silicon_mm2", row.silicon_mm2);
  visit("gflops_per_mm2", row.gflops_per_mm2);
  visit("time_low_s", row.time_low_s);
  visit("time_high_s", row.time_high_s);
  visit("speedup_low", row.speedup_low);
  visit("speedup_high", row.speedup_high);
}

/// A range as three cells: NAME, NAME_low, NAME_high, `unit` at the end of each.
void write_range(Json& json, const std::string& name, const std::string& unit,
                 const std::optional<JouleRange>& range) {
  json[name + unit] = range ? Json(range->nominal) : Json(nullptr);
  json[name + "_low" + unit] = range ? Json(range->low) : Json(nullptr);
  json[name + "_high" + unit] = range ? Json(range->high) : Json(nullptr);
}

void read_range(const Json& json, const std::string& name, const std::string& unit,
                std::optional<JouleRange>& range) {
  std::optional<double> nominal;
  if (!json.contains(name + unit)) return;  // of an older Lacuna
  take(json, (name + unit).c_str(), nominal);
  if (!nominal) return;
  range = JouleRange{0, *nominal, 0};
  take(json, (name + "_low" + unit).c_str(), range->low);
  take(json, (name + "_high" + unit).c_str(), range->high);
}

struct Write {
  Json& json;
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    json[key] = or_null(value);
  }
  void operator()(const char* key, const std::string& text) const { json[key] = or_null(text); }
  void operator()(const char* key, std::uint64_t value) const { json[key] = value; }
  void operator()(const char* key, bool value) const { json[key] = value; }
};

}  // namespace

Json row_json(const SummaryRow& row, const std::vector<std::string>& varying) {
  Json json = Json::object();
  for_each_cell(row, Write{json});
  write_range(json, "energy", "_j", row.energy_j);
  for_each_late_cell(row, Write{json});
  write_range(json, "energy_vs_dense", "", row.energy_vs_dense);
  json["trust"] = or_null(row.trust);
  json["status"] = status_name(row.status);
  json["reason"] = or_null(row.reason);
  for (std::size_t i = 0; i < varying.size(); ++i) json[varying[i]] = row.varying.at(i);
  return json;
}

SummaryRow parse_row(const Json& json, const std::vector<std::string>& varying) {
  SummaryRow row;
  for_each_cell(row, [&](const char* key, auto& member) { take(json, key, member); });
  read_range(json, "energy", "_j", row.energy_j);
  for_each_late_cell(row, [&](const char* key, auto& member) { take(json, key, member); });
  read_range(json, "energy_vs_dense", "", row.energy_vs_dense);
  take(json, "trust", row.trust);
  for (const Status status : kStatuses) {
    if (json.at("status") == status_name(status)) row.status = status;
  }
  take(json, "reason", row.reason);
  for (const std::string& name : varying) row.varying.push_back(json.at(name));
  return row;
}

}  // namespace lacuna
