// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/api/lacuna.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/machines/machine.hpp"
#include "sim/report/tables/summary.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna::api {

/// What the classes of the library stand for; not installed.

struct Machine::Hidden {
  std::string file;                                           // a preset's name, or a path
  std::string label;                                          // may be empty
  std::vector<std::pair<std::string, std::string>> settings;  // each path once
  std::unique_ptr<lacuna::Machine> machine;
};

struct Workload::Hidden {
  std::vector<std::string> arguments;     // that name it; or
  std::optional<WorkloadTrace> workload;  // itself
};

struct Result::Hidden {
  std::vector<RunRecord> records;
  std::string workload;
  std::vector<std::string> command;  // the arguments of a request that says the same
};

/// Further wants of a caller who keeps the result in memory.
struct Wants {
  bool events = false;  // RunRecord's event logs
};

Result run_machines(const std::string& verb, const std::vector<const Machine*>& machines,
                    const Workload& workload, const Words& words, const Wants& wants,
                    std::ostream* said);

/// Calls `function`; what it throws becomes an Error of the library.
template <class Function>
auto translated(const Function& function) -> decltype(function());

[[noreturn]] void throw_translated();

template <class Function>
auto translated(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    throw_translated();
  }
}

}  // namespace lacuna::api
