// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/paths.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/trace/text_file.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// The rows of a graph, which must be a right trace.
Imported read(const std::string& text, const Pairs& settings = {}) {
  Imported imported = import_text(text, "file.onnx", settings);
  parse_trace(format_trace(imported.trace), "again.csv", false);
  return imported;
}

/// A graph of tests/fuzz/corpus.
std::string seed_graph(const std::string& name) {
  return read_text_file(test::source_path("tests/fuzz/corpus/" + name));
}

std::vector<std::uint64_t> sizes(const LayerOp& op) { return {op.m, op.k, op.n, op.batch}; }

// x[4 x 8] times w[16 x 8] transposed; then a rectifier over 4 columns of 16.
TEST(ImportOnnx, ReadsProductsAndFunctionsOfOnnx) {
  const Imported imported = read(seed_graph("onnx/mlp.onnx"));
  ASSERT_EQ(imported.trace.ops.size(), 2U);
  EXPECT_EQ(imported.trace.ops[0].id, "fc");
  EXPECT_EQ(imported.trace.ops[0].op, "gemm");
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(16, 8, 4, 1));
  EXPECT_EQ(imported.trace.ops[1].fn, "relu");
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(16, 0, 4, 1));
}

// 8 x 8 pixels with a border of 1, kernel 3, stride 2: 4 x 4; two groups of 4 filters over 2
// channels; then 128 numbers of each picture to 10.
TEST(ImportOnnx, ReadsConvolutionsOfOnnxWithPadsAndGroups) {
  EXPECT_THAT([&] { read(seed_graph("onnx/conv.onnx")); },
              ThrowsMessage<RequestError>(HasSubstr("Dimensions without a size: batch")));
  const Imported imported = read(seed_graph("onnx/conv.onnx"), {{"dim", "batch=3"}});
  ASSERT_EQ(imported.trace.ops.size(), 2U);
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(4, 18, 48, 2));
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(10, 128, 3, 1));
  EXPECT_EQ(imported.trace.ops[1].depends_on.front(), "conv");
}

TEST(ImportOnnx, TakesAListOfOnnxOperatorsThatServesOtherGraphsToo) {
  const Imported imported = read(seed_graph("onnx/conv.onnx"),
                                 {{"dim", "batch=3"}, {"skip", "TopK,Con"}, {"dtype", "fp16"}});
  EXPECT_EQ(imported.trace.ops.size(), 2U);  // nothing is left out
  EXPECT_THAT(imported.warnings,
              ElementsAre(HasSubstr("no operator of this graph is 'Con'; did you mean 'Conv'?"),
                          HasSubstr("no operator of this graph is 'TopK'")));
}

TEST(ImportOnnx, ReadsAttentionOfOnnxAsBatchedProducts) {
  const Imported imported = read(seed_graph("onnx/attention.onnx"));
  ASSERT_EQ(imported.trace.ops.size(), 3U);
  EXPECT_EQ(imported.trace.ops[0].op, "bmm");
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(16, 8, 16, 2));
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(32, 0, 16, 1));
  EXPECT_THAT(sizes(imported.trace.ops[2]), ElementsAre(16, 16, 8, 2));
  EXPECT_THAT(
      [&] {
        read("\x08" + std::string(40, '\x01'), {{"format", "onnx"}});
      },
      ThrowsMessage<TraceError>(HasSubstr("no ONNX model")));
}

/// A field of a message that holds bytes or another message, as ONNX has it on the wire.
std::string field(unsigned number, const std::string& content) {
  std::string text(1, static_cast<char>(number << 3U | 2U));
  for (std::size_t left = content.size(); text.size() == 1 || left != 0; left >>= 7U) {
    text += static_cast<char>((left & 0x7fU) | (left >> 7U != 0 ? 0x80U : 0U));
  }
  return text + content;
}

std::string tensor(const std::string& name, const std::vector<char>& sides) {
  std::string shape;
  for (const char side : sides) shape += field(1, std::string("\x08") + side);
  return field(1, name) + field(2, field(1, std::string("\x08\x01") + field(2, shape)));
}

