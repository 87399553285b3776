// SPDX-License-Identifier: Apache-2.0
#include "workloads/trace/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "sim/base/contains.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/look_ups.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/op_words.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_pattern.hpp"
#include "workloads/trace/text.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

constexpr std::uint64_t kMostCount = std::numeric_limits<std::uint64_t>::max();

bool is_name(const std::string& text) {
  constexpr std::size_t kLongest = 128;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.:/+-").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), allowed);
}

class RowReader {
 public:
  explicit RowReader(RowCells& cells) : cells_(cells) {}

  LayerOp read() {
    op_.line = cells_.line_number();
    read_names();
    read_words();
    read_counts();
    if (kind_ != nullptr) {
      check_residency();
      check_kernel_words();
      read_dimensions();
      check_product();
      read_function();
      read_args();
    }
    read_pattern(cells_, kind_, op_);
    read_x_pattern();
    op_.depends_on = cells_.list(Column::depends_on);
    return std::move(op_);
  }

 private:
  void read_names() {
    op_.id = cells_.text(Column::id);
    if (op_.id.empty()) {
      cells_.fail_empty(Column::id, "a name");
    } else if (!is_name(op_.id)) {
      cells_.fail(Column::id, "E206", op_.id, "1 to 128 letters, digits and _ . : / + -");
    }
    op_.model = cells_.text(Column::model);
    op_.layer = cells_.text(Column::layer);
    if (!cells_.is_set(Column::op)) cells_.fail_empty(Column::op, "an operation");
    if (const auto word = cells_.word(Column::op, names_in(op_kinds()))) kind_ = &op_kinds()[*word];
    if (kind_ != nullptr) op_.op = kind_->name;
  }

  void read_words() {
    const auto phase =
        cells_.word(Column::phase, {"fwd", "bwd", "upd", "forward", "backward", "update"});
    op_.phase = static_cast<Phase>(phase.value_or(0) % 3);
    read_word(Column::dtype, kDTypes, op_.dtype);
    read_word(Column::partials, kPartials, op_.partials);
    read_word(Column::mode, kModes, op_.mode);
    read_word(Column::residency, kResidencies, op_.residency);
  }

  template <class Enum, std::size_t kCount>
  void read_word(Column column, const std::array<Enum, kCount>& values, Enum& value) {
    if (const auto at = cells_.word(column, words_of(values))) value = values.at(*at);
  }

  void check_residency() {
    if (op_.residency == Residency::automatic) return;
    if (!has_weights(op_)) {
      cells_.fail(Column::residency, "E208", word(op_.residency),
                  fmt::format("empty or auto with op {}, which has no weights", op_.op));
      return;
    }
    const Residency meant = residency_of_kernel(op_.mode);
    if (meant == Residency::automatic || meant == op_.residency) return;
    cells_.fail(Column::residency, "E208", word(op_.residency),
                fmt::format("auto or {} with mode {}, whose kernel has its weights there",
                            word(meant), word(op_.mode)));
  }

  /// Words of a kernel where the operation has no choice that they could make.
  void check_kernel_words() {
    const bool product = kind_->has('n') && (kind_->sparse_x || kind_->name == "sddmm");
    if (op_.partials != Partials::automatic && !product) {
      cells_.fail(Column::partials, "E208", word(op_.partials),
                  fmt::format("empty or auto with op {}, which is no product", kind_->name));
    }
    if (op_.mode != Mode::automatic && !product && kind_->masked == OpKind::Masked::none) {
      cells_.fail(Column::mode, "E208", word(op_.mode),
                  fmt::format("empty or auto with op {}, which takes no pattern", kind_->name));
    }
  }

  std::uint32_t side(Column column, std::uint32_t otherwise, std::uint64_t least = 1) {
    return static_cast<std::uint32_t>(cells_.integer(column, least, kMostSide).value_or(otherwise));
  }

  void read_counts() {
    op_.batch = side(Column::batch, 1);
    op_.repeat = side(Column::repeat, 1);
    op_.stage = side(Column::stage, 0, 0);
    op_.seed = cells_.integer(Column::seed, 0, kMostCount);
  }

  void read_dimensions() {
    const auto read = [this](char name, Column column, bool optional, std::uint32_t& dimension) {
      if (kind_->has(name)) {
        dimension = side(column, 0);
        if (!cells_.is_set(column) && optional) dimension = 1;
        if (cells_.is_set(column) || optional) return;
        cells_.fail_empty(column, fmt::format("an integer, as op {} needs it", kind_->name));
      } else if (cells_.is_set(column)) {
        cells_.fail_with_op(column, kind_->name);
      }
    };
    read('m', Column::m, false, op_.m);
    read('k', Column::k, false, op_.k);
    read('n', Column::n, kind_->n_is_optional, op_.n);
  }

  void check_product() {
    std::uint64_t product = 1;
    for (const std::uint32_t factor : {op_.m, op_.k, op_.n, op_.batch, op_.repeat}) {
      const std::uint64_t next = std::max<std::uint64_t>(factor, 1);
      if (product > kMostProduct / next) {
        cells_.fail(
            kind_->has('m') ? Column::m : Column::op, "E213",
            fmt::format("{} * {} * {} * {} * {}", op_.m, op_.k, op_.n, op_.batch, op_.repeat),
            "m * k * n * batch * repeat up to 2^63 - 1");
        return;
      }
      product *= next;
    }
  }

