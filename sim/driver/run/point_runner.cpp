// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/point_runner.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/machines/measure.hpp"
#include "sim/machines/system/parameters_of.hpp"

namespace lacuna {

namespace {

// a signal handler can reach nothing else
volatile std::sig_atomic_t interrupted = 0;  // NOLINT(*-avoid-non-const-global-variables)

void note_interrupt(int /*signal*/) { interrupted = 1; }

/// While it lives, Ctrl-C and SIGTERM are noted instead of ending the process.
class InterruptNote {
 public:
  InterruptNote() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = note_interrupt;  // without SA_RESTART: poll() returns
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptNote() { restore(); }
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  /// In a child: signals end it again.
  void restore() const {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
};

/// A running child and what it has sent so far: a letter and its text.
struct Child {
  std::size_t point = 0;
  pid_t id = 0;
  int pipe = -1;
  std::string message;
};

void send(int pipe, const std::string& message) {
  std::size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n = write(pipe, message.data() + sent, message.size() - sent);
    if (n < 0 && errno != EINTR) return;  // the parent is gone, nobody listens
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
}

/// The cells of a row that are known; its density is not if it was the mask that failed.
SummaryRow describe(const LayerOp& op, const Point& point, MaskStore& masks) {
  const Mode mode = point.machine->default_mode();
  try {
    return describe_op(op, masks.mask(op, point.workload), mode);
  } catch (const std::exception&) {
    SummaryRow row = describe_op(op, nullptr, mode);
    row.density.reset();
    return row;
  }
}

/// The record of a point without a result; `describe_row` tells what is known of an operation.
RunRecord record_without_result(const Point& point, const RunSettings& common, Status status,
                                const std::string& reason,
                                const std::function<SummaryRow(const LayerOp&)>& describe_row) {
  const RunSettings& settings = point.settings_or(common);
  RunRecord record = new_record(point, common);
  record.parameters = parameter_values(*point.machine);
  for (const LayerOp& op : point.workload.ops) {
    OpRecord without;
    without.row = describe_row(op);
    without.row.run = point.run;
    without.row.machine = record.machine;
    without.row.engine = record.engine;
    without.row.workload = record.workload;
    without.row.seed = settings.seed;
    without.row.status = without.result.status = status;
    without.row.reason = without.result.reason = reason;
    record.ops.push_back(std::move(without));
  }
  record.total = total_of(record.ops);
  add_varying(record, point);
  return record;
}

/// The record of a point whose process ended without a result.
RunRecord failed_record(const Point& point, const RunSettings& common, const std::string& reason) {
  MaskStore masks(point.settings_or(common).seed);
  return record_without_result(point, common, Status::failed, reason,
                               [&](const LayerOp& op) { return describe(op, point, masks); });
}

class Runner {
 public:
  Runner(const std::vector<Point>& points, const RunSettings& settings, MaskStore& masks,
         const Pricing& pricing, Progress& progress, const Forking& forking)
      : points_(points),
        settings_(settings),
        masks_(masks),
        pricing_(pricing),
        progress_(progress),
        forking_(forking) {
    finished_.records.resize(points.size());
  }

  ~Runner() { stop_children(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Finished run(std::size_t jobs) {
    std::size_t next = 0;
    while ((next < points_.size() || !children_.empty()) && interrupted == 0) {
      if (next < points_.size() && children_.size() < jobs) {
        start(next++);
      } else {
        listen();
      }
    }
    finished_.interrupted = interrupted != 0;
    stop_children();
    return std::move(finished_);
  }

 private:
  void start(std::size_t index) {
    const Point& point = points_[index];
    const std::uint64_t seed = point.settings_or(settings_).seed;
    for (const LayerOp& op : point.workload.ops) {
      if (!forking_.masks_in_children) masks_.mask(op, point.workload, seed);
    }
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw SimulationError(fmt::format("no pipe: {}", strerror(errno)));
    const pid_t id = fork();
    if (id < 0) throw SimulationError(fmt::format("no child process: {}", strerror(errno)));
    if (id == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);    // NOLINT(*-vararg): POSIX
      if (getppid() != parent_) _exit(0);  // it died before that
      note_.restore();
      close(ends[0]);
      send(ends[1], point_message(point, settings_, masks_, pricing_));
      _exit(0);  // nothing of the parent's is to be flushed or destroyed twice
    }
    close(ends[1]);
    children_.push_back({index, id, ends[0], ""});
  }

  /// Waits until a child says something or ends.
  void listen() {
    std::vector<pollfd> waiting;
    for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), -1) < 0) return;  // interrupted
    for (std::size_t i = children_.size(); i-- > 0;) {
      if (waiting[i].revents != 0 && !receive(children_[i])) {
        const Child ended = std::move(children_[i]);
        children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
        finish(ended);
      }
    }
  }

