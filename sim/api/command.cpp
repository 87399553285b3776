// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sstream>

#include "sim/api/hidden.hpp"
#include "sim/driver/command/program.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna::api {

namespace {

constexpr char kOut = 'O';
constexpr char kErr = 'E';
constexpr char kStatus = 'S';

/// The program, with its streams into what it says.
void be_program(const std::vector<std::string>& arguments, const Say& say) {
  const InterruptLine line;
  std::ostringstream printed;
  std::ostringstream said;
  const int status = run_lacuna(arguments, standard_machines(), {printed, said});
  say(kErr + said.str());
  say(kOut + printed.str());
  say(kStatus + fmt::format("{}", status));
}

}  // namespace

Printed command(const std::vector<std::string>& arguments) {
  Printed printed;
  std::ostringstream nowhere;
  Progress progress(nowhere, true, false, 1);
  Jobs jobs;
  jobs.order = {0};
  jobs.name = [](std::size_t) { return std::string("lacuna"); };
  jobs.work = [&](std::size_t, const Say& say) { be_program(arguments, say); };
  jobs.heard = [&](std::size_t, const std::string& text) {
    if (text[0] == kStatus) printed.status = std::stoi(text.substr(1));
    if (text[0] != kStatus) (text[0] == kOut ? printed.out : printed.err) = text.substr(1);
  };
  jobs.ended = [](std::size_t, const JobEnd& end) { end.require_done(); };
  if (!do_jobs(jobs, 1, progress)) throw Interrupted("interrupted");
  return printed;
}

}  // namespace lacuna::api
