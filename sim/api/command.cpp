// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "sim/api/hidden.hpp"
#include "sim/driver/command/program.hpp"
#include "sim/driver/run/children.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna::api {

Printed command(const std::vector<std::string>& arguments) {
  std::ostringstream said;
  Progress progress(said, true, false, 1);
  const auto print = [&](std::ostream& out, std::ostream& err) {
    const InterruptLine line;
    return run_lacuna(arguments, standard_machines(), {out, err});
  };
  const auto printed = printed_by_child("lacuna", print, progress, said);
  if (!printed) throw Interrupted("interrupted");
  return {printed->status, printed->out, printed->err};
}

}  // namespace lacuna::api
