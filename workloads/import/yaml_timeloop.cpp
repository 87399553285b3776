// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/yaml_text.hpp"
#include "workloads/import/import_context.hpp"
#include "workloads/trace/csv_lines.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// Layer files are templates: lines of the template language and merge keys are not YAML.
std::string plain_yaml(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::string_view word = trimmed(line);
    const bool skipped =
        starts_with(word, "{{") || starts_with(word, "<<:") || starts_with(word, "<<<:");
    if (!skipped) plain += line;
    plain += '\n';  // lines keep their numbers
    at = end + 1;
  }
  return plain;
}

[[noreturn]] void fail(const ImportFile& file, const YAML::Node& node, const std::string& found,
                       const std::string& allowed) {
  throw_diagnostic(place(file.path, node.Mark()), "E206", found, allowed);
}

using Sizes = std::map<std::string, std::uint64_t>;

Sizes read_sizes(const ImportFile& file, const YAML::Node& instance) {
  Sizes sizes;
  for (const auto& entry : instance) {
    const auto name = entry.first.as<std::string>("");
    if (name == "densities") continue;
    const std::string text = entry.second.IsScalar() ? entry.second.Scalar() : "";
    const auto value = parse_integer(text, 1, kMostSide);
    if (!value)
      fail(file, entry.second, fmt::format("{}: {}", name, text), "a whole number from 1");
    sizes[name] = *value;
  }
  return sizes;
}

bool only(const Sizes& sizes, const std::set<std::string>& names) {
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](const auto& size) { return names.count(size.first) != 0; });
}

std::uint64_t size_of(const Sizes& sizes, const char* name) {
  const std::uint64_t* const size = value_in(sizes, name);
  return size == nullptr ? 1 : *size;
}

// The tensors of a product: weights and inputs by the dimensions that their projections name.
struct Tensors {
  std::string weights = "Weights";
  std::string inputs = "Inputs";
  std::string outputs = "Outputs";
};

void collect_names(const YAML::Node& node, std::set<std::string>& names) {
  if (node.IsScalar()) names.insert(node.Scalar());
  if (!node.IsSequence()) return;
  for (const auto& below : node) collect_names(below, names);
}

/// A key as versions of the format spell it.
YAML::Node either(const YAML::Node& map, const char* one, const char* other) {
  const YAML::Node found = map[one];
  return found ? found : map[other];
}

Tensors tensors_of(const YAML::Node& problem, bool gemm) {
  Tensors tensors;
  if (gemm) tensors = {"A", "B", "Z"};
  const YAML::Node shape = problem["shape"];
  const YAML::Node spaces =
      shape && shape.IsMap() ? either(shape, "data_spaces", "data-spaces") : YAML::Node();
  if (!spaces || !spaces.IsSequence()) return tensors;
  for (const auto& space : spaces) {
    if (!space.IsMap()) continue;
    const auto name = space["name"].as<std::string>("");
    const YAML::Node written = either(space, "read_write", "read-write");
    if (written && written.as<bool>(false)) {
      tensors.outputs = name;
      continue;
    }
    std::set<std::string> dimensions;
    collect_names(space["projection"], dimensions);
    (dimensions.count("M") != 0 ? tensors.weights : tensors.inputs) = name;
  }
  return tensors;
}

// N:M if the density is a ratio of small integers.
PatternSpec structured(const Decimal& density, ImportContext& context) {
  PatternSpec spec;
  spec.name = "unstructured";
  spec.density = density;
  for (const std::uint64_t of : {4U, 8U, 16U}) {
    std::uint64_t whole = 1;
    for (unsigned i = 0; i < density.digits; ++i) whole *= 10;
    if (density.mantissa * of % whole != 0) continue;
    spec.name = "nm";
    spec.density.reset();
    spec.args = {{"keep", std::to_string(density.mantissa * of / whole)},
                 {"of", std::to_string(of)},
                 {"pad", "1"}};
    break;
  }
  if (spec.density) {
    context.note("fixed_structured {} is no N of 4, 8 or 16: places are drawn", density.text());
  }
  return spec;
}

PatternSpec pattern_of(const ImportFile& file, const YAML::Node& node, ImportContext& context) {
  const std::string kind = node.IsMap() && node["distribution"]
                               ? node["distribution"].as<std::string>("")
                               : "hypergeometric";
  const YAML::Node value = node.IsMap() ? node["density"] : node;
  Decimal density;
  const std::string text = value.IsScalar() ? value.Scalar() : "";
  if (parse_fraction(text, density) != DecimalError::none) {
    fail(file, node, fmt::format("density '{}'", text), "a decimal in [0, 1]");
  }
  if (density == Decimal{1, 0}) return {};
  if (kind == "fixed_structured" || kind == "fixed-structured") return structured(density, context);
  if (kind == "hypergeometric") {
    PatternSpec spec;
    spec.name = "unstructured";
    spec.density = density;
    return spec;
  }
  if (kind == "banded") {
    const YAML::Node width = node["band_width"];
    if (!width) fail(file, node, "banded without band_width", "band_width: W");
    PatternSpec spec;
    spec.name = "banded";
    spec.args = {{"w", width.as<std::string>("")}};
    context.note("banded: the density follows from the width");
    return spec;
  }
  fail(file, node, fmt::format("distribution '{}'", kind),
       "fixed_structured, hypergeometric, banded");
}

