// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "workloads/trace/matrix/byte_source.hpp"
#include "workloads/trace/matrix/npy_header.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"

namespace lacuna {

/// An array whose numbers have not been read.
struct OpenArray {
  std::string path;  // for messages
  ArrayHeader header;
  std::unique_ptr<ByteSource> numbers;
};

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
    const std::size_t got = array.numbers->read(bytes, wanted * sizeof(Raw));
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
  if (array.numbers->read(&more, 1) != 0) {
    refuse_array(array.path, "more bytes of numbers",
                 fmt::format("{} numbers of {} bytes", count, sizeof(Raw)));
  }
}

template <class Take>
void for_each_number(OpenArray& array, Take&& take) {
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

/// The mask of a sparse matrix as SciPy saves it in an .npz: CSR, CSC, COO or BSR. Stored zeros are
/// zeros. `open` opens one of the arrays by its name; `format` is the text of its array "format".
PatternFile read_scipy(const std::string& path, const std::string& format,
                       const std::function<OpenArray(const std::string&)>& open);

}  // namespace lacuna
