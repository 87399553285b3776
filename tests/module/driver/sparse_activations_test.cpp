// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "models/sparsity/mask.hpp"
#include "tests/support/csv_table.hpp"
#include "tests/support/driver/real_program.hpp"
#include "tests/support/printed_row.hpp"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr const char* kSparseWafer =
    " --wide --layout first --machine wse2 --set wafer.columns=8 --set wafer.rows=8 ";
constexpr const char* kSparseChip = " --wide --machine bow --set ipu.tiles=16 ";

std::string trace(const ProgramBench& bench, const std::string& name, const std::string& cells) {
  return bench.file(
      name, "id,op,m,k,n,residency,x_pattern,x_density,x_pattern_file\ndown," + cells + "\n");
}

/// What `run` says, with its values checked.
Ran run_trace(const std::string& machine, const std::string& file) {
  return run_real("run" + machine + "--values --trace " + file);
}

/// The number after `before` in a text; 0 if it is not there.
std::uint64_t number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + before.size(), nullptr, 10);
}

TEST(SparseActivations, AreFilteredAtTheSenderOfAWaferWithResidentWeights) {
  const ProgramBench bench;
  const Ran ran =
      run_trace(kSparseWafer, trace(bench, "t.csv", "gemm,64,128,32,resident,bernoulli,0.1,"));
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("of X is zero and never leaves the sender"));
  EXPECT_THAT(ran.err, HasSubstr("equal the reference product"));
  const std::uint64_t with = number_after(ran.out, "sender: ");
  const std::uint64_t without = number_after(ran.out, "all of X (");
  EXPECT_GT(with, 0U);
  EXPECT_GT(without, with * 3 / 2) << "nine of ten activations are not sent";
}

// An instruction that a weight starts covers all tokens of a core: each takes the time of X without
// zeros. Fewer of its products are useful.
TEST(SparseActivations, GainNothingWhereTheyAreAtRest) {
  const ProgramBench bench;
  const auto ran = [&](const char* name, const std::string& zeros) {
    const std::string file = trace(bench, name, "gemm,64,128,32,streamed," + zeros);
    const Ran done = run_trace(kSparseWafer, file + " --out " + bench.path(zeros.substr(0, 5)));
    EXPECT_EQ(done.status, 0) << done.err << done.out;
    EXPECT_THAT(done.err, HasSubstr("equal the reference product"));
    return done;
  };
  EXPECT_THAT(ran("t.csv", "bernoulli,0.1,").out, HasSubstr("no zero of X is left out: "));
  ran("d.csv", "dense,,");
  const CsvTable zeros(bench.read("berno/summary.csv"));
  const CsvTable whole(bench.read("dense/summary.csv"));
  EXPECT_EQ(zeros.where({{"op_id", "down"}}).number("cycles"),
            whole.where({{"op_id", "down"}}).number("cycles"));
  EXPECT_LT(zeros.where({{"op_id", "down"}}).number("useful_flop"),
            0.2 * whole.where({{"op_id", "down"}}).number("useful_flop"));
}

TEST(SparseActivations, HaveASpeedUpOverTheProductWithAllOfX) {
  const ProgramBench bench;
  const std::string file = trace(bench, "t.csv", "gemm,64,128,32,resident,bernoulli,0.1,");
  const Ran ran = run_real("run" + std::string(kSparseWafer) + "--with-dense --trace " + file +
                           " --out " + bench.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const double with = static_cast<double>(number_after(ran.out, "sender: "));
  const double without = static_cast<double>(number_after(ran.out, "all of X ("));
  const std::string json = bench.read("out/result.json");
  const std::string key = "\"speedup_vs_dense\": ";
  const std::size_t at = json.find(key, json.find("\"operations\": "));
  ASSERT_NE(at, std::string::npos);
  EXPECT_NEAR(std::strtod(json.c_str() + at + key.size(), nullptr), without / with, 1e-12);
}

TEST(SparseActivations, MakeAutoKeepTheWeightsOnTheWafer) {
  const ProgramBench bench;
  const Ran ran =
      run_trace(kSparseWafer, trace(bench, "t.csv", "gemm,64,128,32,auto,bernoulli,0.1,"));
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("weights stay in the cores (residency auto)"));
}

