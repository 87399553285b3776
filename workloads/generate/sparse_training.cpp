// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/sparse_training.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lacuna {
namespace {

constexpr double kPi = 3.14159265358979323846;

// From 1 at the start of a schedule to 0 at its end.
double half_cosine(std::uint64_t at, std::uint64_t end) {
  return (1 + std::cos(kPi * static_cast<double>(at) / static_cast<double>(end))) / 2;
}

std::uint64_t size_of(const LayerDimensions& layer) {
  std::uint64_t size = 1;
  for (const std::uint32_t side : layer) size *= side;
  return size;
}

double raw_density(const LayerDimensions& layer) {
  double sum = 0;
  for (const std::uint32_t side : layer) sum += side;
  return sum / static_cast<double>(size_of(layer));
}

/// What its raw density is multiplied with in each layer that is not dense: these may keep their
/// share, less what the dense ones keep too much.
double epsilon_of(const std::vector<LayerDimensions>& layers, const std::vector<bool>& dense,
                  const Decimal& sparsity) {
  double budget = 0;
  double weight = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::uint64_t size = size_of(layers[i]);
    const std::uint64_t zeros = count_of(sparsity, size);
    if (dense[i]) {
      budget -= static_cast<double>(zeros);
    } else {
      budget += static_cast<double>(size - zeros);
      weight += raw_density(layers[i]) * static_cast<double>(size);
    }
  }
  return weight == 0 ? 0 : budget / weight;
}

}  // namespace

std::uint64_t dynamic_sparse_bert_moves(std::uint64_t kept, const Decimal& ratio, std::uint64_t k,
                                        std::uint64_t n) {
  constexpr double kRoundingError = 1e-9;  // of the cosine, which may not round a zero up
  const auto most = static_cast<double>(count_of(ratio, kept, Rounding::ceil));
  return static_cast<std::uint64_t>(
      std::max(0.0, std::ceil(half_cosine(k, n) * most - kRoundingError)));
}

std::uint64_t cosine_moves(std::uint64_t kept, double alpha, std::uint64_t step,
                           std::uint64_t end) {
  if (step >= end) return 0;
  return static_cast<std::uint64_t>(alpha * half_cosine(step, end) * static_cast<double>(kept));
}

double cubic_sparsity(double initial, double final, double time, double begin, double end) {
  const double part = std::clamp((time - begin) / (end - begin), 0.0, 1.0);
  const double left = 1 - part;
  return final + (initial - final) * left * left * left;
}

Decimal rounded_share(double share) {
  constexpr unsigned kDigits = 9;
  constexpr double kScale = 1e9;
  return {static_cast<std::uint64_t>(std::llround(share * kScale)), kDigits};
}

std::uint64_t iterative_pruning(std::uint64_t weights, unsigned rounds) {
  constexpr std::uint64_t kFifth = 5;
  for (unsigned i = 0; i < rounds; ++i) weights -= weights / kFifth;
  return weights;
}

std::vector<double> erdos_renyi_densities(const std::vector<LayerDimensions>& layers,
                                          const Decimal& density) {
  Decimal sparsity = density;
  std::uint64_t whole = 1;
  for (unsigned i = 0; i < density.digits; ++i) whole *= 10;
  sparsity.mantissa = whole - density.mantissa;
  std::vector<bool> dense(layers.size(), false);
  for (;;) {
    const double epsilon = epsilon_of(layers, dense, sparsity);
    std::size_t densest = layers.size();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool denser =
          densest == layers.size() || raw_density(layers[i]) > raw_density(layers[densest]);
      if (!dense[i] && denser) densest = i;
    }
    if (densest == layers.size() || epsilon * raw_density(layers[densest]) <= 1) {
      std::vector<double> result;
      result.reserve(layers.size());
      for (std::size_t i = 0; i < layers.size(); ++i) {
        result.push_back(dense[i] ? 1 : std::max(0.0, epsilon * raw_density(layers[i])));
      }
      return result;
    }
    dense[densest] = true;
  }
}

}  // namespace lacuna
