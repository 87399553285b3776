// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/wse/engine/agenda.hpp"
#include "models/wse/fabric/router.hpp"
#include "models/wse/pe/core_array.hpp"
#include "sim/kernel/clock_domain.hpp"

namespace lacuna::wse {

/// What the rows of a wafer share.
struct Mesh {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  std::uint64_t shuffle = 0;  // step the units of a cycle in an order drawn from this; 0: in order
  Agendas* agendas = nullptr;
  const LinkArray* links = nullptr;
  RouterArray* routers = nullptr;
  CoreArray* cores = nullptr;
  ClockDomain* clock = nullptr;
  const std::uint64_t* to_enter = nullptr;  // words beside the streams that injectors have
};

/// Ends the run in cycle `now` if all cores have finished, no word is under way and none is to
/// enter. The last core to finish takes the last word, unless some go out at the edge.
void stop_if_done(const Mesh& mesh, Cycle now);

/// One row of cores and their routers, which it steps. Unit 2 c is the router of column c, unit
/// 2 c + 1 its core. They meet only in links, so their order does not matter.
class PeRow : public Clocked {
 public:
  PeRow(const Mesh& mesh, std::size_t row) : mesh_(mesh), row_(row) {}

  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // its units account for themselves
  std::string blocked() const override;

 protected:
  /// Steps a unit; returns when it wants to be stepped again.
  Cycle step_unit(std::uint32_t unit, Cycle now) const;
  void shuffle(std::vector<std::uint32_t>& units, Cycle now) const;
  void end_cycle(bool moved, Cycle now);

  const Mesh& mesh_;
  std::size_t row_;
};

/// Engine::clocked steps every unit in every cycle; Engine::event those whose links or timers ask.
std::unique_ptr<PeRow> make_pe_row(Engine engine, const Mesh& mesh, std::size_t row);

}  // namespace lacuna::wse
