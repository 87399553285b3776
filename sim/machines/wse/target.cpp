// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/target.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"

namespace lacuna {

namespace {

constexpr const char* kFabrica = "FABRICA WSE-3 characterization, sections 3, 8, 10";

/// The one preset that was measured on both.
bool from_measured_preset(const std::string& origin) {
  const std::string file = (config_folder() / "wse3.yaml").string();
  return origin.rfind(file + ":", 0) == 0;
}

}  // namespace

const std::vector<TargetValue>& target_values() {
  static const std::vector<TargetValue> values = {
      {"router.link_words", "8", "1", "measured", "H",
       "sustained streams, two teams; FABRICA WSE-3 characterization, sections 4 and 10g"},
      {"router.link_cycles", "9", "1", "measured", "H", "the same: 1.125 cycles a word"},
      {"router.link_limit", "link", "link", "inferred", "L",
       "two sources on one link take the sum of their times; FABRICA, section 4"},
      {"mem.write_share", "0.6667", "0", "fitted", "L",
       "rates of copy FP16, copy FP32 and FMA FP16; FABRICA WSE-3 characterization, section 3"},
      {"mem.conflict_bytes", "16", "16", "inferred", "M",
       "one slow class of four offsets; FABRICA WSE-3 characterization, sections 3 and 13"},
      {"mem.write_lag", "0", "0", "inferred", "L", "not seen on a WSE-3: off"},
      {"mem.row_bytes", "16", "16", "inferred", "M",
       "strided reads at 8 over the stride; FABRICA WSE-3 characterization, section 10d"},
      {"simd.by_rows", "true", "true", "inferred", "M",
       "square tiles of odd widths; Jorineg/cerebras tiled-stencil"},
      {"simd.fma16_32", "1", "4", "inferred", "L",
       "chips: added as FP32 numbers are, one a cycle (simd.fma32), by the part of blocks of 64 "
       "and "
       "256 rows (EPCC, LLM-4B-H64-ffn, LLM-4B-FFN-2048); simulator: CSL language reference, "
       "appendix SIMD mode"},
      {"simd.to_register", "2", "2", "measured", "M",
       "sum of a vector in a register; FABRICA WSE-3 characterization, section 10d"},
      {"router.ramp_in", "1", "1", "measured", "M",
       "a word executes 3 cycles after its router has it, with a ramp of 2; FABRICA, section 10j"},
      {"vec.setup_scalar", "5", "5", "measured", "M",
       "13 cycles bare with a scalar against 8 with two vectors; FABRICA, section 10d"},
      {"vec.setup_descriptor", "1", "1", "measured", "M", kFabrica},
      {"vec.setup_use", "4", "4", "measured", "M", kFabrica},
      {"vec.setup_first", "4", "4", "measured", "M", kFabrica},
      {"vec.setup_next", "2", "2", "measured", "M",
       "next instruction 2 later, bare set-up of 8 and 9; FABRICA, sections 10d and 10i"},
      {"scalar.dependent", "2", "2", "measured", "M", kFabrica},
      {"scalar.branch_taken", "6", "6", "measured", "M", kFabrica},
      {"scalar.branch_not", "3", "3", "measured", "M", kFabrica},
      {"task.overhead", "16", "16", "measured", "M",
       "happyandslow/agent-memory, topic m3-idle-pe-tier: at most 15.8"},
      {"task.completion", "3", "3", "measured", "M", kFabrica},
      {"timer.sync_hop", "1", "1", "measured", "M", "FABRICA WSE-3 characterization, section 10g"},
  };
  return values;
}

void TargetSetter::set(WseParams& params, const std::string& path, const std::string& text,
                       const std::string& origin) {
  if (path == "target" && text != "none" && params.target == Target::none &&
      !from_measured_preset(origin)) {
    params.set(path, text, origin);  // a word that is none is refused as such
    params.target = Target::none;
    throw ParameterError(fmt::format(
        "{}target = {}: this machine has one set of values; of a wse3 both are known, silicon and "
        "simfabric",
        origin.empty() ? "" : origin + ": ", text));
  }
  if (path == "target" && text == "none" && params.target != Target::none) {
    throw ParameterError(fmt::format("{}target = none: of a wse3 there are silicon and simfabric",
                                     origin.empty() ? "" : origin + ": "));
  }
  params.set(path, text, origin);
  if (path != "target") {
    named_.insert(path);
    return;
  }
  for (const TargetValue& value : target_values()) {
    if (named_.count(value.path) != 0) continue;
    params.set(value.path, params.target == Target::silicon ? value.silicon : value.simfabric,
               "target");
  }
}

}  // namespace lacuna
