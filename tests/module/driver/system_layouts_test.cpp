// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/job.hpp"

namespace lacuna {
namespace {

// Nothing is simulated: the accounts of every chip in every phase, and of the machines.
TEST(SystemLayouts, EveryShippedOneFitsTheSystemItIsMeantFor) {
  const Pricing pricing(config_folder());
  ChipTimes times(pricing, 1, Engine::event);
  const std::vector<std::string> files = shipped_trainings();
  EXPECT_GE(files.size(), 30U);
  for (const std::string& file : files) {
    const system::TrainingParams training = read_training(file, {});
    if (!training.rows.value().empty() || !is_linked_system(training.system)) continue;
    const SystemMachine machine = make_system(training.system, {});
    const TrainingResult result =
        account_training({{standard_machines(), pricing, times, training, {}}, machine});
    EXPECT_EQ(misfit(result), "") << file;
    EXPECT_EQ(training.global_batch(),
              training.packing * training.micro_batch * training.accumulation * training.replicas)
        << file;
  }
}

}  // namespace
}  // namespace lacuna
