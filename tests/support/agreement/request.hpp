// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.hpp"

namespace lacuna::test {

/// How many random requests a property is tried on: 50, or $LACUNA_DRAWS.
std::uint64_t draws();

/// Calls `property` with a generator of its own for each draw; a failure names the draw, and
/// $LACUNA_DRAW=NUMBER runs that one alone.
void for_each_draw(const std::function<void(Random& random)>& property);

/// A product Y[m x n] = W[m x k] X[k x n] that some machine is asked to run.
struct Request {
  std::string machine;                // a preset
  std::vector<std::string> settings;  // PATH=VALUE, of --set
  std::uint32_t m = 1;
  std::uint32_t k = 1;
  std::uint32_t n = 1;
  std::string dtype = "fp16";
  std::string pattern;  // whole, such as block4:0.25
  std::uint64_t seed = 1;

  std::string shape() const;  // MxKxN
  /// The workload as options: shape and type.
  std::vector<std::string> product() const;
  /// All other options but the machine: settings, pattern, seed.
  std::vector<std::string> options() const;
};

/// A product that runs in milliseconds, on a small piece of a chip or of a wafer.
Request small_product(Random& random);

/// What a way of asking must agree on, as it is printed by --json: of a run's operation or TOTAL.
struct Numbers {
  std::string status;  // "ok", or why not; then there are no values
  std::map<std::string, std::optional<double>> values;

  bool operator==(const Numbers& other) const {
    return status == other.status && values == other.values;
  }
};
std::ostream& operator<<(std::ostream& out, const Numbers& numbers);

/// The rows called `op_id` of what the program prints with --json, in their order. A request that
/// is refused as a whole has one, whose status is the message.
std::vector<Numbers> numbers_of(const std::vector<std::string>& arguments,
                                const std::string& op_id = "TOTAL");

/// All of its rows, in the order of their ids, TOTAL included.
std::multimap<std::string, Numbers> rows_of(const std::vector<std::string>& arguments);

/// Expects that numbers are those of `other`, up to roundings of sums in another order.
void expect_close(const Numbers& numbers, const Numbers& other);

}  // namespace lacuna::test
