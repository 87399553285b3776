// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// The FLOP of one sequence of a BERT as the script published with ELECTRA counts them (Clark et
/// al., ICLR 2020): a look-up in a table, of words, positions or types, is a dense product with
/// one-hot columns; every vector operation counts, dropout at inference too; a backward pass costs
/// as much as a forward pass; updates cost nothing.
struct ElectraFlop {
  double inference = 0;  // embedding, layers, and a classifier over every token
  double training = 0;   // twice embedding, layers and the head that predicts words
};

/// Of the forward rows of `trace`, zeros included. RequestError unless it has those of a whole BERT
/// with dropout, embedding and heads, as `trace make bert --part training --embedding --heads`
/// makes them.
ElectraFlop electra_flop(const WorkloadTrace& trace);

}  // namespace lacuna
