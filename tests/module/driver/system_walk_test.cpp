// SPDX-License-Identifier: Apache-2.0
// Every parameter of a system of chips, of what it trains and of how a model lies on it does
// something: moved, it changes times or joules of a run it is for, its memory, or whether it fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "models/system/params.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/validate/systems.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/mapping/system/inference_params.hpp"
#include "workloads/mapping/system/training_params.hpp"

namespace lacuna::test {
namespace {

namespace fs = std::filesystem;

/// What a parameter moves at least: a number of the result, a table of memory, or whether there is
/// a result.
enum class Shows { number, memory, fits };

struct Step {
  const char* path;   // as --set has it
  const char* value;  // that it is moved to
  const char* what;   // a row of lines()
  Shows shows = Shows::number;
  std::vector<std::string> with = {};  // settings of both runs
};

/// A folder with a training step, rows of a chip, a model and requests.
class Files {
 public:
  Files() {
    write("step.yaml",
          "system: pod4\nmodel: bert-tiny\ntokens: 32\npredictions: 4\nmicro_batch: 2\n"
          "accumulation: 4\npipeline: 2\nreplicas: 2\nrts_state: 2\n");
    write("rows.csv",
          "id,op,fn,m,k,n,args\nin,io,h2d,1,,4096,\na,gemm,,64,64,16,\n"
          "sum,allreduce,ring,4096,,,ranks=4\n");
    write("model.json",
          R"({"model_type": "qwen3", "hidden_size": 256, "intermediate_size": 512,
              "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
              "head_dim": 32, "vocab_size": 1024, "hidden_act": "silu", "rms_norm_eps": 1e-6,
              "max_position_embeddings": 1048576, "tie_word_embeddings": false,
              "torch_dtype": "float16"})");
    write("requests.csv", "arrival,prompt,output\n0,16,4\n0.001,8,1\n0.001,24,3\n");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  const TempFolder own_;
  const fs::path folder_ = own_.path();
};

/// A run by its name: words of the command line.
std::string line(const std::string& what, const Files& files) {
  const std::string quiet = "run --quiet --set chip.ipu.tiles=";
  const std::string step =
      quiet + "128 --set gateway.update_ms=0.01 --system-config " + files.path("step.yaml");
  const std::string model = quiet + "64 --machine pod4 --model " + files.path("model.json");
  const std::map<std::string, std::string> all = {
      {"step", step},
      {"eight", step + " --set machines=2 --set training.replicas=4 --set training.rts_state=4"},
      {"domains", step + " --set machines=2 --set training.replicas=4 --set training.rts_state=4 "
                         "--set links.domain=4"},
      {"streamed", step + " --set training.state=streaming"},
      {"sparse", step + " --set training.pattern=block16:0.5"},
      {"changing", step + " --set training.pattern=block16:0.5 --set training.mode=dynamic --set "
                          "training.pattern_every=2"},
      {"shared", step + " --set training.pipeline=1 --set training.replicas=1 --set "
                        "training.rts_state=1 --set training.tensor=4"},
      {"rows", quiet + "64 --machine pod4 --trace " + files.path("rows.csv")},
      {"decode", model + " --decode --context 64"},
      {"requests", model + " --batch 2 --requests " + files.path("requests.csv")},
  };
  return all.at(what);
}

const std::vector<Step>& steps() {
  constexpr Shows kMemory = Shows::memory;
  constexpr Shows kFits = Shows::fits;
  static const std::vector<Step> all = {
      {"chip", "bow", "step"},
      {"machines", "2", "step"},
      {"machine_chips", "2", "step", Shows::number, {"machines=4"}},
      {"machine_w", "300", "step"},
      {"hosts_w", "100", "step"},
      {"link_pj_bit", "16", "step"},
      {"memory_pj_bit", "40", "streamed"},
      {"links.link_gbps", "8", "step"},
      {"links.efficiency", "0.5", "step"},
      {"links.pair_links", "1", "step"},
      {"links.cross_links",
       "1",
       "decode",
       Shows::number,
       {"inference.tensor=1", "inference.pipeline=4"}},
      {"links.rail_links", "1", "step"},
      {"links.hop_ns", "150", "step"},
      {"links.topology", "torus", "eight"},
      {"links.domain", "4", "eight"},
      {"links.chunk_kib", "1", "step"},
      {"links.chunks", "1", "step", Shows::number, {"links.chunk_kib=1"}},
      {"gateway.link_gbps", "5", "domains"},
      {"gateway.hop_ns", "5000", "domains"},
      {"gateway.ddr_gbps", "1", "streamed"},
      {"gateway.ddr_efficiency", "0.1", "streamed"},
      {"gateway.ddr_ns", "5000", "streamed"},
      {"gateway.ddr_gb", "0.001", "streamed", kFits},
      {"gateway.pcie_gbps", "1", "streamed"},
      {"gateway.pcie_ns", "5000", "streamed"},
      {"gateway.host_gbps", "1", "rows"},
      {"gateway.host_ns", "5000", "rows"},
      {"gateway.update_ms", "1", "step"},
      {"sync.hop_ns", "150", "step"},
      {"sync.chip_ns", "500", "step"},
      {"sync.gateway_ns", "9000", "domains"},
      {"sync.exchange_ns", "500", "step"},
      {"collective.rings", "1", "eight"},

      {"training.rows",
       "kge score=rotate width=32 entities=900 relations=51 shards=4 positives=60 negatives=1 "
       "corrupt=both dtype=fp32 optimizer=adamw",
       "step",
       Shows::number,
       {"training.pipeline=1", "training.replicas=4", "training.rts_state=1"}},
      {"training.model", "bert-mini", "streamed"},
      {"training.model_layers", "4", "step"},
      {"training.tokens", "64", "step"},
      {"training.packing", "2", "step"},
      {"training.predictions", "8", "step"},
      {"training.pattern", "block16:0.25", "sparse"},
      {"training.mode", "dynamic", "sparse"},
      {"training.pattern_every", "3", "changing"},
      {"training.dtype", "fp32", "step", Shows::number, {"training.recipe=plain"}},
      {"training.partials", "fp32", "step"},
      {"training.recipe", "plain", "step"},
      {"training.optimizer", "sgd", "step"},
      {"training.train_steps", "100", "step"},
      {"training.micro_batch", "1", "step"},
      {"training.accumulation", "8", "step"},
      {"training.tensor", "2", "shared"},
      {"training.tensor_columns", "2", "shared"},
      {"training.attention_parts", "2", "step"},
      {"training.head_parts", "2", "step"},
      {"training.gradient_parts", "2", "step"},
      {"training.share_sequence", "true", "shared"},
      {"training.pipeline", "1", "step"},
      {"training.replicas", "1", "step", Shows::number, {"training.rts_state=1"}},
      {"training.rts", "2", "step"},
      {"training.rts_state", "1", "step"},
      {"training.layers", "0-2", "step"},
      {"training.attention",
       "0-2",
       "step",
       Shows::number,
       {"training.attention=1-1", "training.ffn=1-1"}},
      {"training.ffn",
       "0-2",
       "step",
       Shows::number,
       {"training.attention=1-1", "training.ffn=1-1"}},
      {"training.embedding_stage", "1", "step"},
      {"training.head_stage", "1", "step"},
      {"training.schedule", "sequential", "step"},
      {"training.activations", "stored", "step"},
      {"training.checkpoint_every", "2", "step", kMemory, {"training.model_layers=4"}},
      {"training.state", "streaming", "step"},
      {"training.phases", "2", "streamed"},
      {"training.prefetch",
       "weights",
       "streamed",
       Shows::number,
       {"training.phases=2", "training.io_tiles=16"}},
      {"training.io_tiles", "16", "streamed"},
      {"training.available_memory",
       "0.01",
       "changing",
       kFits,
       {"training.state=streaming", "training.tokens=128"}},
      {"training.code_kib", "128", "step", kMemory},
      {"training.buffer_kib", "64", "step", kMemory},

      {"inference.tensor", "1", "decode"},
      {"inference.pipeline", "1", "decode", Shows::number, {"inference.tensor=2"}},
      {"inference.layers", "3-1", "decode", Shows::number, {"inference.tensor=1"}},
      {"inference.weights", "streaming", "decode"},
      {"inference.cache", "streaming", "decode"},
      {"inference.io_tiles", "16", "decode", Shows::number, {"inference.weights=streaming"}},
      {"inference.context_step", "16", "requests"},
      {"inference.code_kib", "600", "decode", kFits},
      {"inference.buffer_kib", "600", "decode", kFits},
  };
  return all;
}

/// What the walk does not do with --set, and who does.
const std::map<std::string, std::string>& by_other_tests() {
  static const std::map<std::string, std::string> all = {
      {"training.system", "SystemWalk.ADescriptionSaysWhatItIsMeantFor"},
      {"training.published_system", "SystemWalk.ADescriptionSaysWhichPointsAreOfIt"},
      {"training.published_workload", "SystemWalk.ADescriptionSaysWhichPointsAreOfIt"},
      {"training.updates_per_iteration", "SystemWalk.ADescriptionSaysWhichPointsAreOfIt"},
      {"training.source", "a citation: SystemWalk.ADescriptionSaysWhatItIsMeantFor"},
  };
  return all;
}

/// The request of a step; a value may have blanks, as rows do.
std::vector<std::string> arguments(const Step& step, const Files& files, bool moved) {
  std::vector<std::string> words;
  std::istringstream line_words(line(step.what, files));
  for (std::string word; line_words >> word;) words.push_back(word);
  for (const std::string& setting : step.with) words.insert(words.end(), {"--set", setting});
  if (step.shows == Shows::number) words.emplace_back("--json");
  if (step.shows == Shows::memory) words.emplace_back("--wide");  // the first screen has no table
  if (!moved) return words;
  const std::string path = std::string(step.path) + "=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].rfind(path, 0) != 0) continue;
    words[i] = path + step.value;
    return words;
  }
  words.insert(words.end(), {"--set", path + step.value});
  return words;
}

class SystemWalk : public ::testing::TestWithParam<Step> {};

TEST_P(SystemWalk, MovesWhatItIsFor) {
  const Step& step = GetParam();
  const Files files;
  const Ran before = run_real(arguments(step, files, false));
  const Ran after = run_real(arguments(step, files, true));
  ASSERT_EQ(before.status, 0) << before.err;
  if (step.shows == Shows::fits) {
    EXPECT_EQ(after.status, 1) << after.out;
    return;
  }
  ASSERT_EQ(after.status, 0) << after.err;
  EXPECT_TRUE(before.out != after.out)
      << step.path << " = " << step.value << " changes nothing of '" << step.what << "'";
}

void PrintTo(const Step& step, std::ostream* out) { *out << step.path << "=" << step.value; }

INSTANTIATE_TEST_SUITE_P(Of, SystemWalk, ::testing::ValuesIn(steps()));

TEST(SystemWalk, ASettingIsGivenOnce) {
  const Files files;
  const Ran twice = run_real(line("step", files) +
                             " --set machine_w=300 --set training.tokens=64 --set "
                             "machine_w=400");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, ::testing::HasSubstr("'machine_w' is given twice for pod4"));
}

