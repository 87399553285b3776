// SPDX-License-Identifier: Apache-2.0
// edit_oracle CASES: random programs of every family, in every way that takes them, against an
// oracle that has the same edit as the hardware's text. Fails if one of them differs, or if nothing
// of a family is compared.

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <systemc>  // declares sc_main with C linkage
#include <vector>

#include "models/wse/lanes/lane_wafer.hpp"
#include "tests/support/wse/random_forms.hpp"
#include "tests/support/wse/random_streams.hpp"
#include "tests/support/wse/task_comparison.hpp"

namespace lacuna::wse {
namespace {

struct Family {
  const char* name;
  /// As compare_tasks(); `faster` is increased by the ways of `event` beside the plain one.
  std::function<std::string(std::uint64_t seed, unsigned& faster)> compare;
};

Family family_of_tasks(const char* name, TaskCase (*make)(std::uint64_t)) {
  return {name, [make](std::uint64_t seed, unsigned& faster) {
            const TaskCase made = make(seed);
            if (lanes::simulate_lanes(made.params, made.program).refused.empty()) ++faster;
            return compare_tasks(made, seed);
          }};
}

Family family_of_streams(const char* name, StreamCase (*make)(std::uint64_t)) {
  return {name, [make](std::uint64_t seed, unsigned& faster) {
            return compare_streams(make(seed), seed, faster);
          }};
}

TaskCase any_tasks(std::uint64_t seed) { return random_tasks(seed); }

int compare(std::uint64_t cases) {
  const std::vector<Family> families = {
      family_of_tasks("tasks", any_tasks), family_of_tasks("lines", random_relays),
      family_of_tasks("circles", random_shifts), family_of_streams("products", random_streams),
      family_of_streams("gradients", random_gradient)};
  std::string told;
  bool good = true;
  for (const Family& family : families) {
    std::uint64_t compared = 0;
    std::uint64_t wrong = 0;
    unsigned faster = 0;
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
      const std::string result = family.compare(seed, faster);
      if (result != "waits") ++compared;
      if (!differs(result)) continue;
      if (++wrong == 1) fmt::print("{} {}: {}\n", family.name, seed, result);
    }
    told +=
        fmt::format("{}{} {} ({} faster)", told.empty() ? "" : ", ", compared, family.name, faster);
    good = good && wrong == 0 && compared != 0;
  }
  fmt::print("with the oracle's edit: {}{}\n", told, good ? "" : ": not as it says");
  return good ? 0 : 1;
}

}  // namespace
}  // namespace lacuna::wse

// the library of SystemC calls it
[[gnu::visibility("default")]] int sc_main(int argc, char* argv[]) {
  try {
    return lacuna::wse::compare(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
