// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "sim/base/error.hpp"
#include "sim/driver/result/result_answer.hpp"
#include "sim/driver/result/result_cells.hpp"
#include "sim/driver/result/result_explain.hpp"
#include "sim/driver/result/result_row.hpp"
#include "sim/driver/result/result_size.hpp"
#include "sim/driver/result/result_trust.hpp"
#include "sim/driver/result/result_why.hpp"
#include "sim/report/layers.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

using Facts = std::vector<std::pair<std::string, std::string>>;

Json facts_json(const Facts& facts) {
  Json json = Json::array();  // an array: a key may come twice
  for (const auto& [key, value] : facts) json.push_back({key, value});
  return json;
}

Facts parse_facts(const Json& json) {
  Facts facts;
  for (const Json& fact : json) facts.emplace_back(fact.at(0), fact.at(1));
  return facts;
}

Json stack_json(const std::vector<StackPart>& stack) {
  Json json = Json::array();
  for (const StackPart& part : stack) {
    json.push_back(
        {{"layer", layer_name(part.layer)}, {"kind", part.kind}, {"unit_cycles", part.cycles}});
  }
  return json;
}

std::vector<StackPart> parse_stack(const Json& json) {
  std::vector<StackPart> stack;
  for (const Json& part : json) {
    StackPart parsed{Layer::idle, part.at("kind"), part.at("unit_cycles")};
    for (const Layer layer : kLayers) {
      if (part.at("layer") == layer_name(layer)) parsed.layer = layer;
    }
    stack.push_back(parsed);
  }
  return stack;
}

Json statistics_json(const std::vector<StatEntry>& statistics) {
  Json json = Json::array();
  for (const StatEntry& entry : statistics) {
    Json item = {{"path", entry.path}, {"name", entry.name}, {"unit", entry.unit}};
    item["value"] = entry.is_real ? Json(entry.real) : Json(entry.value);
    item["action"] = or_null(entry.action);
    json.push_back(std::move(item));
  }
  return json;
}

std::vector<StatEntry> parse_statistics(const Json& json) {
  std::vector<StatEntry> statistics;
  for (const Json& item : json) {
    StatEntry entry;
    entry.path = item.at("path");
    entry.name = item.at("name");
    entry.unit = item.at("unit");
    take(item, "action", entry.action);
    entry.is_real = item.at("value").is_number_float();
    if (entry.is_real) {
      entry.real = item.at("value");
    } else {
      entry.value = item.at("value");
    }
    statistics.push_back(std::move(entry));
  }
  return statistics;
}

Json energy_json(const OpRecord& op) {
  if (op.energy.empty()) return nullptr;
  Json parts = Json::array();
  for (const EnergyPart& part : op.energy) {
    parts.push_back({{"component", part.component},
                     {"low_j", part.joules.low},
                     {"nominal_j", part.joules.nominal},
                     {"high_j", part.joules.high}});
  }
  return {{"usual_factor", or_null(op.energy_factor)}, {"parts", parts}};
}

void parse_energy(const Json& json, OpRecord& op) {
  if (json.is_null()) return;
  take(json, "usual_factor", op.energy_factor);
  for (const Json& item : json.at("parts")) {
    EnergyPart part;
    part.component = item.at("component");
    part.joules.low = item.at("low_j");
    part.joules.nominal = item.at("nominal_j");
    part.joules.high = item.at("high_j");
    op.energy.push_back(part);
  }
}

/// Numbers in the order of the names above them: there may be many intervals.
Json intervals_json(const Intervals& intervals) {
  Json each = Json::array();
  for (const Interval& i : intervals.each) {
    each.push_back({i.from, i.to, i.sram_bytes, i.fabric_bytes, i.io_bytes, i.counters, i.stack});
  }
  return {{"counters", statistics_json(intervals.counters)},
          {"cycle_stack", stack_json(intervals.stack)},
          {"columns",
           {"from", "to", "sram_bytes", "fabric_bytes", "io_bytes", "counters", "cycle_stack"}},
          {"each", std::move(each)}};
}

Intervals parse_intervals(const Json& json) {
  Intervals intervals;
  intervals.counters = parse_statistics(json.at("counters"));
  intervals.stack = parse_stack(json.at("cycle_stack"));
  for (const Json& item : json.at("each")) {
    Interval each;
    each.from = item.at(0);
    each.to = item.at(1);
    each.sram_bytes = item.at(2);
    each.fabric_bytes = item.at(3);
    each.io_bytes = item.at(4);
    each.counters = item.at(5).get<std::vector<std::uint64_t>>();
    each.stack = item.at(6).get<std::vector<std::uint64_t>>();
    if (each.counters.size() != intervals.counters.size() ||
        each.stack.size() != intervals.stack.size()) {
      throw RequestError("an interval of a result has not one number for each name");
    }
    intervals.each.push_back(std::move(each));
  }
  return intervals;
}

