// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/pe_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/mix.hpp"

namespace lacuna::wse {
namespace {

class ClockedPeRow final : public PeRow {
 public:
  ClockedPeRow(const Mesh& mesh, std::size_t row)
      : PeRow(mesh, row), units_(std::size_t{2} * mesh.columns) {
    std::iota(units_.begin(), units_.end(), 0U);
  }

  Cycle step(Cycle now) override {
    shuffle(units_, now);
    bool moved = false;
    for (const std::uint32_t unit : units_) moved = step_unit(unit, now) == now + 1 || moved;
    end_cycle(moved, now);
    return now + 1;
  }

 private:
  std::vector<std::uint32_t> units_;
};

class EventPeRow final : public PeRow {
 public:
  EventPeRow(const Mesh& mesh, std::size_t row) : PeRow(mesh, row) {
    for (std::uint32_t unit = 0; unit < 2 * mesh.columns; ++unit) due_.push_back(unit);
  }

  Cycle step(Cycle now) override {
    mesh_.agendas->set_stepping(row_);
    RowAgenda& agenda = mesh_.agendas->row(row_);
    if (now != 0) agenda.collect(now, due_);  // in cycle 0 every unit looks at its links
    shuffle(due_, now);
    bool moved = false;
    for (const std::uint32_t unit : due_) {
      const Cycle next = step_unit(unit, now);
      moved = moved || next == now + 1;
      if (next != kNever) agenda.add(unit, next);
    }
    end_cycle(moved, now);
    return agenda.next();
  }

 private:
  std::vector<std::uint32_t> due_;
};

}  // namespace

void stop_if_done(const Mesh& mesh, Cycle now) {
  const bool finished = mesh.cores->finished() == mesh.cores->size();
  if (finished && mesh.links->words() == 0 && *mesh.to_enter == 0) mesh.clock->stop(now);
}

Cycle PeRow::step_unit(std::uint32_t unit, Cycle now) const {
  const std::size_t place = row_ * mesh_.columns + unit / 2;
  return unit % 2 == 0 ? mesh_.routers->step(place, now) : mesh_.cores->step(place, now);
}

void PeRow::shuffle(std::vector<std::uint32_t>& units, Cycle now) const {
  if (mesh_.shuffle == 0) return;
  const std::uint64_t seed = mix(mesh_.shuffle ^ mix(now * mesh_.rows + row_));
  std::sort(units.begin(), units.end(),
            [&](std::uint32_t a, std::uint32_t b) { return mix(seed + a) < mix(seed + b); });
}

void PeRow::end_cycle(bool moved, Cycle now) {
  if (moved) mesh_.clock->moved(now);
  stop_if_done(mesh_, now);
}

std::string PeRow::blocked() const {
  std::string text;
  for (std::size_t c = 0; c < mesh_.columns; ++c) {
    const std::size_t place = row_ * mesh_.columns + c;
    const std::string router = fmt::format("router ({}, {})", c, row_);
    for (const std::string& line :
         {mesh_.routers->blocked(place, router), mesh_.cores->blocked(place)}) {
      if (!line.empty()) text += line + "\n";
    }
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::unique_ptr<PeRow> make_pe_row(Engine engine, const Mesh& mesh, std::size_t row) {
  if (engine == Engine::clocked) return std::make_unique<ClockedPeRow>(mesh, row);
  return std::make_unique<EventPeRow>(mesh, row);
}

}  // namespace lacuna::wse
