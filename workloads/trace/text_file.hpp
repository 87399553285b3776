// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "workloads/trace/text.hpp"

namespace lacuna {

/// No reader takes more input than this.
constexpr std::uint64_t kMostInput = std::uint64_t{1} << 30U;

/// The bytes of a file without a byte order mark at its beginning; TraceError E001 if it is
/// missing, unreadable or above kMostInput.
std::string read_text_file(const std::string& path);

}  // namespace lacuna
