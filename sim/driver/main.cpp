// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <systemc>  // declares sc_main with C linkage

#include "sim/driver/program.hpp"

int sc_main(int argc, char** argv) {
  const lacuna::Streams streams{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
  return lacuna::run_lacuna({argv + 1, argv + argc}, lacuna::standard_machines(), streams);
}

/// SystemC's own main, but without its greeting: standard error is for our messages.
int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
