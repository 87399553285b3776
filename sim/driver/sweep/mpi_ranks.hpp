// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/driver/run/point_runner.hpp"

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

  /// Simulates what rank 0 hands out, until it ends.
  void serve(const std::vector<Point>& points, const RunSettings& settings,
             const Pricing& pricing) const;

  /// On rank 0: has those of `points` run whose `places` in the whole list are given; the others
  /// know only the whole list. As run_forked(), and its result is the same.
  Finished run(const std::vector<Point>& points, const std::vector<std::size_t>& places,
               const RunSettings& settings, Progress& progress, const Forking& forking);

 private:
  struct World;
  std::unique_ptr<World> world_;
};

}  // namespace lacuna
