// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_json.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <type_traits>

#include "sim/base/error.hpp"
#include "sim/base/refused.hpp"
#include "sim/driver/result/result_answer.hpp"
#include "sim/driver/result/result_fields.hpp"
#include "sim/driver/result/result_size.hpp"
#include "sim/driver/result/result_why.hpp"
#include "sim/report/layers.hpp"
#include "sim/report/tables/summary_fields.hpp"

namespace lacuna {

namespace {

using Json = nlohmann::ordered_json;

/// A word of a list, such as a layer, by its name.
template <class Io, class Word, class All, class Name>
void word_field(const Io& io, const char* key, Word& member, const All& all, const Name& name) {
  if constexpr (Io::kReads) {
    for (const auto each : all) {
      if (io.json().at(key) == name(each)) member = each;
    }
  } else {
    io.json()[key] = name(member);
  }
}

constexpr auto kStackPart = [](const auto& io, auto& part) {
  word_field(io, "layer", part.layer, kLayers, layer_name);
  io("kind", part.kind);
  io("unit_cycles", part.cycles);
};

constexpr auto kStatistic = [](const auto& io, auto& entry) {
  io("path", entry.path);
  io("name", entry.name);
  io("unit", entry.unit);
  io("value", entry.value);
  io.text("action", entry.action);
};

constexpr auto kEnergyPart = [](const auto& io, auto& part) {
  io("component", part.component);
  io("low_j", part.joules.low);
  io("nominal_j", part.joules.nominal);
  io("high_j", part.joules.high);
};

constexpr auto kTrust = [](const auto& io, auto& trust) {
  io("machine", trust.machine);
  io("family", trust.family);
  io("regime", trust.regime);
  io("quantity", trust.quantity);
  io("points", trust.points);
  io("p5", trust.p5);
  io("median", trust.median);
  io("p95", trust.p95);
  io("commit", trust.commit);
  io("measured_before_this_model", trust.moved);
};

constexpr auto kSilicon = [](const auto& io, auto& silicon) {
  io("sram_mb", silicon.sram_mb);
  io("low_mm2", silicon.mm2.low);
  io("nominal_mm2", silicon.mm2.nominal);
  io("high_mm2", silicon.mm2.high);
};

/// Members in the order of names above them, without their names: there may be many.
template <class Io, class T, class Tie>
void rows_field(const Io& io, const std::vector<const char*>& names, T& rows, const Tie& tie) {
  if constexpr (Io::kReads) {
    for (const Json& row : io.json().at("each")) {
      auto members = tie(rows.emplace_back());
      std::size_t at = 0;
      std::apply([&](auto&... each) { (row.at(at++).get_to(each), ...); }, members);
    }
  } else {
    io("columns", names);
    Json each = Json::array();
    for (auto& row : rows) each.push_back(tie(row));
    io("each", each);
  }
}

constexpr auto kIntervals = [](const auto& io, auto& intervals) {
  io.each("counters", intervals.counters, kStatistic);
  io.each("cycle_stack", intervals.stack, kStackPart);
  rows_field(io,
             {"from", "to", "sram_bytes", "fabric_bytes", "io_bytes", "counters", "cycle_stack"},
             intervals.each, [](auto& i) {
               return std::tie(i.from, i.to, i.sram_bytes, i.fabric_bytes, i.io_bytes, i.counters,
                               i.stack);
             });
  for (const Interval& each : intervals.each) {
    if (each.counters.size() == intervals.counters.size() &&
        each.stack.size() == intervals.stack.size()) {
      continue;
    }
    throw RequestError("an interval of a result has not one number for each name");
  }
};

constexpr auto kPhases = [](const auto& io, auto& phases) {
  rows_field(io, {"name", "cycles", "sram_bytes", "fabric_bytes", "io_bytes"}, phases,
             [](auto& phase) {
               return std::tie(phase.name, phase.cycles, phase.sram_bytes, phase.fabric_bytes,
                               phase.io_bytes);
             });
};

constexpr auto kValues = [](const auto& io, auto& values) {
  io("compared", values.compared);
  io("wrong", values.wrong);
  std::optional<double> largest;  // none: no element has an error
  std::optional<double> rms;
  if (values.finite() > 0) {
    largest = values.largest_error;
    rms = values.rms_error;
  }
  io("largest_error", largest);
  io("rms_error", rms);
  io("sigma", values.sigma);
  io("overflows", values.overflows);
  io("underflows", values.underflows);
  io("not_finite", values.not_finite);
  if constexpr (std::decay_t<decltype(io)>::kReads) {
    values.largest_error = largest.value_or(0);
    values.rms_error = rms.value_or(0);
  }
};

constexpr auto kExplanation = [](const auto& io, auto& explanation) {
  io.each("sections", explanation.sections, [](const auto& of_section, auto& section) {
    of_section("title", section.title);
    of_section("facts", section.facts);
    of_section.each("tables", section.tables, [](const auto& of_table, auto& table) {
      of_table("title", table.title);
      of_table.each("columns", table.columns, [](const auto& of_column, auto& column) {
        of_column("name", column.name);
        of_column("unit", column.unit);
      });
      of_table("rows", table.rows);
    });
  });
  io.each("maps", explanation.maps, [](const auto& of_map, auto& map) {
    of_map("name", map.name);
    of_map("title", map.title);
    of_map("quantity", map.quantity);
    of_map("columns", map.columns);
    of_map("values", map.values);
  });
};

template <class Io>
struct CellFields {
  const Io& io;