TEST(SparseActivations, OfAGradientAreWhatIsStreamed) {
  const ProgramBench bench;
  const std::string file = bench.file(
      "t.csv", "id,op,phase,m,k,n,x_pattern,x_density\ndw,bmm,upd,64,128,32,bernoulli,0.1\n");
  const Ran ran = run_trace(kSparseWafer, file);
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("of X is zero and never leaves the sender"));
}

std::string attention(const ProgramBench& bench, const std::string& cells) {
  return bench.file(
      "a.csv", "id,op,m,k,n,batch,fn,pattern,density,x_pattern,x_density\nrow," + cells + "\n");
}

TEST(SparseActivations, OfAttentionAreFilteredByTheCoreThatHasThem) {
  const ProgramBench bench;
  const Ran ran = run_trace(kSparseWafer, attention(bench, "bmm,64,32,48,4,,,,bernoulli,0.1"));
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("12288 values equal the reference product"));
  EXPECT_THAT(ran.out, HasSubstr("of X is zero and never leaves the sender"));
  const std::uint64_t with = number_after(ran.out, "sender: ");
  EXPECT_GT(with, 0U);
  // of all of X an instruction of a mapped loop takes load 2, dispatch 4 and its beats for each
  // number; of one in ten, which is sent, some 40 cycles (below)
  EXPECT_GT(2 * number_after(ran.out, "all of X ("), 3 * with) << "nine of ten are not multiplied";
}

// One core, FP16, X of 4 x 4 whose mask says 5 elements, or 6 of which the last is one more. To
// list it: two stores, as long as the load of scalar.load = 2. Two slots to send its two words.
// Then, as its task is dispatched under the last beats of the one before: two descriptors,
// 2 + 4 + 2, and a beat for its number, two addresses of imul 8 and dsr_write 4 each, load 2,
// the dispatch 4, 16 / 4 beats, and the mem.fma16_stalls = 2 of 16 elements.
TEST(SparseActivations, OfAttentionTakeACoresCodeAndItsBeatsForEachElement) {
  const ProgramBench bench;
  bench.file("five.smtx", "4, 4, 5\n0 2 3 4 5\n0 2 1 3 0\n");
  bench.file("six.smtx", "4, 4, 6\n0 2 3 4 6\n0 2 1 3 0 2\n");
  const auto cycles = [&](const std::string& name) {
    const std::string file = bench.file(
        name + ".csv",
        "id,op,m,k,n,batch,x_pattern,x_pattern_file\nrow,bmm,16,4,4,1,file," + name + ".smtx\n");
    const Ran ran = run_real(
        "run --wide --layout first --machine wse2 --set wafer.columns=1 --set wafer.rows=1 "
        "--set "
        "mem.fma16_stalls=2 --values --trace " +
        file);
    EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
    return number_after(ran.out, "sender: ");
  };
  constexpr std::uint64_t kFind = 2 * 2;
  constexpr std::uint64_t kSend = 2;
  constexpr std::uint64_t kMultiply = 8 + 1 + 2 * (8 + 4) + 2 + 4 + 16 / 4 + 2;
  EXPECT_EQ(cycles("six") - cycles("five"), kFind + kSend + kMultiply);
}

// X of 4 features and 6 tokens has 6 + 2 + 2 + 2 non-zeros: 8 rows of W have 8 * 12 useful products
// of 8 * 24, of 2 FLOP. W keeps features 0 and 3 in one row: 6 + 2 products.
TEST(SparseActivations, AreInTheUsefulFlopOfATrace) {
  const ProgramBench bench;
  bench.file("x.smtx", "4, 6, 12\n0 6 8 10 12\n0 1 2 3 4 5 0 1 2 3 4 5\n");
  bench.file("w.smtx", "1, 4, 2\n0 2\n0 3\n");
  const std::string trace =
      bench.file("x.csv",
                 "id,op,m,k,n,pattern,pattern_file,x_pattern,x_pattern_file\n"
                 "a,gemm,8,4,6,,,file,x.smtx\nb,gemm,1,4,6,file,w.smtx,file,x.smtx\n");
  const std::string shown = run_real("trace show " + trace).out;
  EXPECT_THAT(printed_row(shown, "a gemm"), IsSupersetOf({"192", "384"}));
  EXPECT_THAT(printed_row(shown, "b gemm"), IsSupersetOf({"16", "48"}));
}