/// Likewise.
Json phases_json(const std::vector<PhaseTraffic>& phases) {
  Json each = Json::array();
  for (const PhaseTraffic& phase : phases) {
    each.push_back(
        {phase.name, phase.cycles, phase.sram_bytes, phase.fabric_bytes, phase.io_bytes});
  }
  return {{"columns", {"name", "cycles", "sram_bytes", "fabric_bytes", "io_bytes"}},
          {"each", std::move(each)}};
}

std::vector<PhaseTraffic> parse_phases(const Json& json) {
  std::vector<PhaseTraffic> phases;
  for (const Json& item : json.at("each")) {
    phases.push_back({item.at(0), item.at(1), item.at(2), item.at(3), item.at(4)});
  }
  return phases;
}

Json values_json(const ValueCheck& values) {
  return {{"compared", values.compared},
          {"wrong", values.wrong},
          {"largest_error", values.finite() > 0 ? Json(values.largest_error) : Json()},
          {"rms_error", values.finite() > 0 ? Json(values.rms_error) : Json()},
          {"sigma", values.sigma},
          {"overflows", values.overflows},
          {"underflows", values.underflows},
          {"not_finite", values.not_finite}};
}

Json op_json(const OpRecord& op, const std::vector<std::string>& varying) {
  const OpResult& result = op.result;
  Json json = Json::object();
  json["summary"] = row_json(op.row, varying);
  json["request"] = facts_json(op.request);
  json["repeat"] = op.repeat;
  json["units"] = result.units;
  if (result.idle_units != 0) json["idle_units"] = result.idle_units;
  json["clock_ghz"] = result.clock_ghz;
  json["approximations"] = result.approximations;
  json["mac_algorithmic"] = result.mac_algorithmic;
  json["mac_useful"] = result.mac_useful;
  json["peak_flop_per_cycle"] = result.peaks.flop_per_cycle;
  json["peak_sram_bytes_per_cycle"] = result.peaks.sram_bytes_per_cycle;
  json["peak_fabric_bytes_per_cycle"] = result.peaks.fabric_bytes_per_cycle;
  json["peak_io_bytes_per_cycle"] = result.peaks.io_bytes_per_cycle;
  json["notes"] = facts_json(result.notes);
  json["remarks"] = result.remarks;
  json["energy"] = energy_json(op);
  if (op.trust) json["trust"] = trust_json(*op.trust);
  json["cycle_stack"] = stack_json(result.stack);
  json["statistics"] = statistics_json(result.statistics);
  if (!result.phases.empty()) json["phases"] = phases_json(result.phases);
  if (!result.intervals.each.empty()) json["intervals"] = intervals_json(result.intervals);
  if (result.values) json["values"] = values_json(*result.values);
  if (!result.explanation.empty()) json["explanation"] = explanation_json(result.explanation);
  return json;
}

ValueCheck parse_values(const Json& json) {
  ValueCheck values;
  take(json, "compared", values.compared);
  take(json, "wrong", values.wrong);
  if (!json.at("largest_error").is_null()) {
    take(json, "largest_error", values.largest_error);
    take(json, "rms_error", values.rms_error);
  }
  take(json, "sigma", values.sigma);
  take(json, "overflows", values.overflows);
  take(json, "underflows", values.underflows);
  take(json, "not_finite", values.not_finite);
  return values;
}

OpRecord parse_op(const Json& json, const std::vector<std::string>& varying) {
  OpRecord op;
  op.row = parse_row(json.at("summary"), varying);
  op.request = parse_facts(json.at("request"));
  take(json, "repeat", op.repeat);
  OpResult& result = op.result;
  result.status = op.row.status;
  result.reason = op.row.reason;
  result.exact = op.row.exact;
  result.cycles = op.row.cycles.value_or(0);
  result.sram_read_bytes = op.row.sram_read_bytes.value_or(0);
  result.sram_write_bytes = op.row.sram_write_bytes.value_or(0);
  result.fabric_bytes = op.row.fabric_bytes.value_or(0);
  result.io_bytes = op.row.io_bytes.value_or(0);
  take(json, "units", result.units);
  result.idle_units = json.value("idle_units", result.idle_units);
  take(json, "clock_ghz", result.clock_ghz);
  take(json, "approximations", result.approximations);
  take(json, "mac_algorithmic", result.mac_algorithmic);
  take(json, "mac_useful", result.mac_useful);
  take(json, "peak_flop_per_cycle", result.peaks.flop_per_cycle);
  take(json, "peak_sram_bytes_per_cycle", result.peaks.sram_bytes_per_cycle);
  take(json, "peak_fabric_bytes_per_cycle", result.peaks.fabric_bytes_per_cycle);
  take(json, "peak_io_bytes_per_cycle", result.peaks.io_bytes_per_cycle);
  result.notes = parse_facts(json.at("notes"));
  take(json, "remarks", result.remarks);
  result.mode = op.row.mode;
  result.residency = op.row.residency;
  result.x_density = op.row.x_density;
  parse_energy(json.at("energy"), op);
  if (json.contains("trust")) op.trust = parse_trust(json.at("trust"));
  result.stack = parse_stack(json.at("cycle_stack"));
  result.statistics = parse_statistics(json.at("statistics"));
  if (json.contains("phases")) result.phases = parse_phases(json.at("phases"));
  if (json.contains("intervals")) result.intervals = parse_intervals(json.at("intervals"));
  if (json.contains("values")) result.values = parse_values(json.at("values"));
  if (json.contains("explanation")) {
    result.explanation = parse_explanation(json.at("explanation"));
  }
  return op;
}

