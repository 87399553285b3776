// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/times.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/machines/summary_rows.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/row_mask.hpp"

namespace lacuna {

namespace {

/// What a row of a chip is called in a cache.
constexpr const char* kKind = "row of a chip";

/// Files are known by what is in them.
std::string hash_of_file(const std::string& path) {
  const ArrayName name = split_array_name(path);
  return path.empty() ? "" : sha256_of_file(name.file) + name.member;
}

/// The mean of the tiles' cycles in exchange.
Cycle exchange_cycles(const OpResult& result) {
  std::uint64_t sum = 0;
  for (const StackPart& part : result.stack) {
    if (part.layer == Layer::exchange) sum += part.cycles;
  }
  return result.units == 0 ? 0 : sum / result.units;
}

/// A statistic of the host's side of a sparse operand; 0 if there is none.
std::uint64_t host_value(const OpResult& result, const char* name) {
  for (const StatEntry& entry : result.statistics) {
    if (entry.path == "host" && entry.name == name) return entry.value;
  }
  return 0;
}

/// Of the fullest tile, as the chip notes it: "4096 of 638976 B"; 0 if it does not.
std::uint64_t bytes_of_tile(const OpResult& result) {
  for (const auto& [name, text] : result.notes) {
    if (name == "memory of a tile") return std::stoull(text);
  }
  return 0;
}

}  // namespace

system::ChipCost cost_of(const OpRecord& record) {
  const OpResult& result = record.result;
  system::ChipCost cost;
  cost.cycles = result.cycles;
  cost.exchange_cycles = exchange_cycles(result);
  if (record.row.energy_j) cost.joules = *record.row.energy_j;
  cost.flop = 2 * result.mac_useful;
  cost.host_ns = host_value(result, "convert_ns");
  if (cost.host_ns > 0) cost.host_bytes = host_value(result, "device_bytes");
  cost.tile_bytes = bytes_of_tile(result);
  cost.edge_bytes = edge_bytes(result);
  cost.density = record.row.density.value_or(1);
  return cost;
}

ChipTimes::ChipTimes(const Pricing& pricing, std::uint64_t seed, Engine engine, PartCache* cache)
    : pricing_(pricing), seed_(seed), engine_(engine), masks_(seed), cache_(cache) {}

std::optional<OpRecord> ChipTimes::kept(const std::string& key) {
  if (cache_ == nullptr) return std::nullopt;
  const std::optional<std::string> text = cache_->find(kKind, key);
  if (!text) return std::nullopt;
  return std::move(decode_record(*text).ops.at(0));
}

void ChipTimes::keep(const std::string& key, const OpRecord& record) {
  if (cache_ == nullptr || !cache_->is_open()) return;
  RunRecord run;
  run.ops.push_back(record);
  cache_->keep(kKind, key, encode_record(run));
}

OpRecord ChipTimes::simulate(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace,
                             const Execution& execution) {
  const Mask* const mask = masks_.mask(op, trace, seed_);
  OpRecord record;
  try {
    record.result = chip.run(op, mask, seed_, execution);
  } catch (const OutOfMemoryError& error) {
    throw OutOfMemoryError(fmt::format("{} on one chip: {}", op.id, error.what()));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(fmt::format("{}: {}", op.id, error.what()));
  }
  record.row = describe_op(op, mask, chip.default_mode());
  add_result(record.row, record.result);
  return record;
}

std::string ChipTimes::key(const Machine& chip, const LayerOp& op,
                           const WorkloadTrace& trace) const {
  LayerOp alike = op;
  alike.id.clear();  // of rows without a mask alone
  std::string mask;
  if (op.pattern.name != "dense") {
    mask = mask_key(op, trace, seed_);
    for (const LayerOp& row : trace.ops) mask += hash_of_file(row.pattern.file);
  }
  const char* const fed = as_store_system(chip) == nullptr ? "" : "from a store ";
  return fmt::format("{}seed {} engine {}\n{}{}{} {}", settings_text(chip.parameters()), seed_,
                     engine_name(engine_), fed, operation_content(alike, nullptr, seed_, {}), mask,
                     hash_of_file(op.x_file));
}

OpResult ChipTimes::seen(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace) {
  Execution execution;
  execution.engine = engine_;
  execution.view = 1;  // steps are those of the program
  OpResult result = std::move(simulate(chip, op, trace, execution).result);
  const Cycle known = cost(chip, op, trace).cycles;
  if (result.cycles != known || result.units_in_time == nullptr) {
    throw InternalError(
        fmt::format("{}: {} cycles when it is looked at, else {}", op.id, result.cycles, known));
  }
  return result;
}

Cycle ChipTimes::least(const Machine& chip, const LayerOp& op, const WorkloadTrace& trace) {
  return chip.least_cycles(op, masks_.mask(op, trace, seed_)).value_or(0);
}

std::uint64_t ChipTimes::tile_bytes(const Machine& chip, const LayerOp& op,
                                    const WorkloadTrace& trace) {
  const std::string key = this->key(chip, op, trace);
  if (op.x_pattern == "dense" && known_.count(key) == 0) {
    const auto planned = planned_.find(key);
    if (planned != planned_.end()) return planned->second;
    const auto bytes = chip.tile_bytes(op, masks_.mask(op, trace, seed_), seed_);
    if (bytes) return planned_[key] = *bytes;
  }
  return cost(chip, op, trace).tile_bytes;
}

system::ChipCost ChipTimes::cost(const Machine& chip, const LayerOp& op,
                                 const WorkloadTrace& trace) {
  const std::string key = this->key(chip, op, trace);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  std::optional<OpRecord> record = kept(key);
  if (!record) {
    Execution execution;
    execution.engine = engine_;
    record = simulate(chip, op, trace, execution);
    keep(key, *record);
  }
  pricing_.price(chip, *record);
  return known_.emplace(key, cost_of(*record)).first->second;
}

}  // namespace lacuna
