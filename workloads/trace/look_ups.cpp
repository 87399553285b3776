// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/look_ups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

#include "sim/base/mix.hpp"
#include "sim/base/random.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

/// The numbers below `count` in an order that is drawn.
std::vector<std::uint32_t> shuffled(std::uint32_t count, Random& draw) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i > 1; --i) std::swap(order[i - 1], order[draw.bounded(i)]);
  return order;
}

/// Weights of popularity by Zipf's law, in an order that `draw` shuffles.
std::vector<std::uint64_t> popularity(double exponent, std::uint32_t count, Random& draw) {
  const std::vector<std::uint32_t> order = shuffled(count, draw);
  std::vector<std::uint64_t> weights(count, 1);
  constexpr double kOne = 4294967296.0;
  for (std::uint32_t r = 0; r < count; ++r) {
    const double weight = kOne * std::pow(r + 1.0, -exponent);
    weights[order[r]] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(weight));
  }
  return weights;
}

Random stream_of_layer(std::uint64_t seed, std::uint32_t layer) {
  return Random(stream_seed(seed, fmt::format("routing.l{}", layer)));
}

constexpr const char* kZipf = "zipf:";
constexpr const char* kCounts = "counts:";

double exponent_of(const std::string& text) {
  return starts_with(text, kZipf) ? std::strtod(text.substr(5).c_str(), nullptr) : 0;
}

/// The numbers of "counts:4:0:3"; none if one is no number.
std::vector<std::uint32_t> counts_of(const std::string& text) {
  std::vector<std::uint32_t> counts;
  for (const std::string& part : split(text.substr(7), ':')) {
    const auto count = parse_integer(part, 0, kMostSide);
    if (!count) return {};
    counts.push_back(static_cast<std::uint32_t>(*count));
  }
  return counts;
}

std::vector<std::uint32_t> routed(const LayerOp& op) {
  const std::string* text = find_value(op.args, "routing");
  const std::string routing = text == nullptr ? "uniform" : *text;
  const auto layer = static_cast<std::uint32_t>(integer_of(op.args, "layer"));
  const std::uint64_t seed = op.seed.value_or(1);
  const TokensOfExperts tokens =
      starts_with(routing, kCounts)
          ? deal_experts(counts_of(routing), seed, layer, op.k)
          : draw_experts(routing, seed, layer,
                         static_cast<std::uint32_t>(integer_of(op.args, "experts")),
                         static_cast<std::uint32_t>(integer_of(op.args, "chosen")), op.k);
  std::vector<std::uint32_t> all;
  for (const auto& of_expert : tokens) all.insert(all.end(), of_expert.begin(), of_expert.end());
  const std::uint64_t first = integer_of(op.args, "round") * op.n;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + op.n};
}

}  // namespace

TokensOfExperts draw_experts(const std::string& routing, std::uint64_t seed, std::uint32_t layer,
                             std::uint32_t experts, std::uint32_t chosen, std::uint32_t tokens) {
  Random draw = stream_of_layer(seed, layer);
  const std::vector<std::uint64_t> weights = popularity(exponent_of(routing), experts, draw);
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  TokensOfExperts result(experts);
  std::vector<bool> taken;
  for (std::uint32_t token = 0; token < tokens; ++token) {
    taken.assign(experts, chosen == experts);
    if (chosen == experts) {
      for (auto& of_expert : result) of_expert.push_back(token);
      continue;
    }
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
        result[e].push_back(token);
        break;
      }
    }
  }
  return result;
}

TokensOfExperts deal_experts(const std::vector<std::uint32_t>& counts, std::uint64_t seed,
                             std::uint32_t layer, std::uint32_t tokens) {
  Random draw = stream_of_layer(seed, layer);
  const std::vector<std::uint32_t> order = shuffled(tokens, draw);
  TokensOfExperts result(counts.size());
  std::uint64_t next = 0;
  for (std::size_t e = 0; e < counts.size(); ++e) {
    for (std::uint32_t i = 0; i < counts[e]; ++i) result[e].push_back(order[next++ % tokens]);
    std::sort(result[e].begin(), result[e].end());
  }
  return result;
}

std::vector<std::uint32_t> look_ups(const LayerOp& op, std::uint64_t seed) {
  if (says(op.args, "index", "routing")) return routed(op);
  const std::string* index = find_value(op.args, "index");
  std::vector<std::uint32_t> rows(std::size_t{op.n} * std::max(op.batch, 1U));
  if (index == nullptr || *index == "uniform") {
    for (std::size_t l = 0; l < rows.size(); ++l) {
      rows[l] = static_cast<std::uint32_t>(mix(seed + mix(l)) % op.k);
    }
    return rows;
  }
  Random draw(stream_seed(seed, "look-ups"));
  std::vector<std::uint64_t> ends = popularity(exponent_of(*index), op.k, draw);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  for (std::uint32_t& row : rows) {
    const auto end = std::upper_bound(ends.begin(), ends.end(), draw.bounded(ends.back()));
    row = static_cast<std::uint32_t>(end - ends.begin());
  }
  return rows;
}

std::string wrong_routing(const LayerOp& op) {
  if (!says(op.args, "index", "routing")) {
    for (const char* key : {"routing", "experts", "chosen", "layer", "round"}) {
      if (find_value(op.args, key) != nullptr) return fmt::format("{} without index=routing", key);
    }
    return "";
  }
  const std::uint64_t experts = integer_of(op.args, "experts");
  const std::uint64_t chosen = integer_of(op.args, "chosen");
  if (op.k != op.n || op.batch != 1)
    return "index=routing with n other than k, the tokens, or a batch";
  constexpr std::uint64_t kMostExperts = 65536;
  if (experts > kMostExperts) return fmt::format("{} experts, more than {}", experts, kMostExperts);
  if (experts == 0 || chosen == 0) return "index=routing without experts and chosen";
  if (chosen > experts) return fmt::format("{} chosen of {} experts", chosen, experts);
  if (integer_of(op.args, "round") >= chosen) {
    return fmt::format("round={} of {} rounds", integer_of(op.args, "round"), chosen);
  }
  const std::string* routing = find_value(op.args, "routing");
  if (routing == nullptr || !starts_with(*routing, kCounts)) return "";
  const std::vector<std::uint32_t> counts = counts_of(*routing);
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const bool fit =
      std::all_of(counts.begin(), counts.end(), [&](std::uint32_t count) { return count <= op.k; });
  if (counts.size() == experts && sum == chosen * op.k && fit) return "";
  return fmt::format("{}: not the counts of {} experts, at most {} each, that add up to {}",
                     *routing, experts, op.k, chosen * op.k);
}

}  // namespace lacuna
