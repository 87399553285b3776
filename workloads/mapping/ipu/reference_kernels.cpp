// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/reference_kernels.hpp"

#include <array>
#include <map>

#include "workloads/mapping/ipu/planner_params.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"

namespace lacuna::ipu {
namespace {

// Triads compute a = b + s * c. Nothing here is fitted: each turn is the shortest sequence of
// instructions that the access widths allow.
constexpr std::array<LoopKernel, 7> kLoops = {{
    {"triad naive fp32", "llaasb", 12, 1, "two loads, multiply, add, store, branch"},
    {"triad vector fp32", "LLaaSb", 24, 2, "the same with vectors of two"},
    {"triad assembly fp32", "LLaS", 24, 2, "multiply-add in one, repeated without a branch"},
    {"triad naive fp16", "llaalasb", 6, 1,
     "stores have 32 bits: the neighbour is loaded and merged before"},
    {"triad vector fp16", "LLaaSb", 24, 4, "vectors of four"},
    {"read assembly", "P", 16, 4, "nothing but paired 64-bit loads"},
    {"pack", "llasab", 4, 2, "two halves loaded, merged, stored; address, branch"},
}};

Bundle bundle_of(char letter) {
  switch (letter) {
    case 'l':
    case 'L':
      return Bundle(letter == 'l' ? "loop load" : "loop load 64").add(Tally::read_input, 1);
    case 'P':
      return Bundle("loop load 128").add(Tally::read_input, 2);
    case 's':
    case 'S':
      return Bundle(letter == 's' ? "loop store" : "loop store 64").add(Tally::write_output, 1);
    case 'b':
      return Bundle("loop branch");
    default:
      return Bundle("loop arithmetic");
  }
}

/// `vertex` once on each of two tiles.
Program on_two_tiles(ProgramBuilder& builder, std::uint32_t vertex) {
  for (const TileId tile : {0U, 1U}) builder.work(tile, vertex);
  builder.superstep(builder.compute_set("kernel"), kNone);
  return builder.take();
}

}  // namespace

const LoopKernel* find_loop(const std::string& name) {
  for (const LoopKernel& loop : kLoops) {
    if (name == loop.name) return &loop;
  }
  return nullptr;
}

Program loop_program(const ChipParams& chip, const LoopKernel& loop_kernel, std::uint32_t turns,
                     unsigned workers, std::uint32_t fixed) {
  ProgramBuilder builder(chip);
  const std::uint32_t other = builder.bundle(Bundle("loop entry"));
  std::map<char, std::uint32_t> bundles;
  Codelet body;
  for (const char* letter = loop_kernel.turn; *letter != '\0'; ++letter) {
    if (bundles.count(*letter) == 0) bundles[*letter] = builder.bundle(bundle_of(*letter));
    body.push_back(issue(bundles[*letter], 1));
  }
  // Entry and exit of a vertex: pointers and count are loaded from its fields.
  Codelet codelet{issue(other, 12), loop(static_cast<std::uint32_t>(body.size()), 0, 0)};
  codelet.insert(codelet.end(), body.begin(), body.end());
  const std::uint32_t worker = builder.worker({{builder.codelet(codelet), {turns, 0, 0}}});
  std::vector<std::uint32_t> set(chip.tile.workers, kNone);
  for (unsigned w = 0; w < workers && w < set.size(); ++w) set[w] = worker;
  const std::uint32_t launch =
      builder.codelet({issue(other, static_cast<std::int32_t>(fixed)), run(0)});
  return on_two_tiles(builder, builder.vertex({{launch, {}}}, set));
}

Program copy_program(const ChipParams& chip, std::uint64_t bytes) {
  ProgramBuilder builder(chip);
  const Target target = make_target(chip, PlannerParams{});
  ReduceCodelets codelets(builder, target, {DType::fp16, DType::fp16}, DType::fp16);
  return on_two_tiles(builder, codelets.copy_vertex(bytes));
}

}  // namespace lacuna::ipu