// Batches of 8 x 1 and of 8 x 4: each of the eight serves four.
TEST(ImportOnnx, BroadcastsBatchesOfOnnxProducts) {
  const auto graph = [](const std::vector<char>& a, const std::vector<char>& b) {
    const std::string node =
        field(1, "a") + field(1, "b") + field(2, "y") + field(3, "product") + field(4, "MatMul");
    return field(7, field(1, node) + field(2, "graph") + field(11, tensor("a", a)) +
                        field(11, tensor("b", b)) + field(12, tensor("y", {8, 4, 5, 7})));
  };
  const Pairs onnx = {{"format", "onnx"}};
  const Imported imported = read(graph({8, 1, 5, 6}, {8, 4, 6, 7}), onnx);
  EXPECT_THAT(sizes(imported.trace.ops.at(0)), ElementsAre(5, 6, 7, 32));
  EXPECT_THAT(sizes(read(graph({4, 5, 6}, {8, 1, 6, 7}), onnx).trace.ops.at(0)),
              ElementsAre(5, 6, 7, 32));
  EXPECT_THAT(
      [&] {
        read(graph({8, 3, 5, 6}, {8, 4, 6, 7}), onnx);
      },
      ThrowsMessage<TraceError>(HasSubstr("batches that do not match")));
}

/// A field of a message that holds a number below 128.
std::string number(unsigned field, char value) { return {static_cast<char>(field << 3U), value}; }

/// A weight of ones or, beyond the first `ones`, of zeros; float32, or fp16 if `half`.
std::string weight(const std::string& name, const std::vector<char>& sides, std::size_t ones = 1000,
                   bool half = false) {
  std::string message;
  std::size_t count = 1;
  for (const char side : sides) {
    message += number(1, side);
    count *= static_cast<std::size_t>(side);
  }
  const std::string one = half ? std::string("\x00\x3c", 2) : std::string("\x00\x00\x80\x3f", 4);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += i < ones ? one : std::string(one.size(), '\0');
  return message + number(2, half ? 10 : 1) + field(8, name) + field(9, bytes);
}

std::string whole(const std::string& name, char value) {  // an attribute
  return field(1, name) + number(3, value);
}

std::string word(const std::string& name, const std::string& value) {  // another
  return field(1, name) + field(4, value);
}

/// A node of inputs, named as its one output.
std::string node(const std::string& op, const std::vector<std::string>& inputs,
                 const std::string& output, const std::vector<std::string>& attributes = {}) {
  std::string message;
  for (const std::string& input : inputs) message += field(1, input);
  message += field(2, output) + field(4, op);
  for (const std::string& attribute : attributes) message += field(5, attribute);
  return message;
}

/// A model of nodes whose one input is x.
std::string model(const std::vector<std::string>& nodes, const std::vector<char>& x,
                  const std::vector<std::string>& weights = {}, char version = 17) {
  std::string graph = field(2, "graph") + field(11, tensor("x", x));
  for (const std::string& message : nodes) graph += field(1, message);
  for (const std::string& message : weights) graph += field(5, message);
  return number(1, 8) + field(7, graph) + field(8, number(2, version));
}

// Exporters transpose the weights of a linear layer; skipped operators may unpack them.
TEST(ImportOnnx, KnowsAWeightThatLiesOtherwise) {
  const std::string turned = model({node("Transpose", {"w"}, "t"), node("Identity", {"t"}, "i"),
                                    node("MatMul", {"x", "i"}, "y")},
                                   {3, 5}, {weight("w", {7, 5})});
  const LayerOp op = read(turned).trace.ops.at(0);
  EXPECT_EQ(op.op, "gemm");
  EXPECT_THAT(sizes(op), ElementsAre(7, 5, 3, 1));
}

// Four batches of x take one weight: a product with four times the columns, not four weights.
TEST(ImportOnnx, SharesAWeightAmongBatches) {
  const auto sizes_of = [](const std::vector<std::string>& inputs, const std::vector<char>& w) {
    return sizes(
        read(model({node("MatMul", inputs, "y")}, {4, 6, 8}, {weight("w", w)})).trace.ops.at(0));
  };
  EXPECT_THAT(sizes_of({"x", "w"}, {1, 8, 9}), ElementsAre(9, 8, 24, 1));
  EXPECT_THAT(sizes_of({"w", "x"}, {9, 6}), ElementsAre(9, 6, 32, 1));
  EXPECT_THAT(sizes_of({"x", "w"}, {4, 8, 9}), ElementsAre(9, 8, 6, 4));
}

