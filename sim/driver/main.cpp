// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <systemc>  // declares sc_main with C linkage

#include "sim/driver/command/program.hpp"
#include "sim/driver/run/children.hpp"

namespace {

/// A file that is opened while standard output or error is closed would take its place, and get
/// what is printed.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // NOLINTNEXTLINE(*-vararg): POSIX; open() takes the lowest free number
    if (fcntl(stream, F_GETFD) == -1) open("/dev/null", O_RDWR);
  }
}

/// Letters of a line of the terminal, or what is read well elsewhere.
std::size_t columns() {
  constexpr std::size_t kElsewhere = 100;
  winsize size = {};
  // NOLINTNEXTLINE(*-vararg): POSIX
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kElsewhere;
}

}  // namespace

int sc_main(int argc, char** argv) {
  const lacuna::InterruptLine line;
  const lacuna::Streams streams{std::cout, std::cerr, isatty(STDERR_FILENO) == 1, columns(),
                                isatty(STDOUT_FILENO) == 1};
  return lacuna::run_lacuna({argv + 1, argv + argc}, lacuna::standard_machines(), streams);
}

/// SystemC's own main, but without its greeting: standard error is for our messages.
int main(int argc, char** argv) {
  fill_closed_streams();
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
