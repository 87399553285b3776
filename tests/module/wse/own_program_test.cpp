// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/own_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/simulate.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/program/yaml_program.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_file.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

WseParams small_wafer() {
  WseParams params;
  params.set("wafer.columns", "8");
  params.set("wafer.rows", "8");
  return params;
}

OpResult run_file(const std::string& path, const Execution& execution, Pairs constants = {},
                  const WseParams& params = small_wafer()) {
  LayerOp op;
  op.op = "program";
  op.args = {{"file", path}};
  op.args.insert(op.args.end(), constants.begin(), constants.end());
  return run_own_program({"wafer", params, op, nullptr, 1, execution});
}

std::string shipped(const std::string& name) {
  return test::source_path("traces/programs/" + name + ".yaml");
}

struct Shipped {
  const char* name;
  std::uint64_t compared;  // elements that the program says something of
};

class ShippedProgram : public testing::TestWithParam<Shipped> {};

// Points of 6 cores; bins of 4; elements of y in the last core; elements of C; words of one core;
// the one element of a vector.
INSTANTIATE_TEST_SUITE_P(Programs, ShippedProgram,
                         testing::Values(Shipped{"halo", 6 * 8}, Shipped{"histogram", 4 * 4},
                                         Shipped{"spmv", 6}, Shipped{"systolic", 4 * 4},
                                         Shipped{"send_loop", 64}, Shipped{"park", 0},
                                         Shipped{"reload", 0}, Shipped{"vector", 0},
                                         Shipped{"line", 0}, Shipped{"word_tasks", 0},
                                         Shipped{"store_and_forward", 0}, Shipped{"overlap", 0},
                                         Shipped{"point_stencil", 0}, Shipped{"tiled_stencil", 0},
                                         Shipped{"local", 1}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(ShippedProgram, ComputesWhatItExpectsInBothEngines) {
  Execution execution;
  execution.values = true;
  const OpResult event = run_file(shipped(GetParam().name), execution);
  ASSERT_TRUE(event.values.has_value());
  EXPECT_EQ(event.values->compared, GetParam().compared);
  EXPECT_EQ(event.values->wrong, 0U);
  execution.engine = Engine::clocked;
  const OpResult clocked = run_file(shipped(GetParam().name), execution);
  EXPECT_EQ(clocked.values->wrong, 0U);
  EXPECT_EQ(clocked.cycles, event.cycles);
  EXPECT_EQ(clocked.notes, event.notes);
  for (const Engine engine : {Engine::event, Engine::clocked}) {
    Execution plain;
    plain.engine = engine;
    EXPECT_EQ(run_file(shipped(GetParam().name), plain).cycles, event.cycles);
  }
}

TEST(OwnProgram, IsWrongWhereAnExpectationIs) {
  const test::TempFile file(R"yaml(
cores:
  - data: {x: {type: fp32, shape: 3, values: i}}
    tasks: {main: {active: true, steps: [{add: "x, x, 1"}]}}
    read: {x: "i + if(i == 1, 2, 1)"}
)yaml",
                            ".yaml");
  Execution execution;
  execution.values = true;
  const OpResult result = run_file(file.path(), execution);
  EXPECT_EQ(result.values->compared, 3U);
  EXPECT_EQ(result.values->wrong, 1U);
  EXPECT_EQ(result.values->largest_error, 1.0);
}

Cycle cycles_of(const std::string& text, const Pairs& constants = {}) {
  const test::TempFile file(text, ".yaml");
  return run_file(file.path(), {}, constants).cycles;
}

// Scalar code takes a slot a cycle and is over in the cycle after its last; 3 rounds of 1 + 2 + 3,
// of which those with an odd counter have 10 more.
// 1 / 0 is no number that 0 to 3 are near. Integers are told whole, and the least of 16 bits is
// one.
TEST(OwnProgram, AnInfiniteExpectationIsMetByTheInfiniteAlone) {
  const auto checked = [](const std::string& data, const std::string& expected) {
    const test::TempFile file("columns: 1\ncores:\n  - data: {x: {" + data +
                              "}}\n    tasks: {main: {active: true, steps: [{add: \"x, x, 0\"}]}}\n"
                              "    read: {x: " +
                              expected + "}\n");
    Execution execution;
    execution.values = true;
    return run_file(file.path(), execution);
  };
  EXPECT_EQ(checked("type: fp32, shape: 4, values: i", "1 / 0").values->wrong, 4U);
  EXPECT_EQ(checked("type: fp32, shape: 4, values: 1 / 0", "1 / 0").values->wrong, 0U);
  EXPECT_EQ(checked("type: int16, shape: 4, values: -32768", "-32768").values->wrong, 0U);
  const OpResult whole = checked("type: int32, shape: 1, values: 8388607", "8388607");
  EXPECT_EQ(whole.values->wrong, 0U);
  EXPECT_EQ(*find_value(whole.notes, "read x"), "core (0, 0): 8388607");
}

TEST(OwnProgram, RepeatsStepsWithACounterAndLeavesOutWhatAConditionSays) {
  EXPECT_EQ(cycles_of(R"yaml(
constants: {n: 3}
cores:
  - tasks:
      main:
        active: true
        steps:
          - {repeat: n, as: k, steps: [{work: 1}, {work: 2}, {work: 3}, {work: 10, if: k % 2 == 1}]}
)yaml",
                      {{"n", "2"}}),
            12U + 10U);
}

