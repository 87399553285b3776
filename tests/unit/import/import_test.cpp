// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/paths.hpp"
#include "workloads/generate/generator_table.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/options.hpp"
#include "workloads/trace/row_mask.hpp"
#include "workloads/trace/text_file.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

class Import : public ::testing::Test {
 protected:
  Import()
      : folder_(std::filesystem::temp_directory_path() /
                ("lacuna_import_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Import() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  Imported read(const std::string& text, const Pairs& settings = {},
                const std::string& name = "file.txt") const {
    const Imported imported = import_workload({write(name, text)}, settings);
    // what is imported must be a right trace
    parse_trace(format_trace(imported.trace), "again.csv", false);
    return imported;
  }

  std::filesystem::path folder_;
};

std::vector<std::uint64_t> sizes(const LayerOp& op) { return {op.m, op.k, op.n, op.batch}; }

std::uint64_t macs(const WorkloadTrace& trace) {
  std::uint64_t sum = 0;
  for (const LayerOp& op : trace.ops) sum += cost_of(op, masked_elements(op)).algorithmic_macs;
  return sum;
}

// The filter of SCALE-Sim is the right operand: its N becomes m, its M becomes n.
TEST_F(Import, SwapsTheSidesOfScaleSimProducts) {
  const Imported imported =
      read("Layer,M,N,K,\nQKT,1024,1024,64,\nL0, 196, 192, 384\nL0,1,5,16,\n\n\n");
  ASSERT_EQ(imported.trace.ops.size(), 3U);
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(192, 384, 196, 1));
  EXPECT_EQ(imported.trace.ops[2].id, "L0.2");
  EXPECT_EQ(macs(imported.trace), 1024U * 1024 * 64 + 196U * 192 * 384 + 80U);
  EXPECT_THAT(imported.warnings, IsEmpty());
}

TEST_F(Import, KeepsTheFirstOfEachGroupAsScaleSimDoes) {
  const Imported imported =
      read("Layer Name, M, N, K, Sparsity,\nG, 3, 5, 18, 3:4,\nG, 1, 5, 16, 1:1\n");
  EXPECT_EQ(pattern_label(imported.trace.ops[0].pattern), "nm:3:4:pos=first:pad=1");
  // 5 rows of four whole groups and one of two
  EXPECT_EQ(make_mask(imported.trace.ops[0], imported.trace, 1)->nnz(), 5U * (4 * 3 + 2));
  EXPECT_EQ(imported.trace.ops[1].pattern.name, "dense");
}

TEST_F(Import, ReadsScaleSimConvolutionsWithoutPadding) {
  const std::string header =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides,\n";
  const Imported imported =
      read(header + "Conv1,224,224,7,7,3,64,2,\nDP2,8,8,3,3,16,4,1\nC3,5,5,3,3,2,6,1,2:4,\n");
  // ceil((224 - 7 + 2) / 2) = 110
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(64, 147, 12100, 1));
  EXPECT_THAT(imported.trace.ops[0].args, ElementsAre(testing::Pair("x_unique", "150528")));
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(4, 9, 36, 16));
  EXPECT_EQ(macs({"", "", {imported.trace.ops[2]}}), 972U);
  EXPECT_THAT([&] { read(header + "C,5,5,6,3,2,6,1\n"); },
              ThrowsMessage<TraceError>(HasSubstr("a filter of 6 x 3")));
  EXPECT_THAT(
      [&] { read(header + "C,5,x,6,3,2,6,1\n"); },
      ThrowsMessage<TraceError>(HasSubstr("file.txt:2:5: error E202: column 'IFMAP Width'")));
}

