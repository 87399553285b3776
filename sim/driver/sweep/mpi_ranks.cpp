// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/mpi_ranks.hpp"

#include <algorithm>
#include <array>
#include <boost/mpi.hpp>
#include <cstdlib>
#include <utility>

#include "sim/base/error.hpp"

namespace lacuna {

namespace mpi = boost::mpi;

namespace {

constexpr int kWork = 1;    // to a server: the place of a point, or kStop
constexpr int kResult = 2;  // from a server: a message of point_message()
constexpr int kStop = -1;

/// Set by the launchers of OpenMPI, MPICH and Slurm. MPI starts slowly, and only then is of use.
bool is_launched() {
  constexpr std::array<const char*, 3> kNames = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::any_of(kNames.begin(), kNames.end(), [](const char* name) {
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

void MpiRanks::serve(const std::vector<Point>& points, const RunSettings& settings,
                     const Pricing& pricing) const {
  for (;;) {
    int place = kStop;
    world_->ranks.recv(0, kWork, place);
    if (place == kStop) return;
    MaskStore masks(settings.seed);
    const std::string message =
        point_message(points.at(static_cast<std::size_t>(place)), settings, masks, pricing);
    world_->ranks.send(0, kResult, message);
  }
}

Finished MpiRanks::run(const std::vector<Point>& points, const std::vector<std::size_t>& places,
                       const RunSettings& settings, Progress& progress, const Forking& forking) {
  Finished finished;
  finished.records.resize(points.size());
  const auto ranks = static_cast<std::size_t>(world_->ranks.size());
  std::vector<std::size_t> busy_with(ranks, points.size());  // which is none
  std::size_t next = 0;
  std::size_t under_way = 0;
  const auto hand_out = [&](std::size_t rank) {
    if (next == points.size()) return;
    world_->ranks.send(static_cast<int>(rank), kWork, static_cast<int>(places[next]));
    busy_with[rank] = next++;
    ++under_way;
  };
  for (std::size_t rank = 1; rank < ranks; ++rank) hand_out(rank);
  while (under_way > 0) {
    std::string message;
    const mpi::status status = world_->ranks.recv(mpi::any_source, kResult, message);
    const auto rank = static_cast<std::size_t>(status.source());
    const std::size_t index = busy_with[rank];
    --under_way;
    RunRecord record = record_of(message, points[index], settings, forking.keep_going);
    if (forking.finished) forking.finished(index, record);
    progress.step(points[index].machine->name() + ", " + points[index].pattern);
    finished.records[index] = std::move(record);
    hand_out(rank);
  }
  return finished;
}

}  // namespace lacuna
