// SPDX-License-Identifier: Apache-2.0
#include "sim/report/html/html_captions.hpp"

#include <algorithm>
#include <array>

#include "sim/base/texts.hpp"

namespace lacuna {

namespace {

struct Caption {
  const char* prefix;  // of the name; the first that fits counts
  const char* text;
};

/// In the order of a page.
constexpr std::array<Caption, 26> kCaptions{{
    {"why",
     "What remains of the time as causes are taken away one after the other; each bar is a run."},
    {"speedup_by_op", "Speed-up of each operation over its own dense run; right of 1 zeros pay."},
    {"speedup_map",
     "Speed-up over dense by the size of the weights and the columns of the other "
     "operand: blue is faster, orange slower; the numbers are factors."},
    {"speedup",
     "Speed-up over each machine's own dense run against density. The dashed line is "
     "what leaving out all zeros could give at most, the dotted one no gain."},
    {"cycle_stack_ops",
     "Where the cycles of each operation went, each cycle of each tile or core "
     "once."},
    {"cycle_stack",
     "Where the cycles went: each cycle of each tile or core once, in the layer "
     "that explains it first. The numbers at the right are cycles."},
    {"throughput_by_op",
     "Useful FLOP per second of each operation; products of zeros do not "
     "count."},
    {"throughput_per_unit",
     "Useful FLOP per second of one tile or core, which compares machines "
     "of unlike size."},
    {"throughput",
     "Useful FLOP per second against density. Grey lines are dense machines that "
     "multiply the zeros: above them sparsity pays."},
    {"energy_parts",
     "What the energy of a useful FLOP consists of, at nominal prices; the numbers "
     "at the right are all prices low to all prices high."},
    {"energy",
     "Energy for a useful FLOP against density, with bars from all prices low to all "
     "prices high."},
    {"share_of_peak",
     "Useful FLOP per second as a share of what the simulated units could at "
     "most do."},
    {"roofline",
     "Throughput against useful FLOP for each byte of memory traffic, under the roofs "
     "of the machines: left of the ridge memory limits, right of it arithmetic."},
    {"bandwidth_phases",
     "Bytes of each phase as a share of what memories, fabric and edge could "
     "have moved while it lasted."},
    {"bandwidth",
     "Bytes per second of memories, fabric and edge, as a share of what each could "
     "carry."},
    {"power", "Power over the time of an operation, with the range of prices."},
    {"phases", "What every kind of unit did, from the first cycle of an operation to its last."},
    {"gantt", "What chosen units did, from the first cycle of an operation to its last."},
    {"layers", "Share of tiles or cores that compute, by layer and phase of the model."},
    {"load", "The load of each tile or core at its place on the die."},
    {"map", "A number for each tile, core or link at its place on the die."},
    {"time_against_area",
     "Time against silicon; the line joins the points that no other beats in both."},
    {"search_front", "The points that no other beats in both."},
    {"scaling", "How throughput grows with the number of chips, beside as many times one."},
    {"blas_share", "Share of peak that each level of BLAS reached, and what memory allows."},
    {"blas", "Bytes that each level of BLAS needs for a FLOP, and what memories give."},
}};

/// The end of all if there is none.
const Caption* find_caption(const std::string& name) {
  return std::find_if(kCaptions.begin(), kCaptions.end(),
                      [&](const Caption& caption) { return starts_with(name, caption.prefix); });
}

}  // namespace

std::string figure_caption(const std::string& name) {
  const Caption* const caption = find_caption(name);
  if (caption != kCaptions.end()) return caption->text;
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

unsigned figure_rank(const std::string& name) {
  return static_cast<unsigned>(find_caption(name) - kCaptions.begin());
}

}  // namespace lacuna