// 10 x 10 pixels, kernel 3: as many results with a border, 5 x 5 with stride 2, 8 x 8 without.
TEST(ImportOnnx, PadsConvolutionsByTheirWord) {
  const auto columns = [](const std::string& pads, char stride) {
    return read(model({node("Conv", {"x", "w"}, "y",
                            {word("auto_pad", pads),
                             field(1, "strides") + number(8, stride) + number(8, stride)})},
                      {1, 4, 10, 10}, {weight("w", {8, 4, 3, 3})}))
        .trace.ops.at(0)
        .n;
  };
  EXPECT_EQ(columns("SAME_UPPER", 1), 100U);
  EXPECT_EQ(columns("SAME_LOWER", 2), 25U);
  EXPECT_EQ(columns("VALID", 1), 64U);
  EXPECT_EQ(columns("NOTSET", 1), 64U);
}

// Of 2 x 21 x 8: vectors of 21 along axis 1, since version 13; before it of 21 x 8. A norm is of
// all sides from its axis on.
TEST(ImportOnnx, TakesTheAxisOfSoftmaxAndNorms) {
  const auto sides = [](const std::string& op, const std::vector<std::string>& axis, char version) {
    const LayerOp row =
        read(model({node(op, {"x"}, "y", axis)}, {2, 21, 8}, {}, version)).trace.ops.at(0);
    return std::vector<std::uint64_t>{row.m, row.n};
  };
  EXPECT_THAT(sides("Softmax", {whole("axis", 1)}, 13), ElementsAre(16, 21));
  EXPECT_THAT(sides("Softmax", {}, 13), ElementsAre(42, 8));
  EXPECT_THAT(sides("Softmax", {}, 12), ElementsAre(2, 168));
  EXPECT_THAT(sides("LayerNormalization", {whole("axis", 1)}, 17), ElementsAre(168, 2));
  EXPECT_THAT(sides("LayerNormalization", {}, 17), ElementsAre(8, 42));
  EXPECT_THAT([&] { sides("Softmax", {whole("axis", 3)}, 13); },
              ThrowsMessage<TraceError>(HasSubstr("found 'axis 3'; allowed: an axis of 3 sides")));
}

// A product with a bias is the two rows that a product and an addition are.
TEST(ImportOnnx, AddsTheBiasOfAProduct) {
  const Imported one = read(model({node("Gemm", {"x", "w", "b"}, "y"), node("Relu", {"y"}, "z")},
                                  {3, 5}, {weight("w", {5, 7}), weight("b", {7})}));
  ASSERT_EQ(one.trace.ops.size(), 3U);
  EXPECT_THAT(sizes(one.trace.ops[1]), ElementsAre(7, 0, 3, 1));
  EXPECT_EQ(one.trace.ops[1].fn, "bias");
  EXPECT_THAT(one.trace.ops[1].depends_on, ElementsAre("y"));
  EXPECT_THAT(one.trace.ops[2].depends_on, ElementsAre("y.bias"));
  const Imported conv = read(model({node("Conv", {"x", "w", "b"}, "y")}, {2, 4, 10, 10},
                                   {weight("w", {8, 4, 3, 3}), weight("b", {8})}));
  EXPECT_THAT(sizes(conv.trace.ops.at(1)), ElementsAre(8, 0, 128, 1));
}

// Inputs and outputs may be left out by an empty name; a number without sides is one number.
TEST(ImportOnnx, PassesOverWhatHasNoName) {
  const Imported imported =
      read(model({node("Clip", {"x", "", "most"}, "c"),
                  field(1, "c") + field(2, "d") + field(2, "") + field(4, "Dropout"),
                  node("Sqrt", {"most"}, "s"), node("Mul", {"d", "s"}, "y")},
                 {4, 6}, {weight("most", {})}));
  ASSERT_EQ(imported.trace.ops.size(), 3U);
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(imported.trace.ops[2].depends_on, ElementsAre("c", "s"));
}

// Operators of a domain of somebody's own may have any name.
TEST(ImportOnnx, RefusesOperatorsOfOtherDomains) {
  const std::string own = node("Gemm", {"x", "w"}, "y") + field(7, "my.own");
  EXPECT_THAT(
      [&] {
        read(model({own}, {4, 2}, {weight("w", {2, 3})}));
      },
      ThrowsMessage<RequestError>(HasSubstr("without a row: my.own.Gemm")));
  EXPECT_THAT(
      [&] {
        read(model({node("Gather", {"w", "x"}, "y", {whole("axis", 1)})}, {3},
                   {weight("w", {20, 30})}));
      },
      ThrowsMessage<TraceError>(HasSubstr("found 'axis 1'; allowed: rows of a table, axis 0")));
}

