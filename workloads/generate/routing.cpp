// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/look_ups.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

constexpr const char* kAllowed = "uniform, zipf:EXPONENT, file:PATH";

/// Where each column of a file of counts stands. TraceError unless it has expert and tokens, and
/// perhaps layer, each once.
std::map<std::string, std::size_t> columns_of(const CsvLine& header, const std::string& path) {
  constexpr std::array known = {"expert", "tokens", "layer"};
  constexpr const char* kColumnsAllowed =
      "the columns expert, tokens and, if layers differ, layer, each once";
  std::map<std::string, std::size_t> columns;
  for (const CsvCell& cell : header.cells) {
    if (contains(known, cell.text) && columns.emplace(cell.text, columns.size()).second) continue;
    throw_diagnostic(place(path, header.number, cell.column), "E101", cell.text, kColumnsAllowed);
  }
  for (const char* needed : {"expert", "tokens"}) {
    if (columns.count(needed) != 0) continue;
    throw_diagnostic(
        {place(path, header.number), "E101", needed, "no such column", kColumnsAllowed});
  }
  return columns;
}

void read_counts(Routing& routing) {
  const std::string& path = routing.file;
  CsvLines lines(read_text_file(path));
  CsvLine line;
  std::map<std::string, std::size_t> columns;
  if (lines.next_cells(line)) columns = columns_of(line, path);
  while (lines.next_cells(line)) {
    if (line.cells.size() != columns.size()) {
      throw_diagnostic(place(path, line.number), "E004", fmt::format("{} cells", line.cells.size()),
                       fmt::format("{} cells", columns.size()));
    }
    const auto number = [&](const char* column) {
      const CsvCell& cell = line.cells[columns.at(column)];
      return static_cast<std::uint32_t>(
          read_integer(place(path, line.number, cell.column), column, cell.text, 0));
    };
    const std::uint32_t layer = columns.count("layer") == 0 ? Routing::kAllLayers : number("layer");
    const std::uint32_t expert = number("expert");
    if (!routing.counts[layer].emplace(expert, number("tokens")).second) {
      throw_diagnostic({place(path, line.number), "E207", "expert", std::to_string(expert),
                        "each expert of a layer once"});
    }
  }
  if (routing.counts.empty()) {
    throw_diagnostic(place(path), "E001", "no counts of tokens", "at least one line");
  }
}

std::vector<std::uint32_t> counted(const Routing& routing, std::uint32_t layer,
                                   std::uint32_t experts, std::uint32_t chosen,
                                   std::uint32_t tokens) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    refuse_request("--routing file:{}: found {} in layer {}; allowed: {}", routing.file, found,
                   layer, allowed);
  };
  auto found = routing.counts.find(layer);
  if (found == routing.counts.end()) found = routing.counts.find(Routing::kAllLayers);
  if (found == routing.counts.end()) fail("no line", "a line for each expert with tokens");
  std::vector<std::uint32_t> counts(experts, 0);
  std::uint64_t sum = 0;
  for (const auto& [expert, count] : found->second) {
    if (expert >= experts) {
      fail(fmt::format("expert {}", expert), fmt::format("experts 0 to {}", experts - 1));
    }
    if (count > tokens) {
      fail(fmt::format("{} tokens of expert {}", count, expert),
           fmt::format("at most the {} tokens there are", tokens));
    }
    counts[expert] = count;
    sum += count;
  }
  const std::uint64_t wanted = std::uint64_t{tokens} * chosen;
  if (sum != wanted) {
    fail(fmt::format("{} tokens of experts in all", sum),
         fmt::format("{}, as each of {} tokens takes {} experts", wanted, tokens, chosen));
  }
  return counts;
}

}  // namespace

Routing parse_routing(const std::string& text, std::uint64_t seed) {
  Routing routing;
  routing.seed = seed;
  if (text == "uniform") return routing;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  constexpr std::size_t kLongest = 12;
  if (kind == "zipf") {
    if (rest.size() > kLongest || !is_decimal(rest)) refuse_setting("routing", text, kAllowed);
    routing.drawn = text;
    return routing;
  }
  if (kind != "file" || rest.empty()) refuse_setting("routing", text, kAllowed);
  routing.file = rest;
  read_counts(routing);
  return routing;
}

std::vector<std::uint32_t> tokens_of_experts(const Routing& routing, std::uint32_t layer,
                                             std::uint32_t experts, std::uint32_t chosen,
                                             std::uint32_t tokens) {
  if (!routing.counts.empty()) {
    return counted(routing, layer, experts, chosen, tokens);
  }
  std::vector<std::uint32_t> counts;
  const TokensOfExperts drawn =
      draw_experts(routing.drawn, routing.seed, layer, experts, chosen, tokens);
  for (const auto& of_expert : drawn) {
    counts.push_back(static_cast<std::uint32_t>(of_expert.size()));
  }
  return counts;
}

void set_routing(const Routing& routing, std::uint32_t layer, std::uint32_t chosen,
                 const std::vector<std::uint32_t>& counts, LayerOp& row) {
  row.seed = routing.seed;
  row.args = {{"index", "routing"},
              {"experts", std::to_string(counts.size())},
              {"chosen", std::to_string(chosen)},
              {"layer", std::to_string(layer)}};
  const bool counted = !routing.counts.empty();
  if (!counted && routing.drawn == "uniform") return;
  row.args.emplace_back("routing",
                        counted ? fmt::format("counts:{}", fmt::join(counts, ":")) : routing.drawn);
}

}  // namespace lacuna