// A word of the loop waits for its descriptor, is sent, and the loop goes back; no set-up is seen
// in the difference. Of a word that is parked the storage core's task is all that counts.
TEST(OwnProgram, ProbesCostWhatTheirCodeDoes) {
  const WseParams params = small_wafer();
  const auto each = [&](const char* name, const Pairs& more) {
    const auto cycles = [&](const char* words) {
      Pairs constants = more;
      constants.emplace_back("words", words);
      return run_file(shipped(name), {}, constants).cycles;
    };
    return (cycles("30") - cycles("20")) / 10;
  };
  EXPECT_EQ(each("send_loop", {}), params.vec.setup_use + 1 + params.scalar.loop);
  // tag, number, counter, end and store, each compared as the file says
  const unsigned taken = params.scalar.dependent + params.scalar.branch_taken;
  const unsigned not_taken = params.scalar.dependent + params.scalar.branch_not;
  const unsigned instructions =
      2 * (1 + not_taken) + 2 + params.scalar.dependent + taken + params.scalar.dependent + 1;
  EXPECT_EQ(each("park", {{"cores", "2"}}), 2 * (params.task.overhead + instructions));
}

// mul.fp32 does an element a beat: 8 of every second element, then 4 x 3 of a block.
TEST(OwnProgram, SlicesSayHowManyElementsThereAre) {
  const auto beats = [](const std::string& step) {
    return cycles_of(
        "cores:\n  - data: {x: {type: fp32, shape: 16}, a: {type: fp32, shape: [6, 5]}}\n"
        "    tasks: {main: {active: true, steps: [{" +
        step + "}]}}\n");
  };
  EXPECT_EQ(beats("mul: \"x[::2], 1, 2\""), 8U);
  EXPECT_EQ(beats("mul: \"x[8:], 1, 2\""), 8U);
  EXPECT_EQ(beats("mul: \"x[-1], 1, 2\""), 1U);
  EXPECT_EQ(beats("mul: \"a[1:-1, 1:4], 1, 2\""), 12U);
  EXPECT_EQ(beats("mul: \"a[:, 0], 1, 2\""), 6U);
}

/// A file of NumPy, version 1.0, of little-endian FP32 by rows.
std::string npy(const std::string& shape, const std::vector<float>& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(117, ' ');
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size() + 1);
  bytes += '\0';
  bytes += header + '\n';
  for (const float value : values) {
    std::array<char, sizeof value> raw{};
    std::memcpy(raw.data(), &value, sizeof value);
    bytes.append(raw.data(), raw.size());
  }
  return bytes;
}

