// SPDX-License-Identifier: Apache-2.0
// Every parameter does something: moved, it changes cycles, bytes or joules of a case it is for.
#include "tests/support/driver/parameter_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/experiment.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/store_record.hpp"
#include "sim/driver/validate/inference.hpp"
#include "sim/driver/validate/probes.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/trace_reader.hpp"

namespace lacuna::test {
namespace {

struct Found {
  Status status = Status::ok;
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> bytes;
  double joules = 0;
  std::vector<std::pair<std::string, std::uint64_t>> host;
};

RunRecord record_of(const Case& what, std::vector<std::string> settings,
                    const std::function<void(const Point&, const RunRecord&)>& use = {}) {
  settings.insert(settings.begin(), what.settings.begin(), what.settings.end());
  // the last setting of a parameter counts
  std::map<std::string, std::string> last;
  for (const std::string& setting : settings) last[setting.substr(0, setting.find('='))] = setting;
  settings.clear();
  for (const auto& [path, setting] : last) settings.push_back(setting);
  const auto machines = make_machines(standard_machines(), {what.machine}, settings);
  Point point;
  point.machine = machines.front().get();
  point.workload = parse_trace(
      std::string("# lacuna-trace v1\nid,model,layer,op,phase,m,k,n,batch,dtype,fn,args,pattern,"
                  "density,block,mode,residency,x_pattern,x_density\nrow,walk,walk,") +
          what.row + ',' + what.x + "\n",
      "walk.csv");
  const RunSettings common;
  MaskStore masks(common.seed);
  static const Pricing pricing(config_folder());
  RunRecord record = run_point(point, common, masks, pricing);
  if (use) use(point, record);
  return record;
}

Found run(const Case& what, const std::vector<std::string>& settings) {
  const RunRecord record = record_of(what, settings);
  const SummaryRow& row = record.total;
  Found found;
  found.status = row.status;
  if (row.status != Status::ok) return found;
  found.cycles = row.cycles.value_or(0);
  for (const auto& bytes :
       {row.sram_read_bytes, row.sram_write_bytes, row.fabric_bytes, row.io_bytes}) {
    found.bytes.push_back(bytes.value_or(0));
  }
  found.joules = row.energy_j ? row.energy_j->nominal : 0;
  for (const StatEntry& entry : record.ops.front().result.statistics) {
    if (entry.path == "host") found.host.emplace_back(entry.name, entry.value);
  }
  return found;
}

bool moved(Moves what, const Found& before, const Found& after) {
  switch (what) {
    case Moves::cycles:
      return before.cycles != after.cycles;
    case Moves::bytes:
      return before.bytes != after.bytes;
    case Moves::joules:
      return before.joules != after.joules;
    case Moves::host:
      return before.host != after.host;
    case Moves::fits:
      return before.status != after.status;
  }
  return false;
}

class ParameterWalk : public ::testing::TestWithParam<Step> {};

TEST_P(ParameterWalk, MovesWhatItIsFor) {
  const Step& step = GetParam();
  const std::string path = std::string(step.path).substr(4);
  const Case& what = cases().at(step.what);
  std::vector<std::string> settings = step.with;
  const Found before = run(what, settings);
  settings.push_back(path + "=" + step.value);
  const Found after = run(what, settings);
  if (step.moves != Moves::fits) {
    EXPECT_EQ(before.status, Status::ok);
    EXPECT_EQ(after.status, Status::ok);
  }
  EXPECT_TRUE(moved(step.moves, before, after))
      << path << " = " << step.value << " changes nothing of '" << step.what << "'";
}

INSTANTIATE_TEST_SUITE_P(Of, ParameterWalk, ::testing::ValuesIn(steps()));

/// What the store, the tree and the wafers do in a run of the case.
std::string system_of(const Case& what, const std::vector<std::string>& settings) {
  std::string text;
  record_of(what, settings, [&](const Point& point, const RunRecord& record) {
    if (!has_weight_store(*point.machine)) return;
    const Pricing pricing(config_folder());
    const WaferSystemRun run =
        run_wafer_system(*point.machine, point.workload, costs_of(record), {}, pricing);
    const SystemRecord made = record_of(*point.machine, point.workload.name, run, {});
    for (const auto& [name, content] : files_of(made)) text += content;
  });
  return text;
}

class StoreWalk : public ::testing::TestWithParam<StoreStep> {};

TEST_P(StoreWalk, MovesWhatItIsFor) {
  const StoreStep& step = GetParam();
  const std::string path = std::string(step.path).substr(4);
  const Case& what = cases().at(step.what);
  const std::string before = system_of(what, {});
  EXPECT_NE(before, "");
  EXPECT_NE(before, system_of(what, {path + "=" + step.value}))
      << path << " = " << step.value << " changes nothing of '" << step.what << "'";
}

INSTANTIATE_TEST_SUITE_P(Of, StoreWalk, ::testing::ValuesIn(store_steps()));

/// What the point comes to.
ValidationOutcome outcome_of(const ProbeStep& step, const std::vector<std::string>& settings) {
  ValidationPoint point;
  point.id = "walk";
  point.system = step.system;
  point.workload = step.workload;
  point.parameters = step.parameters;
  point.metric = step.metric;
  ValidationRunSettings run;
  run.settings = settings;
  std::vector<ValidationOutcome> outcomes(1);
  outcomes[0].status = Status::unsupported;
  simulate_wafer_probes({point}, standard_machines(), run, outcomes);
  if (outcomes[0].status == Status::unsupported) {
    simulate_inference({point}, standard_machines(), run, outcomes);
  }
  return outcomes[0];
}

class ProbeWalk : public ::testing::TestWithParam<ProbeStep> {};

TEST_P(ProbeWalk, MovesWhatItIsFor) {
  const ProbeStep& step = GetParam();
  const ValidationOutcome before = outcome_of(step, {});
  const std::string path = std::string(step.path).substr(4);
  const ValidationOutcome after = outcome_of(step, {path + "=" + step.value});
  ASSERT_EQ(before.status, Status::ok) << before.reason;
  // Memory that a program takes for itself shows in what does not fit beside it.
  EXPECT_TRUE(after.status != Status::ok || before.simulated != after.simulated)
      << path << " = " << step.value << " changes nothing of '" << step.workload << "'";
}

INSTANTIATE_TEST_SUITE_P(Of, ProbeWalk, ::testing::ValuesIn(probe_steps()));

/// Cycles of a step of a small model.
double step_cycles(const std::string& settings) {
  const TempFile model(R"({"model_type": "llama", "hidden_act": "silu", "hidden_size": 128,
             "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
             "num_hidden_layers": 4, "vocab_size": 512, "max_position_embeddings": 4096,
             "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": true,
             "torch_dtype": "float16"})",
                       ".json");
  const Ran ran = run_real("run --json --machine wse3 --model " + model.path() +
                           " --decode --context 64 " + settings);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const std::string key = "\"step_cycles\": ";
  const std::size_t at = ran.out.find(key);
  return at == std::string::npos ? 0.0 : std::stod(ran.out.substr(at + key.size()));
}

