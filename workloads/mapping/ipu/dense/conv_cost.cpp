// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dense/conv_cost.hpp"

#include <algorithm>
#include <limits>

#include "workloads/functions/ceil_div.hpp"

namespace lacuna::ipu {
namespace {

/// FP16 data with the full AMP width, or with FP32 partials: the codelet keeps worker state from
/// pass to pass.
bool is_common_path(const Target& target, const Types& types) {
  return types.data == DType::fp16 &&
         (conv_units(target, types) == 16 || types.partials == DType::fp32);
}

std::uint64_t common_worker(std::uint64_t elements, bool first) {
  constexpr std::uint64_t kRetained = 7;  // bundles saved by the state kept from pass to pass
  const std::uint64_t setup = first ? 1 : 2;
  if (elements == 0) return 20 + setup - kRetained;
  if (elements == 1) return 31 + setup - kRetained;
  if (elements == 2) return 40 + setup - kRetained;
  return (first ? 37 : 38) + 4 * (elements - 3) - kRetained;
}

/// The other paths zero the partials in the worker on the first pass.
std::uint64_t zeroing_worker(const Target& target, const Types& types, std::uint64_t elements,
                             bool first) {
  const bool single = types.data == DType::fp32;
  if (elements == 0) return 24;
  std::uint64_t zeroed = types.partials == DType::fp32 ? 4 : 2;
  if (single && conv_units(target, types) == 16) zeroed = 8;
  const std::uint64_t zero = first ? 2 + zeroed * elements : 0;
  if (elements == 1) return (single ? 47 : 39) + zero;
  if (elements == 2) return (single ? 46 : 40) + zero;
  return (single ? 46 : 41) + zero + (single ? 8 : 4) * (elements - 3);
}

std::uint64_t fp8_worker(std::uint64_t elements, bool first) {
  const std::uint64_t saved = first ? 5 : 0;
  if (elements == 0) return 17 + 4;
  if (elements == 1) return 17 + 18 - saved;
  if (elements == 2) return 17 + 23 - saved;
  return 17 + 27 - saved + 4 * (elements - 3);
}

std::uint64_t path_bundles(const Target& target, const Types& types, std::uint64_t elements,
                           bool first) {
  if (types.data == DType::fp8) return fp8_worker(elements, first);
  if (is_common_path(target, types)) return common_worker(elements, first);
  return zeroing_worker(target, types, elements, first);
}

/// What a pass of FP32 takes longer at run time than poplin reckons.
std::uint64_t longer_single_pass(const Target& target, const Types& types, std::uint64_t elements) {
  if (types.data != DType::fp32 || conv_units(target, types) != 16 || elements < 2) return 0;
  const std::uint64_t planned = zeroing_worker(target, types, elements, false);
  // In FP16 dense passes have 19 + 4 e bundles, those of static blocks 15 + 4 e.
  return 37 + 8 * (elements - 1) + 4 - planned;
}

/// The time from the launch of a pass to its end.
Cycle pass_clocks(const Target& target, const Types& types, std::uint64_t field, bool first,
                  Cycle run_ahead, Form form) {
  const std::uint64_t share = ceil_div(field, target.workers);
  std::uint64_t longest = 0;
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
  // A worker with one element can need more bundles than one with three.
  for (unsigned worker = 0; worker < target.workers; ++worker) {
    const std::uint64_t begin = std::min(field, worker * share);
    const std::uint64_t elements = std::min(share, field - begin);
    const std::uint64_t bundles = conv_worker_bundles(target, types, elements, first, form);
    longest = std::max(longest, bundles);
    shortest = std::min(shortest, bundles);
  }
  return std::max(target.worker_clocks(longest), target.worker_clocks(shortest) + run_ahead);
}

}  // namespace

unsigned conv_in_group(const Target& target, const Types& types) {
  return target.amp.contraction(amp_mode(types));
}

unsigned conv_units(const Target& target, const Types& types) {
  return target.amp.columns(amp_mode(types));
}

unsigned conv_out_group(const Target& target, const Types& types) {
  return std::max(kLeastConvOutGroup, conv_units(target, types));
}

unsigned conv_amp_bundles(const Target& target, const Types& types) {
  return target.amp.bundles(amp_mode(types));
}

std::uint64_t conv_worker_bundles(const Target& target, const Types& types, std::uint64_t elements,
                                  bool first, Form form) {
  const bool longer = form == Form::run_time && target.long_single_passes;
  const std::uint64_t counted = path_bundles(target, types, elements, first) +
                                (longer ? longer_single_pass(target, types, elements) : 0);
  if (elements == 0) return counted;
  const AmpMode mode = amp_mode(types);
  const std::int64_t more = static_cast<std::int64_t>(elements) * target.amp.more_bundles(mode) +
                            target.amp.more_fill(mode);
  // a pass has at least the bundles of its elements
  return std::max(counted + static_cast<std::uint64_t>(more),
                  elements * conv_amp_bundles(target, types));
}

ConvSupervisor conv_supervisor(const Target& target, const Types& types) {
  const unsigned units = conv_units(target, types);
  ConvSupervisor s{};
  s.loads = target.amp.weight_loads(target.amp.store_of(amp_mode(types)));
  s.weights = target.amp.weight_clocks(target.amp.store_of(amp_mode(types)));
  s.passes = ceil_div(conv_out_group(target, types), units);
  s.run_ahead = 14;
  if (types.data == DType::fp8) {
    s.entry = 46 + 21;
    s.first_out = 46 + 131;
    s.other_out = 108;
    return s;
  }
  const bool common = is_common_path(target, types);
  const Cycle short_path =
      (types.data == DType::fp16 && units == 16) || types.partials == DType::fp32 ? 1 : 0;
  s.entry = 50 + 12 + short_path;
  s.keep_first = common ? 7 : 0;
  s.keep_other = common ? 3 : 0;
  s.first_out = 19 - short_path;
  s.other_group = 16 - short_path;
  s.other_out = 19;
  s.first_pass = 7;
  s.other_pass = 6;
  s.exit = 11;
  return s;
}

Cycle conv_vertex_clocks(const Target& target, const Types& types, const ConvVertexShape& shape,
                         Form form) {
  const ConvSupervisor s = conv_supervisor(target, types);
  const auto group = [&](bool first) {
    const Cycle workers = pass_clocks(target, types, shape.field, first, s.run_ahead, form);
    const Cycle pass = (first ? s.first_pass : s.other_pass) + s.weights + workers;
    const Cycle out = (first ? s.first_out : s.other_out) + s.passes * pass;
    return (first ? s.first_group : s.other_group) + shape.out_groups * out;
  };
  const std::uint64_t kept = s.keep_first + (shape.in_groups - 1) * s.keep_other;
  return s.entry + target.worker_clocks(kept) + group(true) + (shape.in_groups - 1) * group(false) +
         s.exit;
}

}  // namespace lacuna::ipu