// The tool's own files. The products of each are those of its eight columns, summed by hand in
// another language: ceil((side - filter + stride) / stride) outputs each way.
TEST_F(Import, ReadsTopologiesAsTheyShipWithScaleSim) {
  const auto shipped = [](const std::string& name) {
    return import_workload({test::source_path("tests/data/scalesim/" + name)}, {});
  };
  const Imported padded = shipped("Resnet50.csv");
  EXPECT_EQ(padded.trace.ops.size(), 54U);
  EXPECT_THAT(sizes(padded.trace.ops[0]), ElementsAre(64, 147, 12100, 1));
  EXPECT_EQ(macs(padded.trace), 3479536384U);
  const Imported batch = shipped("llama3b.csv");
  EXPECT_EQ(batch.trace.ops.size(), 51U);
  EXPECT_EQ(macs(batch.trace), 431424096174080U);
  const Imported titled = shipped("Transformer.csv");
  EXPECT_EQ(titled.trace.ops.size(), 891U);
  EXPECT_EQ(macs(titled.trace), 113029120U);
  EXPECT_THAT(titled.warnings,
              ElementsAre(HasSubstr("Transformer.csv:3: 'Transformer' has no sizes: taken for")));
}

TEST_F(Import, ReadsWhatStandsBehindTheColumnsOfScaleSimByItsName) {
  const std::string header =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides,";
  const auto conv = [&](const std::string& more, const std::string& cells) {
    return read(header + more + "\nC,5,5,3,3,2,6,1," + cells + "\n").trace.ops.at(0);
  };
  const LayerOp batch = conv("Batch Size,", "4");  // 3 x 3 outputs of each of 4 images
  EXPECT_THAT(sizes(batch), ElementsAre(6, 18, 36, 1));
  EXPECT_THAT(batch.args, ElementsAre(testing::Pair("x_unique", "200")));
  EXPECT_EQ(conv("Stride Width,", "2").n, 6U);  // 3 x 2
  EXPECT_EQ(pattern_label(conv(",,Sparsity,Eh,Ew", ",,2:4,3,3").pattern), "nm:2:4:pos=first:pad=1");
  EXPECT_THAT([&] { conv("Eh,", "4"); },
              ThrowsMessage<TraceError>(HasSubstr("found '4'; allowed: 3, which follows")));
  EXPECT_THAT([&] { conv("Padding,", "1"); },
              ThrowsMessage<TraceError>(HasSubstr("column 'Padding': found '1'; allowed: empty")));
  EXPECT_THAT([&] { conv("Batch Size,", "x"); },
              ThrowsMessage<TraceError>(HasSubstr("column 'Batch Size': found 'x'")));
  EXPECT_EQ(read("Layer, M, N, K, Batch,\nA, 3, 5, 7, 2\n").trace.ops.at(0).n, 6U);
}

TEST_F(Import, WarnsOfATopologyWithoutHeader) {
  const Imported imported = read("a,1,2,3\nb,4,5,6\n", {{"format", "scalesim-gemm"}});
  EXPECT_EQ(imported.trace.ops.size(), 1U);
  EXPECT_EQ(imported.warnings.size(), 1U);
}

TEST_F(Import, ReadsTimeloopTemplates) {
  const std::string base = "{{include_text('../problem_base.yaml')}}\nproblem:\n  <<<: *base\n";
  EXPECT_THAT(sizes(read(base + "  instance: {C: 1024, M: 3072, P: 256}\n").trace.ops[0]),
              ElementsAre(3072, 1024, 256, 1));
  const Imported sparse = read(
      "problem:\n  instance:\n    K: 64\n    M: 8\n    N: 2\n    densities:\n      A:\n"
      "        density: 0.5\n        distribution: fixed_structured\n      B:\n"
      "        density: 0.25\n        distribution: hypergeometric\n");
  EXPECT_EQ(pattern_label(sparse.trace.ops[0].pattern), "nm:2:4:pad=1");
  EXPECT_EQ(sparse.trace.ops[0].x_density->text(), "0.25");
  // a number alone is a density; what is of no operand is said, of no tensor refused
  const std::string plain = "problem:\n  instance: {K: 64, M: 8, N: 2, densities: ";
  const Imported scalars = read(plain + "{A: 0.5, B: 0.25, Z: 0.9}}\n");
  EXPECT_EQ(pattern_label(scalars.trace.ops[0].pattern), "unstructured:0.5");
  EXPECT_EQ(scalars.trace.ops[0].x_density->text(), "0.25");
  EXPECT_THAT(scalars.notes, testing::Contains(HasSubstr("the density of Z is left out")));
  EXPECT_THAT([&] { read(plain + "{Weights: 0.5}}\n"); },
              ThrowsMessage<TraceError>(HasSubstr("a density of 'Weights'")));
  EXPECT_THAT([&] { read(base + "  instance: {A: 1, B: 2}\n"); },
              ThrowsMessage<TraceError>(HasSubstr("dimensions A, B")));
}

