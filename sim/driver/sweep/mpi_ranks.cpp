// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/mpi_ranks.hpp"

#include <algorithm>
#include <array>
#include <boost/mpi.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "sim/base/ranges.hpp"
#include "sim/driver/result/result_folder.hpp"

namespace lacuna {

namespace mpi = boost::mpi;

namespace {

constexpr int kWork = 1;  // to a server: the number of a job, or kStop
constexpr int kSaid = 2;  // from a server: kText and what its job says, or how that ended, and why
constexpr int kStop = -1;
constexpr char kText = 'T';

/// Set by the launchers of OpenMPI, MPICH and Slurm. MPI starts slowly, and only then is of use.
bool is_launched() {
  constexpr std::array<const char*, 3> kNames = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return any_of(kNames, [](const char* name) {
    return std::getenv(name) != nullptr;  // NOLINT(concurrency-mt-unsafe): no thread sets it
  });
}

}  // namespace

struct MpiRanks::World {
  mpi::environment environment;
  mpi::communicator ranks;
  bool stopped = false;
};

std::string mpi_description() { return "with MPI"; }

MpiRanks::MpiRanks() {
  if (is_launched()) world_ = std::make_unique<World>();
}

// NOLINTNEXTLINE(bugprone-exception-escape): that they cannot be told ends the launch
MpiRanks::~MpiRanks() {
  if (!several() || is_server() || world_->stopped) return;
  for (int rank = 1; rank < world_->ranks.size(); ++rank) world_->ranks.send(rank, kWork, kStop);
}

bool MpiRanks::several() const { return world_ != nullptr && world_->ranks.size() > 1; }

bool MpiRanks::is_server() const { return several() && world_->ranks.rank() > 0; }

void MpiRanks::serve(const Jobs& jobs) const {
  for (;;) {
    int job = kStop;
    world_->ranks.recv(0, kWork, job);
    if (job == kStop) return;
    const JobEnd end =
        end_of_job(jobs, static_cast<std::size_t>(job),
                   [&](const std::string& text) { world_->ranks.send(0, kSaid, kText + text); });
    world_->ranks.send(0, kSaid, static_cast<char>(end.kind) + end.text);
  }
}

void MpiRanks::do_jobs(const Jobs& jobs, Progress& progress) const {
  std::vector<std::size_t> busy_with(static_cast<std::size_t>(world_->ranks.size()));
  std::size_t next = 0;
  std::size_t under_way = 0;
  const auto hand_out = [&](std::size_t rank) {
    if (next == jobs.order.size()) return;
    busy_with[rank] = jobs.order[next++];
    world_->ranks.send(static_cast<int>(rank), kWork, static_cast<int>(busy_with[rank]));
    ++under_way;
  };
  for (std::size_t rank = 1; rank < busy_with.size(); ++rank) hand_out(rank);
  while (under_way > 0) {
    std::string text;
    while (!world_->ranks.iprobe(mpi::any_source, kSaid)) {  // who writes a folder holds signals
      HeldSignals::check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const mpi::status status = world_->ranks.recv(mpi::any_source, kSaid, text);
    const auto rank = static_cast<std::size_t>(status.source());
    const std::size_t job = busy_with[rank];
    if (text.front() == kText) {
      jobs.heard(job, text.substr(1));
      continue;
    }
    --under_way;
    jobs.ended(job, {static_cast<JobEnd::Kind>(text.front()), text.substr(1)});
    progress.step(jobs.name(job));
    hand_out(rank);
  }
}

}  // namespace lacuna