// 3 of 10 numbers are not zero. The file is float32, rows are fp16.
TEST(ImportOnnx, SaysWhatRowsDoNotTakeOfWeights) {
  const auto warnings = [](bool half, std::size_t ones, const Pairs& settings) {
    return read(model({node("MatMul", {"x", "w"}, "y")}, {4, 5}, {weight("w", {5, 2}, ones, half)}),
                settings)
        .warnings;
  };
  EXPECT_THAT(warnings(false, 3, {}),
              ElementsAre(HasSubstr("1 of 1 weights have zeros, 'w' most with 70.0 %"),
                          HasSubstr("weights are float; the rows are fp16")));
  EXPECT_THAT(warnings(false, 10, {{"dtype", "fp16"}}), IsEmpty());
  EXPECT_THAT(warnings(true, 10, {}), IsEmpty());
  EXPECT_THAT(warnings(true, 3, {}), ElementsAre(HasSubstr("70.0 %")));
}

TEST(ImportOnnx, SaysWhichNameNoDimensionHas) {
  const std::string graph = seed_graph("onnx/conv.onnx");
  EXPECT_THAT(read(graph, {{"dim", "batch=3"}, {"dim", "seq=4"}, {"dtype", "fp16"}}).warnings,
              ElementsAre(HasSubstr("--dim: no dimension of this graph is 'seq'")));
  EXPECT_THAT(
      [&] {
        read(graph, {{"dim", "batch=3"}, {"dim", "batch=4"}});
      },
      ThrowsMessage<RequestError>(HasSubstr("one size for a name")));
}

/// A small list of whole numbers.
std::string list(const std::string& name, const std::vector<char>& values) {
  return number(1, static_cast<char>(values.size())) + number(2, 7) +
         field(7, std::string(values.begin(), values.end())) + field(8, name);
}

/// One whole number, without sides.
std::string index(const std::string& name, char value) {
  return number(2, 7) + field(7, {value}) + field(8, name);
}

std::string wholes(const std::string& name, const std::vector<char>& values) {  // an attribute
  std::string message = field(1, name);
  for (const char value : values) message += number(8, value);
  return message;
}

// As exporters write attention: x[2 x 3 x 8] times w gives 24 numbers, split into 8 for q, k and v;
// of q 2 heads of 4, [2 x 2 x 3 x 4] with sides that are computed from those of x, and of k
// [2 x 2 x 4 x 3], twice behind each other. The last of three tokens goes on: 2 of 8.
TEST(ImportOnnx, FollowsSidesThatOperatorsCompute) {
  const std::string split = field(1, "qkv") + field(2, "q") + field(2, "k") + field(2, "v") +
                            field(4, "Split") + field(5, whole("axis", 2));
  const Imported imported = read(model(
      {node("MatMul", {"x", "w"}, "qkv"), split, node("Shape", {"x"}, "s"),
       node("Gather", {"s", "0"}, "b"), node("Gather", {"s", "1"}, "t"),
       node("Unsqueeze", {"b", "axes"}, "b1"), node("Unsqueeze", {"t", "axes"}, "t1"),
       node("Concat", {"b1", "t1", "heads", "size"}, "sides", {whole("axis", 0)}),
       node("Reshape", {"q", "sides"}, "qr"), node("Reshape", {"k", "sides"}, "kr"),
       node("Transpose", {"qr"}, "qt", {wholes("perm", {0, 2, 1, 3})}),
       node("Transpose", {"kr"}, "kt", {wholes("perm", {0, 2, 3, 1})}),
       node("Concat", {"kt", "kt"}, "kk", {whole("axis", 3)}),
       node("MatMul", {"qt", "kk"}, "scores"),
       node("Slice", {"v", "1", "3", "1"}, "wrong"),  // starts without sides: not known
       node("Slice", {"v", "2s", "3s", "1s"}, "last"), node("MatMul", {"last", "w2"}, "y")},
      {2, 3, 8},
      {weight("w", {8, 24}), weight("w2", {8, 5}), index("0", 0), index("1", 1), list("axes", {0}),
       list("heads", {2}), list("size", {4}), list("1s", {1}), list("2s", {2}), list("3s", {3})}));
  ASSERT_EQ(imported.trace.ops.size(), 3U);
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(24, 8, 6, 1));
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(3, 4, 6, 4));
  EXPECT_THAT(sizes(imported.trace.ops[2]), ElementsAre(5, 8, 2, 1));
}

