// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "workloads/trace/text.hpp"

namespace lacuna {

/// No reader takes more input than this.
constexpr std::uint64_t kMostInput = std::uint64_t{1} << 30U;

/// The program that packed such a file; empty of one that is not packed. The arrays of an .npz lie
/// in a zip archive, which its reader unpacks.
std::string packed_by(const std::string& path, std::string_view text);

/// The file, open for reading. TraceError E001 if it is missing or unreadable, or if it is to be
/// read `in_parts` and is none that can be.
std::ifstream open_file(const std::string& path, bool in_parts = false);

/// The bytes of a file without a byte order mark at its beginning; TraceError E001 if it is
/// missing, unreadable or above kMostInput.
std::string read_text_file(const std::string& path);

}  // namespace lacuna
