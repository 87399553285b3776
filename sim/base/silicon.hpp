// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lacuna {

/// So many of an elementary block of a chip, such as bits of registers or KiB of SRAM; a row of the
/// table of areas says what one takes.
struct SiliconBlock {
  std::string block;
  double count = 0;
};

/// What a chip is made of, as its parameters say: blocks of each tile or core, and those that are
/// there once.
struct Silicon {
  double units = 0;         // tiles or cores of the chip
  double unit_sram_mb = 0;  // SRAM of one of them, in 10^6 bytes
  std::vector<SiliconBlock> unit;
  std::vector<SiliconBlock> chip;

  bool known() const { return units > 0; }
};

}  // namespace lacuna