// Sides may be constants of the graph, of a runtime's own operator, and of a file that is not sure.
TEST(ImportOnnx, TakesSidesFromConstantsAndThroughOtherOperators) {
  const Imported imported =
      read(model({node("Constant", {}, "sides", {wholes("value_ints", {6, 4})}),
                  node("Reshape", {"x", "sides"}, "r"),
                  node("FastGelu", {"r"}, "g") + field(7, "com.microsoft"),
                  node("MaxPool", {"x4"}, "p", {wholes("kernel_shape", {2, 2})}),
                  node("MatMul", {"g", "w"}, "y")},
                 {2, 3, 4}, {weight("w", {4, 9})}),
           {{"skip", "MaxPool"}});
  ASSERT_EQ(imported.trace.ops.size(), 2U);
  EXPECT_THAT(sizes(imported.trace.ops[0]), ElementsAre(4, 0, 6, 1));
  EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(9, 4, 6, 1));
}

// Since version 18 the axes of a mean are an operand, and only a constant says which: an inference
// of before would take the mean of all, 1 x 1. Before, they are an attribute. The mean of columns
// of x[4 x 6] is 4 x 1, that of rows 1 x 6.
TEST(ImportOnnx, TakesAxesFromAnOperandSinceTheyAreOne) {
  const auto graph = [](const std::string& mean, char version, char k = 1) {
    return model({mean, node("MatMul", {"m", "w"}, "y")}, {4, 6},
                 {weight("w", {k, 7}), list("columns", {1}), list("rows", {0})}, version);
  };
  const auto with = [](const std::string& axes) { return node("ReduceMean", {"x", axes}, "m"); };
  const Pairs skip = {{"skip", "ReduceMean"}};
  const auto sizes_of = [&](const std::string& file) {
    return sizes(read(file, skip).trace.ops.at(0));
  };
  EXPECT_THAT(sizes_of(graph(with("columns"), 18)), ElementsAre(7, 1, 4, 1));
  EXPECT_THAT(sizes_of(graph(with("rows"), 18, 6)), ElementsAre(7, 6, 1, 1));
  EXPECT_THAT(
      sizes_of(graph(node("ReduceMean", {"x", ""}, "m", {whole("noop_with_empty_axes", 0)}), 18)),
      ElementsAre(7, 1, 1, 1));
  EXPECT_THAT(sizes_of(graph(node("ReduceMean", {"x"}, "m", {wholes("axes", {1})}), 17)),
              ElementsAre(7, 1, 4, 1));
  for (const std::string& unknown :
       {graph(with("x"), 18), graph(with("columns"), 17),
        graph(node("ReduceMean", {"x"}, "m", {whole("noop_with_empty_axes", 1)}), 18)}) {
    EXPECT_THAT([&] { read(unknown, skip); },
                ThrowsMessage<RequestError>(HasSubstr("the shape of 'm' (operator MatMul, 'y')")));
  }
}

// 8 columns in 3 are 3, 3 and 2, in 2 they are 4 and 4; in 6 nothing would be left for the last.
TEST(ImportOnnx, SplitsIntoAsManyPiecesAsVersion18Says) {
  const auto graph = [](const std::vector<std::string>& pieces, const std::string& multiplied,
                        char k, char version = 18) {
    std::string split = field(1, "x");
    for (const std::string& piece : pieces) split += field(2, piece);
    split += field(4, "Split") + field(5, whole("axis", 1)) +
             field(5, whole("num_outputs", static_cast<char>(pieces.size())));
    return model({split, node("MatMul", {multiplied, "w"}, "y")}, {5, 8}, {weight("w", {k, 7})},
                 version);
  };
  const auto sizes_of = [](const std::string& file) { return sizes(read(file).trace.ops.at(0)); };
  EXPECT_THAT(sizes_of(graph({"a", "b", "c"}, "b", 3)), ElementsAre(7, 3, 5, 1));
  EXPECT_THAT(sizes_of(graph({"a", "b", "c"}, "c", 2)), ElementsAre(7, 2, 5, 1));
  EXPECT_THAT(sizes_of(graph({"a", "b"}, "b", 4)), ElementsAre(7, 4, 5, 1));
  for (const std::string& unknown :
       {graph({"a", "b"}, "b", 4, 17), graph({"a", "b", "c", "d", "e", "f"}, "b", 2)}) {
    EXPECT_THAT([&] { read(unknown); },
                ThrowsMessage<RequestError>(HasSubstr("the shape of 'b' (operator MatMul, 'y')")));
  }
}

