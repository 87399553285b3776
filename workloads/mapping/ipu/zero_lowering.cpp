// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/layout.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/reduce/reduce_codelets.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {

LoweredGemm lower_zero(const ChipParams& params, const Target& target, const Types& types,
                       const GemmProblem& problem) {
  ProgramBuilder builder(params);
  ReduceCodelets reduce(builder, target, types, types.data);
  const std::uint64_t n = round_up(problem.n, static_grain(types));
  const LinearMap map(problem.m * n, static_grain(types), target.tiles);
  LoweredGemm result;
  for (unsigned tile = 0; map.begin(tile) < map.end(tile) && tile < target.tiles; ++tile) {
    const std::uint64_t elements = map.end(tile) - map.begin(tile);
    std::uint32_t function = kNone;
    if (problem.values) {
      function = builder.function(Reduction{types.partials, types.data, elements, 0, {}});
    }
    builder.work(tile, reduce.fill_vertex(elements * types.bytes()), function);
    result.tiles_used = tile + 1;
  }
  builder.superstep(builder.compute_set("zero"), kNone);
  Program& program = builder.program();
  program.mac_algorithmic = std::uint64_t{problem.m} * problem.k * problem.n;
  program.values = problem.values;
  program.memory_words = static_cast<std::uint32_t>(map.share() * types.bytes() / 4);
  result.tile_bytes = map.share() * types.bytes();
  result.output = types.data;
  result.place = [map, n](std::uint32_t row, std::uint32_t column) {
    const std::uint64_t element = row * n + column;
    const unsigned tile = map.tile_of(element);
    return OutputPlace{tile, element - map.begin(tile)};
  };
  result.program = builder.take();
  return result;
}

}  // namespace lacuna::ipu
