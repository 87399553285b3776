// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The absolute values of a matrix of weights, row-major.
struct NpyMatrix {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::vector<double> magnitudes;
};

/// Reads the array of a .npy file, or of an .npz file as "PATH.npz:MEMBER". TraceError with one
/// problem if it is not there or is no matrix of numbers.
NpyMatrix read_npy(const std::string& path);

/// The same from bytes: versions 1 to 3, types <f2 <f4 <f8 |i1, two dimensions, in the order of
/// C or Fortran. `member` names the array of an .npz; empty takes its only one.
NpyMatrix parse_npy(std::string_view bytes, const std::string& path,
                    const std::string& member = "");

/// TraceError of what was found in such a file.
[[noreturn]] void refuse_npy(const std::string& path, const std::string& found,
                             const std::string& allowed);

/// The bytes of one member of a zip archive, stored or deflated, and at most 16 times as large as
/// the archive and a MiB. TraceError if there is none of that name, or if it is damaged.
std::string unzip(std::string_view bytes, const std::string& path, const std::string& member);

}  // namespace lacuna