TEST(SystemWalk, ADescriptionSaysWhatItIsMeantFor) {
  const Files files;
  const auto run = [&](const std::string& more) {
    files.write("own.yaml",
                "model: bert-tiny\ntokens: 32\npredictions: 4\npipeline: 2\nreplicas: 2\n" + more);
    return run_real("run --quiet --json --set chip.ipu.tiles=128 --system-config " +
                    files.path("own.yaml") + " --out " + files.path("out"));
  };
  const Ran one = run("system: pod4\nsource: a book\n");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(file_text(files.path("out/report.html")), ::testing::HasSubstr("a book"));
  EXPECT_NE(run("system: bow_pod4\n").out, one.out);
}

/// What a point comes to with one description of a training step as all that is shipped.
ValidationOutcome measured(const Files& files, const std::string& words, const char* workload) {
  fs::create_directories(files.path("sim"));
  fs::create_directories(files.path("traces/systems"));
  const std::string config = files.path("sim/config");
  if (!fs::exists(config)) fs::create_directory_symlink(config_folder(), config);
  files.write("traces/systems/one.yaml",
              "system: pod4\nmodel: bert-tiny\ntokens: 32\npredictions: 4\npipeline: 2\n"
              "replicas: 2\n" +
                  words);
  ValidationPoint point;
  point.id = "walk";
  point.system = "POD4-GC200";
  point.workload = workload;
  point.metric = "throughput";
  ValidationRunSettings settings;
  settings.settings = {"ipu.tiles=128"};
  std::vector<ValidationOutcome> outcomes(1);
  outcomes[0].status = Status::unsupported;
  setenv("LACUNA_CONFIG", config.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  simulate_systems({point}, standard_machines(), settings, outcomes);
  unsetenv("LACUNA_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  return outcomes[0];
}

TEST(SystemWalk, ADescriptionSaysWhichPointsAreOfIt) {
  const Files files;
  const std::string system = "published_system: POD4-GC200\n";
  const std::string workload = "published_workload: BERT-Tiny GBS=8\n";
  const ValidationOutcome of_it = measured(files, system + workload, "BERT-Tiny GBS=16");
  ASSERT_EQ(of_it.status, Status::ok) << of_it.reason;
  EXPECT_EQ(
      measured(files, system + "published_workload: BERT-Small GBS=8\n", "BERT-Tiny GBS=16").status,
      Status::unsupported);
  EXPECT_EQ(measured(files, "published_system: Tower\n" + workload, "BERT-Tiny GBS=16").status,
            Status::unsupported);
  // one update of 8 accumulations, or four of 2 that the host is between
  const ValidationOutcome four =
      measured(files, system + workload + "updates_per_iteration: 4\n", "BERT-Tiny GBS=16");
  ASSERT_EQ(four.status, Status::ok) << four.reason;
  EXPECT_LT(four.simulated, of_it.simulated);
}

TEST(SystemWalk, LeavesNoneOut) {
  std::set<std::string> walked;
  for (const Step& step : steps()) walked.insert(step.path);
  for (const auto& [path, test] : by_other_tests()) walked.insert(path);
  std::set<std::string> missing;
  std::set<std::string> known;
  const auto look = [&](const std::string& group, const ParameterSet& parameters) {
    parameters.for_each([&](const std::string& path, const ParamBase&) {
      known.insert(group + path);
      if (walked.count(group + path) == 0) missing.insert(group + path);
    });
  };
  look("", system::SystemParams());
  look("training.", system::TrainingParams());
  look("inference.", system::InferenceParams());
  EXPECT_THAT(missing, ::testing::IsEmpty()) << "give each a step, or change it so that it acts";
  for (const std::string& path : walked) EXPECT_EQ(known.count(path), 1U) << path;
}

}  // namespace
}  // namespace lacuna::test
