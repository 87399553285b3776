// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "workloads/generate/settings.hpp"
#include "workloads/trace/csv_lines.hpp"
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

/// Weights of popularity, in an order of experts that the seed of the layer shuffles.
std::vector<std::uint64_t> popularity(const Routing& routing, std::uint32_t experts, Random& draw) {
  std::vector<std::uint32_t> order(experts);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = experts; i > 1; --i) std::swap(order[i - 1], order[draw.bounded(i)]);
  std::vector<std::uint64_t> weights(experts, 1);
  constexpr double kOne = 4294967296.0;
  for (std::uint32_t r = 0; r < experts; ++r) {
    const double weight = kOne * std::pow(r + 1.0, -routing.exponent);
    weights[order[r]] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(weight));
  }
  return weights;
}

/// Each token draws `chosen` experts, one after the other among those it has not yet.
std::vector<std::uint32_t> drawn(const Routing& routing, std::uint32_t layer, std::uint32_t experts,
                                 std::uint32_t chosen, std::uint32_t tokens) {
  Random draw(stream_seed(routing.seed, fmt::format("routing.l{}", layer)));
  const std::vector<std::uint64_t> weights = popularity(routing, experts, draw);
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (chosen == experts) return std::vector<std::uint32_t>(experts, tokens);
  std::vector<std::uint32_t> counts(experts, 0);
  std::vector<bool> taken;
  for (std::uint32_t token = 0; token < tokens; ++token) {
    taken.assign(experts, false);
    std::uint64_t left = all;
    for (std::uint32_t c = 0; c < chosen; ++c) {
      std::uint64_t place = draw.bounded(left);
      for (std::uint32_t e = 0; e < experts; ++e) {
        if (taken[e]) continue;
        if (place >= weights[e]) {
          place -= weights[e];
          continue;
        }
        taken[e] = true;
        left -= weights[e];
        ++counts[e];
        break;
      }
    }
  }
  return counts;
}

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
  return drawn(routing, layer, experts, chosen, tokens);
}

}  // namespace lacuna
