// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace lacuna {

/// The request was wrong; the text says where, what was found and what is allowed. Exit status 2.
struct RequestError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A user's mistake in a parameter. The text names it and says what would be right.
struct ParameterError : RequestError {
  using RequestError::RequestError;
};

/// A mistake in a trace or a pattern file; one line per problem. Exit status 2.
struct TraceError : RequestError {
  using RequestError::RequestError;
};

/// The simulation could not be completed. Exit status 1.
struct SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Work is pending and nothing can move; the text names the blocked units and channels.
struct DeadlockError : SimulationError {
  using SimulationError::SimulationError;
};

/// The operation does not fit the machine's memory; the text has the bytes.
struct OutOfMemoryError : SimulationError {
  using SimulationError::SimulationError;
};

/// The machine has no way to run the operation; the text names both.
struct UnsupportedError : SimulationError {
  using SimulationError::SimulationError;
};

/// A defect of Lacuna: a number that cannot be. Exit status 4.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

/// A unit's cycles were not each booked exactly once.
struct AccountingError : InternalError {
  using InternalError::InternalError;
};

}  // namespace lacuna