  /// False at the end of what the child has to say.
  static bool receive(Child& child) {
    std::string piece(std::size_t{1} << 16U, '\0');
    const ssize_t n = read(child.pipe, piece.data(), piece.size());
    if (n > 0) child.message.append(piece, 0, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }

  void finish(const Child& child) {
    close(child.pipe);
    int status = 0;
    while (waitpid(child.id, &status, 0) < 0 && errno == EINTR) {
    }
    if (interrupted != 0) return;  // it may have ended for that
    const Point& point = points_[child.point];
    const bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !child.message.empty();
    RunRecord record = record_of(whole ? child.message : "F" + how_it_died(status), point,
                                 settings_, forking_.keep_going);
    if (forking_.finished) forking_.finished(child.point, record);
    finished_.records[child.point] = std::move(record);
    progress_.step(point.machine->name() + ", " +
                   (point.pattern.empty() ? point.workload.name : point.pattern));
  }

  static std::string how_it_died(int status) {
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      return fmt::format("its process was ended by signal {} ({})", signal, strsignal(signal));
    }
    return fmt::format("its process ended with status {} and no result", WEXITSTATUS(status));
  }

  void stop_children() {
    for (const Child& child : children_) {
      kill(child.id, SIGKILL);
      close(child.pipe);
      waitpid(child.id, nullptr, 0);
    }
    children_.clear();
  }

  InterruptNote note_;
  pid_t parent_ = getpid();
  const std::vector<Point>& points_;
  const RunSettings& settings_;
  MaskStore& masks_;
  const Pricing& pricing_;
  Progress& progress_;
  const Forking& forking_;
  std::vector<Child> children_;
  Finished finished_;
};

}  // namespace

std::string point_message(const Point& point, const RunSettings& settings, MaskStore& masks,
                          const Pricing& pricing) {
  try {
    return "R" + encode_record(run_point(point, settings, masks, pricing));
  } catch (const RequestError& error) {
    return std::string("Q") + error.what();
  } catch (const std::bad_alloc&) {
    return "FThere is not enough memory on this computer";
  } catch (const std::exception& error) {
    return std::string("I") + error.what();
  }
}

RunRecord record_of(const std::string& message, const Point& point, const RunSettings& settings,
                    bool keep_going) {
  const char kind = message.front();
  const std::string text = message.substr(1);
  if (kind == 'R') return decode_record(text);
  if (kind == 'Q' && !keep_going) throw RequestError(text);
  if (kind == 'I' && !keep_going) throw InternalError(text);
  return failed_record(point, settings, kind == 'I' ? kDefectMark + text : text);
}

RunRecord interrupted_record(const Point& point, const RunSettings& settings) {
  const Mode mode = point.machine->default_mode();
  return record_without_result(point, settings, Status::interrupted,
                               "not simulated: the run was interrupted before",
                               [&](const LayerOp& op) {
                                 SummaryRow row = describe_op(op, nullptr, mode);
                                 if (op.pattern.name != "dense") {
                                   row.density.reset();  // that of a mask, which nobody made
                                   row.mode = word(op.mode == Mode::automatic ? mode : op.mode);
                                 }
                                 return row;
                               });
}

namespace {

Finished run_here(const std::vector<Point>& points, const RunSettings& settings, MaskStore& masks,
                  const Pricing& pricing, Progress& progress, const Forking& forking) {
  Finished finished;
  for (const Point& point : points) {
    RunRecord record = run_point(point, settings, masks, pricing);
    if (forking.finished) forking.finished(finished.records.size(), record);
    finished.records.emplace_back(std::move(record));
    progress.step(point.machine->name());
  }
  return finished;
}

}  // namespace

Finished run_forked(const std::vector<Point>& points, const RunSettings& settings, MaskStore& masks,
                    const Pricing& pricing, std::size_t jobs, Progress& progress,
                    const Forking& forking) {
  if (forking.here) return run_here(points, settings, masks, pricing, progress, forking);
  return Runner(points, settings, masks, pricing, progress, forking).run(jobs);
}

}  // namespace lacuna