/// Zeros of inputs, each drawn by itself.
void read_inputs(const ImportFile& file, const YAML::Node& node, ImportContext& context,
                 LayerOp& row) {
  const PatternSpec pattern = pattern_of(file, node, context);
  if (pattern.name == "dense") return;
  if (pattern.name == "banded") fail(file, node, "banded inputs", "hypergeometric");
  if (pattern.name == "nm") {
    context.note("fixed_structured inputs: their places are drawn");
  }
  row.x_pattern = "bernoulli";
  const YAML::Node value = node.IsMap() ? node["density"] : node;
  row.x_density = parse_density(value.Scalar(), "density");
}

void read_densities(const ImportFile& file, const YAML::Node& problem, const Tensors& tensors,
                    ImportContext& context, LayerOp& row) {
  const YAML::Node inner = problem["instance"]["densities"];
  const YAML::Node densities = inner ? inner : problem["densities"];
  if (!densities || !densities.IsMap()) return;
  for (const auto& entry : densities) {
    const auto name = entry.first.as<std::string>("");
    if (name == tensors.weights) {
      row.pattern = pattern_of(file, entry.second, context);
    } else if (name == tensors.inputs) {
      read_inputs(file, entry.second, context, row);
    } else if (name == tensors.outputs) {
      context.note("the density of {} is left out: all results are formed", name);
    } else {
      fail(file, entry.first, fmt::format("a density of '{}'", name),
           fmt::format("{}, {}, {}", tensors.weights, tensors.inputs, tensors.outputs));
    }
  }
}

/// A side of the inputs that `outputs` of them read, with filters that overlap.
std::uint64_t side_of(const Sizes& sizes, const char* outputs, const char* filter,
                      const char* stride, const char* dilation) {
  return (size_of(sizes, outputs) - 1) * size_of(sizes, stride) +
         (size_of(sizes, filter) - 1) * size_of(sizes, dilation) + 1;
}

Convolution convolution_of(const Sizes& sizes) {
  Convolution made;
  made.filters = size_of(sizes, "M");
  made.channels = size_of(sizes, "C");
  made.groups = size_of(sizes, "G");
  made.images = size_of(sizes, "N");
  made.kernel = {size_of(sizes, "R"), size_of(sizes, "S")};
  made.outputs = {size_of(sizes, "P"), size_of(sizes, "Q")};
  made.inputs = {side_of(sizes, "P", "R", "Hstride", "Hdilation"),
                 side_of(sizes, "Q", "S", "Wstride", "Wdilation")};
  return made;
}

void read_problem(const ImportFile& file, const YAML::Node& root, ImportContext& context) {
  const YAML::Node problem = root.IsMap() ? root["problem"] : YAML::Node();
  const YAML::Node instance = problem && problem.IsMap() ? problem["instance"] : YAML::Node();
  if (!instance || !instance.IsMap()) {
    throw_diagnostic(place(file.path), "E101", "no problem.instance",
                     "problem: instance: {C: 64, M: 64, P: 16}");
  }
  const Sizes sizes = read_sizes(file, instance);
  const std::set<std::string> gemm_names = {"M", "N", "K"};
  const std::set<std::string> conv_names = {"C",       "M",       "P",         "Q",        "N",
                                            "R",       "S",       "G",         "H",        "W",
                                            "Hstride", "Wstride", "Hdilation", "Wdilation"};
  const bool gemm = sizes.count("K") != 0;
  if (sizes.empty() || !only(sizes, gemm ? gemm_names : conv_names)) {
    std::vector<std::string> names;
    for (const auto& [name, size] : sizes) names.push_back(name);
    fail(file, instance, fmt::format("dimensions {}", fmt::join(names, ", ")),
         "C, M, P, Q, N, R, S, G, or M, N, K");
  }
  LayerOp& row = context.add(file.stem(), "gemm");
  if (gemm) {
    row.m = static_cast<std::uint32_t>(size_of(sizes, "M"));
    row.k = static_cast<std::uint32_t>(size_of(sizes, "K"));
    row.n = static_cast<std::uint32_t>(size_of(sizes, "N"));
  } else {
    set_convolution(convolution_of(sizes), place(file.path), row);
  }
  Tensors tensors = tensors_of(problem, gemm);
  if (gemm && tensors.weights == "Inputs" && tensors.inputs == "Weights") {
    std::swap(row.m, row.n);  // of a file that calls the right operand weights: Y transposed
    std::swap(tensors.weights, tensors.inputs);
  }
  read_densities(file, problem, tensors, context, row);
}

}  // namespace

void import_timeloop(const ImportFile& file, ImportContext& context) {
  read_yaml(plain_yaml(file.text), file.path,
            [&](const YAML::Node& root) { read_problem(file, root, context); });
}

}  // namespace lacuna