// Both operands of a bmm lie on the wafer: it has no kernel to choose.
TEST(SparseActivations, ADenseProductOfActivationsTakesNoMode) {
  const ProgramBench bench;
  for (const char* const mode : {"static", "dynamic", "streamed"}) {
    const std::string trace =
        bench.file("b.csv", std::string("id,op,m,k,n,batch,mode\na,bmm,8,8,8,2,") + mode + "\n");
    const Ran ran = run_real("run" + std::string(kSparseWafer) + "--trace " + trace);
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(std::string("mode '") + mode + "' of "));
  }
}

TEST(SparseActivations, AreRefusedWhereNothingLeavesThemOut) {
  const ProgramBench bench;
  const auto refused = [&](const std::string& request, const char* why) {
    const Ran ran = run_real("run" + std::string(kSparseWafer) + request);
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(why)) << request;
  };
  const std::string trace = "--trace ";
  refused(trace + attention(bench, "bmm,8,8,8,4,l1,,,bernoulli,0.1"), "no zero can be left out");
  refused(trace + attention(bench, "bmm,8,8,8,4,,unstructured,0.5,bernoulli,0.1"),
          "a masked operand says which blocks move");
  refused("--gemm 64x64x64 --x-density 0.2 --set kernel.gemm=mesh", "moves whole tiles of X");
  refused("--gemm 64x64x64 --pattern unstructured:0.2 --mode dynamic --x-density 0.2 --dtype fp32",
          "mode dynamic has a program of the cores");
}

TEST(SparseActivations, AreSaidToBeSentIfNobodyFiltersThem) {
  const ProgramBench bench;
  for (const std::string& request :
       {std::string("--gemm 64x64x64 --x-density 0.2 --residency resident"),
        "--trace " + attention(bench, "bmm,64,32,48,4,,,,bernoulli,0.1")}) {
    const Ran ran =
        run_real("run" + std::string(kSparseWafer) + "--set ws.zero_filter=false " + request);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("all of X is sent, its zeros too"));
    EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("never leaves the sender")));
    EXPECT_EQ(number_after(ran.out, "zeros too: "), number_after(ran.out, "without zeros takes "));
  }
}

TEST(SparseActivations, AreRefusedOnAnIpuUnlessSomebodyFindsTheirZeros) {
  const ProgramBench bench;
  const std::string file = trace(bench, "t.csv", "gemm,64,128,32,,bernoulli,0.1,");
  const Ran refused = run_trace(kSparseChip, file);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.out, HasSubstr("activations.encode=device or host"));
  for (const char* const who : {"device", "host"}) {
    const Ran ran =
        run_trace(std::string(kSparseChip) + "--set activations.encode=" + who + " ", file);
    EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("of X is zero, found by the"));
    EXPECT_THAT(ran.out, HasSubstr("  dynamic"));
    EXPECT_THAT(ran.err, HasSubstr("equal the reference product"));
  }
}

TEST(SparseActivations, FindingZerosCostsWhatTheParametersSay) {
  const ProgramBench bench;
  const std::string file = trace(bench, "t.csv", "gemm,64,128,32,,bernoulli,0.1,");
  const auto cycles = [&](const std::string& more) {
    const Ran ran = run_real("run" + std::string(kSparseChip) + "--set activations.encode=device " +
                             more + " --trace " + file);
    return number_after(ran.out, "(inferred cost): ");
  };
  // 128 x 32 elements on 16 tiles are 256 each, on six workers 43 for the busiest: one more bundle
  // for each is 6 x 43 clocks.
  EXPECT_EQ(cycles("--set activations.test=3") - cycles("--set activations.test=2"), 6 * 43U);
}

TEST(SparseActivations, OfABatchAreFoundByTheTilesOfEachInstance) {
  const ProgramBench bench;
  const std::string file = attention(bench, "bmm,32,48,40,5,,,,bernoulli,0.2");
  const std::string request = "run" + std::string(kSparseChip) +
                              "--set activations.encode=device --explain --trace " + file;
  const Ran fewer = run_real(request + " --values");
  ASSERT_EQ(fewer.status, 0) << fewer.err << fewer.out;
  EXPECT_THAT(fewer.err, HasSubstr("6400 values equal the reference product"));
  ASSERT_THAT(fewer.out, HasSubstr("5 instances on "));
  const std::string batch = fewer.out.substr(fewer.out.find("5 instances on "));
  const std::uint64_t groups = number_after(batch, "5 instances on ");
  const std::uint64_t tiles = number_after(batch, "groups of ");
  const std::uint64_t rounds = number_after(batch, "tiles, ");
  ASSERT_GT(groups * tiles * rounds, 0U) << fewer.out;
  EXPECT_GE(groups * rounds, 5U);
  // X has 48 x 40 elements; the busiest of six workers of a tile takes one clock in six more for
  // each of its part, in every round.
  const Ran more = run_real(request + " --set activations.test=3");
  const std::uint64_t share = (48 * 40 + tiles - 1) / tiles;
  const char* const before = "(inferred cost): ";
  EXPECT_EQ(number_after(more.out, before) - number_after(fewer.out, before),
            6 * ((share + 5) / 6) * rounds);
}

