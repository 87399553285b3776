// SPDX-License-Identifier: Apache-2.0
#include "sim/report/tables/scalesim_reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {
namespace {

constexpr double kAccessBytes = 8;

/// As Python prints a float.
std::string decimal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string line(const std::vector<std::string>& cells) {
  return fmt::format("{},\n", fmt::join(cells, ", "));
}

double bytes_of_type(const std::string& dtype) {
  if (dtype == "fp32" || dtype == "int32") return 4;
  return dtype == "fp8" || dtype == "int8" ? 1 : 2;
}

/// A stream of words: how many, and from the first to the last cycle.
struct Stream {
  double words = 0;
  double start = 0;
  double stop = 0;

  double rate() const { return words > 0 ? words / (stop - start + 1) : 0; }
};

Stream stream(double words, double start, double stop) {
  return words > 0 ? Stream{words, start, stop} : Stream{};
}

/// What the reports say of an operation.
struct LayerReport {
  double cycles = 0;    // from the first that computes
  double prefetch = 0;  // before it
  double stall = 0;
  double overall = 0;  // per cent
  double mapping = 0;
  double compute = 0;
  double metadata_words = 0;
  Stream ifmap;
  Stream filter;
  Stream ofmap;
  Stream dram_ifmap;
  Stream dram_filter;
  Stream dram_ofmap;
};

std::uint64_t count(const OpResult& result, std::string_view path, std::string_view begin) {
  std::uint64_t sum = 0;
  for (const StatEntry& entry : result.statistics) {
    const bool there = path.empty() || entry.path == path;
    if (there && starts_with(entry.name, begin)) sum += entry.value;
  }
  return sum;
}

/// A phase of an operation, in cycles from its begin.
struct PhaseSpan {
  std::string name;
  double begin = 0;
  double end = 0;

