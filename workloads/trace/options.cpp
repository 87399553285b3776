// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "models/sparsity/pattern.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/op_words.hpp"
#include "workloads/trace/row_pattern.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

[[noreturn]] void fail(const std::string& option, const std::string& code, const std::string& found,
                       const std::string& allowed, const std::string& hint = "") {
  throw RequestError(format_diagnostic({option, code, "", found, allowed, hint}));
}

template <class Enum, std::size_t kCount>
Enum parse_word(const std::string& text, const std::string& option,
                const std::array<Enum, kCount>& values, const std::string& meant = "") {
  const std::vector<std::string> words = words_of(values);
  if (const auto at = place_in(words, text)) return values.at(*at);
  fail(option, "E206", text, listed(words), nearest(meant.empty() ? text : meant, words));
}

void set_block(const std::string& text, const std::string& option, PatternSpec& spec) {
  read_block(text, spec, [&](auto&&... what) { fail(option, what...); });
}

bool begins_with_digit(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// Two numbers "keep:of" at the place `at` of the parts.
bool is_ratio(const std::vector<std::string>& parts, std::size_t at) {
  return parts.size() > at + 1 && begins_with_digit(parts[at]) && begins_with_digit(parts[at + 1]);
}

void read_ratio(const std::vector<std::string>& parts, std::size_t at, PatternSpec& spec) {
  spec.name = "nm";
  spec.args.emplace_back("keep", parts[at]);
  spec.args.emplace_back("of", parts[at + 1]);
}

// Of a path in place of a pattern no part is a name, and what is said is how files are given.
void refuse_path(const std::string& text, const std::string& option) {
  const std::string kind = std::filesystem::path(split_array_name(text).file).extension().string();
  const bool is_path = text.find('/') != std::string::npos || kind == ".smtx" || kind == ".mtx" ||
                       kind == ".npy" || kind == ".npz" || kind == ".safetensors";
  if (is_path) fail(option, "E206", text, "file:PATH of a matrix", "file:" + text);
}

// NAME[BLOCK]: the longest name that `text` begins with, as no block begins with a letter.
void read_name(const std::string& text, const std::string& option, PatternSpec& spec) {
  refuse_path(text, option);
  const std::size_t digit = text.find_first_of("0123456789");
  spec.name = text.substr(0, digit);
  std::vector<std::string> names = pattern_names();
  names.erase(std::remove(names.begin(), names.end(), "ref"), names.end());
  if (!contains(names, spec.name)) {
    fail(option, "E206", spec.name, listed(names), nearest(spec.name, names));
  }
  if (digit != std::string::npos) {
    set_block(text.substr(digit), option, spec);
  } else if (spec.name == "block") {
    spec.block_rows = spec.block_cols = 0;  // blocks of one element would be another pattern
  }
}

// Everything that does not need a shape, by checking one that fits every block and group.
void check_early(const PatternSpec& spec, const std::string& option) {
  if (spec.name == "file") return;
  for (const PatternDiagnostic& diagnostic : check_pattern(spec, 0, 0)) {
    if (diagnostic.code == "E212" || diagnostic.cell == "rows" || diagnostic.cell == "cols")
      continue;
    fail(option, diagnostic.code, diagnostic.found,
         fmt::format("{} ({})", diagnostic.allowed, diagnostic.cell), diagnostic.hint);
  }
}

void check_file(const LayerOp& op, const std::string& option) {
  const Mask mask = read_pattern_file(op.pattern.file).mask;
  if (mask.rows == op.m && mask.cols == op.k) return;
  fail(fmt::format("{} {}, row '{}'", option, pattern_label(op.pattern), op.id), "E211",
       fmt::format("a pattern of {} x {}", mask.rows, mask.cols),
       fmt::format("{} x {}", op.m, op.k));
}

bool has_block(const PatternSpec& spec) { return spec.block_rows > 1 || spec.block_cols > 1; }

void check_has_side(const PatternSpec& spec, const std::string& option) {
  if (spec.block_rows != 0) return;
  fail(option, "E201", "", "the side of the blocks, such as block16, or with --block");
}

// A side stands behind the name without a colon: 'block:16:0.1' is refused with what was meant.
void check_is_no_side(const PatternSpec& spec, const std::vector<std::string>& parts,
                      std::size_t at, const std::string& option) {
  if (spec.block_rows != 0 || !parse_integer(parts[at], 2, kMostSide)) return;
  std::string meant = parts[0] + parts[at];
  for (std::size_t next = at + 1; next < parts.size(); ++next) meant += ":" + parts[next];
  fail(option, "E205", parts[at], "a decimal number in [0, 1]", meant);
}

// The option --nm KEEP:OF.
void add_ratio(const PatternOptions& options, PatternSpec& spec) {
  const std::vector<std::string> parts = split(*options.nm, ':');
  if (!is_ratio(parts, 0) || parts.size() != 2) fail("--nm", "E202", *options.nm, "KEEP:OF");
  if (options.pattern && spec.name != "nm") {
    fail("--nm", "E208", *options.nm, "pattern nm with this option");
  }
  if (!spec.args.empty()) fail("--nm", "E214", *options.nm, "the ratio once");
  read_ratio(parts, 0, spec);
}

}  // namespace