// Core c adds column c of the file to column c of the list: 1 - 10, 4 + 0.5 and 2 + 2, 5 - 7.
TEST(OwnProgram, InputsAreListsAndFilesOfNumbersWithTheirSigns) {
  const test::TempFile a(npy("(2, 3)", {-10, 2, 99, 0.5F, -7, 99}), ".npy");
  const test::TempFile file(fmt::format(R"yaml(
columns: 2
inputs: {{a: {}, b: [[1, 2], [4, 5]]}}
cores:
  - data:
      x: {{type: fp32, shape: 2, values: "a[i, column]"}}
      y: {{type: fp32, shape: 2, values: "b[i, column]"}}
    tasks: {{main: {{active: true, steps: [{{add: "x, x, y"}}]}}}}
    read: {{x: "if(column == 0, if(i == 0, -9, 4.5), if(i == 0, 4, -2))"}}
)yaml",
                                        a.path()),
                            ".yaml");
  Execution execution;
  execution.values = true;
  const OpResult result = run_file(file.path(), execution);
  EXPECT_EQ(result.values->compared, 4U);
  EXPECT_EQ(result.values->wrong, 0U);
}

// A word says element 5 of an array of 4 in a core that has nothing else.
TEST(OwnProgram, AnIndexOutsideTheMemoryFailsTheRun) {
  const test::TempFile file(R"yaml(
columns: 2
colors: {east: 0}
cores:
  - columns: 0
    routes: {east: {rx: ramp, tx: east}}
    tasks: {main: {active: true, steps: [{move: "east, 5 * 65536", type: int32, length: 1}]}}
  - columns: 1
    data: {x: {type: int32, shape: 4}}
    routes: {east: {rx: west, tx: ramp}}
    tasks: {count: {color: east, steps: [{add: "x[upper], x[upper], 1"}]}}
)yaml",
                            ".yaml");
  Execution execution;
  execution.values = true;
  EXPECT_THROW(run_file(file.path(), execution), SimulationError);
}

// The sender has more words than the receiver takes, or fewer.
TEST(OwnProgram, ARunThatNeverEndsNamesTheCoreAndWhatItWaitsFor) {
  const auto deadlock = [](const char* sent, const char* taken) -> std::string {
    const test::TempFile file(R"yaml(
constants: {sent: 4, taken: 4}
columns: 2
colors: {east: 3}
cores:
  - columns: 0
    routes: {east: {rx: ramp, tx: east}}
    tasks: {main: {active: true, steps: [{move: "east, 1", length: sent}]}}
  - columns: 1
    data: {x: {type: fp32, shape: taken}}
    routes: {east: {rx: west, tx: ramp}}
    tasks: {main: {active: true, steps: [{move: "x, east"}]}}
)yaml",
                              ".yaml");
    try {
      run_file(file.path(), {}, {{"sent", sent}, {"taken", taken}});
    } catch (const DeadlockError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(deadlock("4", "4"), "");
  EXPECT_NE(deadlock("4", "6").find("core (1, 0): the main thread at element 4 of 6 waits for "
                                    "words of color 3"),
            std::string::npos);
  EXPECT_NE(deadlock("6", "4").find("core (1, 0): nothing takes words of color 3"),
            std::string::npos);
}

/// A row of 6 cores that pass a number on, each adding what `let` says of it.
const char* const kChain =
    "constants: {type: fp32}\ncolumns: 6\ncolors: {hand: [4, 9]}\ncores:\n"
    "  - let: {own: column % 2, more: own * 10}\n"
    "    data: {x: {type: type, shape: 1, values: 1}}\n"
    "    tasks: {main: {active: true, steps: [\n"
    "      {add: \"x, hand[1 - own], more\", if: first == 0},\n"
    "      {move: \"hand[own], x\", if: last == 0}]}}\n"
    "    read: {x: floor((column + 1) / 2) * 10 + 1}\n"
    "  - {columns: ':-1', let: {last: 0}, routes: {'hand[own]': {rx: ramp, tx: east}}}\n"
    "  - {columns: '1:', let: {first: 0}, routes: {'hand[1 - own]': {rx: west, tx: ramp}}}\n"
    "  - {columns: 0, let: {first: 1}}\n"
    "  - {columns: -1, let: {last: 1}}\n"
    "  - {columns: '6:', let: {first: 1}}\n"
    "  - {if: column > 5, data: {y: {type: fp16, shape: 1}}}\n";

// The first core sends its 1. Those of odd columns add 10 to what comes: 1, 11, 11, 21, 21, 31.
TEST(OwnProgram, LetNamesNumbersOfACoreAndColorsOfOneNameAreCounted) {
  const test::TempFile file(kChain, ".yaml");
  Execution execution;
  execution.values = true;
  for (const char* const type : {"fp32", "fp16"}) {
    const OpResult result = run_file(file.path(), execution, {{"type", type}});
    ASSERT_TRUE(result.values.has_value());
    EXPECT_EQ(result.values->compared, 6U);
    EXPECT_EQ(result.values->wrong, 0U);
  }
}

// From 1 and 2: the first is the second and 1 more, 3, then the second 4, then the first 5. The
// color goes nowhere, as its route is left out.
TEST(OwnProgram, SeveralTasksAndArraysOfOneNameAreCounted) {
  const test::TempFile file(R"yaml(
colors: {east: 0}
cores:
  - data:
      x[0]: {type: fp32, shape: 4, values: 1}
      x[1]: {type: fp32, shape: 4, values: 2}
    routes: {east: {rx: ramp, tx: east, if: columns > 1}}
    tasks:
      part[k]:
        repeat: 3
        as: k
        active: k == 0
        steps:
          - add: x[k % 2][0:4], x[1 - k % 2], 1
          - {activate: "part[k + 1]", if: k < 2}
    read: {"x[0]": 5, "x[1]": 4}
)yaml",
                            ".yaml");
  Execution execution;
  execution.values = true;
  const OpResult result = run_file(file.path(), execution);
  EXPECT_EQ(result.values->compared, 8U);
  EXPECT_EQ(result.values->wrong, 0U);
}