// 16 channels, filters of 3 x 3 two apart, 14 x 14 outputs of 2 pictures: (13 * 2 + 2 + 1)^2
// places are read, of 16 channels and 2 pictures, where the product has 144 x 392 of them. Filters
// of one place do not overlap.
TEST_F(Import, CountsInputsOfTimeloopConvolutionsOnce) {
  const std::string sizes = "problem:\n  instance: {C: 16, M: 32, P: 14, Q: 14, N: 2, ";
  const Imported apart = read(sizes + "R: 3, S: 3, Hstride: 2, Wstride: 2}\n");
  EXPECT_THAT(apart.trace.ops[0].args, ElementsAre(testing::Pair("x_unique", "26912")));
  EXPECT_THAT(read(sizes + "R: 1, S: 1}\n").trace.ops[0].args, IsEmpty());
}

// Versions of the format spell keys with - or _. B is the weights here, as it has the rows of Y.
TEST_F(Import, TakesTensorsOfTimeloopByTheirProjections) {
  for (const char* const line : {"-", "_"}) {
    const std::string text = std::string("problem:\n  shape:\n    data") + line + "spaces:\n" +
                             "    - {name: A, projection: [[[K]], [[N]]]}\n" +
                             "    - {name: B, projection: [[[M]], [[K]]]}\n" +
                             "    - {name: C, projection: [[[M]], [[N]]], read" + line +
                             "write: true}\n" +
                             "  instance: {M: 8, N: 2, K: 64, densities: {B: 0.5, A: 0.25}}\n";
    const Imported imported = read(text);
    EXPECT_EQ(pattern_label(imported.trace.ops[0].pattern), "unstructured:0.5") << line;
    EXPECT_EQ(imported.trace.ops[0].x_density->text(), "0.25") << line;
  }
}

// What a table of densities says is all that is so of a row: one is dense.
TEST_F(Import, TakesADensityOfOneAsDense) {
  const std::string table = write("densities.csv", "layer,1,1,1\n");
  const Imported imported =
      read("problem:\n  instance: {K: 64, M: 8, N: 2, densities: {A: 0.5, B: 0.25}}\n",
           {{"densities", table}}, "layer.yaml");
  EXPECT_EQ(imported.trace.ops[0].pattern.name, "dense");
  EXPECT_EQ(imported.trace.ops[0].x_pattern, "dense");
  EXPECT_FALSE(imported.trace.ops[0].x_density);
}

TEST_F(Import, ReadsStonneCommandLines) {
  const Imported imported = read(
      "./stonne -SparseGEMM -M=20 -N=30 -K=256 -MK_sparsity=80 -KN_sparsity=10 -num_ms=128\n"
      "-CONV -R=3 -S=3 -C=16 -K=32 -G=2 -N=1 -X=10 -Y=8 -strides=1 -T_R=3\n");
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(20, 256, 30, 1));
  EXPECT_EQ(imported.trace.ops[0].pattern.density->text(), "0.2");
  EXPECT_EQ(imported.trace.ops[0].x_density->text(), "0.9");
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(16, 72, 48, 2));
  // 10 x 8 places of 8 channels, in each of the two groups
  EXPECT_THAT(imported.trace.ops[1].args, ElementsAre(testing::Pair("x_unique", "640")));
  EXPECT_THAT([&] { read("-FC -M=4 -K=4 -N=1 -Q=3\n"); },
              ThrowsMessage<TraceError>(HasSubstr("found '-Q'")));
}

