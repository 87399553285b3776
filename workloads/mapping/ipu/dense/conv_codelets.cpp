// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/dense/conv_codelets.hpp"

#include <algorithm>
#include <utility>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"

namespace lacuna::ipu {
namespace {

Tally amp_tally(const Types& types) {
  if (types.data == DType::fp32) return Tally::amp_mac_fp32;
  return types.data == DType::fp8 ? Tally::amp_mac_fp8 : Tally::amp_mac_fp16;
}

}  // namespace

// An element of the field is one group of input channels and meets `units` output channels: its
// products, its loads and its accesses to partials are spread evenly over the bundles.
ConvCodelets::ConvCodelets(ProgramBuilder& builder, const Target& target, const Types& types)
    : builder_(builder), target_(target), types_(types) {
  const unsigned bundles = conv_amp_bundles(target_, types_);
  const unsigned units = conv_units(target_, types_);
  const unsigned macs = conv_in_group(target_, types_) * units / bundles;
  const unsigned partials = units * types_.partial_bytes() / 8;
  const unsigned inputs = conv_in_group(target_, types_) * types_.bytes() / 8;
  const auto amp = [&](unsigned loads, unsigned reads, unsigned writes) {
    return builder_.bundle(Bundle("conv amp")
                               .add(amp_tally(types_), macs)
                               .add(Tally::read_input, loads)
                               .add(Tally::read_partial, reads)
                               .add(Tally::write_partial, writes)
                               .add(Tally::round_fp16, halves_of(types_.partials, writes)));
  };
  overhead_ = builder_.bundle(Bundle("conv overhead"));
  weights_ =
      builder_.bundle(Bundle("conv weights").add(Tally::read_weight, target_.amp.load_words()));
  std::map<std::pair<unsigned, unsigned>, unsigned> kinds;
  for (unsigned i = 0; i < bundles; ++i) {
    const auto share = [&](unsigned all) { return all * (i + 1) / bundles - all * i / bundles; };
    ++kinds[{share(inputs), share(partials)}];
  }
  for (const auto& [kind, count_of] : kinds) {
    const auto [loads, accesses] = kind;
    amp_.push_back({amp(loads, 0, accesses), amp(loads, accesses, accesses), count_of});
  }
}

std::uint32_t ConvCodelets::worker(std::uint64_t elements, bool first) {
  const std::uint64_t all = conv_worker_bundles(target_, types_, elements, first, Form::run_time);
  Codelet codelet{issue(overhead_, count(all - elements * conv_amp_bundles(target_, types_)))};
  for (const AmpKind& kind : amp_) {
    codelet.push_back(issue(first ? kind.first : kind.other, count(elements * kind.per_element)));
  }
  return builder_.worker({{builder_.codelet(std::move(codelet)), {}}});
}

// Arguments: input groups, output groups. Worker sets: 0 and 1 keep state for the passes, 2 is a
// pass of the first input group, 3 one of the others.
std::uint32_t ConvCodelets::supervisor(const ConvSupervisor& parts) {
  const auto found = supervisors_.find(parts.entry);
  if (found != supervisors_.end()) return found->second;
  Codelet codelet;
  const auto clocks = [&](Cycle n) { codelet.push_back(issue(overhead_, count(n))); };
  // The passes of all output groups, with the workers of `set`.
  const auto passes = [&](Cycle out, Cycle pass, std::uint32_t set) {
    codelet.push_back(loop(5, 0, 1));
    clocks(out);
    codelet.push_back(loop(3, count(parts.passes)));
    clocks(pass + parts.weights - parts.loads);
    codelet.push_back(issue(weights_, count(parts.loads)));
    codelet.push_back(run(set, count(parts.run_ahead)));
  };
  clocks(parts.entry);
  if (parts.keep_first != 0) {
    codelet.push_back(run(0));
    codelet.push_back(loop(1, -1, 0));
    codelet.push_back(run(1));
  }
  clocks(parts.first_group);
  passes(parts.first_out, parts.first_pass, 2);
  codelet.push_back(loop(7, -1, 0));
  clocks(parts.other_group);
  passes(parts.other_out, parts.other_pass, 3);
  clocks(parts.exit);
  return supervisors_[parts.entry] = builder_.codelet(std::move(codelet));
}

std::uint32_t ConvCodelets::vertex(const ConvVertexShape& shape) {
  const auto key = std::make_tuple(shape.field, shape.in_groups, shape.out_groups);
  const auto found = vertices_.find(key);
  if (found != vertices_.end()) return found->second;
  const ConvSupervisor parts = conv_supervisor(target_, types_);
  std::vector<std::uint32_t> sets;
  for (const std::uint64_t bundles : {parts.keep_first, parts.keep_other}) {
    const std::uint32_t keep =
        builder_.worker({{builder_.codelet({issue(overhead_, count(bundles))}), {}}});
    sets.insert(sets.end(), target_.workers, keep);
  }
  const std::uint64_t share = ceil_div(shape.field, target_.workers);
  for (const bool first : {true, false}) {
    std::map<std::uint64_t, std::uint32_t> made;
    for (unsigned w = 0; w < target_.workers; ++w) {
      const std::uint64_t begin = std::min(shape.field, w * share);
      const std::uint64_t elements = std::min(share, shape.field - begin);
      if (made.count(elements) == 0) made[elements] = worker(elements, first);
      sets.push_back(made[elements]);
    }
  }
  const Call call{supervisor(parts),
                  {static_cast<std::uint32_t>(shape.in_groups),
                   static_cast<std::uint32_t>(shape.out_groups), 0}};
  return vertices_[key] = builder_.vertex({call}, sets);
}

}  // namespace lacuna::ipu
