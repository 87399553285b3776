// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/cycle_limit.hpp"
#include "sim/driver/layout/laid_out_machine.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/machines/plans_layouts.hpp"
#include "tests/support/driver/program_bench.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/paths.hpp"
#include "workloads/trace/options.hpp"

namespace lacuna::test {
namespace {

std::unique_ptr<Machine> small_wafer() {
  setenv("LACUNA_CONFIG", source_path("sim/config").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return std::move(make_machines(standard_machines(), {"wse2"},
                                 {"wafer.columns=12", "wafer.rows=6", "io.share=1"})[0]);
}

/// A wafer that notes what it was told to share.
class Noted final : public Machine, public PlansLayouts {
 public:
  using Notes = std::vector<std::shared_ptr<ProductRuns>>;

  Noted(std::unique_ptr<Machine> real, std::shared_ptr<Notes> notes)
      : real_(std::move(real)), notes_(std::move(notes)) {}

  const char* kind() const override { return real_->kind(); }
  const std::string& name() const override { return real_->name(); }
  const ParameterSet& parameters() const override { return real_->parameters(); }
  const EnergyParams& energy() const override { return real_->energy(); }
  std::vector<DeclaredStatistic> statistics() const override { return real_->statistics(); }
  void set(const std::string& path, const std::string& text, const std::string& origin) override {
    real_->set(path, text, origin);
  }
  void check() const override { real_->check(); }
  Mode default_mode() const override { return real_->default_mode(); }
  std::string extent() const override { return real_->extent(); }
  std::optional<Cycle> least_cycles(const LayerOp& op, const Mask* mask) const override {
    return real_->least_cycles(op, mask);
  }
  std::unique_ptr<Machine> clone() const override {
    return std::make_unique<Noted>(real_->clone(), notes_);
  }
  const std::vector<LayoutSpace>& layouts() const override { return plans().layouts(); }
  const LayoutSpace* layout_space(const LayerOp& op, const Mask* mask) const override {
    return plans().layout_space(op, mask);
  }
  void relate(WorkloadTrace& workload, const MaskOf& mask_of, std::uint64_t seed) const override {
    real_->relate(workload, mask_of, seed);
  }
  OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
               const Execution& execution) const override {
    return real_->run(op, mask, seed, execution);
  }

  std::unique_ptr<Machine> taking_from(const std::vector<const Machine*>& makers) const override {
    std::vector<const Machine*> real;
    for (const Machine* const maker : makers) {
      const auto* const noted = dynamic_cast<const Noted*>(maker);
      real.push_back(noted == nullptr ? nullptr : noted->real_.get());
    }
    return std::make_unique<Noted>(plans().taking_from(real), notes_);
  }
  void plan_layouts(bool by_rule) override { plans().plan_layouts(by_rule); }
  std::vector<Pairs> planned(const LayerOp& op, const Mask* mask,
                             const Pairs& together) const override {
    return plans().planned(op, mask, together);
  }
  std::vector<Pairs> planned_together(const WorkloadTrace& workload,
                                      const MaskOf& mask_of) const override {
    return plans().planned_together(workload, mask_of);
  }
  std::vector<Pairs> around(const LayerOp& op, const Mask* mask,
                            const Pairs& layout) const override {
    return plans().around(op, mask, layout);
  }
  void add_idle(OpResult& result) const override { plans().add_idle(result); }
  Cycle operand_moves(const LayerOp& op, const Mask* mask, std::uint64_t seed) const override {
    return plans().operand_moves(op, mask, seed);
  }
  void share_runs(std::shared_ptr<ProductRuns> runs) override {
    notes_->push_back(runs);
    plans().share_runs(std::move(runs));
  }

 private:
  PlansLayouts& plans() const { return dynamic_cast<PlansLayouts&>(*real_); }

  std::unique_ptr<Machine> real_;
  std::shared_ptr<Notes> notes_;
};

LayerOp product(const std::string& id, const std::vector<std::string>& after) {
  LayerOp op;
  op.id = id;
  op.op = "gemm";
  op.m = op.k = 96;
  op.n = 60;
  op.residency = Residency::streamed;
  op.depends_on = after;
  return op;
}

const Mask* no_mask(const LayerOp& /*op*/) { return nullptr; }

// What a joint choice takes for the moves of a row is what the row has: also where the features of
// X lie by what of them is not zero, which the row's seed says.
TEST(LayoutRuns, MovesAreThoseOfTheRowAlsoOfXWithZeros) {
  const auto wafer = small_wafer();
  wafer->set("ws.k_partition", "balanced", "test");
  LayerOp op = product("p", {});
  op.residency = Residency::resident;
  op.x_pattern = "channel";
  op.x_density = Decimal{25, 2};
  const auto cycles = [&](const LayerOp& each) { return wafer->run(each, nullptr, 7, {}).cycles; };
  const Cycle alone = cycles(op);
  OperandSource made;
  made.kind = OperandSource::Kind::activations;
  made.features = op.k;
  made.tokens = op.n;
  op.sources = {made};
  const Cycle moved = dynamic_cast<PlansLayouts&>(*wafer).operand_moves(op, nullptr, 7);
  EXPECT_GT(moved, 0U);
  EXPECT_EQ(cycles(op), alone + moved);
}

// The search of a row has simulated it as it was chosen, so the run of the row finds that; its
// result is that of the same layout on a machine which has searched nothing.
TEST(LayoutRuns, ARowIsNotSimulatedAgainAfterItsSearch) {
  const auto notes = std::make_shared<Noted::Notes>();
  LayoutRequest request;
  request.source = LayoutRequest::Source::best;
  const auto machine = with_layouts(std::make_unique<Noted>(small_wafer(), notes), request);
  WorkloadTrace workload;
  workload.ops = {product("a", {}), product("b", {"a"})};
  machine->relate(workload, no_mask, 1);
  ASSERT_GT(notes->size(), 2U) << "of the search";
  for (const LayerOp& op : workload.ops) {
    const std::size_t before = notes->size();
    const OpResult found = machine->run(op, nullptr, 1, {});
    ASSERT_EQ(notes->size(), before + 1) << op.id;
    EXPECT_GE(notes->back()->found, 1U) << op.id;
    EXPECT_EQ(notes->back()->kept.size(), 1U) << "nothing else was simulated";
    Execution clocked;
    clocked.engine = Engine::clocked;
    const std::size_t shared = notes->back()->found;
    EXPECT_EQ(machine->run(op, nullptr, 1, clocked).cycles, found.cycles);
    EXPECT_EQ(notes->back()->found, shared) << "the clocked engine steps each cycle";
  }
  // what has the name of a row and is none, such as a part of it on one of several wafers
  LayerOp part = workload.ops[0];
  part.n = 12;
  EXPECT_LT(machine->run(part, nullptr, 1, {}).cycles,
            machine->run(workload.ops[0], nullptr, 1, {}).cycles);
}

// A machine is told to share at each simulation of a search. A dense row of the shape of one before
// it has none of its own, wherever its operands come from; one of another shape has.
TEST(LayoutRuns, DenseRowsOfOneShapeAreSimulatedOnce) {
  const auto simulated = [](const std::vector<LayerOp>& ops) {
    const auto notes = std::make_shared<Noted::Notes>();
    LayoutRequest request;
    request.source = LayoutRequest::Source::best;
    auto wafer = small_wafer();
    wafer->set("ws.row_order", "ring", "test");  // of which the rule has nothing to say
    const auto machine = with_layouts(std::make_unique<Noted>(std::move(wafer), notes), request);
    WorkloadTrace workload;
    workload.ops = ops;
    machine->relate(workload, no_mask, 1);
    return notes->size();
  };
  const LayerOp a = product("a", {});
  LayerOp act = product("act", {"a"});
  act.op = "eltwise";
  act.fn = "gelu";
  act.k = 0;
  act.residency = Residency::automatic;
  const LayerOp b = product("b", {"act"});
  LayerOp other = b;
  other.m = 48;
  const std::size_t of_a = simulated({a, act});
  EXPECT_GT(of_a, 2U);
  EXPECT_EQ(simulated({a, act, b, product("c", {"b"})}), of_a);
  EXPECT_GT(simulated({a, act, other}), of_a);
}

// At the cycles that it takes a product is simulated, in half of them it is given up.
TEST(LayoutRuns, ASimulationThatPassesItsLimitIsGivenUp) {
  for (const Engine engine : {Engine::event, Engine::clocked}) {
    for (const std::string bits : {"auto", "0", "16"}) {
      Execution execution;
      execution.engine = engine;
      const auto machine = small_wafer();
      const LayerOp op = product("a", {});
      const auto runs = std::make_shared<ProductRuns>();
      machine->set("ws.index_bits", bits, "test");
      const Cycle cycles = machine->run(op, nullptr, 1, execution).cycles;
      dynamic_cast<PlansLayouts&>(*machine).share_runs(runs);
      runs->limit = cycles / 2;
      EXPECT_THROW(machine->run(op, nullptr, 1, execution), CycleLimitPassed) << bits;
      runs->limit = cycles;
      EXPECT_EQ(machine->run(op, nullptr, 1, execution).cycles, cycles) << bits;
    }
  }
}

// Without folding each row of cores is stepped by itself. The limit is what the product takes:
// eight rows are the work that is worth it, twelve are given up before, and nothing is known of
// them.
TEST(LayoutRuns, ASimulationOfManyRowsIsGivenUpForItsWork) {
  for (const unsigned rows : {8U, 12U}) {
    Execution execution;
    execution.fold = false;
    const auto machine = small_wafer();
    machine->set("wafer.rows", std::to_string(rows), "test");
    const LayerOp op = product("a", {});
    const Cycle cycles = machine->run(op, nullptr, 1, execution).cycles;
    const auto runs = std::make_shared<ProductRuns>();
    dynamic_cast<PlansLayouts&>(*machine).share_runs(runs);
    runs->limit = cycles;
    bool unknown = false;
    try {
      EXPECT_EQ(machine->run(op, nullptr, 1, execution).cycles, cycles);
    } catch (const CycleLimitPassed& passed) {
      unknown = passed.unknown;
    }
    EXPECT_EQ(unknown, rows == 12) << rows;
  }
}

// 96 rows of W for each of 12 columns: words are taken at an even pace, a row after the other. Of
// what takes twice its limit half of the words are sent at the limit, and by a quarter of it, when
// it is looked first, half of those that should be: it is not stepped on.
TEST(LayoutRuns, ASimulationThatFallsBehindItsLimitIsGivenUpEarly) {
  const auto machine = small_wafer();
  machine->set("ws.index_bits", "0", "test");
  LayerOp op = product("a", {});
  op.m = 960;
  const Cycle cycles = machine->run(op, nullptr, 1, {}).cycles;
  const auto runs = std::make_shared<ProductRuns>();
  dynamic_cast<PlansLayouts&>(*machine).share_runs(runs);
  runs->limit = cycles / 2;
  try {
    machine->run(op, nullptr, 1, {});
    ADD_FAILURE() << "not given up";
  } catch (const CycleLimitPassed& passed) {
    EXPECT_TRUE(passed.unknown);
    EXPECT_THAT(passed.what(), ::testing::HasSubstr("cycles at this pace"));
  }
  runs->limit = cycles;
  EXPECT_EQ(machine->run(op, nullptr, 1, {}).cycles, cycles);
}

// Of weights that may live in two places none is simulated whose bound is above the limit: resident
// rows that all differ are stepped one by one, whatever the limit is.
TEST(LayoutRuns, APlaceOfWeightsWhoseBoundIsAboveTheLimitIsNotSimulated) {
  const auto machine = small_wafer();
  WorkloadTrace workload;
  workload.ops = {product("a", {})};
  LayerOp& op = workload.ops[0];
  op.pattern = parse_pattern("unstructured:0.2");
  op.residency = Residency::automatic;
  op.share.may_stay = true;
  MaskStore masks(1);
  const Mask* const mask = masks.mask(op, workload);
  const auto runs = std::make_shared<ProductRuns>();
  dynamic_cast<PlansLayouts&>(*machine).share_runs(runs);
  runs->limit = 1;
  EXPECT_THROW(machine->run(op, mask, 1, {}), CycleLimitPassed);
  EXPECT_TRUE(runs->kept.empty());
  runs->limit = kNever;
  machine->run(op, mask, 1, {});
  EXPECT_FALSE(runs->kept.empty());
}

// A second process simulates no row of what the first has found, and says the same.
TEST(LayoutRuns, RowsAreKeptForLaterRuns) {
  namespace fs = std::filesystem;
  const ProgramBench bench;
  const std::string folder = bench.path("kept");
  setenv("LACUNA_CACHE", folder.c_str(), 1);
  const std::string rows = bench.file("rows.csv",
                                      "# lacuna-trace v1\n"
                                      "id,op,phase,m,k,n,dtype,fn,residency,depends_on\n"
                                      "a,gemm,fwd,96,96,60,fp16,,,\n"
                                      "act,eltwise,fwd,96,,60,fp16,gelu,,a\n"
                                      "b,gemm,fwd,96,96,60,fp16,,streamed,act\n");
  const std::string line =
      "run --machine wse2 --set wafer.columns=12 --set wafer.rows=6 --set io.share=1 --quiet "
      "--layout best --trace " +
      rows;
  const auto records = [&] {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  };
  const Ran first = run_real(line);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(records(), 4U) << "the layouts of all, and three rows";
  const Ran second = run_real(line + " --wide");
  EXPECT_THAT(second.out, ::testing::HasSubstr("simulated by an earlier run"));
  EXPECT_EQ(records(), 4U);
  setenv("LACUNA_CACHE", "", 1);
}

}  // namespace
}  // namespace lacuna::test
