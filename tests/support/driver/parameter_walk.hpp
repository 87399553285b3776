// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace lacuna::test {

/// What a parameter moves at least: cycles; bytes of memory, fabric or edge; joules; the time and
/// the bytes of the host, which are statistics; or, of limits of memory, whether there is a result.
enum class Moves { cycles, bytes, joules, host, fits };

struct Step {
  const char* path;
  const char* value;  // that it is moved to
  const char* what;   // of cases()
  Moves moves;
  std::vector<std::string> with = {};  // settings of both runs
};

/// A machine, and a row of a trace after its id.
struct Case {
  const char* machine;
  std::vector<std::string> settings;
  const char* row;
  const char* x = ",";  // x_pattern,x_density
};

/// By name.
const std::map<std::string, Case>& cases();

const std::vector<Step>& steps();

/// Parameters that have no step, and why: with the citation of a training step, which
/// system_walk_test.cpp names, the five that there may be.
const std::map<std::string, std::string>& without_a_step();

/// Parameters of what is measured with programs of its own: a published point of such a probe, and
/// what the point comes to moves.
struct ProbeStep {
  const char* path;
  const char* value;
  const char* system;
  const char* workload;
  std::map<std::string, std::string> parameters;
  const char* metric;
};

const std::vector<ProbeStep>& probe_steps();

/// Parameters of what is around wafers that share a store of weights.
struct StoreStep {
  const char* path;
  const char* value;
  const char* what;  // of cases()
};

const std::vector<StoreStep>& store_steps();

/// For the names of tests.
template <class Any>
void print_step(const Any& step, std::ostream* out) {
  *out << step.path << "=" << step.value;
}
inline void PrintTo(const Step& step, std::ostream* out) { print_step(step, out); }
inline void PrintTo(const ProbeStep& step, std::ostream* out) { print_step(step, out); }
inline void PrintTo(const StoreStep& step, std::ostream* out) { print_step(step, out); }

}  // namespace lacuna::test
