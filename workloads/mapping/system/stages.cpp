// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/stages.hpp"

#include <fmt/format.h>

#include <numeric>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"

namespace lacuna::system {

namespace {

using Counts = std::vector<unsigned>;

unsigned sum(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), 0U); }

/// Blocks of attention and feed-forward take turns; of the blocks [from, to) of a model.
Stage blocks(unsigned from, unsigned to) {
  Stage stage;
  stage.attention = (to + 1) / 2 - (from + 1) / 2;
  stage.ffn = to / 2 - from / 2;
  return stage;
}

/// The blocks of each chip, or of each chip in each phase, by even shares of [from, to).
std::vector<Stage> even(unsigned from, unsigned to, unsigned chips) {
  std::vector<Stage> stages;
  for (unsigned chip = 0; chip < chips; ++chip) {
    const unsigned all = to - from;
    stages.push_back(blocks(from + all * chip / chips, from + all * (chip + 1) / chips));
    stages.back().chip = chip;
  }
  return stages;
}

std::vector<Stage> listed(const Counts& attention, const Counts& ffn) {
  std::vector<Stage> stages;
  for (unsigned chip = 0; chip < attention.size(); ++chip) {
    stages.push_back({chip, false, false, attention[chip], ffn[chip]});
  }
  return stages;
}

void check_list(const char* name, const Counts& counts, unsigned pipeline, unsigned layers) {
  if (counts.size() != pipeline) {
    throw ParameterError(fmt::format("{} has {} for pipeline = {}", name,
                                     counted(counts.size(), "number"), pipeline));
  }
  if (sum(counts) > layers) {
    throw ParameterError(
        fmt::format("{} has {} of a model of {}", name, counted(sum(counts), "layer"), layers));
  }
}

std::vector<Stage> by_chip(const TrainingParams& training, unsigned layers, Stage& rest) {
  const bool one_list = !training.layers.value().empty();
  if (!one_list && training.attention.value().empty()) {
    // whole layers to each chip if that comes out even
    const unsigned p = training.pipeline;
    if (layers % p != 0) return even(0, 2 * layers, p);
    return listed(Counts(p, layers / p), Counts(p, layers / p));
  }
  const Counts attention = parse_counts(one_list ? "layers" : "attention",
                                        one_list ? training.layers : training.attention);
  const Counts ffn = one_list ? attention : parse_counts("ffn", training.ffn);
  check_list(one_list ? "layers" : "attention", attention, training.pipeline, layers);
  check_list("ffn", ffn, training.pipeline, layers);
  rest.attention = layers - sum(attention);
  rest.ffn = layers - sum(ffn);
  return listed(attention, ffn);
}

/// Joins what follows each other on one chip.
Stages joined(const std::vector<Stage>& parts) {
  Stages stages;
  for (const Stage& part : parts) {
    if (!part.embedding && !part.head && part.blocks() == 0) continue;
    if (stages.empty() || stages.back().chip != part.chip) {
      stages.push_back(part);
      continue;
    }
    Stage& last = stages.back();
    last.embedding = last.embedding || part.embedding;
    last.head = last.head || part.head;
    last.attention += part.attention;
    last.ffn += part.ffn;
  }
  return stages;
}

}  // namespace

std::vector<Stages> stages_of(const TrainingParams& training, unsigned layers) {
  const Stage embedding{training.embedding_stage, true, false, 0, 0};
  Stage head{training.head_stage, false, true, 0, 0};
  const unsigned n = training.phases;
  if (n == 1) {
    std::vector<Stage> parts = by_chip(training, layers, head);
    parts.insert(parts.begin(), embedding);
    parts.push_back(head);
    return {joined(parts)};
  }
  std::vector<Stages> phases = {{embedding}};
  for (unsigned phase = 0; phase < n; ++phase) {
    phases.push_back(
        joined(even(2 * layers * phase / n, 2 * layers * (phase + 1) / n, training.pipeline)));
  }
  phases.push_back({head});
  return phases;
}

}  // namespace lacuna::system
