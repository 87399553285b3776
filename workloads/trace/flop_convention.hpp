// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The FLOP of one sequence of a BERT as ELECTRA's published script counts them (Clark et al., ICLR
/// 2020). A look-up of words, positions or types is a dense product with one-hot columns. Every
/// vector operation counts, dropout at inference too. A backward pass costs as much as a forward
/// pass; updates cost nothing.
struct ElectraFlop {
  double inference = 0;  // embedding, layers, and a classifier over every token
  double training = 0;   // twice embedding, layers and the head that predicts words
};

/// Of the forward rows of `trace`, zeros included. RequestError unless it has those of a whole BERT
/// with dropout, embedding and heads, as `trace make bert --part training --embedding --heads`
/// makes them.
ElectraFlop electra_flop(const WorkloadTrace& trace);

}  // namespace lacuna
