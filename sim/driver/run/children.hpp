// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/driver/run/progress.hpp"

namespace lacuna {

/// Says a text to the process that asked for a job; each arrives whole, in order.
using Say = std::function<void(const std::string& text)>;

/// How a job ended.
struct JobEnd {
  enum class Kind {
    done,
    refused,  // a RequestError
    failed,   // a SimulationError, no memory, or its process died
    defect    // any other error
  };
  Kind kind = Kind::done;
  std::string text;  // why, unless it is done

  /// Throws the error again, as the type that it had; nothing if the job is done.
  void require_done() const;
};

/// What is to be done by others, and what this process makes of it.
struct Jobs {
  /// Their numbers, in the order in which they are begun.
  std::vector<std::size_t> order;

  /// What a job is called where progress is shown.
  std::function<std::string(std::size_t job)> name;

  /// Done here before a job begins, for what several have in common. May be empty.
  std::function<void(std::size_t job)> prepare;

  /// The job itself, in a process of its own that ends with it.
  std::function<void(std::size_t job, const Say& say)> work;

  /// Called here with each text that a job says.
  std::function<void(std::size_t job, const std::string& text)> heard;

  /// Called here once for each job, after all that it has said.
  std::function<void(std::size_t job, const JobEnd& end)> ended;
};

/// Does all jobs in child processes, `at_a_time` of them beside each other. Progress goes on while
/// they work. False if Ctrl-C or SIGTERM came: the children are gone then. No child outlives this
/// process.
bool do_jobs(const Jobs& jobs, std::size_t at_a_time, Progress& progress);

/// Does a job here and says how it ended.
JobEnd end_of_job(const Jobs& jobs, std::size_t job, const Say& say);

/// What something has printed, and its status.
struct Printed {
  int status = 0;
  std::string out;
  std::string err;
};

/// Has `print` print into two streams in a child, `name` its progress. Its errors are thrown here,
/// what it said before them goes to `said`. Nothing if Ctrl-C ended it.
std::optional<Printed> printed_by_child(
    const std::string& name, const std::function<int(std::ostream& out, std::ostream& err)>& print,
    Progress& progress, std::ostream& said);

/// While it lives, Ctrl-C and SIGTERM end this process with status 1, and a line says what becomes
/// of finished work. If it listens to children, it stops these first.
class InterruptLine {
 public:
  InterruptLine();
  ~InterruptLine();
  InterruptLine(const InterruptLine&) = delete;
  InterruptLine& operator=(const InterruptLine&) = delete;

  /// What becomes of it: nothing was finished, it is not kept, or it is kept for --resume.
  enum class Kept { nothing, lost, kept };
  static void say(Kept kept);
};

}  // namespace lacuna
