// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/error.hpp"
#include "sim/base/mix.hpp"

namespace lacuna::wse {

/// One row of cores and their routers: unit 2 c is the router of column c, unit 2 c + 1 its core.
/// Engine::clocked steps every unit in every cycle, Engine::event those whose links or timers ask
/// for it. Units meet only in links, so their order is free.
class Mesh::Row final : public Clocked {
 public:
  Row(Mesh& mesh, std::size_t row) : mesh_(mesh), row_(row), due_(2UL * mesh.fabric_.columns) {
    std::iota(due_.begin(), due_.end(), 0U);
  }

  Cycle step(Cycle now) override {
    RowAgenda* agenda = nullptr;
    if (mesh_.options_.engine == Engine::event) {
      mesh_.agendas.set_stepping(row_);
      agenda = &mesh_.agendas.row(row_);
      if (now != 0) agenda->collect(now, due_);  // in cycle 0 every unit looks around
    }
    shuffle(now);
    bool moved = false;
    for (const std::uint32_t unit : due_) {
      const Cycle next = step_unit(unit, now);
      moved = moved || next == now + 1;
      if (next == kNever) continue;
      if (agenda != nullptr) agenda->add(unit, next);
      mesh_.clock_.moved(next);  // what it waits for is its own
    }
    if (moved) mesh_.clock_.moved(now);
    mesh_.stop_if_done(now);
    return agenda != nullptr ? agenda->next() : now + 1;
  }

  void skip(Cycle /*from*/, Cycle /*to*/) override {}  // its units account for themselves

  std::string blocked() const override {
    std::string text = row_ == 0 && mesh_.circle ? mesh_.circle() : "";
    for (std::size_t c = 0; c < mesh_.fabric_.columns; ++c) {
      const std::size_t place = row_ * mesh_.fabric_.columns + c;
      const std::string router = fmt::format("router ({}, {})", c, row_);
      for (const std::string& line :
           {mesh_.routers.blocked(place, router), mesh_.cores_->blocked(place)}) {
        if (!line.empty()) text += (text.empty() ? "" : "\n") + line;
      }
    }
    return text;
  }

 private:
  Cycle step_unit(std::uint32_t unit, Cycle now) const {
    const std::size_t place = row_ * mesh_.fabric_.columns + unit / 2;
    return unit % 2 == 0 ? mesh_.routers.step(place, now) : mesh_.cores_->step(place, now);
  }

  void shuffle(Cycle now) {
    if (mesh_.options_.shuffle == 0) return;
    const std::uint64_t seed = mix(mesh_.options_.shuffle ^ mix(now * mesh_.fabric_.rows + row_));
    std::sort(due_.begin(), due_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return mix(seed + a) < mix(seed + b); });
  }

  Mesh& mesh_;
  std::size_t row_;
  std::vector<std::uint32_t> due_;
};

Mesh::Mesh(const RouterParams& router, const Fabric& fabric, ClockDomain& clock,
           const RunOptions& options, EventLog& log)
    : routers(router, links, log), fabric_(fabric), clock_(clock), options_(options) {}

Mesh::~Mesh() = default;

void Mesh::add(const MeshPlan& plan, CoreArray& cores) {
  cores_ = &cores;
  links.jitter(options_.jitter, options_.jitter_seed);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    routers.add(plan.ports[i].unit - 1, plan.inputs[i]);
    cores.add(plan.ports[i]);
  }
  if (options_.engine == Engine::event) {
    agendas.start(fabric_.rows + std::size_t{1}, std::size_t{2} * fabric_.columns, *this);
  }
}

void Mesh::start() {
  for (std::size_t r = 0; r < fabric_.rows; ++r) {
    rows_.push_back(std::make_unique<Row>(*this, r));
    clock_.add(*rows_.back(), fmt::format("r{}", r));
  }
}

void Mesh::wake_row(std::size_t row, Cycle at) {
  if (row < rows_.size()) return clock_.wake(*rows_[row], at);
  for (const Clocked* block : edge_) clock_.wake(*block, at);
}

void Mesh::check_empty() const {
  for (LinkId id = 0; id < links.size(); ++id) {
    if (links.stored(id) == 0) continue;
    throw InternalError(fmt::format("{} words are left between units {} and {} of the wafer",
                                    links.stored(id), links.writer(id), links.reader(id)));
  }
}

}  // namespace lacuna::wse