TEST(SparseActivations, OfABatchTakeTheSameCyclesInBothEngines) {
  const ProgramBench bench;
  for (const char* const who : {"device", "host"}) {
    for (const char* const shape :
         {"bmm,16,24,40,3,,,,bernoulli,0.3", "bmm,8,16,8,37,,,,channel,0.2",
          "bmm,64,8,8,2,,,,bernoulli,0.01"}) {
      const std::string request = "run" + std::string(kSparseChip) +
                                  "--values --set activations.encode=" + who + " --trace " +
                                  attention(bench, shape) + " --engine ";
      const Ran event = run_real(request + "event");
      const Ran clocked = run_real(request + "clocked");
      EXPECT_EQ(event.status, 0) << event.err << event.out;
      EXPECT_THAT(event.err, HasSubstr("equal the reference product"));
      EXPECT_EQ(event.out, clocked.out) << shape;
    }
  }
}

// All of X of every instance goes to the host: 3 x 24 x 40 halves.
TEST(SparseActivations, OfABatchAllGoToTheHost) {
  const ProgramBench bench;
  const std::string file = attention(bench, "bmm,16,24,40,3,,,,bernoulli,0.3");
  const Ran ran =
      run_real("run" + std::string(kSparseChip) + "--set activations.encode=host --trace " + file +
               " --out " + bench.path("out"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CsvTable to_host = CsvTable(bench.read("out/statistics.csv"))
                               .where({{"path", "host"}, {"name", "x_bytes"}, {"unit", "B"}});
  EXPECT_EQ(to_host.number("value"), 3 * 24 * 40 * 2);
}

TEST(SparseActivations, OfAMaskFileAreThoseOfTheFile) {
  const ProgramBench bench;
  // 4 x 2: elements (0, 0), (2, 1) and (3, 0).
  const std::string smtx = bench.file("x.smtx", "4, 2, 3\n0 1 1 2 3\n0 1 0\n");
  const auto npy = [&](const char* name, const char* type, const void* numbers, std::size_t bytes) {
    std::string header =
        std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (4, 2), }";
    header.resize(118 - 1, ' ');
    header += '\n';
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(header.size());
    text += '\0';
    text += header;
    text.append(static_cast<const char*>(numbers), bytes);
    bench.file(name, text);
  };
  const float x[8] = {1.5F, 0, 0, 0, 0, -2, 0.25F, 0};
  const bool mask[8] = {true, false, false, false, false, true, true, false};
  const std::uint8_t bytes[8] = {200, 0, 0, 0, 0, 1, 255, 0};
  npy("x.npy", "<f4", x, sizeof x);
  npy("mask.npy", "|b1", mask, sizeof mask);
  npy("bytes.npy", "|u1", bytes, sizeof bytes);
  std::string found[4];
  int at = 0;
  for (const char* const name : {"x.smtx", "x.npy", "mask.npy", "bytes.npy"}) {
    const std::string file =
        trace(bench, "t.csv", std::string("gemm,8,4,2,resident,file,,") + name);
    const Ran ran = run_trace(kSparseWafer, file);
    EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("62.5 % of X is zero"));
    found[at++] = ran.out;
  }
  for (const std::string& one : found) EXPECT_EQ(one, found[0]);
  const Ran shape =
      run_trace(kSparseWafer, trace(bench, "s.csv", "gemm,8,4,3,resident,file,,x.npy"));
  EXPECT_EQ(shape.status, 2);
  EXPECT_THAT(shape.err, HasSubstr("activations of 4 x 2"));
  const Ran none = run_trace(kSparseWafer, trace(bench, "n.csv", "gemm,8,4,2,resident,file,,"));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("E201"));
}

}  // namespace
}  // namespace lacuna::test
