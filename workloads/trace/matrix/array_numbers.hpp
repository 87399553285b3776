// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/trace/matrix/byte_source.hpp"
#include "workloads/trace/matrix/yaml_npy.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {

/// An array whose numbers have not been read.
struct OpenArray {
  std::string path;  // for messages
  ArrayHeader header;
  ByteSource numbers;
};

/// The arrays of a file by name, each with what opens it.
using ArrayMap = std::map<std::string, std::function<OpenArray()>>;

inline bool is_side(std::uint64_t side) { return side >= 1 && side <= kMostSide; }

/// Hands each number of an array, in the order of the file, to `take(index, bits)`. TraceError
/// where the file has other numbers than its header says, or one that is not finite.
template <class Raw, class Take>
void take_numbers(OpenArray& array, Take&& take) {
  constexpr std::size_t kPiece = std::size_t{1} << 17U;
  const ElementType& type = *array.header.type;
  const std::uint64_t count = array.header.count();
  std::vector<Raw> piece(std::min<std::uint64_t>(count, kPiece));
  for (std::uint64_t done = 0; done < count;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), count - done);
    char* const bytes = reinterpret_cast<char*>(piece.data());  // NOLINT(*-reinterpret-cast)
    const std::size_t got = array.numbers(bytes, wanted * sizeof(Raw));
    if (got != wanted * sizeof(Raw)) {
      refuse_array(array.path, fmt::format("{} bytes of numbers", done * sizeof(Raw) + got),
                   fmt::format("{} numbers of {} bytes", count, sizeof(Raw)));
    }
    for (std::size_t i = 0; i < wanted; ++i, ++done) {
      if (array.header.big_endian) {
        std::reverse(bytes + i * sizeof(Raw), bytes + (i + 1) * sizeof(Raw));
      }
      if (!type.is_finite(piece[i])) {
        refuse_array(array.path, fmt::format("number {} is not finite", done), "finite numbers");
      }
      take(done, std::uint64_t{piece[i]});
    }
  }
  char more = 0;
  if (array.numbers(&more, 1) != 0) {
    refuse_array(array.path, "more bytes of numbers",
                 fmt::format("{} numbers of {} bytes", count, sizeof(Raw)));
  }
}

template <class Take>
void for_each_number(OpenArray& array, Take&& take) {
  if (array.header.type == nullptr) {
    refuse_array(array.path, "type " + array.header.type_name, safetensors_types());
  }
  switch (array.header.type->size) {
    case 1:
      return take_numbers<std::uint8_t>(array, take);
    case 2:
      return take_numbers<std::uint16_t>(array, take);
    case 4:
      return take_numbers<std::uint32_t>(array, take);
    default:
      return take_numbers<std::uint64_t>(array, take);
  }
}

/// The whole numbers of a list. TraceError if it is none, or if one is negative.
std::vector<std::uint64_t> read_integers(OpenArray array);

/// An array as a matrix, or rows of it.
struct OpenMatrix {
  OpenArray array;
  bool by_columns = false;  // the rows of the array's file are columns of the matrix
  std::uint64_t rows = 0;   // of the matrix
  std::uint64_t cols = 0;
  std::uint64_t first = 0;  // of every `period` rows of the array these, up to `end`, are its rows
  std::uint64_t end = 0;
  std::uint64_t period = 0;

  /// Hands each number to `take(major, minor, bits)`, in the order of the file: row and column, or
  /// if it is by columns the other way.
  template <class Take>
  void for_each(Take&& take) {
    const std::uint64_t inner = by_columns ? rows / (end - first) * period : cols;
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::uint64_t kept = kept_row(0);
    for_each_number(array, [&](std::uint64_t, std::uint64_t bits) {
      if (by_columns) kept = kept_row(minor);
      if (kept != kNone) take(by_columns ? major : kept, by_columns ? kept : minor, bits);
      if (++minor != inner) return;
      minor = 0;
      kept = kept_row(++major);
    });
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// Which row of the matrix a row of the array is.
  std::uint64_t kept_row(std::uint64_t row) const {
    if (end - first == period) return row;
    const std::uint64_t place = row % period;
    return place < first || place >= end ? kNone : row / period * (end - first) + place - first;
  }
};

/// Rows and columns of a sparse matrix as SciPy saves it in an .npz: CSR, CSC, COO or BSR.
std::pair<std::uint64_t, std::uint64_t> scipy_sides(const ArrayMap& arrays,
                                                    const std::string& path);

/// Its mask. Stored zeros are zeros. `format` is the text of its array "format".
Mask read_scipy(const ArrayMap& arrays, const std::string& format, const std::string& path);

/// Puts the matrices that compression tools store as values and bits in place of these; for
/// `path` see ArrayFile.
void join_packed(ArrayMap& arrays, const std::string& path);

}  // namespace lacuna
