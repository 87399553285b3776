// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "sim/api/hidden.hpp"
#include "sim/driver/command/program.hpp"
#include "sim/driver/run/machine_table.hpp"

namespace lacuna::api {

namespace {

using Pipe = std::array<int, 2>;

Pipe make_pipe() {
  Pipe ends{};
  if (pipe(ends.data()) != 0) throw SimulationError(fmt::format("no pipe: {}", strerror(errno)));
  return ends;
}

void send(int pipe, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n < 0 && errno != EINTR) return;  // nobody listens any more
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

/// The child: the program, with its streams into the pipes.
[[noreturn]] void be_program(const std::vector<std::string>& arguments, const Pipe& out,
                             const Pipe& err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(*-vararg): POSIX
  std::signal(SIGINT, SIG_DFL);
  std::ostringstream printed;
  std::ostringstream said;
  const int status = run_lacuna(arguments, standard_machines(), {printed, said});
  send(err[1], said.str());
  send(out[1], printed.str());
  _exit(status);
}

// a signal handler can reach nothing else
volatile std::sig_atomic_t interrupted = 0;  // NOLINT(*-avoid-non-const-global-variables)

/// While it lives, Ctrl-C is noted, for the child to be told.
class InterruptNote {
 public:
  InterruptNote() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = [](int /*signal*/) { interrupted = 1; };  // without SA_RESTART
    sigaction(SIGINT, &action, &old_);
  }
  ~InterruptNote() { sigaction(SIGINT, &old_, nullptr); }
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

 private:
  struct sigaction old_ = {};
};

/// Reads both to their ends; an interrupt is one of the child, too.
void listen(std::array<pollfd, 2>& pipes, pid_t child, Printed& printed) {
  std::string piece(std::size_t{1} << 16U, '\0');
  bool told = false;
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    const bool heard = poll(pipes.data(), pipes.size(), -1) >= 0;
    if (interrupted != 0 && !std::exchange(told, true)) kill(child, SIGINT);
    if (!heard) continue;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes.at(i).fd < 0 || pipes.at(i).revents == 0) continue;
      const ssize_t n = ::read(pipes.at(i).fd, piece.data(), piece.size());
      if (n > 0) (i == 0 ? printed.out : printed.err).append(piece, 0, static_cast<std::size_t>(n));
      if (n > 0 || (n < 0 && errno == EINTR)) continue;
      close(pipes.at(i).fd);
      pipes.at(i).fd = -1;  // poll() passes it over
    }
  }
}

}  // namespace

Printed command(const std::vector<std::string>& arguments) {
  const Pipe out = make_pipe();
  const Pipe err = make_pipe();
  const InterruptNote note;
  const pid_t id = fork();
  if (id < 0) throw SimulationError(fmt::format("no child process: {}", strerror(errno)));
  if (id == 0) be_program(arguments, out, err);
  close(out[1]);
  close(err[1]);
  std::array<pollfd, 2> pipes{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  Printed printed;
  listen(pipes, id, printed);
  int status = 0;
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted != 0) throw Interrupted("interrupted");
  if (WIFEXITED(status)) {
    printed.status = WEXITSTATUS(status);
  } else {
    throw SimulationError(fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                                      strsignal(WTERMSIG(status))));
  }
  return printed;
}

}  // namespace lacuna::api
