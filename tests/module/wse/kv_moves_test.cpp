// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/kv_moves.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "models/common/fp16.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "tests/support/wse/task_bench.hpp"

namespace lacuna::wse {
namespace {

/// Element `i` of the piece that is the `piece`-th from the end, of a tensor.
float value(std::uint32_t tensor, std::uint32_t piece, std::uint32_t i) {
  return static_cast<float>(1 + i + 16 * piece + 512 * tensor);
}

class Row {
 public:
  explicit Row(const RowFill& job) : job_(job), space_(job) {}

  Cycle cycles() const { return run_tasks(plan_row_fill(job_, costs_, params_)).cycles; }

  /// Numbers where they come from: at the end of the row, or in each core.
  TaskOutcome run(Engine engine) const {
    TaskProgram program = plan_row_fill(job_, costs_, params_);
    std::uint32_t kept = 0;
    for (std::uint32_t core = 0; core < job_.cores; ++core) {
      MemoryImage image(space_.bytes);
      if (job_.outwards && core > 0 && job_.keeps(core)) put(image, 0, kept++);
      for (std::uint32_t piece = 0; !job_.outwards && core == 0 && piece < job_.passes(0);
           ++piece) {
        put(image, piece, piece);
      }
      program.memory.push_back(std::move(image).take());
    }
    return run_tasks(program, engine);
  }

  void expect_all(const TaskOutcome& outcome) const {
    std::uint32_t piece = 0;
    for (std::uint32_t core = 1; core < job_.cores; ++core) {
      if (!job_.keeps(core)) continue;
      for (std::uint32_t tensor = 0; tensor < job_.tensors; ++tensor) {
        for (std::uint32_t i = 0; i < job_.halves; ++i) {
          const std::uint32_t at = space_.at(tensor, job_.outwards ? piece : 0) + 2 * i;
          const auto& memory = outcome.memory[job_.outwards ? 0 : core];
          EXPECT_EQ(load_element(memory, at, false, false), value(tensor, piece, i))
              << core << " " << tensor << " " << i;
        }
      }
      ++piece;
    }
  }

 private:
  void put(MemoryImage& image, std::uint32_t place, std::uint32_t piece) const {
    for (std::uint32_t tensor = 0; tensor < job_.tensors; ++tensor) {
      for (std::uint32_t i = 0; i < job_.halves; ++i) {
        image.put(space_.at(tensor, place) + 2 * i, Element::fp16, value(tensor, piece, i));
      }
    }
  }

  RowFill job_;
  RowFillSpace space_;
  CodeCosts costs_;
  InferenceParams params_;
};

RowFill job_of(std::uint32_t cores, std::uint32_t block, bool outwards) {
  RowFill job;
  job.cores = cores;
  job.tensors = 2;
  job.halves = 5;
  job.block = block;
  job.outwards = outwards;
  job.whole = true;
  return job;
}

// Keys and values of a row of cores arrive where they belong, and come back in the same order.
TEST(KvMoves, EveryPieceOfEveryTensorArrives) {
  for (const bool outwards : {false, true}) {
    for (const auto& [cores, block] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
             {2, 0}, {3, 0}, {7, 0}, {8, 2}, {6, 3}}) {
      const Row row(job_of(cores, block, outwards));
      const TaskOutcome event = row.run(Engine::event);
      row.expect_all(event);
      EXPECT_EQ(difference(event, row.run(Engine::clocked)), "") << cores << " " << block;
    }
  }
}

// What is timed has no place for all pieces, which changes no cycle; and tensors behind the first
// take the same each, so that two stand for any number.
TEST(KvMoves, TensorsFollowEachOtherAtOnePace) {
  for (const bool outwards : {false, true}) {
    for (const std::uint32_t block : {0U, 4U}) {
      RowFill job = job_of(16, block, outwards);
      const Cycle whole = Row(job).cycles();
      job.whole = false;
      const Cycle two = Row(job).cycles();
      EXPECT_EQ(two, whole);
      job.tensors = 1;
      const Cycle one = Row(job).cycles();
      job.tensors = 7;
      EXPECT_EQ(Row(job).cycles(), one + 6 * (two - one)) << outwards << " " << block;
    }
  }
}

}  // namespace
}  // namespace lacuna::wse
