// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lacuna {

/// "0.1.0"
const char* version();

/// "0.1.0, commit 0123456789, Release by GNU 12.2.0": what made a result.
const char* build_version();

}  // namespace lacuna
