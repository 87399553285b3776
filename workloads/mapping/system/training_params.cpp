// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/training_params.hpp"

#include <fmt/format.h>

#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/parsed_number.hpp"
#include "sim/base/split.hpp"

namespace lacuna::system {

namespace {

template <class T>
std::vector<T> parse_list(const std::string& name, const std::string& text, const char* example) {
  std::vector<T> values;
  if (text.empty()) return values;
  for (const std::string& part : split(text, '-')) {
    const std::optional<T> value = parsed_number<T>(part);
    if (!value) {
      throw ParameterError(fmt::format("{} = '{}' is not a list such as {}", name, text, example));
    }
    values.push_back(*value);
  }
  return values;
}

void divides(const char* name, unsigned value, const char* of, unsigned number) {
  if (number % value == 0) return;
  throw ParameterError(fmt::format("{} = {} does not divide {} = {}", name, value, of, number));
}

}  // namespace

std::vector<unsigned> parse_counts(const std::string& name, const std::string& text) {
  return parse_list<unsigned>(name, text, "3-7-7-7");
}

std::vector<double> parse_shares(const std::string& name, const std::string& text) {
  return parse_list<double>(name, text, "0.2-0.25-0.25-0.25");
}

void TrainingParams::check() const {
  divides("tensor_columns", tensor_columns, "tensor", tensor);
  divides("rts", rts, "replicas", replicas);
  divides("rts_state", rts_state, "replicas", replicas);
  if (embedding_stage >= pipeline || head_stage >= pipeline) {
    throw ParameterError(
        fmt::format("embedding_stage = {} and head_stage = {} must be below "
                    "pipeline = {}",
                    embedding_stage.value(), head_stage.value(), pipeline.value()));
  }
  if (!layers.value().empty() && (!attention.value().empty() || !ffn.value().empty())) {
    throw ParameterError("layers = '" + layers.value() +
                         "' says what attention and ffn say; give one of them");
  }
  if (pattern_every > 0 && mode.value() != "dynamic") {
    throw ParameterError(
        fmt::format("pattern_every = {} needs mode = dynamic; a pattern of mode = {} stays",
                    pattern_every.value(), mode.value()));
  }
  if (prefetch != Prefetch::none && (phases < 2 || io_tiles == 0)) {
    throw ParameterError(fmt::format(
        "prefetch = {} needs phases, to fetch for, and io_tiles, to fetch with; phases = "
        "{}, io_tiles = {}",
        prefetch.value_text(), phases.value(), io_tiles.value()));
  }
  if (attention.value().empty() != ffn.value().empty()) {
    throw ParameterError("attention and ffn belong together; one of them is empty");
  }
}

}  // namespace lacuna::system
