// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "models/sparsity/pattern.hpp"
#include "tests/support/ipu/device_buckets.hpp"

namespace lacuna::ipu {
namespace {

Mask pattern(std::uint32_t block) {
  PatternSpec spec;
  spec.name = block == 1 ? "unstructured" : "block";
  spec.block_rows = spec.block_cols = block;
  spec.density = Decimal{625, 4};
  return generate_mask(spec, 4096, 4096, 1);
}

DynamicPlan plan_for(const Mask& mask) {
  return plan_dynamic(Target{}, {DType::fp16, DType::fp32},
                      {4096, 4096, 256, static_cast<unsigned>(mask.block_rows), mask.blocks()},
                      0.3);
}

/// From blocks in rows (CSR if they are elements) to buckets: host.block_ns and host.byte_ns are
/// what fits the times of blocks of 1, 4 and 16.
void convert(benchmark::State& state) {
  const Mask mask = pattern(static_cast<std::uint32_t>(state.range(0)));
  const auto csr = make_csr<std::uint16_t>(mask, [](auto, auto) { return std::uint16_t{1}; });
  const auto blocks = to_bsr(csr, mask.block_rows, mask.block_cols);
  const DynamicPlan plan = plan_for(mask);
  for (auto _ : state) benchmark::DoNotOptimize(to_device(plan, blocks, 6));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(mask.blocks()));
}

BENCHMARK(convert)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);

/// Sorting coordinates into rows: host.coo_ns.
void sort_coordinates(benchmark::State& state) {
  const auto csr = make_csr<std::uint16_t>(pattern(1), [](auto, auto) { return std::uint16_t{1}; });
  const auto coo = to_coo(csr);
  for (auto _ : state) benchmark::DoNotOptimize(to_csr(coo));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(coo.values.size()));
}

BENCHMARK(sort_coordinates)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lacuna::ipu
