// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/sparsity/decimal.hpp"

namespace lacuna {

/// How many blocks sparse training moves at each update, and how dense it is when.

/// Dynamic sparse BERT (arXiv 2108.06277): of `kept` blocks at update k of n, k = 1 ... n,
/// ceil((1 + cos(pi k / n)) / 2 * ceil(ratio * kept)); nothing at the last.
std::uint64_t dynamic_sparse_bert_moves(std::uint64_t kept, const Decimal& ratio, std::uint64_t k,
                                        std::uint64_t n);

/// RigL (Evci et al., ICML 2020) and SET with a cosine, as configured for Cerebras machines: at
/// `step` before `end`, floor(alpha / 2 (1 + cos(pi step / end)) kept).
std::uint64_t cosine_moves(std::uint64_t kept, double alpha, std::uint64_t step, std::uint64_t end);

/// Gradual magnitude pruning (Zhu and Gupta, 2017): sparsity at `time` between `begin` and `end`,
/// by the cubic law from `initial` to `final`; constant outside.
double cubic_sparsity(double initial, double final, double time, double begin, double end);

/// A share of a matrix, rounded to nine decimals.
Decimal rounded_share(double share);

/// Iterative pruning: what `rounds` rounds leave that each remove a fifth, rounded down.
std::uint64_t iterative_pruning(std::uint64_t weights, unsigned rounds);

/// A weight tensor by its dimensions: inputs and outputs, and the sides of a kernel.
using LayerDimensions = std::vector<std::uint32_t>;

/// Erdos-Renyi densities by layer (Mocanu et al., 2018; with kernels Evci et al., 2020), in
/// proportion to the sum of dimensions over their product, so that all layers together keep the
/// fraction `density`. Layers that would exceed 1 are dense, and the others make up for it.
std::vector<double> erdos_renyi_densities(const std::vector<LayerDimensions>& layers,
                                          const Decimal& density);

}  // namespace lacuna
