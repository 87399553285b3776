// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/children.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/share.hpp"

namespace lacuna {

namespace {

// NOLINTBEGIN(*-avoid-non-const-global-variables): a signal handler can reach nothing else
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t listens = 0;  // to children: who listens sees the interrupt
volatile std::sig_atomic_t may_end = 0;  // an InterruptLine lives
const char* line_to_say = nullptr;
// NOLINTEND(*-avoid-non-const-global-variables)

constexpr const char* kPlain = "\nlacuna: interrupted\n";

void note_interrupt(int /*signal*/) {
  interrupted = 1;
  if (may_end == 0 || listens != 0) return;
  const ssize_t ignored = write(STDERR_FILENO, line_to_say, std::strlen(line_to_say));
  static_cast<void>(ignored);  // nobody listens
  _exit(1);
}

/// The mask of this process, but without interrupts.
sigset_t heard_signals() {
  sigset_t mask = {};
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigdelset(&mask, signal);
  return mask;
}

/// While it lives, interrupts come to note_interrupt().
class Handler {
 public:
  Handler() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = note_interrupt;  // without SA_RESTART: poll() returns
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~Handler() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

/// What a message is: something the job says, how much of it is done, or how it ended.
enum class Tag : char { text, share, end };

struct Head {
  std::uint64_t size = 0;
  Tag tag = Tag::text;
  JobEnd::Kind kind = JobEnd::Kind::done;
};

void send(int pipe, const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = write(pipe, at, size);
    if (n < 0 && errno != EINTR) _exit(0);  // the parent is gone, nobody listens
    if (n <= 0) continue;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

void send(int pipe, Tag tag, const std::string& text, JobEnd::Kind kind = JobEnd::Kind::done) {
  const Head head{text.size(), tag, kind};
  send(pipe, &head, sizeof head);
  send(pipe, text.data(), text.size());
}

struct Child {
  std::size_t job = 0;
  pid_t id = 0;
  int pipe = -1;
  std::string held;  // of a message that has not come whole
  bool has_ended = false;
};

std::string how_it_died(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("its process was ended by signal {} ({})", signal, strsignal(signal));
  }
  return fmt::format("its process ended with status {} and no result", WEXITSTATUS(status));
}

class Children {
 public:
  Children(const Jobs& jobs, Progress& progress) : jobs_(jobs), progress_(progress) {}
  ~Children() { stop(); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  bool run(std::size_t at_a_time) {
    std::size_t next = 0;
    const std::vector<std::size_t>& order = jobs_.order;
    while ((next < order.size() || !children_.empty()) && interrupted == 0) {
      if (next < order.size() && children_.size() < at_a_time) {
        start(order[next++]);
      } else {
        listen();
      }
    }
    return interrupted == 0;
  }

 private:
  void start(std::size_t job) {
    progress_.begin(jobs_.name(job));
    if (jobs_.prepare) jobs_.prepare(job);
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw SimulationError(fmt::format("no pipe: {}", strerror(errno)));
    const pid_t id = fork();
    if (id < 0) throw SimulationError(fmt::format("no child process: {}", strerror(errno)));
    if (id == 0) be_child(job, ends);
    close(ends[1]);
    children_.push_back({job, id, ends[0], ""});
  }

  [[noreturn]] void be_child(std::size_t job, const std::array<int, 2>& ends) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);    // NOLINT(*-vararg): POSIX
    if (getppid() != parent_) _exit(0);  // it died before that
    may_end = 0;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    const sigset_t heard = heard_signals();
    sigprocmask(SIG_SETMASK, &heard, nullptr);
    close(ends[0]);
    const int out = ends[1];
    listen_to_shares([out](double share) { send(out, Tag::share, fmt::format("{}", share)); });
    const JobEnd end =
        end_of_job(jobs_, job, [out](const std::string& text) { send(out, Tag::text, text); });
    send(out, Tag::end, end.text, end.kind);
    _exit(0);  // nothing of the parent's is to be flushed or destroyed twice
  }

  /// Waits until a child says something or ends, or for as long as progress may be silent.
  void listen() {
    constexpr timespec kMost = {0, 500'000'000};
    const sigset_t mask = heard_signals();  // who writes a folder holds them but here
    std::vector<pollfd> waiting;
    for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
    listens = 1;
    const int heard = interrupted != 0 ? -1 : ppoll(waiting.data(), waiting.size(), &kMost, &mask);
    if (heard == 0) progress_.wait();
    for (std::size_t i = heard > 0 ? children_.size() : 0; i-- > 0;) {
      if (waiting[i].revents != 0 && !receive(children_[i])) {
        const Child ended = std::move(children_[i]);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        finish(ended);
      }
    }
    listens = 0;
  }