  template <class T>
  void operator()(const char* key, T& member) const {
    constexpr std::array<Status, 5> kAll = {Status::ok, Status::out_of_memory, Status::unsupported,
                                            Status::failed, Status::interrupted};
    if constexpr (std::is_same_v<std::remove_const_t<T>, Status>) {
      word_field(io, key, member, kAll, status_name);
    } else if constexpr (std::is_same_v<std::remove_const_t<T>, std::string>) {
      io.text(key, member);
    } else {
      io(key, member);
    }
  }
  template <class T>
  void operator()(const char* name, const char* unit, T& range) const {
    io.range(name, unit, range);
  }
};

/// A row of summary.csv, with what varies between the runs under its paths.
auto row_fields(const std::vector<std::string>& varying) {
  return [&varying](const auto& io, auto& row) {
    using Io = std::decay_t<decltype(io)>;
    for_each_cell(row, CellFields<Io>{io});
    if constexpr (Io::kReads) row.varying.resize(varying.size());
    for (std::size_t i = 0; i < varying.size(); ++i) io(varying[i], row.varying.at(i));
  };
}

/// What a result says of an operation that its row has too.
void take_from_row(OpRecord& op) {
  OpResult& result = op.result;
  result.status = op.row.status;
  result.reason = op.row.reason;
  result.exact = op.row.exact;
  result.cycles = op.row.cycles.value_or(0);
  result.sram_read_bytes = op.row.sram_read_bytes.value_or(0);
  result.sram_write_bytes = op.row.sram_write_bytes.value_or(0);
  result.fabric_bytes = op.row.fabric_bytes.value_or(0);
  result.io_bytes = op.row.io_bytes.value_or(0);
  result.mode = op.row.mode;
  result.residency = op.row.residency;
  result.x_density = op.row.x_density;
}

constexpr auto kEnergy = [](const auto& io, auto& op) {
  io("usual_factor", op.energy_factor);
  io.each("parts", op.energy, kEnergyPart);
};

auto op_fields(const std::vector<std::string>& varying) {
  return [&varying](const auto& io, auto& op) {
    auto& result = op.result;
    io.object("summary", op.row, row_fields(varying));
    if constexpr (std::decay_t<decltype(io)>::kReads) take_from_row(op);
    io("request", op.request);
    io("repeat", op.repeat);
    io("units", result.units);
    io.may("idle_units", result.idle_units);
    io("clock_ghz", result.clock_ghz);
    io("approximations", result.approximations);
    io("mac_algorithmic", result.mac_algorithmic);
    io("mac_useful", result.mac_useful);
    io("peak_flop_per_cycle", result.peaks.flop_per_cycle);
    io("peak_sram_bytes_per_cycle", result.peaks.sram_bytes_per_cycle);
    io("peak_fabric_bytes_per_cycle", result.peaks.fabric_bytes_per_cycle);
    io("peak_io_bytes_per_cycle", result.peaks.io_bytes_per_cycle);
    io("notes", result.notes);
    io("remarks", result.remarks);
    io.object_or_null(op.energy.empty(), "energy", op, kEnergy);
    io.may("trust", op.trust, kTrust);
    io.each("cycle_stack", result.stack, kStackPart);
    io.each("statistics", result.statistics, kStatistic);
    io.object_unless(result.phases.empty(), "phases", result.phases, kPhases);
    io.object_unless(result.intervals.each.empty(), "intervals", result.intervals, kIntervals);
    io.may("values", result.values, kValues);
    io.object_unless(result.explanation.empty(), "explanation", result.explanation, kExplanation);
  };
}

Json parameters_json(const std::vector<ParameterValue>& parameters) {
  Json json = Json::object();
  for (const ParameterValue& parameter : parameters) {
    // numbers stay the text they were given as: 0.85 must not come back as another double's
    Json value = parameter.plain ? Json::parse(parameter.value) : Json(parameter.value);
    json[parameter.path] = {{"value", std::move(value)}, {"unit", parameter.unit}};
  }
  return json;
}

std::vector<ParameterValue> parse_parameters(const Json& json) {
  std::vector<ParameterValue> parameters;
  for (const auto& [path, parameter] : json.items()) {
    const Json& value = parameter.at("value");
    const bool plain = !value.is_string();
    parameters.push_back(
        {path, plain ? value.dump() : value.get<std::string>(), parameter.at("unit"), plain});
  }
  return parameters;
}

constexpr auto kRecordFields = [](const auto& io, auto& record) {
  io("run", record.run);
  io("machine", record.machine);
  io("kind", record.kind);
  io("simulated", record.extent);
  io("engine", record.engine);
  io("seed", record.seed);
  io("workload", record.workload);
  io.text("pattern", record.pattern);
  io("varying", record.varying);
  if constexpr (std::decay_t<decltype(io)>::kReads) {
    record.parameters = parse_parameters(io.json().at("parameters"));
  } else {
    io("parameters", parameters_json(record.parameters));
  }
  io.may("unit_silicon", record.silicon, kSilicon);
  io("notes", record.notes);
  io.each("operations", record.ops, op_fields(record.varying));
  io.object("total", record.total, row_fields(record.varying));
  io.may("why", record.why, kWhyFields);
};

template <class T, class List>
Json written(const T& member, const List& list) {
  Json json = Json::object();
  list(JsonWriter(json), member);
  return json;
}

template <class T, class List>
T read(const Json& json, const List& list) {
  T member;
  list(JsonReader(json), member);
  return member;
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
      throw refused("{}: is not of the format '{}'", path, kResultFormat);
    }
    return take_from(json);
  } catch (const nlohmann::json::exception& error) {
    // after "[json.exception.parse_error.101] "
    const std::string said = error.what();
    const std::size_t end = said.find("] ");
    throw refused("{}: is not a result of Lacuna: {}", path,
                  end == std::string::npos ? said : said.substr(end + 2));
  }
}

}  // namespace

