// SPDX-License-Identifier: Apache-2.0
#include "models/sparsity/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/sparsity/pattern_builder.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"

namespace lacuna {
namespace {

using Density = PatternKind::Density;
using Prepare = MaskBuilder (*)(PatternRequest&);

struct Row {
  PatternKind kind;
  Prepare prepare;
};

// Those that are drawn.
std::vector<Row> random_rows() {
  return {
      {{"dense", Density::none, false, {}, "every element", ""}, prepare_dense},
      {{"unstructured",
        Density::required,
        false,
        {"round", "mask_rule", "rule_seed"},
        "a fixed number of elements, uniform over all such masks",
        "DLMC random pruning; Gale et al., SC20"},
       prepare_unstructured},
      {{"block",
        Density::required,
        true,
        {"round", "pad", "mask_rule", "rule_seed"},
        "a fixed number of aligned dense blocks, uniform over all such masks",
        "PopSparse; Li et al., arXiv 2303.16999"},
       prepare_block},
      {{"bernoulli",
        Density::required,
        true,
        {},
        "each element or block on its own, with probability `density`",
        ""},
       prepare_bernoulli},
      {{"nm",
        Density::implied,
        false,
        {"keep", "of", "pos", "pad", "axis"},
        "`keep` elements in every aligned group of `of` along a row (axis=m: along a column)",
        "2:4 of NVIDIA Ampere; first-of-M of SCALE-Sim v3"},
       prepare_n_of_m},
      {{"rows",
        Density::required,
        false,
        {"alpha", "axis", "round"},
        "uneven rows: the budget of the row of rank r falls as r^-alpha",
        ""},
       prepare_rows},
      {{"magnitude",
        Density::required,
        true,
        {"field", "preset", "role", "head", "norm", "round", "pad"},
        "the largest of random weights whose scale differs by head, row, column and block",
        "fitted to magnitude pruning in DLMC; Gale et al., SC20"},
       prepare_magnitude},
  };
}

// Those that follow from their keys.
std::vector<Row> fixed_rows() {
  return {
      {{"banded", Density::implied, false, {"w"}, "|j R - i C| <= w R", "Timeloop"},
       prepare_banded},
      {{"blockdiag",
        Density::implied,
        false,
        {"groups"},
        "equal blocks on the diagonal",
        "grouped products"},
       prepare_block_diagonal},
      {{"butterfly",
        Density::implied,
        true,
        {"block", "factor"},
        "blocks (i, j) with i = j or i XOR j a power of two (factor=q: 2^q)",
        "Dao et al., Pixelated Butterfly, ICLR 2022"},
       prepare_butterfly},
  };
}

// Those of attention, between positions of a sequence.
std::vector<Row> attention_rows() {
  return {
      {{"causal", Density::implied, false, {}, "j <= i", ""}, prepare_causal},
      {{"window",
        Density::implied,
        false,
        {"w", "causal", "dilation"},
        "w elements to each side of the diagonal, `dilation` apart",
        "Beltagy et al., Longformer, 2020"},
       prepare_window},
      {{"longformer",
        Density::implied,
        false,
        {"w", "global"},
        "a window, and the first `global` rows and columns in full",
        "Beltagy et al., Longformer, 2020"},
       prepare_longformer},
      {{"bigbird",
        Density::implied,
        true,
        {"block", "random"},
        "blocks: border rows and columns, a window of 3, and `random` more in each other row",
        "Zaheer et al., Big Bird, NeurIPS 2020"},
       prepare_big_bird},
      {{"fixed",
        Density::implied,
        false,
        {"stride", "c"},
        "j <= i, in the same segment of `stride` or in the last c of any",
        "Child et al., Sparse Transformers, 2019"},
       prepare_fixed},
      {{"strided",
        Density::implied,
        false,
        {"stride"},
        "j <= i, nearer than `stride` or a multiple of it away",
        "Child et al., Sparse Transformers, 2019"},
       prepare_strided},
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = [] {
    std::vector<Row> all = random_rows();
    for (const std::vector<Row>& more : {fixed_rows(), attention_rows()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kRows;
}

const Row* find_row(const std::string& name) {
  for (const Row& row : rows()) {
    if (row.kind.name == name) return &row;
  }
  return nullptr;
}

void check_keys(const PatternKind& kind, PatternRequest& request) {
  const Pairs& args = request.spec.args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& key = args[i].first;
    const auto same = [&key](const auto& pair) { return pair.first == key; };
    if (std::find(kind.keys.begin(), kind.keys.end(), key) == kind.keys.end()) {
      const std::string keys = kind.keys.empty() ? fmt::format("no keys with pattern {}", kind.name)
                                                 : fmt::format("{}", fmt::join(kind.keys, ", "));
      request.fail("E207", "pattern_args", key, keys, nearest(key, kind.keys));
    } else if (std::any_of(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      request.fail("E207", "pattern_args", key, "each key once");
    }
  }
}

void check_density(const PatternKind& kind, PatternRequest& request) {
  const std::optional<Decimal>& density = request.spec.density;
  if (kind.density == Density::required && !density) {
    request.fail("E201", "density", "",
                 fmt::format("a decimal in [0, 1], as pattern {} needs one", kind.name));
  }
  if (!density || kind.density == Density::required) return;
  if (kind.density == Density::implied) {
    request.fail("E214", "density", density->text(),
                 fmt::format("empty, as the keys of pattern {} imply it", kind.name));
  } else if (!(*density == Decimal{1, 0})) {
    request.fail("E208", "density", density->text(), "empty or 1 with pattern dense");
  }
}

void check_block(const PatternKind& kind, PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  const std::string found = fmt::format("{}x{}", spec.block_rows, spec.block_cols);
  if (spec.block_rows == 0 || spec.block_cols == 0) {
    request.fail("E203", "block", found, "sides of at least 1");
  } else if (!kind.blocks && (spec.block_rows != 1 || spec.block_cols != 1)) {
    request.fail("E208", "block", found, fmt::format("empty or 1 with pattern {}", kind.name));
  }
}

// A mask is made of positions that are walked and of blocks that are kept; neither may be absurd.
void check_size(const PatternKind& kind, PatternRequest& request) {
  const PatternSpec& spec = request.spec;
  const std::uint64_t positions =
      ((std::uint64_t{request.rows} + spec.block_rows - 1) / spec.block_rows) *
      ((std::uint64_t{request.cols} + spec.block_cols - 1) / spec.block_cols);
  // Kept ones of the others are counted where they are made.
  const bool counted = kind.density == Density::required && spec.density;
  request.check_size(positions, counted ? count_of(*spec.density, positions) : 0);
}

// Reads and checks the whole request; the builder is to be used only if there is no problem.
MaskBuilder prepare(PatternRequest& request) {
  const Row* row = find_row(request.spec.name);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const Row& other : rows()) names.push_back(other.kind.name);
    request.fail("E206", "pattern", request.spec.name, fmt::format("{}", fmt::join(names, ", ")),
                 nearest(request.spec.name, names));
    return {};
  }
  check_keys(row->kind, request);
  check_density(row->kind, request);
  check_block(row->kind, request);
  if (!request.diagnostics.empty()) return {};
  if (request.spec.name != "dense") check_size(row->kind, request);
  return row->prepare(request);
}

}  // namespace

const std::vector<PatternKind>& pattern_kinds() {
  static const std::vector<PatternKind> kKinds = [] {
    std::vector<PatternKind> kinds;
    for (const Row& row : rows()) kinds.push_back(row.kind);
    return kinds;
  }();
  return kKinds;
}

const PatternKind* find_pattern_kind(const std::string& name) {
  const Row* row = find_row(name);
  return row == nullptr ? nullptr : &row->kind;
}

std::vector<PatternDiagnostic> check_pattern(const PatternSpec& spec, std::uint32_t mask_rows,
                                             std::uint32_t mask_cols) {
  PatternRequest request(spec, mask_rows, mask_cols);
  prepare(request);
  return request.diagnostics;
}

Mask generate_mask(const PatternSpec& spec, std::uint32_t mask_rows, std::uint32_t mask_cols,
                   std::uint64_t seed) {
  PatternRequest request(spec, mask_rows, mask_cols);
  const MaskBuilder build = prepare(request);
  if (!request.diagnostics.empty()) {
    const PatternDiagnostic& first = request.diagnostics.front();
    throw RequestError(fmt::format("pattern {}: error {}: {}: found '{}'; allowed: {}", spec.name,
                                   first.code, first.cell, first.found, first.allowed));
  }
  if (spec.name == "dense" && std::uint64_t{mask_rows} * mask_cols > kMostKept) {
    throw RequestError(
        fmt::format("pattern dense: error E214: found a mask of {} x {}; allowed: "
                    "at most {} elements",
                    mask_rows, mask_cols, kMostKept));
  }
  return build(seed);
}

}  // namespace lacuna
