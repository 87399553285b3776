// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ipu/chip_rows.hpp"

#include <gtest/gtest.h>

#include <systemc>
#include <utility>

#include "models/ipu/ipu_chip.hpp"
#include "sim/kernel/sim_context.hpp"
#include "workloads/mapping/ipu/values.hpp"

namespace lacuna::ipu {

namespace {

constexpr std::uint64_t kSeed = 1000;

std::vector<float> single(const std::vector<double>& numbers) {
  return {numbers.begin(), numbers.end()};
}

LayerOp row(const char* op, const std::string& fn, std::uint32_t m, std::uint32_t k,
            std::uint32_t n) {
  LayerOp all;
  all.id = op;
  all.op = op;
  all.fn = fn;
  all.m = m;
  all.k = k;
  all.n = n;
  all.batch = 1;
  all.dtype = DType::fp16;
  return all;
}

struct Outcome {
  Cycle cycles = 0;
  std::vector<double> results;
};

Outcome simulate_row(const ChipParams& params, const PlannedOperation& planned, const LayerOp& op,
                     Engine engine) {
  const SimContext context;
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
  IpuChip chip("chip", clock, params, planned.lowered.program, engine);
  Outcome outcome;
  outcome.cycles = chip.run();
  if (planned.compare) {
    outcome.results =
        planned.compare([&](TileId tile) -> const TileMemory& { return chip.memory(tile); })
            .results;
    return outcome;
  }
  for (std::uint32_t r = 0; r < op.m; ++r) {
    for (std::uint32_t c = 0; c < op.n; ++c) {
      const OutputPlace place = planned.lowered.place(r, c);
      outcome.results.push_back(
          read_element(chip.memory(place.tile), planned.lowered.output, place.index));
    }
  }
  return outcome;
}

}  // namespace

ChipRows::Numbers ChipRows::run(const LayerOp& op, const GivenOperands& given) {
  OperationRequest request{params_, planner_, op, nullptr, kSeed, true, 1};
  request.given = &given;
  const PlannedOperation planned = plan_operation(request);
  Outcome event = simulate_row(params_, planned, op, Engine::event);
  const Outcome clocked = simulate_row(params_, planned, op, Engine::clocked);
  EXPECT_EQ(event.cycles, clocked.cycles) << op.id;
  EXPECT_EQ(event.results, clocked.results) << op.id;
  EXPECT_GT(event.cycles, 0U);
  return std::move(event.results);
}

ChipRows::Numbers ChipRows::any_row(const LayerOp& op,
                                    const std::map<std::uint64_t, Numbers>& operands) {
  GivenOperands given;
  for (const auto& [place, numbers] : operands) given[kSeed + place] = single(numbers);
  return run(op, given);
}

ChipRows::Numbers ChipRows::product(std::uint32_t m, std::uint32_t k, std::uint32_t n,
                                    const std::vector<Numbers>& w, const std::vector<Numbers>& x) {
  LayerOp op = row(w.size() == 1 ? "gemm" : "bmm", "", m, k, n);
  op.batch = static_cast<std::uint32_t>(w.size());
  GivenOperands given;
  for (std::size_t i = 0; i < w.size(); ++i) {
    given[kSeed + 2 * i] = single(w[i]);
    given[kSeed + 2 * i + 1] = single(x[i]);
  }
  return run(op, given);
}

ChipRows::Numbers ChipRows::elements(const std::string& function,
                                     const std::vector<Numbers>& operands) {
  GivenOperands given;
  for (std::size_t i = 0; i < operands.size(); ++i) given[kSeed + i] = single(operands[i]);
  return run(row("eltwise", function, static_cast<std::uint32_t>(operands[0].size()), 0, 1), given);
}

ChipRows::Numbers ChipRows::softmax(std::uint32_t length, const Numbers& x) {
  const auto rows = static_cast<std::uint32_t>(x.size()) / length;
  return run(row("softmax", "", rows, 0, length), {{kSeed, single(x)}});
}

ChipRows::Numbers ChipRows::rms_norm(std::uint32_t length, const Numbers& x, const Numbers& gain) {
  const auto rows = static_cast<std::uint32_t>(x.size()) / length;
  return run(row("rmsnorm", "", length, 0, rows), {{kSeed, single(x)}, {kSeed + 2, single(gain)}});
}

ChipRows::Numbers ChipRows::take_max(std::uint32_t length, const Numbers& x) {
  const auto rows = static_cast<std::uint32_t>(x.size()) / length;
  return run(row("take_max", "", rows, 0, length), {{kSeed, single(x)}});
}

ChipRows::Numbers ChipRows::gather(std::uint32_t width, const Numbers& table,
                                   const std::vector<std::uint32_t>& rows) {
  return run(row("embed", "gather", width, static_cast<std::uint32_t>(table.size()) / width,
                 static_cast<std::uint32_t>(rows.size())),
             {{kSeed + 1, single(table)}, {kSeed + 3, {rows.begin(), rows.end()}}});
}

ChipRows::Numbers ChipRows::scatter(std::uint32_t width, const Numbers& table, const Numbers& added,
                                    const std::vector<std::uint32_t>& rows) {
  return run(row("embed", "scatter_add", width, static_cast<std::uint32_t>(table.size()) / width,
                 static_cast<std::uint32_t>(rows.size())),
             {{kSeed + 1, single(table)},
              {kSeed + 2, single(added)},
              {kSeed + 3, {rows.begin(), rows.end()}}});
}

}  // namespace lacuna::ipu
