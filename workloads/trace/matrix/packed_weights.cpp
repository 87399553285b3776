// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/texts.hpp"
#include "workloads/trace/matrix/array_numbers.hpp"

namespace lacuna {
namespace {

/// Bits of a row, of whole bytes.
std::uint64_t padded(std::uint64_t cols) { return (cols + 7) / 8 * 8; }

/// All numbers of a matrix of which those that are there are stored, and a bit for each element:
/// eight to a byte, the lowest first; each row begins a byte.
class Unpacked {
 public:
  Unpacked(OpenArray bits, OpenArray values, const std::vector<std::uint64_t>& sides)
      : values_(std::move(values)),
        cols_(sides[1]),
        all_(sides[0] * sides[1]),
        bits_(bits.header.count(), '\0') {
    bits.numbers(bits_.data(), bits_.size());
  }

  /// Whole numbers; behind the last one the values that no bit is for.
  std::size_t operator()(char* into, std::size_t most) {
    if (at_ == all_) return values_.numbers(into, most);
    const std::size_t size = values_.header.type->size;
    const std::size_t count = std::min<std::uint64_t>(most / size, all_ - at_);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) kept += is_kept(at_ + i) ? 1 : 0;
    const std::size_t got = values_.numbers(into, kept * size);
    if (got != kept * size) return got;
    for (std::size_t i = count; i-- > 0;) {  // from the end on, none is written over
      const bool there = is_kept(at_ + i);
      if (there) std::copy_n(into + --kept * size, size, into + i * size);
      if (!there) std::fill_n(into + i * size, size, '\0');
    }
    at_ += count;
    return count * size;
  }

 private:
  bool is_kept(std::uint64_t element) const {
    const bool pads = cols_ % 8 != 0;  // seldom
    const std::uint64_t bit = pads ? element / cols_ * padded(cols_) + element % cols_ : element;
    return (static_cast<unsigned char>(bits_[bit / 8]) >> bit % 8 & 1U) != 0;
  }

  OpenArray values_;
  std::uint64_t cols_;
  std::uint64_t all_;
  std::uint64_t at_ = 0;
  std::string bits_;
};

OpenArray unpack(OpenArray bits, OpenArray values, OpenArray shape, const std::string& path) {
  const std::vector<std::uint64_t> sides = read_integers(std::move(shape));
  const bool right = sides.size() == 2 && is_side(sides[0]) && is_side(sides[1]) &&
                     bits.header.type_name == "U8" &&
                     bits.header.count() == sides[0] * padded(sides[1]) / 8;
  if (!right) {
    refuse_array(path, fmt::format("a bitmask of ({})", fmt::join(bits.header.shape, ", ")),
                 fmt::format("a bit for each element of its shape, ({})", fmt::join(sides, ", ")));
  }
  OpenArray whole{path, values.header, nullptr};
  whole.header.shape = sides;
  whole.numbers = Unpacked(std::move(bits), std::move(values), sides);
  return whole;
}

}  // namespace

void join_packed(ArrayMap& arrays, const std::string& path) {
  const ArrayMap all = arrays;
  const std::string mark = ".bitmask";
  for (const auto& [name, bits] : all) {
    if (!ends_with(name, mark)) continue;
    const std::string stem = name.substr(0, name.size() - mark.size());
    const std::string whole = ends_with(stem, ".weight") ? stem : stem + ".weight";
    const auto values = all.find(stem + ".compressed");
    const auto shape = all.find(stem + ".shape");
    if (values == all.end() || shape == all.end() || all.count(whole) != 0) continue;
    arrays[whole] = [bits = bits, values = values->second, shape = shape->second,
                     where = path + ":" + whole] {
      return unpack(bits(), values(), shape(), where);
    };
    for (const char* part : {".bitmask", ".compressed", ".shape", ".row_offsets"}) {
      arrays.erase(stem + part);
    }
  }
}

}  // namespace lacuna
