// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sim/base/error.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/look_ups.hpp"
#include "workloads/trace/problem.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

constexpr const char* kAllowed = "uniform, zipf:EXPONENT, file:PATH";
constexpr std::uint64_t kMostCount = 0x7fffffff;

/// The columns of a file of counts, and its lines one by one.
class CountsReader {
 public:
  explicit CountsReader(Routing& routing)
      : routing_(routing), lines_(read_text_file(routing.file)) {}

  void read() {
    CsvLine line;
    while (lines_.next(line)) {
      if (line.kind != CsvLine::Kind::cells) continue;
      if (names_.empty()) {
        read_header(line);
      } else {
        read_counts(line);
      }
    }
    if (routing_.counts.empty()) {
      throw_problem(
          {place(routing_.file, 1, 1), "E001", "", "no counts of tokens", "at least one line", ""});
    }
  }

 private:
  void read_header(const CsvLine& line) {
    for (const CsvCell& cell : line.cells) {
      const bool known = cell.text == "layer" || cell.text == "expert" || cell.text == "tokens";
      if (!known || std::find(names_.begin(), names_.end(), cell.text) != names_.end()) {
        throw_problem({place(routing_.file, line.number, cell.column), "E101", "", cell.text,
                       "the columns expert, tokens and, if layers differ, layer, each once", ""});
      }
      names_.push_back(cell.text);
    }
    for (const char* needed : {"expert", "tokens"}) {
      if (std::find(names_.begin(), names_.end(), needed) != names_.end()) continue;
      throw_problem({place(routing_.file, line.number, 1), "E101", needed, "no such column",
                     "the columns expert and tokens", ""});
    }
  }

  void read_counts(const CsvLine& line) {
    if (line.cells.size() != names_.size()) {
      throw_problem({place(routing_.file, line.number, 1), "E004", "",
                     fmt::format("{} cells", line.cells.size()),
                     fmt::format("{} cells", names_.size()), ""});
    }
    std::uint32_t layer = Routing::kAllLayers;
    std::uint32_t expert = 0;
    std::uint32_t tokens = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::uint64_t value = 0;
      const CsvCell& cell = line.cells[i];
      if (parse_integer(cell.text, 0, kMostCount, value) != IntegerError::none) {
        throw_problem({place(routing_.file, line.number, cell.column), "E202", names_[i], cell.text,
                       fmt::format("an integer in [0, {}]", kMostCount), ""});
      }
      const auto number = static_cast<std::uint32_t>(value);
      (names_[i] == "layer" ? layer : names_[i] == "expert" ? expert : tokens) = number;
    }
    if (!routing_.counts[layer].emplace(expert, tokens).second) {
      throw_problem({place(routing_.file, line.number, 1), "E207", "expert",
                     fmt::format("{}", expert), "each expert of a layer once", ""});
    }
  }

  Routing& routing_;
  CsvLines lines_;
  std::vector<std::string> names_;
};

std::vector<std::uint32_t> counted(const Routing& routing, std::uint32_t layer,
                                   std::uint32_t experts, std::uint32_t chosen,
                                   std::uint32_t tokens) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw RequestError(fmt::format("--routing file:{}: found {} in layer {}; allowed: {}",
                                   routing.file, found, layer, allowed));
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
    const bool number = !rest.empty() && rest.size() <= kLongest && rest != "." &&
                        rest.find_first_not_of("0123456789.") == std::string::npos &&
                        std::count(rest.begin(), rest.end(), '.') <= 1;
    if (!number) refuse_setting("routing", text, kAllowed);
    routing.kind = Routing::Kind::zipf;
    routing.exponent = std::strtod(rest.c_str(), nullptr);
    routing.text = rest;
    return routing;
  }
  if (kind != "file" || rest.empty()) refuse_setting("routing", text, kAllowed);
  routing.kind = Routing::Kind::counts;
  routing.file = rest;
  CountsReader(routing).read();
  return routing;
}

std::vector<std::uint32_t> tokens_of_experts(const Routing& routing, std::uint32_t layer,
                                             std::uint32_t experts, std::uint32_t chosen,
                                             std::uint32_t tokens) {
  if (routing.kind == Routing::Kind::counts) {
    return counted(routing, layer, experts, chosen, tokens);
  }
  std::vector<std::uint32_t> counts;
  const TokensOfExperts drawn =
      draw_experts(routing.exponent, routing.seed, layer, experts, chosen, tokens);
  for (const auto& of_expert : drawn) {
    counts.push_back(static_cast<std::uint32_t>(of_expert.size()));
  }
  return counts;
}

void set_routing(const Routing& routing, std::uint32_t layer, std::uint32_t chosen,
                 const std::vector<std::uint32_t>& counts, LayerOp& row) {
  row.seed = routing.seed;
  row.args = {{"index", "routing"},
              {"experts", fmt::format("{}", counts.size())},
              {"chosen", fmt::format("{}", chosen)},
              {"layer", fmt::format("{}", layer)}};
  if (routing.kind == Routing::Kind::uniform) return;
  row.args.emplace_back("routing", routing.kind == Routing::Kind::zipf
                                       ? "zipf:" + routing.text
                                       : fmt::format("counts:{}", fmt::join(counts, ":")));
}

}  // namespace lacuna
