// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"

namespace lacuna::ipu {
namespace {

/// Of things `first` to `last` of `all` that are dealt evenly to `parts`: how many part `index`
/// has.
unsigned dealt(unsigned first, unsigned last, unsigned all, unsigned parts, unsigned index) {
  unsigned count = 0;
  for (unsigned thing = first; thing < last; ++thing) {
    if (thing * parts / all == index) ++count;
  }
  return count;
}

}  // namespace

VectorCodelets::VectorCodelets(ProgramBuilder& builder, const Target& target, DType type,
                               DType arithmetic)
    : builder_(builder),
      target_(target),
      type_(type),
      arithmetic_(arithmetic),
      width_(8 / bytes_of(type)) {
  overhead_ = builder_.bundle(Bundle("vector overhead"));
}

std::uint64_t shared_bundles(const Target& target, const VectorPass& pass, std::uint64_t vectors) {
  return kVectorEntry + ceil_div(vectors, target.workers) * pass.bundles();
}

std::string limit(const VectorPass& pass) {
  return fmt::format("{}: {} of arithmetic, {} of loads and stores",
                     pass.aux() > pass.main() ? "arithmetic" : "memory", pass.aux(), pass.main());
}

Cycle shared_clocks(const ChipParams& chip, const Target& target, const VectorPass& pass,
                    std::uint64_t vectors) {
  return chip.tile.launch + kVectorSupervisor +
         target.worker_clocks(shared_bundles(target, pass, vectors));
}

std::uint32_t VectorCodelets::shared_vertex(const VectorPass& pass, std::uint64_t elements) {
  const std::uint64_t vectors = vectors_of(elements);
  const std::uint64_t share = ceil_div(vectors, target_.workers);
  std::vector<WorkerCode> workers;
  for (unsigned w = 0; w < target_.workers; ++w) {
    const std::uint64_t begin = std::min(vectors, w * share);
    workers.push_back({{pass, kVectorEntry, std::min(share, vectors - begin)}});
  }
  return vertex({workers});
}

std::uint32_t VectorCodelets::vertex(const std::vector<std::vector<WorkerCode>>& launches,
                                     std::uint64_t between) {
  std::vector<std::uint32_t> sets;
  for (const std::vector<WorkerCode>& workers : launches) {
    for (unsigned w = 0; w < target_.workers; ++w) {
      const bool works = w < workers.size() && !workers[w].empty();
      sets.push_back(works ? worker(workers[w]) : kNone);
    }
  }
  const auto found = vertices_.find({sets, between});
  if (found != vertices_.end()) return found->second;
  std::vector<Call> supervisor{{clocks(kVectorSupervisor), {}}};
  for (std::uint32_t set = 0; set < launches.size(); ++set) {
    if (set > 0) supervisor.push_back({clocks(between), {}});
    supervisor.push_back({launch(set), {}});
  }
  return vertices_[{sets, between}] = builder_.vertex(supervisor, sets);
}

std::uint32_t VectorCodelets::worker(const WorkerCode& code) {
  std::vector<std::tuple<VectorPass, std::uint64_t, std::uint64_t>> key;
  key.reserve(code.size());
  for (const Stretch& s : code) key.emplace_back(s.pass, s.setup, s.vectors);
  return once(workers_, key, [&] {
    std::vector<Call> calls;
    for (const Stretch& s : code) {
      calls.push_back({codelet(s.pass), {arg(s.setup), arg(s.vectors), 0}});
    }
    return builder_.worker(calls);
  });
}

// Arguments: bundles before the loop, vectors.
std::uint32_t VectorCodelets::codelet(const VectorPass& pass) {
  const auto found = codelets_.find(pass);
  if (found != codelets_.end()) return found->second;
  std::vector<Instr> body;
  for (unsigned i = 0; i < pass.bundles(); ++i) {
    const std::uint32_t next = bundle(pass, i);
    if (!body.empty() && body.back().what == next) {
      ++body.back().count;
    } else {
      body.push_back(issue(next, 1));
    }
  }
  Codelet code{issue(overhead_, 0, 0), loop(static_cast<std::uint32_t>(body.size()), 0, 1)};
  code.insert(code.end(), body.begin(), body.end());
  return codelets_[pass] = builder_.codelet(std::move(code));
}

/// Bundle `index` of a vector: loads and stores are spread evenly, arithmetic fills one aux slot
/// after another.
std::uint32_t VectorCodelets::bundle(const VectorPass& pass, unsigned index) {
  const unsigned all = pass.bundles();
  const bool half = arithmetic_ != DType::fp32;
  const unsigned lanes = 8 / bytes_of(arithmetic_);
  Bundle made("vector");
  const unsigned loads = pass.parameters + pass.inputs;
  // NOLINTBEGIN(readability-suspicious-call-argument): of all loads, to all bundles
  made.add(Tally::read_weight, dealt(0, pass.parameters, loads, all, index));
  made.add(Tally::read_input, dealt(pass.parameters, loads, loads, all, index));
  // NOLINTEND(readability-suspicious-call-argument)
  const unsigned writes = dealt(0, pass.outputs, pass.outputs, all, index);
  const bool computes = pass.adds + pass.muls + pass.specials + pass.converts > 0;
  made.add(Tally::write_output, writes);
  const unsigned rounded = dealt(0, pass.outputs - pass.singles, pass.outputs, all, index);
  if (computes) made.add(Tally::round_fp16, halves_of(type_, rounded));
  const std::array<std::pair<unsigned, Tally>, 5> work{
      {{pass.adds, half ? Tally::vec_add_fp16 : Tally::vec_add_fp32},
       {pass.muls, half ? Tally::vec_mul_fp16 : Tally::vec_mul_fp32},
       {2 * pass.specials, half ? Tally::sfu_fp16 : Tally::sfu_fp32},
       {pass.converts, Tally::vec_cvt},
       {pass.integers, Tally::vec_int}}};
  unsigned first = 0;
  for (const auto& [count, tally] : work) {
    const bool special = tally == Tally::sfu_fp16 || tally == Tally::sfu_fp32;
    if (index >= first && index < first + count) made.add(tally, special ? lanes / 2 : lanes);
    first += count;
  }
  return once(bundles_, made.tallies, [&] { return builder_.bundle(made); });
}

std::uint32_t VectorCodelets::clocks(std::uint64_t count) {
  return once(clocks_, count, [&] {
    return builder_.codelet({issue(overhead_, static_cast<std::int32_t>(count))});
  });
}

std::uint32_t VectorCodelets::launch(std::uint32_t set) {
  return once(launches_, set, [&] { return builder_.codelet({run(set)}); });
}

}  // namespace lacuna::ipu