  void read_function() {
    if (kind_->functions.empty()) {
      if (cells_.is_set(Column::fn)) cells_.fail_with_op(Column::fn, kind_->name);
      return;
    }
    if (const auto word = cells_.word(Column::fn, kind_->functions)) {
      op_.fn = kind_->functions[*word];
    } else if (!cells_.is_set(Column::fn)) {
      op_.fn = kind_->default_function;
      if (kind_->name == "embed" && op_.phase == Phase::bwd) op_.fn = "scatter_add";
      if (op_.fn.empty()) {
        cells_.fail_empty(Column::fn, listed(kind_->functions));
      }
    }
  }

  void read_args() {
    const auto pairs = cells_.pairs(Column::args);
    if (!pairs) return;
    op_.args = *pairs;
    if (kind_->keys.empty() && !pairs->empty()) cells_.fail_with_op(Column::args, kind_->name);
    const std::vector<std::string> names = names_in(kind_->keys);
    for (std::size_t i = 0; i < pairs->size() && !names.empty(); ++i) {
      if (!cells_.check_key(Column::args, *pairs, i, names)) continue;
      check_value(*find_named(kind_->keys, (*pairs)[i].first), (*pairs)[i].second);
    }
    for (const ArgKey& key : kind_->keys) {
      if (key.required) cells_.require_key(Column::args, *pairs, key.name);
    }
    if (kind_->name == "embed" && !cells_.failed(Column::args)) {
      const std::string wrong = wrong_routing(op_);
      if (!wrong.empty()) {
        cells_.fail(Column::args, "E206", wrong,
                    "index=routing with experts, chosen, round below chosen, and k = n");
      }
    }
    if (kind_->name == "opaque" && pairs->empty()) {
      cells_.fail_empty(Column::args, "at least one of flop, bytes, us");
    }
  }

  void check_value(const ArgKey& key, const std::string& value) {
    switch (key.type) {
      case ArgKey::Type::count:
      case ArgKey::Type::index: {
        const std::uint64_t least = key.type == ArgKey::Type::count ? 1 : 0;
        if (parse_integer(value, least, kMostProduct)) return;
        cells_.fail(Column::args, integer_error(value), value,
                    fmt::format("{}, an integer of at least {}", key.name, least));
        return;
      }
      case ArgKey::Type::decimal:
        return check_decimal(key.name, value);
      case ArgKey::Type::word:
        return cells_.check_word(Column::args, key.name, value, key.words);
      case ArgKey::Type::path:
      case ArgKey::Type::id:
        return;  // looked up when all earlier rows are known, or read when it is run
      case ArgKey::Type::distribution:
        return check_drawn(value, key.name, {"uniform", "zipf:EXPONENT", "routing"});
      case ArgKey::Type::routing:
        if (starts_with(value, "counts:")) return;  // with the other keys
        return check_drawn(value, key.name, {"uniform", "zipf:EXPONENT", "counts:N:N"});
    }
  }

  void check_decimal(const std::string& name, const std::string& value) {
    if (!is_decimal(value)) {
      cells_.fail(Column::args, "E204", value, fmt::format("{}, a decimal number", name));
    }
  }

  void check_drawn(const std::string& value, const std::string& key,
                   const std::vector<std::string>& words) {
    if (starts_with(value, "zipf:")) return check_decimal("zipf", value.substr(5));
    cells_.check_word(Column::args, key, value, words);
  }

  void read_x_pattern() {
    static const std::vector<std::string> kNames = {"dense", "bernoulli", "channel", "file"};
    op_.x_pattern = kNames.at(cells_.word(Column::x_pattern, kNames).value_or(0));
    op_.x_density = cells_.fraction(Column::x_density);
    op_.x_file = cells_.text(Column::x_pattern_file);
    check_x_file();
    const bool drawn = op_.x_pattern == "bernoulli" || op_.x_pattern == "channel";
    if (drawn && !cells_.is_set(Column::x_density)) {
      cells_.fail_empty(Column::x_density,
                        "a decimal in [0, 1], as x_pattern " + op_.x_pattern + " needs one");
    }
    const bool thin = op_.x_density && !(*op_.x_density == Decimal{1, 0});
    if (kind_ != nullptr && !kind_->sparse_x && (op_.x_pattern != "dense" || thin)) {
      const Column column = op_.x_pattern != "dense" ? Column::x_pattern : Column::x_density;
      cells_.fail_with_op(column, kind_->name);
    } else if (op_.x_pattern == "dense" && thin && !cells_.failed(Column::x_pattern)) {
      cells_.fail(Column::x_density, "E208", cells_.text(Column::x_density),
                  "empty or 1 with x_pattern dense");
    }
  }

  void check_x_file() {
    const bool is_file = op_.x_pattern == "file";
    if (is_file && op_.x_file.empty()) {
      cells_.fail_empty(Column::x_pattern_file, "the file of a matrix of k x n");
    } else if (!is_file && !op_.x_file.empty() && !cells_.failed(Column::x_pattern)) {
      cells_.fail(Column::x_pattern_file, "E208", op_.x_file,
                  fmt::format("empty with x_pattern {}", op_.x_pattern));
    }
    if (!is_file || !op_.x_density) return;
    cells_.fail(Column::x_density, "E214", cells_.text(Column::x_density),
                "empty, as x_pattern file implies it");
  }

  RowCells& cells_;
  LayerOp op_;
  const OpKind* kind_ = nullptr;
};

}  // namespace

LayerOp read_row(RowCells& cells) { return RowReader(cells).read(); }

}  // namespace lacuna