// The ends, and two kinds within: cores for which `let` says the same are written once. A formula
// of the place is another core each.
TEST(OwnProgram, CoresOfAKindAreWrittenOnce) {
  const WseParams params = small_wafer();
  const auto programs = [&](const std::string& text) {
    const test::TempFile file(text, ".yaml");
    const wse::TaskProgram program = read_program(file.path(), {}, params, false).program;
    return std::set<std::uint32_t>(program.core_of.begin(), program.core_of.end()).size();
  };
  EXPECT_EQ(programs(kChain), 4U);
  std::string by_place = kChain;
  by_place.replace(by_place.find("more\""), 5, "column\"");
  EXPECT_EQ(programs(by_place), 6U);
}

// 90,000 bytes are more than a core has: a probe asks for cycles alone, a program is refused.
TEST(OwnProgram, OnlyAProbeMayBeLongerThanAMemory) {
  const WseParams params = small_wafer();
  const Pairs constants{{"length", "15000"}};
  EXPECT_THROW((void)read_program(shipped("vector"), constants, params, false), OutOfMemoryError);
  EXPECT_EQ(shipped_program("vector", constants, params).program.core_of.size(), 1U);
}

struct Mistake {
  const char* text;
  const char* said;  // line, column and what is wrong
};

std::string refusal_of(const std::string& text) {
  const test::TempFile file(text, ".yaml");
  try {
    run_file(file.path(), {});
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.compare(0, file.path().size(), file.path()) == 0 ? what.substr(file.path().size())
                                                                 : what;
  }
  return "nothing is wrong";
}

const char* const kHead = "columns: 2\ncolors: {east: 0}\ncores:\n";