  bool is(std::string_view with) const { return starts_with(name, with); }
  bool computes() const { return !is("sync") && !is("exchange"); }
};

/// Those of an operation, in their order, where the machine tells them.
std::vector<PhaseSpan> phases_of(const OpResult& result) {
  std::vector<PhaseSpan> phases;
  for (const ExplainSection& section : result.explanation.sections) {
    if (!starts_with(section.title, "phases") || section.tables.empty()) continue;
    double before = 0;
    for (const std::vector<std::string>& row : section.tables.front().rows) {
      if (row.size() < 3) break;
      const double end = before + std::strtod(row[2].c_str(), nullptr);
      phases.push_back({row[1], before, end});
      before = end;
    }
  }
  return phases;
}

/// Cycles of the phases before the first that computes; what a copy moves is not computed.
double prefetch_of(const std::vector<PhaseSpan>& phases) {
  for (const PhaseSpan& phase : phases) {
    if (phase.computes() && !phase.is("copy")) return phase.begin;
  }
  return 0;
}

/// From the first to the last phase in which vertices work on an operand.
struct Window {
  double start = 0;
  double stop = 0;
};

/// The hull of the phases that `chosen` names, from cycle `zero` on; of all after it if there are
/// none.
template <class Chosen>
Window window_of(const std::vector<PhaseSpan>& phases, double zero, double cycles, Chosen chosen) {
  Window window{0, cycles - 1};
  bool found = false;
  for (const PhaseSpan& phase : phases) {
    if (!chosen(phase) || phase.end <= phase.begin) continue;
    if (!found) window.start = phase.begin - zero;
    window.stop = phase.end - zero - 1;
    found = true;
  }
  return window;
}

/// Streams of the memories of tiles and cores: a product reads W in the phases that multiply and X
/// also in those that copy it; Y and its partial sums are written in all that compute.
void add_memory_streams(const OpResult& result, double word, LayerReport& report) {
  const std::vector<PhaseSpan> phases = phases_of(result);
  report.prefetch = prefetch_of(phases);
  report.cycles = static_cast<double>(result.cycles) - report.prefetch;
  const auto words = [&](std::string_view begin) {
    return static_cast<double>(count(result, "", begin)) * kAccessBytes / word;
  };
  const auto during = [&](double number, auto chosen) {
    const Window window = window_of(phases, report.prefetch, report.cycles, chosen);
    return stream(number, window.start, window.stop);
  };
  report.metadata_words = words("sram_reads_metadata");
  report.ifmap =
      during(words("sram_reads_input") + words("sram_reads_operand"),
             [](const PhaseSpan& phase) { return phase.is("multiply") || phase.is("copy"); });
  report.filter = during(words("sram_reads_weight"),
                         [](const PhaseSpan& phase) { return phase.is("multiply"); });
  report.ofmap = during(
      words("sram_writes_output") + words("sram_writes_partial") + words("sram_writes_result"),
      [](const PhaseSpan& phase) { return phase.computes() && !phase.is("copy"); });
}

LayerReport report_of(const OpRecord& op) {
  const OpResult& result = op.result;
  LayerReport report;
  add_memory_streams(result, bytes_of_type(op.row.dtype), report);
  double computing = 0;
  double without_work = 0;
  for (const StackPart& part : result.stack) {
    if (part.layer == Layer::compute) computing += static_cast<double>(part.cycles);
    const bool unused = part.kind == "unused" || part.kind == "idle";
    if (part.layer == Layer::idle && unused) without_work += static_cast<double>(part.cycles);
  }
  const auto units = static_cast<double>(result.units);
  const double all = units * static_cast<double>(result.cycles);
  report.stall = std::max(0.0, report.cycles - std::floor(computing / units));
  const auto macs = static_cast<double>(count(result, "", "mac_actual"));
  const double peak = result.peaks.flop_per_cycle / 2;
  if (peak > 0) report.overall = 100 * macs / (report.cycles * peak);
  report.mapping = 100 * (1 - without_work / all);
  if (peak > 0 && computing > 0) report.compute = 100 * macs / (peak / units * computing);
  const double last = report.cycles - 1;
  report.dram_filter =
      stream(static_cast<double>(count(result, "wafer.edge", "wavelets")) -
                 static_cast<double>(count(result, "wafer.edge", "wavelets_collected")),
             0 - report.prefetch, last);
  report.dram_ofmap = stream(static_cast<double>(count(result, "wafer.edge", "wavelets_collected")),
                             0, report.cycles);
  return report;
}

std::string whole(double value) {
  return fmt::format("{}", static_cast<std::uint64_t>(std::llround(value)));
}

std::string compute_row(const std::string& id, const LayerReport& r) {
  return line({id, whole(r.cycles + r.prefetch), whole(r.cycles), whole(r.stall),
               decimal(r.overall), decimal(r.mapping), decimal(r.compute)});
}

std::string bandwidth_row(const std::string& id, const LayerReport& r, bool metadata) {
  std::vector<std::string> cells = {id, decimal(r.ifmap.words / r.cycles),
                                    decimal(r.filter.words / r.cycles)};
  if (metadata) cells.push_back(decimal(r.metadata_words / r.cycles));
  cells.push_back(decimal(r.ofmap.words / r.cycles));
  for (const Stream* dram : {&r.dram_ifmap, &r.dram_filter, &r.dram_ofmap}) {
    cells.push_back(decimal(dram->rate()));
  }
  return line(cells);
}

std::string access_row(const std::string& id, const LayerReport& r) {
  std::vector<std::string> cells = {id};
  for (const Stream* part :
       {&r.ifmap, &r.filter, &r.ofmap, &r.dram_ifmap, &r.dram_filter, &r.dram_ofmap}) {
    cells.push_back(decimal(part->start));
    cells.push_back(decimal(part->stop));
    cells.push_back(whole(part->words));
  }
  return line(cells);
}

std::string request_of(const OpRecord& op, const std::string& name) {
  for (const auto& [key, value] : op.request) {
    if (key == name) return value;
  }
  return "";
}

bool is_sparse(const OpRecord& op) {
  return op.row.pattern != "dense" && op.row.m && op.row.k && op.row.density;
}

/// N:M in blocks of indices, everything else as CSR.
std::string sparse_row(const std::string& id, const OpRecord& op, const LayerReport& r) {
  const std::uint64_t size = *op.row.m * *op.row.k;
  const double kept = std::round(static_cast<double>(size) * *op.row.density);
  const std::string pattern = request_of(op, "pattern");
  const bool ratio = starts_with(pattern, "nm:");
  double metadata = kept + static_cast<double>(*op.row.m) + 1;
  if (ratio) {
    const std::size_t colon = pattern.find(':', std::string("nm:").size());
    const double of = std::strtod(pattern.c_str() + colon + 1, nullptr);
    constexpr double kWordBits = 32;
    metadata = kept * std::ceil(std::log2(of)) / kWordBits;
  }
  return line({id, ratio ? "ellpack_block" : "csr", fmt::format("{}", size),
               decimal(kept + metadata), whole(metadata), decimal(r.metadata_words / r.cycles)});
}

std::string access_header() {
  std::vector<std::string> cells = {"LayerID"};
  for (const char* const memory : {"SRAM", "DRAM"}) {
    for (const char* const part : {"IFMAP", "Filter", "OFMAP"}) {
      const std::string name = fmt::format("{} {}", memory, part);
      const bool result = std::string_view(part) == "OFMAP";
      cells.insert(cells.end(), {name + " Start Cycle", name + " Stop Cycle",
                                 name + (result ? " Writes" : " Reads")});
    }
  }
  return line(cells);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> scalesim_reports(const RunRecord& run) {
  const bool sparse = any_of(run.ops, is_sparse);
  std::string compute =
      line({"LayerID", "Total Cycles (incl. prefetch)", "Total Cycles", "Stall Cycles",
            "Overall Util %", "Mapping Efficiency %", "Compute Util %"});
  std::vector<std::string> rates = {"LayerID", "Avg IFMAP SRAM BW", "Avg FILTER SRAM BW"};
  if (sparse) rates.emplace_back("Avg FILTER Metadata SRAM BW");
  rates.insert(rates.end(), {"Avg OFMAP SRAM BW", "Avg IFMAP DRAM BW", "Avg FILTER DRAM BW",
                             "Avg OFMAP DRAM BW"});
  std::string bandwidth = line(rates);
  std::string accesses = access_header();
  std::string storage =
      "LayerID, Sparsity Representation, Original Filter Storage, New Storage (Filter+Metadata), "
      "Filter Metadata Storage, Avg FILTER Metadata SRAM BW, \n";
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const OpRecord& op = run.ops[i];
    if (op.result.status != Status::ok || op.result.cycles == 0) continue;
    const std::string id = fmt::format("{}", i);
    const LayerReport report = report_of(op);
    compute += compute_row(id, report);
    bandwidth += bandwidth_row(id, report, sparse);
    accesses += access_row(id, report);
    if (is_sparse(op)) storage += sparse_row(id, op, report);
  }
  std::vector<std::pair<std::string, std::string>> files = {
      {"COMPUTE_REPORT.csv", compute},
      {"BANDWIDTH_REPORT.csv", bandwidth},
      {"DETAILED_ACCESS_REPORT.csv", accesses}};
  if (sparse) files.emplace_back("SPARSE_REPORT.csv", storage);
  return files;
}

}  // namespace lacuna
