// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/training.hpp"

#include <algorithm>
#include <exception>
#include <sstream>

#include "sim/base/error.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/driver/run/machine_table.hpp"
#include "sim/driver/system/fit.hpp"

namespace lacuna::test {

namespace {

const Pricing& prices() {
  static const Pricing pricing(config_folder());
  return pricing;
}

ChipTimes& times() {
  static ChipTimes times(prices(), 1, Engine::event);
  return times;
}

template <typename Ask>
auto with_job(const SmallTraining& asked, const Ask& ask) {
  const SystemMachine machine = asked.machine();
  return ask(TrainingJob({standard_machines(), prices(), times(), asked.training, {}, 1}, machine));
}

}  // namespace

SmallTraining::SmallTraining()
    : settings_{"chip.ipu.tiles=192", "gateway.update_ms=0.01", "machines=4"} {
  for (const char* const word :
       {"model=bert-tiny", "tokens=16", "predictions=4", "micro_batch=2", "accumulation=4"}) {
    set(std::string("training.") + word);
  }
}

SmallTraining::SmallTraining(Random& random) : SmallTraining() {
  const auto one_of = [&](const std::string& word, const std::vector<std::string>& values) {
    set("training." + word + "=" + values[random.bounded(values.size())]);
  };
  one_of("model_layers", {"1", "2", "4"});
  one_of("accumulation", {"1", "2", "3", "6"});
  one_of("tensor", {"1", "1", "2"});
  one_of("pipeline", {"1", "2", "4"});
  one_of("replicas", {"1", "2", "2"});
  one_of("rts", {"1", "2"});
  one_of("rts_state", {"1", "2"});
  one_of("head_stage", {"0", "1"});
  one_of("schedule", {"grouped", "1f1b", "sequential"});
  one_of("activations", {"stored", "recomputed", "offloaded"});
  one_of("state", {"chip", "streaming"});
  one_of("phases", {"1", "1", "2"});
  one_of("optimizer", {"sgd", "sgdm", "adamw", "lamb"});
  one_of("recipe", {"plain", "conventional", "ipu-mixed"});
  one_of("io_tiles", {"0", "0", "8"});
}

SmallTraining& SmallTraining::set(const std::string& setting) {
  const std::string prefix = "training.";
  if (setting.rfind(prefix, 0) != 0) {
    const std::string path = setting.substr(0, setting.find('=') + 1);
    settings_.erase(
        std::remove_if(settings_.begin(), settings_.end(),
                       [&](const std::string& each) { return each.rfind(path, 0) == 0; }),
        settings_.end());
    settings_.push_back(setting);
    return *this;
  }
  const std::size_t at = setting.find('=');
  std::string value = setting.substr(at + 1);
  if (value == "''") value.clear();
  training.set(setting.substr(prefix.size(), at - prefix.size()), value);
  return *this;
}

SmallTraining& SmallTraining::set_all(const std::string& words) {
  std::istringstream text(words);
  std::string word;
  while (text >> word) {
    if (word != "--set") set(word);
  }
  return *this;
}

SystemMachine SmallTraining::machine() const {
  std::vector<std::string> settings = settings_;
  return make_system("pod16", settings);
}

TrainingResult SmallTraining::account() const {
  return with_job(*this, [](const TrainingJob& job) { return account_training(job); });
}

std::string SmallTraining::refusal() const {
  try {
    training.check();
    return misfit(account());
  } catch (const std::exception& error) {
    return error.what();
  }
}

TrainingResult SmallTraining::run() const {
  return with_job(*this, [](const TrainingJob& job) { return simulate_training(job); });
}

std::string SmallTraining::advice() const {
  return with_job(*this, [](const TrainingJob& job) { return nearest_fit(job); });
}

std::uint64_t bytes_of(const system::Program& program, system::Way way) {
  std::uint64_t bytes = 0;
  for (const system::Repeat& repeat : program.order) {
    for (const system::Transfer& transfer : program.segments[repeat.segment].transfers) {
      if (transfer.way == way) bytes += transfer.bytes * repeat.times;
    }
  }
  return bytes;
}

}  // namespace lacuna::test
