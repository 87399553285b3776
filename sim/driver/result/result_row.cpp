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
  visit("trust", row.trust);
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
  json["energy_j"] = row.energy_j ? Json(row.energy_j->nominal) : Json(nullptr);
  json["energy_low_j"] = row.energy_j ? Json(row.energy_j->low) : Json(nullptr);
  json["energy_high_j"] = row.energy_j ? Json(row.energy_j->high) : Json(nullptr);
  for_each_late_cell(row, Write{json});
  json["status"] = status_name(row.status);
  json["reason"] = or_null(row.reason);
  for (std::size_t i = 0; i < varying.size(); ++i) json[varying[i]] = row.varying.at(i);
  return json;
}

SummaryRow parse_row(const Json& json, const std::vector<std::string>& varying) {
  SummaryRow row;
  for_each_cell(row, [&](const char* key, auto& member) { take(json, key, member); });
  std::optional<double> nominal;
  take(json, "energy_j", nominal);
  if (nominal) {
    row.energy_j = JouleRange{};
    row.energy_j->nominal = *nominal;
    take(json, "energy_low_j", row.energy_j->low);
    take(json, "energy_high_j", row.energy_j->high);
  }
  for_each_late_cell(row, [&](const char* key, auto& member) { take(json, key, member); });
  for (const Status status : kStatuses) {
    if (json.at("status") == status_name(status)) row.status = status;
  }
  take(json, "reason", row.reason);
  for (const std::string& name : varying) row.varying.push_back(json.at(name));
  return row;
}

}  // namespace lacuna
