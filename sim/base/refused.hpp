// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <utility>

#include "sim/base/error.hpp"

namespace lacuna {

/// What is wrong with a request, in words that fmt::format() puts together.
template <class... Args>
RequestError refused(fmt::format_string<Args...> words, Args&&... args) {
  return RequestError(fmt::format(words, std::forward<Args>(args)...));
}

}  // namespace lacuna
