// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sim/driver/run/children.hpp"

namespace lacuna {

/// What this program was built with, for --version: "with MPI", or how to get it.
std::string mpi_description();

/// The ranks of an MPI launch (mpirun lacuna sweep ...). Rank 0 reads, hands out points as other
/// ranks become free, and writes; the others simulate one point after another and never fork.
/// Without such a launch, or without MPI, there is one rank.
class MpiRanks {
 public:
  MpiRanks();

  /// On rank 0, ends the others, whatever happened.
  ~MpiRanks();  // NOLINT(bugprone-exception-escape): see there
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  bool several() const;

  /// True on a rank that serve()s.
  bool is_server() const;

  /// Does the jobs that rank 0 hands out, until it ends.
  void serve(const Jobs& jobs) const;

  /// On rank 0: has the jobs done by the others, who serve() the same ones.
  void do_jobs(const Jobs& jobs, Progress& progress) const;

 private:
  struct World;
  std::unique_ptr<World> world_;
};

/// Who does jobs: the other ranks of an MPI launch, or else so many child processes at a time.
struct Workers {
  std::size_t children = 1;
  const MpiRanks* ranks = nullptr;
};

/// See there.
inline bool do_jobs(const Jobs& jobs, const Workers& workers, Progress& progress) {
  if (workers.ranks == nullptr || !workers.ranks->several()) {
    return do_jobs(jobs, workers.children, progress);
  }
  workers.ranks->do_jobs(jobs, progress);
  return true;
}

}  // namespace lacuna