std::uint32_t parse_side(const std::string& text, const std::string& option) {
  const auto value = parse_integer(text, 1, kMostSide);
  if (!value) fail(option, integer_error(text), text, integer_in(1, kMostSide));
  return static_cast<std::uint32_t>(*value);
}

GemmShape parse_gemm(const std::string& text, const std::string& option) {
  const std::vector<std::string> parts = split(text, 'x');
  const std::string where = fmt::format("{} {}", option, quotable(text));
  if (parts.size() != 3) fail(where, "E202", text, "MxKxN, three integers");
  const GemmShape shape{parse_side(parts[0], where), parse_side(parts[1], where),
                        parse_side(parts[2], where)};
  if (std::uint64_t{shape.m} * shape.k > kMostProduct / shape.n) {
    fail(where, "E213", text, "a product m * k * n up to 2^63 - 1");
  }
  return shape;
}

Decimal parse_density(const std::string& text, const std::string& option) {
  Decimal value;
  const DecimalError error = parse_fraction(text, value);
  if (error == DecimalError::none) return value;
  fail(option, error == DecimalError::not_a_decimal ? "E204" : "E205", text,
       "a decimal number in [0, 1]");
}

DType parse_dtype(const std::string& text, const std::string& option) {
  // as other programs call them
  std::string plain = text;
  for (const auto& [theirs, ours] :
       {std::pair("bfloat", "bf"), std::pair("float", "fp"), std::pair("half", "fp16")}) {
    if (starts_with(plain, theirs)) plain.replace(0, std::string(theirs).size(), ours);
  }
  return parse_word(text, option, kDTypes, plain);
}

Partials parse_partials(const std::string& text, const std::string& option) {
  return parse_word(text, option, kPartials);
}

Mode parse_mode(const std::string& text, const std::string& option) {
  return parse_word(text, option, kModes);
}

Residency parse_residency(const std::string& text, const std::string& option) {
  return parse_word(text, option, kResidencies);
}

Residency residency_of_kernel(Mode mode) {
  if (mode == Mode::static_ || mode == Mode::dynamic) return Residency::resident;
  return mode == Mode::streamed ? Residency::streamed : Residency::automatic;
}

PatternSpec parse_pattern(const std::string& text, const std::string& option) {
  const std::string where = fmt::format("{} {}", option, quotable(text));
  const std::vector<std::string> parts = split(text, ':');
  PatternSpec spec;
  std::size_t next = 0;
  if (is_ratio(parts, 0)) {
    read_ratio(parts, 0, spec);
    next = 2;
  } else {
    read_name(parts[0], where, spec);
    next = 1;
    if (spec.name == "file") {  // the rest is the path, colons and all
      spec.file = text.size() > 5 ? text.substr(5) : "";
      if (spec.file.empty()) fail(where, "E201", "", "file:PATH of a matrix");
      return spec;
    }
    if (spec.name == "nm" && is_ratio(parts, 1)) {
      read_ratio(parts, 1, spec);
      next = 3;
    }
  }
  for (; next < parts.size(); ++next) {
    const std::string& part = parts[next];
    if (part == "field=file" && next + 1 < parts.size()) {  // the rest is the path, colons and all
      spec.args.emplace_back("field", text.substr(text.find(":field=file:") + 7));
      return spec;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos && !spec.density) {
      check_is_no_side(spec, parts, next, where);
      spec.density = parse_density(part, where);
    } else if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      fail(where, "E207", part, "key=value");
    } else {
      spec.args.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
  }
  return spec;
}