// 2^63 - 1 columns in 2 are 2^62 and one less: no row has as many, and nothing is taken round.
TEST(ImportOnnx, SplitsTheMostColumnsThatASideCanHave) {
  const std::string most = std::string("\x08") + std::string(8, '\xff') + "\x7f";
  const std::string x =
      field(1, "x") + field(2, field(1, std::string("\x08\x01") + field(2, field(1, most))));
  const std::string split = field(1, "x") + field(2, "a") + field(2, "b") + field(4, "Split") +
                            field(5, whole("num_outputs", 2));
  const std::string graph =
      field(2, "graph") + field(11, x) + field(1, split) + field(1, node("Relu", {"b"}, "y"));
  EXPECT_THAT(
      [&] { read(number(1, 8) + field(7, graph) + field(8, number(2, 18))); },
      ThrowsMessage<TraceError>(HasSubstr("found '4611686018427387903'; allowed: an integer")));
}

// Version 19 says how a number is rounded, 23 has norms without a mean; runtimes had them before.
TEST(ImportOnnx, ReadsOperatorsOfLaterVersions) {
  for (const char* norm : {"RMSNormalization", "SimplifiedLayerNormalization"}) {
    const Imported imported =
        read(model({node("Cast", {"x"}, "c", {whole("to", 1), whole("saturate", 1)}),
                    node(norm, {"c", "scale"}, "r"), node("Swish", {"r"}, "s"),
                    node("MatMul", {"s", "w"}, "y")},
                   {2, 3, 4}, {weight("w", {4, 9}), weight("scale", {4})}, 24));
    ASSERT_EQ(imported.trace.ops.size(), 4U) << norm;
    EXPECT_EQ(imported.trace.ops[1].op, "rmsnorm");
    EXPECT_THAT(sizes(imported.trace.ops[1]), ElementsAre(4, 0, 6, 1));
    EXPECT_EQ(imported.trace.ops[2].fn, "silu");
    EXPECT_THAT(sizes(imported.trace.ops[3]), ElementsAre(9, 4, 6, 1));
  }
}

// A vector is a row on the left of a product and a column on its right.
TEST(ImportOnnx, ReadsProductsWithVectors) {
  const auto sizes_of = [](const std::vector<char>& x, const std::vector<char>& w) {
    return sizes(
        read(model({node("MatMul", {"x", "w"}, "y")}, x, {weight("w", w)})).trace.ops.at(0));
  };
  EXPECT_THAT(sizes_of({8}, {8, 5}), ElementsAre(5, 8, 1, 1));
  EXPECT_THAT(sizes_of({3, 8}, {8}), ElementsAre(1, 8, 3, 1));
  EXPECT_THAT(sizes_of({2, 3, 8}, {8}), ElementsAre(1, 8, 6, 1));
}

TEST(ImportOnnx, SaysThatATensorIsEmpty) {
  EXPECT_THAT(
      [&] {
        read(model({node("MatMul", {"x", "w"}, "y")}, {0, 8}, {weight("w", {8, 5})}));
      },
      ThrowsMessage<RequestError>(HasSubstr("'x' (operator MatMul, 'y') has a side of 0")));
}

// 3 of 5 x 2 numbers are in the file.
TEST(ImportOnnx, ReadsSparseWeights) {
  const auto graph = [](char values, char rows) {
    const std::string sparse =
        field(1, number(1, values) + number(2, 1) + field(8, "w")) + number(3, rows) + number(3, 2);
    return number(1, 8) +
           field(7, field(1, node("MatMul", {"x", "w"}, "y")) + field(2, "graph") +
                        field(11, tensor("x", {4, 5})) + field(15, sparse)) +
           field(8, number(2, 17));
  };
  const Imported imported = read(graph(3, 5), {{"format", "onnx"}, {"dtype", "fp16"}});
  EXPECT_EQ(imported.trace.ops.at(0).op, "gemm");
  EXPECT_THAT(sizes(imported.trace.ops.at(0)), ElementsAre(2, 5, 4, 1));
  EXPECT_THAT(imported.warnings, ElementsAre(HasSubstr("'w' most with 70.0 %")));
  EXPECT_THAT(
      [&] {
        read(graph(11, 5), {{"format", "onnx"}});
      },
      ThrowsMessage<TraceError>(HasSubstr("found '11 values'; allowed: 0 to 10")));
}

}  // namespace
}  // namespace lacuna
