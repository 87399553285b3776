// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/trace/matrix/byte_source.hpp"
#include "workloads/trace/matrix/element_type.hpp"

namespace lacuna {

/// What is said of the numbers of an array before them.
struct ArrayHeader {
  const ElementType* type = nullptr;  // null: none here is called `type_name`
  std::string type_name;
  std::vector<std::uint64_t> shape;
  bool by_columns = false;  // the first index runs fastest, as in Fortran
  bool big_endian = false;  // the highest byte first

  /// The product of the shape; saturates at 2^63.
  std::uint64_t count() const;
};

/// Reads the header of a .npy, versions 1 to 3; the numbers are what `bytes` has left. TraceError
/// if it is none, or of another type.
ArrayHeader read_npy_header(ByteSource& bytes, const std::string& path);

/// The text of a .npy that holds one word of letters, such as the format of a matrix of SciPy.
std::string read_npy_word(ByteSource& bytes, const std::string& path);

}  // namespace lacuna
