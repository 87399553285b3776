// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/random.hpp"

namespace lacuna {

namespace {

constexpr std::uint64_t kLargestSide = (std::uint64_t{1} << 31U) - 1;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

LayerOp parse_gemm_option(const std::string& text) {
  const std::vector<std::string> sides = split(text, 'x');
  if (sides.size() != 3) {
    throw RequestError(fmt::format(
        "--gemm: found '{}'; allowed: MxKxN, three whole numbers, such as 1024x1024x512", text));
  }
  LayerOp op;
  op.id = "gemm";
  const auto side = [&](const std::string& part) {
    return static_cast<std::uint32_t>(check_count("--gemm", part, 1, kLargestSide));
  };
  op.m = side(sides[0]);
  op.k = side(sides[1]);
  op.n = side(sides[2]);
  return op;
}

Decimal density_of(const std::string& option, const std::string& text) {
  Decimal density;
  switch (parse_fraction(text, density)) {
    case DecimalError::none:
      return density;
    case DecimalError::out_of_range:
      throw RequestError(fmt::format("{}: found '{}'; allowed: a density in [0, 1]", option, text));
    case DecimalError::not_a_decimal:
      break;
  }
  throw RequestError(fmt::format(
      "{}: found '{}'; allowed: a decimal in [0, 1] with at most 9 decimals", option, text));
}

/// Splits "block16" into the name and its block.
PatternSpec named_pattern(const std::string& word) {
  const std::size_t digits = word.find_first_of("0123456789");
  PatternSpec spec;
  spec.name = word.substr(0, digits);
  if (digits != std::string::npos) {
    const std::uint64_t side = check_count("--pattern", word.substr(digits), 1, kLargestSide);
    spec.block_rows = spec.block_cols = static_cast<std::uint32_t>(side);
  }
  std::vector<std::string> names;
  for (const PatternKind& kind : pattern_kinds()) names.push_back(kind.name);
  check_word("--pattern", spec.name, names);
  return spec;
}

PatternSpec parse_pattern_option(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  PatternSpec spec = named_pattern(parts[0]);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos) {
      spec.density = density_of("--pattern", parts[i]);
    } else {
      spec.args.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
    }
  }
  return spec;
}

/// --density and --block complete a pattern that does not say them itself.
void complete(PatternSpec& spec, const Options& options) {
  if (options.density) {
    if (spec.density) {
      throw RequestError("--density: the pattern has a density already; give one of them");
    }
    spec.density = density_of("--density", *options.density);
  }
  if (options.block) {
    if (spec.block_rows != 1) {
      throw RequestError("--block: the pattern has a block already; give one of them");
    }
    const std::uint64_t side = check_count("--block", *options.block, 1, kLargestSide);
    spec.block_rows = spec.block_cols = static_cast<std::uint32_t>(side);
  }
}

void refuse_problems(const LayerOp& op) {
  const PatternSpec& pattern = op.pattern;
  if (pattern.name == "dense" || pattern.name == "file") return;
  std::string text;
  for (const PatternProblem& problem : check_pattern(pattern, op.m, op.k)) {
    text += fmt::format("{}{}: error {}: {}: found '{}'; allowed: {}{}", text.empty() ? "" : "\n",
                        op.id, problem.code, problem.cell, problem.found, problem.allowed,
                        problem.hint.empty() ? "" : "; did you mean '" + problem.hint + "'?");
  }
  if (!text.empty()) throw RequestError(text);
}

template <class E>
E choose(const std::string& option, const std::string& found, const std::vector<E>& allowed) {
  std::vector<std::string> words;
  for (const E value : allowed) words.emplace_back(word(value));
  check_word(option, found, words);
  const auto at = std::find(words.begin(), words.end(), found) - words.begin();
  return allowed[static_cast<std::size_t>(at)];
}

}  // namespace

WorkloadTrace load_workload(const Options& options) {
  const int given = (options.trace ? 1 : 0) + (options.gemm ? 1 : 0) + (options.matrix ? 1 : 0);
  if (given != 1) {
    throw RequestError(fmt::format("{} workload is given; give one of --trace, --gemm and --matrix",
                                   given == 0 ? "no" : "more than one"));
  }
  WorkloadTrace workload;
  workload.name = options.gemm.value_or("");
  workload.ops.push_back(parse_gemm_option(*options.gemm));
  return workload;
}

std::vector<PatternChoice> pattern_choices(const Options& options) {
  std::vector<PatternChoice> choices;
  for (const std::string& text : options.patterns) {
    PatternSpec spec = parse_pattern_option(text);
    complete(spec, options);
    choices.push_back({text, spec});
  }
  if (choices.empty() && (options.density || options.block)) {
    PatternSpec spec;
    complete(spec, options);
    // a density alone means unstructured, with a block it means block
    spec.name = spec.block_rows > 1 ? "block" : "unstructured";
    const std::string block = spec.block_rows > 1 ? fmt::format("{}", spec.block_rows) : "";
    choices.push_back(
        {fmt::format("{}{}:{}", spec.name, block, spec.density ? spec.density->text() : ""), spec});
  }
  if (choices.empty()) choices.push_back({"", std::nullopt});
  return choices;
}

WorkloadTrace settle(const WorkloadTrace& workload, const PatternChoice& choice,
                     const Options& options) {
  WorkloadTrace settled = workload;
  for (LayerOp& op : settled.ops) {
    if (choice.pattern) op.pattern = *choice.pattern;
    if (options.mode) {
      op.mode = choose<Mode>("--mode", *options.mode,
                             {Mode::automatic, Mode::static_, Mode::dynamic, Mode::streamed});
    }
    if (options.dtype) {
      op.dtype = choose<DType>("--dtype", *options.dtype,
                               {DType::fp16, DType::fp32, DType::bf16, DType::fp8, DType::int8});
    }
    refuse_problems(op);
  }
  return settled;
}

Mask mask_of(const LayerOp& op, const WorkloadTrace& /*workload*/, std::uint64_t run_seed) {
  return generate_mask(op.pattern, op.m, op.k, op.seed ? *op.seed : stream_seed(run_seed, op.id));
}

}  // namespace lacuna
