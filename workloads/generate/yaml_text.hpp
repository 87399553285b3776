// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <string>

#include "workloads/trace/diagnostic.hpp"

namespace lacuna {

/// "path:line:column" of a mark; of none that of the beginning.
inline std::string place(const std::string& path, const YAML::Mark& mark) {
  const auto from_one = [](int number) {
    return static_cast<std::size_t>(std::max(number, 0)) + 1;
  };
  return place(path, from_one(mark.line), from_one(mark.column));
}

/// What `read` makes of a text. TraceError where the text is no YAML, or another than `read` takes.
template <class Read>
auto read_yaml(const std::string& text, const std::string& path, const Read& read) {
  try {
    return read(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    throw_diagnostic(place(path, error.mark), "E206", error.msg, "YAML");
  }
}

}  // namespace lacuna
