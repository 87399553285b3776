// SPDX-License-Identifier: Apache-2.0
// What mpi_ranks.hpp promises, where MPI was not found.
#include "sim/base/error.hpp"
#include "sim/driver/sweep/mpi_ranks.hpp"

namespace lacuna {

struct MpiRanks::World {};

std::string mpi_description() {
  return "without MPI (Debian: apt install libboost-mpi-dev, then configure again)";
}

MpiRanks::MpiRanks() = default;
MpiRanks::~MpiRanks() = default;

bool MpiRanks::several() const { return world_ != nullptr; }
bool MpiRanks::is_server() const { return world_ != nullptr; }

void MpiRanks::serve(const Jobs& /*jobs*/) const {}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): with MPI it needs its world
void MpiRanks::do_jobs(const Jobs& /*jobs*/, Progress& /*progress*/) const {
  throw InternalError("there are several ranks, but no MPI");
}

}  // namespace lacuna