// The trace of one all-gather of 16 chips, as its schema lays it out on the wire.
TEST_F(Import, ReadsChakraProtobuf) {
  const std::string bytes(
      "\x07\x0a\x05"
      "0.0.4I\x12\x15"
      "all_gather_16npus_1MB\x18\x07\x52\x0e\x0a\x09is_cpu_op\xd8\x01\x00\x52\x0d\x0a\x09"
      "comm_typeH\x02\x52\x0f\x0a\x09"
      "comm_sizeH\x80\x80\x40",
      82);
  EXPECT_THAT(
      [&] {
        read(bytes, {{"ranks", "16"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("found 1 collectives or transfers between chips, "
                                            "the first is node 0, 'all_gather_16npus_1MB'")));
  const Imported imported = read(bytes, {{"ranks", "16"}, {"collectives", "keep"}});
  ASSERT_EQ(imported.trace.ops.size(), 1U);
  EXPECT_EQ(imported.trace.ops[0].id, "all_gather_16npus_1MB");
  EXPECT_EQ(imported.trace.ops[0].op, "allgather");
  EXPECT_EQ(imported.trace.ops[0].m, 524288U);  // 1 MiB of fp16
  EXPECT_THAT(imported.trace.ops[0].args,
              ElementsAre(testing::Pair("ranks", "16"), testing::Pair("between", "chips")));
  EXPECT_THAT(
      [&] {
        read(bytes, {{"collectives", "keep"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("give --ranks")));
  for (std::size_t size = 9; size < bytes.size(); ++size) {
    EXPECT_ANY_THROW(read(bytes.substr(0, size), {{"ranks", "16"}, {"format", "chakra"}})) << size;
  }
}

TEST_F(Import, ReadsChakraJson) {
  const std::string text =
      R"json({"workload_graph": [{"Id": 5, "Name": "c10d::broadcast_(0)", "NodeType": 7,
      "ctrlDeps": [3], "data_deps": [2], "runtime": 85}, {"Id": 2, "name": "aten::add",
      "node_type": 4, "attrs": [{"name": "num_ops", "int64_val": 77}]}], "ngpus": 8})json";
  EXPECT_THAT(
      [&] {
        read(text, {{"comm-size", "64"}, {"collectives", "keep"}});
      },
      ThrowsMessage<TraceError>(HasSubstr("--drop-missing")));
  EXPECT_THAT(
      [&] {
        read(text, {{"drop-missing", "1"}, {"collectives", "keep"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("give --comm-size")));
  const Imported imported =
      read(text, {{"drop-missing", "1"}, {"comm-size", "64"}, {"collectives", "keep"}});
  ASSERT_EQ(imported.trace.ops.size(), 2U);
  EXPECT_EQ(imported.trace.ops[0].op, "opaque");  // first, as the other depends on it
  EXPECT_THAT(imported.trace.ops[0].args, ElementsAre(testing::Pair("flop", "77")));
  EXPECT_THAT(imported.trace.ops[1].args,
              ElementsAre(testing::Pair("ranks", "8"), testing::Pair("between", "chips")));
  EXPECT_EQ(imported.notes.size(), 1U);
}

// 1 computes, 2 reduces what 1 made, 3 computes with that: without 2, 3 waits for 1.
TEST_F(Import, LeavesCollectivesOfChakraOutAndKeepsWhatWaitedForThem) {
  const std::string text =
      R"json({"workload_graph": [
      {"id": 1, "name": "a", "type": 4, "attrs": [{"name": "num_ops", "int64_val": 5}]},
      {"id": 2, "name": "allreduce", "type": 7, "data_deps": [1]},
      {"id": 3, "name": "b", "type": 4, "data_deps": [2],
       "attrs": [{"name": "num_ops", "int64_val": 5}]}]})json";
  const Imported imported = read(text, {{"collectives", "drop"}});
  ASSERT_EQ(imported.trace.ops.size(), 2U);
  EXPECT_THAT(imported.trace.ops[1].depends_on, ElementsAre("a"));
  EXPECT_THAT(imported.notes, ElementsAre(HasSubstr("1 collectives and transfers")));
}

TEST_F(Import, ReadsTheShapeOfAModel) {
  const std::string text =
      R"({"bert_config": {"hidden_size": 128, "vocab_size": 30400, "num_attention_heads": 2,
      "num_hidden_layers": 2, "intermediate_size": 512, "max_position_embeddings": 512,
      "type_vocab_size": 2}})";
  const Imported imported = read(text, {{"tokens", "128"}, {"density", "0.5"}});
  // BERT-tiny has 117,440,512 FLOP for 128 tokens
  EXPECT_EQ(2 * macs(imported.trace), 117440512U);
  EXPECT_THAT(
      [&] {
        read(text, {{"tokens", "513"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("at most 512 tokens")));
  EXPECT_THAT([&] { read(R"({"model_type": "llama", "hidden_size": 64})"); },
              ThrowsMessage<TraceError>(HasSubstr("num_hidden_layers, n_layer, num_layers")));
  EXPECT_THAT([&] { read("{\"a\": [1, 2}"); },
              ThrowsMessage<TraceError>(HasSubstr("file.txt:1:12: error E206")));
  EXPECT_THAT([&] { read(std::string(100000, '[')); },
              ThrowsMessage<TraceError>(HasSubstr("nested deeper")));
}

TEST_F(Import, TakesMasksWithTheirColumns) {
  const std::string mask = "2, 3, 2\n0 1 2\n0 2\n";
  EXPECT_THAT([&] { read(mask); }, ThrowsMessage<RequestError>(HasSubstr("give --n")));
  EXPECT_THAT(sizes(read(mask, {{"n", "7"}}).trace.ops[0]), ElementsAre(2, 3, 7, 1));
  const std::string list = write("columns.txt", "conv,12\nlayer_conv,34\n");
  const std::string named = write("rn__layer_conv.smtx", mask);
  EXPECT_EQ(import_workload({named}, {{"batch-sizes", list}}).trace.ops[0].n, 34U);
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
}

// Magnitudes 1 5 / 2 3 / 4 0: the three largest are 5, 3 and 4.
TEST_F(Import, PrunesGivenWeightsByMagnitude) {
  const std::string data("\x01\xfb\x02\x03\xfc\x00", 6);
  const Pairs half = {{"n", "4"}, {"density", "0.5"}, {"prune", "1"}};
  const Imported imported = read(npy("|i1", "(3, 2)", data), half, "w.npy");
  const Mask mask = *make_mask(imported.trace.ops[0], imported.trace, 1);
  EXPECT_THAT(mask.offsets, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(mask.columns, ElementsAre(1, 1, 0));
  // in the order of Fortran: 1 3 / 5 4 / 2 0, of which 5 and 4 are in one row
  const Imported other = read(npy("|i1", "(3, 2)", data, "True"), half, "w.npy");
  EXPECT_THAT(make_mask(other.trace.ops[0], other.trace, 1)->offsets, ElementsAre(0, 1, 3, 3));
  EXPECT_THAT([&] { read(npy("<c8", "(3, 2)", data), half); },
              ThrowsMessage<TraceError>(HasSubstr("f2, f4, f8, i1")));
  EXPECT_THAT([&] { read(npy("|i1", "(3, 3)", data), half); },
              ThrowsMessage<TraceError>(HasSubstr("9 numbers")));
  EXPECT_THAT(
      [&] {
        read(npy("|i1", "(3, 2)", data), {{"n", "4"}, {"prune", "1"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("needs --density")));
  EXPECT_THAT(
      [&] {
        read(npy("|i1", "(3, 2)", data), {{"n", "4"}, {"density", "0.5"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("or --prune beside them")));
}

TEST_F(Import, MakesOnePrefillAndADecodeStepForEachToken) {
  const Imported imported = read("time, prompt_length, target_length, cached_length\n0, 10, 2, 4\n",
                                 {{"model", "opt-125m"}, {"layers", "1"}});
  std::size_t prefill = 0;
  for (const LayerOp& op : imported.trace.ops) {
    if (op.id.rfind("r0.prefill.", 0) == 0) ++prefill;
    if (op.id == "r0.prefill.fwd.l0.q") {
      EXPECT_EQ(op.n, 6U);
    }
    if (op.id == "r0.t1.fwd.l0.scores") {
      EXPECT_EQ(op.n, 11U);
    }
  }
  EXPECT_GT(prefill, 10U);
}

// A tool's own command line; 5 x 2 x 2 products.
TEST_F(Import, TakesStonneLinesOfItsMeshes) {
  const Imported imported = read(
      "./stonne -DenseGEMM -M=5 -N=2 -K=2 -ms_rows=4 -ms_cols=4 -dn_bw=8 -rn_bw=16 -T_N=4 -T_M=4 "
      "-T_K=1 -accumulation_buffer=1 -rn_type=\"TEMPORALRN\" -mn_type=\"OS_MESH\" "
      "-mem_ctrl=\"TPU_OS_DENSE\"\n");
  EXPECT_THAT(sizes(imported.trace.ops.at(0)), ElementsAre(5, 2, 2, 1));
  EXPECT_EQ(macs(imported.trace), 20U);
}

// Version 2 of the tool takes a ninth number for the stride across, version 3 N:M for a sparsity.
TEST_F(Import, TakesScaleSimLinesWithTabsAndANamelessCell) {
  const std::string header =
      "Layer name\tIFMAP Height\tIFMAP Width\tFilter Height\tFilter Width\tChannels\tNum Filter\t"
      "Strides\n";
  const Imported tabs = read(header + "C\t9\t9\t3\t3\t2\t6\t2\t1\nD\t9\t9\t3\t3\t2\t6\t2\t1:2\n");
  // ceil((9 - 3 + 2) / 2) = 4 down, 9 - 3 + 1 = 7 across
  EXPECT_THAT(sizes(tabs.trace.ops.at(0)), ElementsAre(6, 18, 28, 1));
  EXPECT_THAT(sizes(tabs.trace.ops.at(1)), ElementsAre(6, 18, 16, 1));
  EXPECT_EQ(pattern_label(tabs.trace.ops[1].pattern), "nm:1:2:pos=first:pad=1");
  EXPECT_THAT([&] { read("Layer,M,N,K\na,1,2,3,4\n"); },
              ThrowsMessage<TraceError>(HasSubstr("as it is none of 4 columns")));
}

const char* const kPruned =
    R"({"model_type": "qwen3", "hidden_size": 64, "intermediate_size": 128, "head_dim": 16,
"num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 128,
"max_position_embeddings": 512, "quantization_config": {"quant_method": "compressed-tensors",
"sparsity_config": )";

std::map<std::string, std::string> patterns_of(const Imported& imported) {
  std::map<std::string, std::string> patterns;
  for (const LayerOp& op : imported.trace.ops) patterns[op.layer] = pattern_label(op.pattern);
  return patterns;
}

TEST_F(Import, ReadsZerosThatAConfigurationSays) {
  const Pairs settings = {{"part", "weights"}, {"tokens", "1"}};
  const auto zeros = [&](const std::string& said, const Pairs& more) {
    return read(kPruned + said + "}}", more, "config.json");
  };
  const Imported all = zeros(R"({"format": "sparse-24-bitmask", "global_sparsity": 0.5,
"sparsity_structure": "2:4", "targets": ["Linear"], "ignore": ["lm_head", "re:.*down_proj"]})",
                             settings);
  EXPECT_EQ(patterns_of(all)["l1.up"], "nm:2:4");
  EXPECT_EQ(patterns_of(all)["l1.ffn2"], "dense");
  EXPECT_THAT(all.notes, testing::Contains(HasSubstr("2:4 for 12 weights of 2 layers")));
  const Imported some = zeros(R"({"format": "sparse-bitmask", "global_sparsity": 0.75,
"sparsity_structure": "unstructured", "targets": ["re:model.layers.1.*_proj"], "ignore": []})",
                              settings);
  EXPECT_EQ(patterns_of(some)["l0.q"], "dense");
  EXPECT_EQ(patterns_of(some)["l1.q"], "unstructured:0.25");
  // rules beside it win
  Pairs more = settings;
  more.emplace_back("sparse", "l1.q=block16:0.25");
  EXPECT_EQ(patterns_of(zeros(R"({"sparsity_structure": "2:4"})", more))["l1.q"], "block16:0.25");
  EXPECT_THAT(
      [&] { zeros(R"({"sparsity_structure": "1:4"})", settings); },
      ThrowsMessage<TraceError>(HasSubstr("key 'sparsity_config': error E214: found '1:4'")));
  EXPECT_THAT([&] { zeros("null", settings); },
              ThrowsMessage<TraceError>(HasSubstr("--skip quantization_config")));
}

// In these tools N counts the zeros of M: where it differs from what is kept the share decides.
TEST_F(Import, TakesRecipesAsRules) {
  const auto made = [&](const std::string& recipe) {
    const std::string path = write("recipe.yaml", recipe);
    WorkloadTrace trace = generate_workload(
        "qwen3-0.6b", {{"part", "weights"}, {"tokens", "1"}, {"layers", "2"}, {"sparse", path}});
    return patterns_of({std::move(trace), {}, {}});
  };
  const std::string stage = "stage:\n  modifiers:\n    ";
  auto rows = made(stage +
                   "SparseGPTModifier:\n      sparsity: 0.5\n      mask_structure: '2:4'\n"
                   "      targets: ['re:.*layers.1$']\n      ignore: ['re:.*lm_head']\n"
                   "quantisation:\n  GPTQModifier:\n    ignore: [lm_head]\n");
  EXPECT_EQ(rows["l0.q"], "dense");
  EXPECT_EQ(rows["l1.q"], "nm:2:4");
  rows = made(stage +
              "WandaPruningModifier:\n      sparsity: 0.25\n      mask_structure: '1:4'\n"
              "      targets: [Linear]\n");
  EXPECT_EQ(rows["l0.ffn2"], "nm:3:4");
  rows = made("- !MagnitudePruningModifier\n  sparsity: 0.75\n  targets: __ALL_PRUNABLE__\n");
  EXPECT_EQ(rows["l1.gate"], "unstructured:0.25");
  const auto refuses = [&](const std::string& recipe, const std::string& reason) {
    EXPECT_THAT([&] { made(recipe); }, ThrowsMessage<RequestError>(HasSubstr(reason))) << recipe;
  };
  refuses("modifiers:\n  - !GMPruningModifier\n    final_sparsity: 0.8\n", "trace schedule");
  refuses(stage + "WandaPruningModifier:\n      sparsity: 0.5\n      mask_structure: '1:4'\n",
          "which is N / M");
  refuses(
      stage + "SparseGPTModifier:\n      sparsity: [0.5, 0.6]\n",
      "recipe.yaml:4:17: error E204: found 'sparsity as a list'; allowed: a number from 0 to 1");
  refuses(stage + "SparseGPTModifier:\n      sparsity: half\n", "found 'sparsity half'");
  refuses(stage + "MagnitudePruningModifier:\n      final_sparsity: 0.8\n", "without a sparsity");
  refuses(stage + "SparseGPTModifier:\n      sparsity: 0.5\n      targets: [\"re:(\"]\n",
          "no regular expression");
  refuses(stage + "SparseGPTModifier:\n      sparsity: 0.5\n      targets: [fc9]\n",
          "names like model.layers.0.self_attn.q_proj");
  refuses("a: 1\n", "no modifier that prunes");
}

std::string seed_input(const std::string& name) {
  return read_text_file(test::source_path("tests/fuzz/corpus/" + name));
}

// Z[16 x 32] = Inputs[16 x 8] Weights[8 x 32]: the weights have 32 rows of 8, as Z transposed.
TEST_F(Import, TakesTheOperandThatTimeloopCallsWeights) {
  const Imported imported = read(
      "problem:\n  shape:\n    name: GEMM\n    dimensions: [M, N, K]\n    data_spaces:\n"
      "      - {name: Weights, projection: [[[K]], [[N]]]}\n"
      "      - {name: Inputs, projection: [[[M]], [[K]]]}\n"
      "      - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n"
      "  instance: {M: 16, N: 32, K: 8, densities: {Weights: 0.25, Inputs: 0.5}}\n");
  const LayerOp& op = imported.trace.ops.at(0);
  EXPECT_THAT(sizes(op), ElementsAre(32, 8, 16, 1));
  EXPECT_EQ(pattern_label(op.pattern), "unstructured:0.25");
  EXPECT_EQ(op.x_density.value().text(), "0.5");
}

TEST_F(Import, ReadsCompressedArrays) {
  const Imported imported =
      read(seed_input("npy/small.npz"),
           {{"n", "4"}, {"density", "0.5"}, {"prune", "1"}, {"member", "w"}}, "w.npz");
  // magnitudes 1 2 3 / 4 5 6
  EXPECT_THAT(make_mask(imported.trace.ops[0], imported.trace, 1)->offsets, ElementsAre(0, 0, 3));
}

TEST_F(Import, RefusesWhatIsNoWorkloadWithTheReason) {
  const auto refuses = [&](const std::string& text, const std::string& reason) {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<RequestError>(HasSubstr(reason))) << text;
  };
  refuses("[MSNetwork]\nms_size=128\n", "another machine");
  refuses("LayerID, Total Cycles,\n0, 1,\n", "a result and not a workload");
  refuses("ALEX_conv1,0.7,1,0.49\n", "give it with --densities");
  refuses("# lacuna-trace v1\nid,op\n", "a trace already");
  refuses("{\"checkpoints\": {\"a\": {\"sparse_args\": {}}}}\n", "results of pruned models");
  // lines of requests whose keys nobody knows are no configuration of a model
  refuses("{\"prompt\": \"a\", \"output_len\": 3}\n{\"prompt\": \"b\", \"output_len\": 4}\n",
          "give --model");
  EXPECT_THAT(
      [&] {
        read("{\"prompt\": \"a\", \"output_len\": 3}\n{\"prompt\": \"b\", \"output_len\": 4}\n",
             {{"model", "opt-125m"}});
      },
      ThrowsMessage<TraceError>(HasSubstr("found 'prompt,output_len'; allowed: arrival,prompt")));
  refuses("hello\n", "no known format");
  for (const char* format : {"stonne", "scalesim-gemm", "scalesim-conv", "timeloop"}) {
    EXPECT_THAT(
        [&] {
          import_text("", "empty", {{"format", format}});
        },
        ThrowsMessage<TraceError>(HasSubstr("empty")))
        << format;
  }
  EXPECT_THAT(
      [&] {
        read("Layer,M,N,K\na,1,2,3\n", {{"n", "4"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("the format scalesim-gemm does not take it")));
}

}  // namespace
}  // namespace lacuna