Json record_json(const RunRecord& record) {
  Json json = Json::object();
  json["run"] = record.run;
  json["machine"] = record.machine;
  json["kind"] = record.kind;
  json["simulated"] = record.extent;
  json["engine"] = record.engine;
  json["seed"] = record.seed;
  json["workload"] = record.workload;
  json["pattern"] = or_null(record.pattern);
  json["varying"] = record.varying;
  Json parameters = Json::object();
  for (const ParameterValue& parameter : record.parameters) {
    // numbers stay the text they were given as: 0.85 must not come back as another double's
    Json value = parameter.plain ? Json::parse(parameter.value) : Json(parameter.value);
    parameters[parameter.path] = {{"value", std::move(value)}, {"unit", parameter.unit}};
  }
  json["parameters"] = std::move(parameters);
  if (record.silicon) json["unit_silicon"] = silicon_json(*record.silicon);
  json["notes"] = facts_json(record.notes);
  Json ops = Json::array();
  for (const OpRecord& op : record.ops) ops.push_back(op_json(op, record.varying));
  json["operations"] = std::move(ops);
  json["total"] = row_json(record.total, record.varying);
  if (record.why) json["why"] = why_json(*record.why);
  return json;
}

RunRecord parse_record(const Json& json) {
  RunRecord record;
  take(json, "run", record.run);
  take(json, "machine", record.machine);
  take(json, "kind", record.kind);
  take(json, "simulated", record.extent);
  take(json, "engine", record.engine);
  take(json, "seed", record.seed);
  take(json, "workload", record.workload);
  take(json, "pattern", record.pattern);
  take(json, "varying", record.varying);
  for (const auto& [path, parameter] : json.at("parameters").items()) {
    const Json& value = parameter.at("value");
    const bool plain = !value.is_string();
    record.parameters.push_back(
        {path, plain ? value.dump() : value.get<std::string>(), parameter.at("unit"), plain});
  }
  if (json.contains("unit_silicon")) record.silicon = parse_silicon(json.at("unit_silicon"));
  record.notes = parse_facts(json.at("notes"));
  for (const Json& op : json.at("operations")) {
    record.ops.push_back(parse_op(op, record.varying));
  }
  record.total = parse_row(json.at("total"), record.varying);
  if (json.contains("why")) record.why = parse_why(json.at("why"));
  return record;
}

/// There may be millions of events: as bytes, for a process of the same program.
std::vector<std::uint8_t> pack(const std::vector<Event>& events) {
  std::vector<std::uint8_t> bytes(events.size() * sizeof(Event));
  if (!events.empty()) std::memcpy(bytes.data(), events.data(), bytes.size());
  return bytes;
}

std::vector<Event> unpack(const std::vector<std::uint8_t>& bytes) {
  static_assert(std::is_trivially_copyable_v<Event>);
  std::vector<Event> events(bytes.size() / sizeof(Event));
  if (!events.empty()) std::memcpy(events.data(), bytes.data(), bytes.size());
  return events;
}

/// What `take_from` takes from a result.json; RequestError if it is not one.
template <class Take>
auto read_json(const std::string& text, const std::string& path, const Take& take_from) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kResultFormat) {
      throw RequestError(fmt::format("{}: is not of the format '{}'", path, kResultFormat));
    }
    return take_from(json);
  } catch (const nlohmann::json::exception& error) {
    // after "[json.exception.parse_error.101] "
    const std::string said = error.what();
    const std::size_t end = said.find("] ");
    throw RequestError(fmt::format("{}: is not a result of Lacuna: {}", path,
                                   end == std::string::npos ? said : said.substr(end + 2)));
  }
}

}  // namespace

