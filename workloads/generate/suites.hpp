// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/generate/settings.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Square sparse products over the grid of the PopSparse benchmark (Li et al., arXiv 2303.16999):
/// sides 512 to 8192, densities 1/4 to 1/64, blocks 1, 4, 8 and 16.
WorkloadTrace make_popsparse(const Settings& settings);

/// The levels of BLAS: y += a x as a scaling and an addition, a dot product, a matrix times a
/// vector, a matrix times a matrix. The last also with sparse matrices of five densities.
WorkloadTrace make_blas(const Settings& settings);

}  // namespace lacuna
