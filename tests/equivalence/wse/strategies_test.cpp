// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/wse/simulate.hpp"
#include "models/wse/task_outcome.hpp"
#include "tests/support/wse/shipped_program.hpp"
#include "workloads/mapping/wse/kernels/task_kernels.hpp"

namespace lacuna::wse {
namespace {

TaskProgram stencil() {
  StencilJob job;
  job.rows = 3;
  job.columns = 40;
  job.width = 6;
  return plan_stencil(job, CodeCosts()).program;
}

TEST(Strategies, TheFirstThatRunsAProgramIsTaken) {
  EXPECT_EQ(simulate({}, stencil(), {}).strategy, "in lanes");
}

TEST(Strategies, EachThatWasNotTakenSaysWhy) {
  TaskParams params;
  params.router.arbiter = Arbiter::oldest;
  RunOptions unfolded;
  unfolded.fold = false;
  EXPECT_EQ(simulate(params, stencil(), unfolded).strategy,
            "unit by unit; not in lanes: routers choose by the age of words; "
            "not lines that repeat once: switched off");
  RunOptions clocked;
  clocked.engine = Engine::clocked;
  EXPECT_EQ(simulate({}, stencil(), clocked).strategy,
            "unit by unit; not in lanes: the clocked engine is the definition; "
            "not lines that repeat once: the clocked engine is the definition");
}

}  // namespace
}  // namespace lacuna::wse
