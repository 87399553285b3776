// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sim/base/parameter.hpp"

namespace lacuna::ipu {

/// How long a word travels from the sender's memory to the receiver's.
enum class LatencyModel { floor_plan, constant };

struct FloorParams : ParameterSet {
  Param<unsigned> tiles =
      param(this, "tiles", 1472U, range(1U, 65536U), "tiles", "Tiles that programs may use.");
  Param<unsigned> rows = param(this, "rows", 23U, range(1U, 64U), "rows",
                               "Tile pairs in one column of the floor plan.");
};

/// Which accesses of a bundle can be made in one clock: those to different elements, and two to
/// one interleaved element.
struct ElementParams : ParameterSet {
  Param<unsigned> kib = param(this, "kib", 16U, range(1U, 65536U), "KiB",
                              "A memory element; an interleaved one has twice as much.");
  Param<unsigned> plain_kib = param(this, "plain_kib", 208U, range(0U, 65536U), "KiB",
                                    "Memory that is not interleaved; the rest is.");
};

struct MemoryParams : ParameterSet {
  Param<unsigned> kib =
      param(this, "kib", 624U, range(1U, 65536U), "KiB", "SRAM of one tile, code and data.");
  Group<ElementParams> element = group(this, "element", "Its parts, with one port each.");
  Param<unsigned> load_bytes = param(
      this, "load_bytes", 16U, range(1U, 64U), "B/cycle",
      "Most a tile loads in one cycle; a bundle that loads more takes more slots. None of the "
      "code loads more than 16.");
  Param<unsigned> store_bytes =
      param(this, "store_bytes", 8U, range(1U, 64U), "B/cycle",
            "Most a tile stores in one cycle; a bundle that stores more takes more slots. Only an "
            "AMP with more columns than the presets' stores more than 8.");
};

struct AmpParams : ParameterSet {
  Param<unsigned> fp16_macs = param(this, "fp16_macs", 64U, range(1U, 1024U), "MAC/cycle",
                                    "Products per cycle of fp16 inputs with fp16 partials.");
  Param<unsigned> fp16_fp32_macs = param(this, "fp16_fp32_macs", 32U, range(1U, 1024U), "MAC/cycle",
                                         "Products per cycle of fp16 inputs with fp32 partials.");
  Param<unsigned> fp32_macs = param(this, "fp32_macs", 16U, range(1U, 1024U), "MAC/cycle",
                                    "Products per cycle of fp32 inputs.");
  Param<unsigned> fp8_macs = param(this, "fp8_macs", 0U, range(0U, 1024U), "MAC/cycle",
                                   "Products per cycle of fp8 inputs; 0: the chip has no fp8.");
  Param<unsigned> weight_bytes =
      param(this, "weight_bytes", 8U, range(1U, 16U), "B/cycle",
            "Rate at which the supervisor fills the weight store: by loads of 64 bits, or of 128 "
            "if it is 16.");
  Param<unsigned> depth =
      param(this, "depth", 4U, range(1U, 64U), "products",
            "Products of fp16 that a column forms in a cycle; of fp32 a quarter, of fp8 twice as "
            "many. Columns are fp16_macs, fp16_fp32_macs, ... over it.");
  Param<unsigned> column_bytes =
      param(this, "column_bytes", 32U, range(4U, 1024U), "B",
            "Weight store of a column: it contracts 16 inputs of fp16, 8 of fp32 or 32 of fp8 in a "
            "pass if it is 32.");
  Param<unsigned> input_bytes =
      param(this, "input_bytes", 8U, range(8U, 16U), "B",
            "Inputs that a bundle takes in: one load of 64 bits, or two if it is 16.");
  Param<unsigned> latency = param(this, "latency", 1U, range(0U, 64U), "elements",
                                  "That are taken in before the result of an element leaves.");
};

struct TileParams : ParameterSet {
  Param<unsigned> workers = param(this, "workers", 6U, range(1U, 16U), "contexts",
                                  "Worker contexts, served in turn, one issue slot each.");
  Param<unsigned> issue_interval =
      param(this, "issue_interval", 1U, range(1U, 64U), "cycles",
            "From a worker's issue to its next, at least: the depth of the pipeline. With fewer "
            "workers slots stay empty.");
  Param<unsigned> launch = param(this, "launch", 11U, range(0U, 10000U), "cycles",
                                 "Supervisor work before the first vertex of a compute set.");
  Group<MemoryParams> memory = group(this, "memory", "The tile's SRAM.");
  Group<AmpParams> amp = group(this, "amp", "The matrix unit.");

  /// Issue slots, served in turn: one for each worker, and the empty ones.
  unsigned slots() const { return std::max(workers.value(), issue_interval.value()); }
};

struct ExchangeParams : ParameterSet {
  Param<unsigned> entry = param(this, "entry", 0U, range(0U, 10000U), "cycles",
                                "From the release of a barrier to the first send, on every tile.");
  Param<LatencyModel> latency =
      param(this, "latency", LatencyModel::floor_plan,
            Choices<LatencyModel>{{"floor_plan", LatencyModel::floor_plan},
                                  {"constant", LatencyModel::constant}},
            "From the places of sender and receiver on the die, or the same for all.");
  Param<unsigned> constant_latency =
      param(this, "constant_latency", 126U, range(1U, 255U), "cycles",
            "From sending a word to its being written, if latency is constant.");
  Param<unsigned> control_events =
      param(this, "control_events", 3U, range(0U, 64U), "cycles",
            "Receive control of one fragment: no fragment occupies a receiver for less.");
  Param<bool> paired = flag(this, "paired", true,
                            "Let both tiles of a pair receive one stream at two words a cycle.");
  Param<unsigned> paired_words =
      param(this, "paired_words", 128U, range(2U, 1U << 20U), "words",
            "Shortest fragment that is sent to pairs at double width, if "
            "paired is true.");
};

struct SyncParams : ParameterSet {
  Param<unsigned> cycles =
      param(this, "cycles", 150U, range(2U, 100000U), "cycles",
            "From the last tile's arrival at a barrier to the release of all.");
};

/// Costs that a run is imagined without, to see what they are worth. No hardware is like that. They
/// change how long something takes, never what is computed or how it is planned.
struct WithoutParams : ParameterSet {
  Param<bool> exchange = flag(this, "exchange", false,
                              "Idealised: exchange phases take no time; words are there at once.");
  Param<bool> slowest =
      flag(this, "slowest", false,
           "Idealised: between barriers every tile takes the mean time of all tiles used.");
  Param<bool> overhead =
      flag(this, "overhead", false, "Idealised: bundles without arithmetic take no issue slot.");
  Param<bool> arithmetic =
      flag(this, "arithmetic", false, "Idealised: bundles with arithmetic take no issue slot.");

  bool any() const { return exchange || slowest || overhead || arithmetic; }
};

/// What a chip is built from. A machine adds what lies outside the chip, such as its clock.
struct ChipParams : ParameterSet {
  Group<FloorParams> ipu = group(this, "ipu", "The chip as a whole.");
  Group<TileParams> tile = group(this, "tile", "One tile.");
  Group<ExchangeParams> exchange = group(this, "exchange", "The fabric between tiles.");
  Group<SyncParams> sync = group(this, "sync", "The barrier of all tiles.");
  Group<WithoutParams> without = group(this, "without", "Idealisations; no hardware has them.");

  /// ParameterError if tiles and rows do not fit together.
  void check() const;
};

}  // namespace lacuna::ipu