std::optional<PatternSpec> make_pattern(const PatternOptions& options, const std::string& option) {
  if (!options.pattern && !options.density && !options.block && !options.nm) return std::nullopt;
  PatternSpec spec;
  std::string where = options.nm ? "--nm" : "--density";
  if (options.pattern) {
    where = fmt::format("{} {}", option, quotable(*options.pattern));
    spec = parse_pattern(*options.pattern, option);
  }
  if (options.density) {
    if (spec.density) fail("--density", "E214", *options.density, "the density once");
    if (spec.name == "file") {
      fail("--density", "E214", *options.density, "empty, as the file of a pattern implies it");
    }
    spec.density = parse_density(*options.density);
  }
  if (options.block) {
    if (has_block(spec)) fail("--block", "E214", *options.block, "the block once");
    set_block(*options.block, "--block", spec);
  }
  if (options.nm) add_ratio(options, spec);
  const bool thin = spec.density && !(*spec.density == Decimal{1, 0});
  if (!options.pattern && !options.nm && (thin || has_block(spec))) {
    spec.name = has_block(spec) ? "block" : "unstructured";
  }
  check_has_side(spec, where);
  check_early(spec, where);
  return spec;
}

std::string pattern_label(const PatternSpec& spec) {
  if (spec.name == "file") return "file:" + std::filesystem::path(spec.file).filename().string();
  std::string text = spec.name;
  if (spec.block_rows != spec.block_cols) {
    text += fmt::format("{}x{}", spec.block_rows, spec.block_cols);
  } else if (spec.block_rows > 1) {
    text += std::to_string(spec.block_rows);
  }
  const std::string* keep = find_value(spec.args, "keep");
  const std::string* of = find_value(spec.args, "of");
  const bool ratio = spec.name == "nm" && keep != nullptr && of != nullptr;
  if (ratio) text += fmt::format(":{}:{}", *keep, *of);
  if (spec.density && spec.name != "dense") text += ":" + spec.density->text();
  for (const auto& [key, value] : spec.args) {
    if (!ratio || (key != "keep" && key != "of")) text += fmt::format(":{}={}", key, value);
  }
  return text;
}

namespace {

WorkloadTrace one_product(std::string name, const char* id, GemmShape shape) {
  WorkloadTrace trace;
  trace.name = std::move(name);
  LayerOp op;
  op.id = id;
  op.m = shape.m;
  op.k = shape.k;
  op.n = shape.n;
  trace.ops.push_back(std::move(op));
  return trace;
}

}  // namespace

WorkloadTrace gemm_workload(GemmShape shape) {
  return one_product(fmt::format("{}x{}x{}", shape.m, shape.k, shape.n), "gemm", shape);
}

WorkloadTrace matrix_workload(const std::string& path, std::uint32_t n) {
  const Mask mask = read_pattern_file(path).mask;
  WorkloadTrace trace = one_product(std::filesystem::path(path).filename().string(), "matrix",
                                    {mask.rows, mask.cols, n});
  trace.ops[0].pattern.name = "file";
  trace.ops[0].pattern.file = path;
  return trace;
}

WorkloadTrace with_pattern(WorkloadTrace trace, const PatternSpec& spec,
                           const std::string& option) {
  bool taken = false;
  for (LayerOp& op : trace.ops) {
    if (op.op != "gemm" && op.op != "spmm") continue;
    taken = true;
    if (op.pattern.name == "ref") continue;  // its mask follows the row it names
    op.op = "gemm";                          // spmm would refuse a dense one
    op.pattern = spec;
    if (spec.name == "file") {
      check_file(op, option);
      continue;
    }
    for (const PatternDiagnostic& diagnostic : check_pattern(spec, op.m, op.k)) {
      const std::string where = fmt::format("{} {}, row '{}'", option, pattern_label(spec), op.id);
      const std::string cell = diagnostic.cell == "rows"   ? "m"
                               : diagnostic.cell == "cols" ? "k"
                                                           : diagnostic.cell;
      throw RequestError(format_diagnostic(
          {where, diagnostic.code, cell, diagnostic.found, diagnostic.allowed, diagnostic.hint}));
    }
  }
  if (!taken) fail(option, "E208", pattern_label(spec), "a workload with a gemm row");
  return trace;
}

}  // namespace lacuna
