// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/trace/matrix/array_numbers.hpp"

namespace lacuna {
namespace {

/// The numbers of a whole matrix of which those that are there are stored, and a bit for each
/// element: eight to a byte, the lowest first, and each row begins a byte.
class Unpacked : public ByteSource {
 public:
  Unpacked(std::unique_ptr<ByteSource> bits, std::unique_ptr<ByteSource> values, std::size_t size,
           std::size_t cols)
      : bits_(std::move(bits)), values_(std::move(values)), size_(size), cols_(cols) {}

  std::size_t read(char* into, std::size_t most) override {
    std::size_t done = 0;
    while (done < most && (at_ < row_.size() || next_row())) {
      const std::size_t some = std::min(most - done, row_.size() - at_);
      std::copy_n(row_.data() + at_, some, into + done);
      at_ += some;
      done += some;
    }
    return done;
  }

 private:
  /// Behind the last row come the values that no bit is for. A row of which
  /// values are missing is none.
  bool next_row() {
    constexpr std::size_t kBits = 8;
    const std::string bits = next(*bits_, (cols_ + kBits - 1) / kBits);
    at_ = 0;
    if (bits.empty()) {
      row_ = next(*values_, 1);
      return !row_.empty();
    }
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < std::min(cols_, bits.size() * kBits); ++i) {
      const auto byte = static_cast<unsigned char>(bits[i / kBits]);
      if ((byte >> i % kBits & 1U) != 0) kept.push_back(i);
    }
    const std::string values = next(*values_, kept.size() * size_);
    row_.assign(cols_ * size_, '\0');
    for (std::size_t i = 0; i < values.size() / size_; ++i) {
      std::copy_n(values.data() + i * size_, size_, row_.data() + kept[i] * size_);
    }
    if (values.size() != kept.size() * size_) row_.clear();
    return true;
  }

  static std::string next(ByteSource& bytes, std::size_t most) {
    std::string text(most, '\0');
    text.resize(bytes.read(text.data(), most));
    return text;
  }

  std::unique_ptr<ByteSource> bits_;
  std::unique_ptr<ByteSource> values_;
  std::size_t size_;  // bytes of a number
  std::size_t cols_;
  std::string row_;  // as a whole matrix has it
  std::size_t at_ = 0;
};

OpenArray unpack(OpenArray bits, OpenArray values, OpenArray shape, const std::string& path) {
  constexpr std::uint64_t kBits = 8;
  const std::vector<std::uint64_t> sides = read_integers(std::move(shape));
  const bool right = sides.size() == 2 && is_side(sides[0]) && is_side(sides[1]) &&
                     bits.header.type != nullptr && bits.header.type->size == 1 &&
                     bits.header.count() == sides[0] * ((sides[1] + kBits - 1) / kBits);
  if (!right) {
    refuse_array(path, fmt::format("a bitmask of ({})", fmt::join(bits.header.shape, ", ")),
                 fmt::format("a bit for each element of its shape, ({})", fmt::join(sides, ", ")));
  }
  OpenArray whole;
  whole.path = path;
  whole.header = values.header;
  whole.header.shape = sides;
  const std::size_t size = values.header.type == nullptr ? 1 : values.header.type->size;
  whole.numbers = std::make_unique<Unpacked>(std::move(bits.numbers), std::move(values.numbers),
                                             size, sides[1]);
  return whole;
}

}  // namespace

void join_packed(ArrayMap& arrays, const std::string& path) {
  const ArrayMap all = arrays;
  const std::string mark = ".bitmask";
  for (const auto& [name, bits] : all) {
    if (!ends_in(name, mark)) continue;
    const std::string stem = name.substr(0, name.size() - mark.size());
    const std::string whole = ends_in(stem, ".weight") ? stem : stem + ".weight";
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
