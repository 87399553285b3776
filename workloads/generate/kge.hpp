// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/generate/settings.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// One micro-batch of training knowledge-graph embeddings on `shards` chips that share the table
/// of entities, with balanced exchange of tails and negatives (Cattaneo et al., BESS, 2022): the
/// rows of one chip.
WorkloadTrace make_kge(const Settings& settings);

}  // namespace lacuna
