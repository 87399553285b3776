// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/parameter.hpp"

namespace lacuna::system {

/// Where operands are between passes.
enum class Home { sram, streaming };

/// How a model that makes text lies on the chips of a system.
struct InferenceParams : ParameterSet {
  Param<unsigned> tensor = param(this, "tensor", 0U, range(0U, 1024U), "chips",
                                 "Chips that share each matrix, heads and experts with it. 0: all "
                                 "that heads allow are tried, and the soonest over is taken.");
  Param<unsigned> pipeline = param(this, "pipeline", 0U, range(0U, 1024U), "stages",
                                   "Groups of such chips, with whole layers each. 0: as many as "
                                   "the system has chips for, and layers.");
  Param<std::string> layers =
      text(this, "layers", "",
           "Layers of each stage, such as 10-10-10-6; empty: so that the fullest chip has least.");
  Param<Home> weights =
      param(this, "weights", Home::sram,
            Choices<Home>{{"sram", Home::sram}, {"streaming", Home::streaming}},
            "Weights of layers stay on the tiles, or come from streaming memory for each pass.");
  Param<Home> cache =
      param(this, "cache", Home::sram,
            Choices<Home>{{"sram", Home::sram}, {"streaming", Home::streaming}},
            "Keys and values stay on the tiles, or come from streaming memory for each pass, and "
            "new ones go there.");
  Param<unsigned> io_tiles =
      param(this, "io_tiles", 0U, range(0U, 1024U), "tiles",
            "Tiles set apart for transfers: what a layer streams then comes while the one before "
            "works. 0: it is waited for.");
  Param<unsigned> context_step =
      param(this, "context_step", 256U, range(1U, 1U << 20U), "positions",
            "Of --requests: programs are compiled for contexts of whole multiples of this, and a "
            "step runs the one that its longest sequence needs.");
  Param<double> code_kib = param(this, "code_kib", 64.0, range(0.0, 1e5), "KiB",
                                 "Code of a tile, all rows together. Assumed, as of training.");
  Param<double> buffer_kib = param(this, "buffer_kib", 32.0, range(0.0, 1e5), "KiB",
                                   "Exchange code, stacks and buffers of a tile. The same.");
};

}  // namespace lacuna::system