// NOLINTNEXTLINE(readability-function-size): a table
TEST(OwnProgram, SaysByLineWhatIsWrong) {
  const std::vector<Mistake> mistakes = {
      {"  - columns: 1\n    routes: {east: {rx: ramp, tx: east}}\n",
       ":5:20: color east leaves core (1, 0) to the east, where the rectangle ends"},
      {"  - columns: 0\n    routes: {east: {rx: ramp, tx: east}}\n",
       ":5:20: color east leaves core (0, 0) to the east, where core (1, 0) has no route with `rx` "
       "from there"},
      {"  - columns: 1\n    routes: {east: {rx: west, tx: ramp}}\n",
       ":5:20: color east is awaited by core (1, 0) from the west, where core (0, 0) has no route "
       "with `tx` to it"},
      {"  - {columns: 0, routes: {east: {rx: ramp, tx: east}}}\n"
       "  - {columns: 1, routes: {east: {rx: west, tx: ramp}}}\n",
       ":5:33: color east comes to core (1, 0), which has neither a task nor an instruction that "
       "takes it"},
      {"  - tasks: {main: [{move: \"east, 1\", length: 1}]}\n",
       ":4:27: core (0, 0) sends color east, of which its router has no such route"},
      {"  - tasks:\n      a: {color: east, steps: []}\n      b: {color: east, steps: []}\n",
       ":6:11: a second task on color east; the first is in line 5"},
      {"  - tasks: {main: [{mov: \"x, 1\"}]}\n",
       ":4:21: found 'mov'; allowed: abs, add, divide, erf, exp, fma, max, move, mul, rsqrt, "
       "sigmoid, sub, tanh, work, activate, block, unblock, stamp, repeat; did you mean 'move'?"},
      {"  - columns: 2\n", ":4:14: found '2'; allowed: 0 to 1, as N, A:B or A:B:STEP"},
      {"  - data: {x: {type: fp32, shape: 2}}\n    tasks: {main: [{mul: \"x[2], x, 1\"}]}\n",
       ":5:26: found '2'; allowed: 0 to 1, as N, A:B or A:B:STEP"},
      {"  - data: {x: {type: fp32, shape: 2}, y: {type: fp32, shape: 3}}\n"
       "    tasks: {main: [{add: \"x, x, y\"}]}\n",
       ":5:26: operand 1 has 2 elements; allowed: 3 or 1"},
      {"  - data: {x: {type: fp64, shape: 2}}\n",
       ":4:22: found 'fp64'; allowed: fp16, fp32, int16, int32"},
      {"  - tasks: {main: {active: true, steps: [{activate: mian}]}}\n",
       ":4:53: found 'mian'; allowed: main; did you mean 'main'?"},
      {"  - tasks: {a: [{work: 1}, {activate: b}], b: [{activate: a}]}\n",
       ":4:13: task 'a' activates itself and never ends; allowed: `repeat: N`"},
      {"  - tasks: {main: [{work: scalar.lop}]}\n",
       ":4:27: found 'scalar.lop'; allowed: column, columns, row, rows, or a parameter of the "
       "machine such as scalar.loop"},
      {"  - data: {x: {type: fp32, shape: 20000}}\n",
       ":4:15: x with 80000 bytes of core (0, 0) before its end; allowed: 45056 (mem.kib less "
       "kernel.code_kib)"},
      {"  - data: {x: {type: int32, shape: 1, values: 0.5}}\n    tasks: {main: [{mul: \"x[upper], "
       "1, 2\"}]}\n",
       ":4:47: found 0.5 in x; allowed: whole numbers of 32 bits, of which the highest 24 may "
       "be "
       "set"},
      {"  - data: {x: {type: fp16, shape: 1, values: 40000 + 30000}}\n    tasks: {main: "
       "[{mul: \"x[upper], 1, 2\"}]}\n",
       ":4:46: found 70000 in x; allowed: to 65504"},
      {"  - data: {x: {type: int16, shape: 1, values: 32768}}\n    tasks: {main: [{mul: "
       "\"x[upper], 1, 2\"}]}\n",
       ":4:47: found 32768 in x; allowed: whole numbers of 16 bits, of which the highest 24 may "
       "be set"},
      {"  - {columns: 0, columns: 1}\n", ":4:18: 'columns' is given twice"},
      {"  - let: {a: 1}\n  - {columns: 1, let: {a: 2}}\n", ":5:24: 'a' is given twice"},
      {"  - {columns: 3:3}\n", ":4:15: found '3:3'; allowed: 0 to 1, as N, A:B or A:B:STEP"},
      {"  - {columns: 0, routes: {\"east[1]\": {rx: ramp, tx: east}}}\n",
       ":4:27: found 'east[1]'; allowed: east"},
      {"  - {columns: 0, routes: {east: {rx: ramp, tx: east}}}\n"
       "  - routes: {east: {rx: ramp, tx: east}}\n",
       ":5:20: color east of core (0, 0) has a route from there in line 4 already"},
  };
  for (const Mistake& each : mistakes) {
    EXPECT_EQ(refusal_of(kHead + std::string(each.text)), each.said) << each.text;
  }
  EXPECT_EQ(refusal_of("columns: 9\ncores: []\n"), ":1:10: columns = 9; wafer.columns is 8");
}

}  // namespace
}  // namespace lacuna
