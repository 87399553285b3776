// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/trace/layer_op.hpp"

namespace lacuna {

/// Why a point cannot be run; thrown where its recipe is made, caught where its family is.
struct Unsupported {
  std::string reason;
};

/// One published number. The words are as written, because what they mean is for the rules of
/// validate_rules.hpp to say; numbers have been read and checked.
struct ValidationPoint {
  std::string id;
  std::string system;  // "Bow-IPUx1@1.85GHz"
  std::string workload;
  std::optional<std::uint32_t> m;
  std::optional<std::uint32_t> k;
  std::optional<std::uint32_t> n;
  bool best_n = false;             // n is "best"
  std::optional<Decimal> density;  // none: dense
  std::uint32_t block = 0;         // 0: none given
  std::string dtype;
  std::string mode;
  std::string mask_rule;  // how the elements that are kept were drawn; empty: by its workload
  std::string metric;
  std::optional<double> value;  // none: the source has no result here
  std::string unit;
  std::string source;
  std::string confidence;

  /// "chosen" if a constant or a rule of the model was chosen with this point in view, "checked" if
  /// it has only been compared with; empty if neither, or not said.
  std::string seen;

  /// `key=value;...` of files that have the column `parameters` in place of a shape.
  std::map<std::string, std::string> parameters;

  std::string file;
  std::size_t line = 0;
};
using ValidationPoints = std::vector<ValidationPoint>;

/// Reads a file of points: a header that names the columns, in any order, and a row for each
/// point. TraceError names file, line and column, what was found and what is allowed.
ValidationPoints read_validation_points(const std::filesystem::path& file);

/// The same of a text; `name` stands for the file in messages.
ValidationPoints parse_validation_points(const std::string& text, const std::string& name);

/// The point files shipped with Lacuna, sorted by name. RequestError says where they should be.
std::vector<std::filesystem::path> shipped_validation_points();

}  // namespace lacuna