std::string result_text(const ResultHeader& header, const Runs& records) {
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
  for (const RunRecord& record : records) json["runs"].push_back(written(record, kRecordFields));
  json["explanations"] = take_explanations(json["runs"]);
  return with_short_lists(json.dump(1)) + '\n';
}

std::string models_text(const ResultHeader& header, const std::string& models_json, bool exact) {
  Json json = Json::parse(result_text(header, {}));
  json["exact"] = exact;
  json["models"] = Json::parse(models_json);
  return with_short_lists(json.dump(1)) + '\n';
}

ResultHeader parse_header(const std::string& text, const std::string& path) {
  return read_json(text, path, [](const Json& json) {
    ResultHeader header;
    const JsonReader io(json);
    io("version", header.version);
    io("command", header.command);
    const JsonReader workload(json.at("workload"));
    workload("name", header.workload);
    workload.text("path", header.workload_path);
    for (const Json& file : json.at("files")) {
      header.files.emplace_back(file.at("path"), file.at("sha256"));
    }
    io.may("interrupted", header.interrupted);
    return header;
  });
}

Runs parse_result(const std::string& text, const std::string& path) {
  return read_json(text, path, [](const Json& json) {
    Runs records;
    for (const Json& run : json.at("runs")) {
      records.push_back(read<RunRecord>(run, kRecordFields));
      for (std::size_t i = 0; i < records.back().ops.size(); ++i) {
        const Json& op = run.at("operations").at(i);
        if (!op.contains("explained_by")) continue;
        const auto place = op.at("explained_by").get<std::size_t>();
        const Json& explanation = json.at("explanations").at(place);
        records.back().ops[i].result.explanation = read<Explanation>(explanation, kExplanation);
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

std::string rows_json(const NamedTable& table) { return table_json(table).dump(1) + '\n'; }

std::string summary_json(const Runs& records, bool explain, const std::vector<NamedTable>& tables) {
  Json rows = Json::array();
  for (const RunRecord& record : records) {
    for (const OpRecord& op : record.ops) {
      rows.push_back(written(op.row, row_fields(record.varying)));
      const JsonWriter row(rows.back());
      row.may("values", op.result.values, kValues);
      if (explain) row.object("explanation", op.result.explanation, kExplanation);
    }
    rows.push_back(written(record.total, row_fields(record.varying)));
    JsonWriter(rows.back()).may("why", record.why, kWhyFields);
  }
  for (const NamedTable& table : tables) rows.back()[table.name] = table_json(table);
  return rows.dump(1) + '\n';
}

std::string encode_record(const RunRecord& record) {
  Json json = written(record, kRecordFields);
  Json events = Json::array();
  for (const OpRecord& op : record.ops) {
    const OpResult& result = op.result;
    events.push_back({result.event_units, result.event_kinds, Json::binary(pack(result.events)),
                      op.view, op.content});
  }
  const std::vector<std::uint8_t> bytes =
      Json::to_cbor(Json{{"record", std::move(json)}, {"events", std::move(events)}});
  return {bytes.begin(), bytes.end()};
}

RunRecord decode_record(const std::string& bytes) {
  const Json json = Json::from_cbor(bytes);
  auto record = read<RunRecord>(json.at("record"), kRecordFields);
  for (std::size_t i = 0; i < record.ops.size(); ++i) {
    const Json& events = json.at("events").at(i);
    OpResult& result = record.ops[i].result;
    result.event_units = events.at(0).get<std::vector<std::string>>();
    result.event_kinds = events.at(1).get<std::vector<std::string>>();
    result.events = unpack(events.at(2).get_binary());
    record.ops[i].view = events.at(3);
    record.ops[i].content = events.at(4);
  }
  return record;
}

std::string host_text(const Pairs& facts) {
  Json json = Json::object();
  for (const auto& [key, value] : facts) json[key] = value;
  return json.dump(1) + '\n';
}

}  // namespace lacuna