// The scan for the likeliest words is in the tail of a whole step.
TEST(ParameterWalk, ALogitThatIsComparedLongerTakesLonger) {
  const std::string blocks = "--blocks 1x2 --block-cores 16x16";
  // 512 logits on 128 cores of the last column are 4 of a core, each 982 cycles longer
  EXPECT_EQ(step_cycles(blocks + " --set llm.select_logit=1024"),
            step_cycles(blocks) + 4 * (1024 - 42));
}

// Blocks lie where their settings say, each of which acts.
TEST(ParameterWalk, BlocksOfAModelLieAsSetOrAsAskedFor) {
  const auto set = [](const char* columns, const char* rows, const char* across, const char* down) {
    return step_cycles(std::string("--set blocks.columns=") + columns + " --set blocks.rows=" +
                       rows + " --set blocks.across=" + across + " --set blocks.down=" + down);
  };
  const double asked = step_cycles("--blocks 1x2 --block-cores 16x16");
  EXPECT_EQ(set("16", "16", "1", "2"), asked);
  EXPECT_NE(set("32", "16", "1", "2"), asked);
  EXPECT_NE(set("16", "32", "1", "2"), asked);
  EXPECT_NE(set("16", "16", "2", "2"), asked);
  EXPECT_NE(set("16", "16", "1", "4"), asked);
}

TEST(ParameterWalk, LeavesNoneOut) {
  std::set<std::string> walked;
  for (const Step& step : steps()) walked.insert(step.path);
  for (const ProbeStep& step : probe_steps()) walked.insert(step.path);
  for (const StoreStep& step : store_steps()) walked.insert(step.path);
  walked.insert("ipu:planner.operand_moves");  // acts between rows: IpuMoves
  walked.insert("wse:llm.weight_form");        // DecodeRun.WeightsAreListedWhereThatIsSooner
  walked.insert("wse:llm.list_free");          // there, too
  walked.insert("wse:llm.skip");  // acts on zeros of a request: DecodeRun.WhatIsLeftOutIsNotPaid
  walked.insert("wse:llm.select_logit");
  for (const char* const word : {"columns", "rows", "across", "down"}) {
    walked.insert(std::string("wse:blocks.") + word);  // BlocksOfAModelLieAsSetOrAsAskedFor
  }
  std::set<std::string> missing;
  std::set<std::string> known;
  const auto visit = [&](const std::string& kind, const ParameterSet& parameters) {
    parameters.for_each([&](auto& path, auto& /*each*/) { known.insert(kind + ":" + path); });
  };
  for (const MachineKind& each : standard_machines()) visit(each.kind, each.make("")->parameters());
  visit("sys", system::WaferSystemParams{});
  for (const std::string& name : known) {
    if (walked.count(name) + without_a_step().count(name) == 0) missing.insert(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "give each a step, or change it so that it acts";
  for (const std::string& path : walked) EXPECT_EQ(known.count(path), 1U) << path;
  EXPECT_LE(without_a_step().size(), 4U);  // and the citation
}

}  // namespace
}  // namespace lacuna::test