  /// False at the end of what the child has to say.
  bool receive(Child& child) {
    std::array<char, std::size_t{1} << 16U> piece{};
    const ssize_t n = read(child.pipe, piece.data(), piece.size());
    if (n > 0) child.held.append(piece.data(), static_cast<std::size_t>(n));
    for (Head head; child.held.size() >= sizeof head;) {
      std::memcpy(&head, child.held.data(), sizeof head);
      if (child.held.size() < sizeof head + head.size) break;
      const std::string text = child.held.substr(sizeof head, head.size);
      child.held.erase(0, sizeof head + head.size);
      take(child, head, text);
    }
    return n > 0 || (n < 0 && errno == EINTR);
  }

  void take(Child& child, const Head& head, const std::string& text) {
    if (head.tag == Tag::text) return jobs_.heard(child.job, text);
    if (head.tag == Tag::share) return progress_.part(jobs_.name(child.job), std::stod(text));
    child.has_ended = true;
    end(child.job, {head.kind, text});
  }

  void end(std::size_t job, const JobEnd& end) {
    jobs_.ended(job, end);
    progress_.step(jobs_.name(job));
  }

  void finish(const Child& child) {
    close(child.pipe);
    int status = 0;
    while (waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
    }
    if (child.has_ended) return;
    // Ctrl-C comes to children, too
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) {
      interrupted = 1;
    }
    if (interrupted == 0) end(child.job, {JobEnd::Kind::failed, how_it_died(status)});
  }

  /// Those that wait for children of their own may end them first.
  void stop() {
    for (const Child& child : children_) kill(child.id, SIGINT);
    for (const Child& child : children_) {
      close(child.pipe);
      while (waitpid(child.id, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    children_.clear();
    listens = 0;
  }

  Handler handler_;
  pid_t parent_ = getpid();
  const Jobs& jobs_;
  Progress& progress_;
  std::vector<Child> children_;
};

}  // namespace

void JobEnd::require_done() const {
  if (kind == Kind::refused) throw RequestError(text);
  if (kind == Kind::failed) throw SimulationError(text);
  if (kind == Kind::defect) throw InternalError(text);
}

JobEnd end_of_job(const Jobs& jobs, std::size_t job, const Say& say) {
  try {
    jobs.work(job, say);
    return {};
  } catch (const RequestError& error) {
    return {JobEnd::Kind::refused, error.what()};
  } catch (const SimulationError& error) {
    return {JobEnd::Kind::failed, error.what()};
  } catch (const std::bad_alloc&) {
    return {JobEnd::Kind::failed, "There is not enough memory on this computer"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {JobEnd::Kind::failed, error.what()};
  } catch (const std::exception& error) {
    return {JobEnd::Kind::defect, error.what()};
  }
}

bool do_jobs(const Jobs& jobs, std::size_t at_a_time, Progress& progress) {
  return Children(jobs, progress).run(at_a_time);
}

std::optional<Printed> printed_by_child(
    const std::string& name, const std::function<int(std::ostream& out, std::ostream& err)>& print,
    Progress& progress, std::ostream& said) {
  constexpr char kOut = 'O';
  constexpr char kErr = 'E';
  constexpr char kStatus = 'S';
  Printed printed;
  Jobs jobs;
  jobs.order = {0};
  jobs.name = [&](std::size_t) { return name; };
  jobs.work = [&](std::size_t, const Say& say) {
    std::ostringstream out;
    std::ostringstream err;
    try {
      printed.status = print(out, err);
    } catch (...) {
      say(kErr + err.str());
      throw;
    }
    say(kErr + err.str());
    say(kOut + out.str());
    say(kStatus + fmt::format("{}", printed.status));
  };
  jobs.heard = [&](std::size_t, const std::string& text) {
    if (text[0] == kStatus) printed.status = std::stoi(text.substr(1));
    if (text[0] == kOut) printed.out = text.substr(1);
    if (text[0] == kErr) printed.err = text.substr(1);
  };
  jobs.ended = [&](std::size_t, const JobEnd& end) {
    progress.clear();
    said << printed.err;
    end.require_done();
  };
  if (!do_jobs(jobs, 1, progress)) return std::nullopt;
  progress.clear();
  return printed;
}

InterruptLine::InterruptLine() {
  line_to_say = kPlain;
  may_end = 1;
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptLine::~InterruptLine() { may_end = 0; }

void InterruptLine::say(Kept kept) {
  if (kept == Kept::lost && line_to_say != kPlain) return;  // it was said before what is kept
  line_to_say = kept == Kept::nothing ? "\nlacuna: interrupted before anything was finished\n"
                : kept == Kept::lost
                    ? "\nlacuna: interrupted; nothing is kept without --out\n"
                    : "\nlacuna: interrupted; what is finished is kept: --resume goes on\n";
}

}  // namespace lacuna