std::string result_text(const ResultHeader& header, const std::vector<RunRecord>& records) {
  Json json = Json::object();
  json["format"] = kResultFormat;  // first: a folder is known by it
  json["version"] = header.version;
  json["command"] = header.command;
  bool exact = true;
  for (const RunRecord& record : records) exact = exact && record.total.exact;
  json["exact"] = exact;
  if (is_interrupted(records)) json["interrupted"] = true;
  json["workload"] = {{"name", header.workload}, {"path", or_null(header.workload_path)}};
  json["files"] = Json::array();
  for (const auto& [path, hash] : header.files) {
    json["files"].push_back({{"path", path}, {"sha256", hash}});
  }
  if (!records.empty()) json["answer"] = answer_json(answer_of(records));
  json["runs"] = Json::array();
  for (const RunRecord& record : records) json["runs"].push_back(record_json(record));
  json["explanations"] = take_explanations(json["runs"]);
  return with_short_lists(json.dump(1)) + '\n';
}

std::string models_text(const ResultHeader& header, const std::string& models_json) {
  Json json = Json::parse(result_text(header, {}));
  json["models"] = Json::parse(models_json);
  return with_short_lists(json.dump(1)) + '\n';
}

ResultHeader parse_header(const std::string& text, const std::string& path) {
  return read_json(text, path, [](const Json& json) {
    ResultHeader header;
    take(json, "version", header.version);
    take(json, "command", header.command);
    take(json.at("workload"), "name", header.workload);
    take(json.at("workload"), "path", header.workload_path);
    for (const Json& file : json.at("files")) {
      header.files.emplace_back(file.at("path"), file.at("sha256"));
    }
    header.interrupted = json.value("interrupted", false);
    return header;
  });
}

std::vector<RunRecord> parse_result(const std::string& text, const std::string& path) {
  return read_json(text, path, [](const Json& json) {
    std::vector<RunRecord> records;
    for (const Json& run : json.at("runs")) {
      records.push_back(parse_record(run));
      for (std::size_t i = 0; i < records.back().ops.size(); ++i) {
        const Json& op = run.at("operations").at(i);
        if (!op.contains("explained_by")) continue;
        const auto place = op.at("explained_by").get<std::size_t>();
        const Json& explanation = json.at("explanations").at(place);
        records.back().ops[i].result.explanation = parse_explanation(explanation);
      }
    }
    return records;
  });
}

namespace {

Json cell_json(const std::string& cell) {
  Json number = Json::parse(cell, nullptr, false);
  if (number.is_number()) return number;
  return cell.empty() ? Json(nullptr) : Json(cell);
}

Json table_json(const NamedTable& table) {
  Json rows = Json::array();
  for (const std::vector<std::string>& cells : table.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < cells.size(); ++i) row[table.columns.at(i)] = cell_json(cells[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string summary_json(const std::vector<RunRecord>& records, bool explain,
                         const std::vector<NamedTable>& tables) {
  Json rows = Json::array();
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      rows.push_back(row_json(op.row, record.varying));
      if (op.result.values) rows.back()["values"] = values_json(*op.result.values);
      if (explain) rows.back()["explanation"] = explanation_json(op.result.explanation);
    }
    rows.push_back(row_json(record.total, record.varying));
    if (record.why) rows.back()["why"] = why_json(*record.why);
  }
  for (const NamedTable& table : tables) rows.back()[table.name] = table_json(table);
  return rows.dump(1) + '\n';
}

std::string encode_record(const RunRecord& record) {
  Json json = record_json(record);
  Json events = Json::array();
  for (const OpRecord& op : record.ops) {
    const OpResult& result = op.result;
    events.push_back(
        {result.event_units, result.event_kinds, Json::binary(pack(result.events)), op.view});
  }
  const std::vector<std::uint8_t> bytes =
      Json::to_cbor(Json{{"record", std::move(json)}, {"events", std::move(events)}});
  return {bytes.begin(), bytes.end()};
}

RunRecord decode_record(const std::string& bytes) {
  const Json json = Json::from_cbor(bytes);
  RunRecord record = parse_record(json.at("record"));
  for (std::size_t i = 0; i < record.ops.size(); ++i) {
    const Json& events = json.at("events").at(i);
    OpResult& result = record.ops[i].result;
    result.event_units = events.at(0).get<std::vector<std::string>>();
    result.event_kinds = events.at(1).get<std::vector<std::string>>();
    result.events = unpack(events.at(2).get_binary());
    record.ops[i].view = events.at(3);
  }
  return record;
}

std::string host_text(const std::vector<std::pair<std::string, std::string>>& facts) {
  Json json = Json::object();
  for (const auto& [key, value] : facts) json[key] = value;
  return json.dump(1) + '\n';
}

}  // namespace lacuna
