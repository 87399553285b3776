// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/module_wafer.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <systemc>
#include <utility>

#include "models/wse/edge/injector_bank.hpp"
#include "models/wse/engine/mesh_builder.hpp"
#include "models/wse/engine/module_mesh.hpp"
#include "models/wse/fabric/linked_module.hpp"
#include "sim/kernel/sim_context.hpp"

namespace lacuna::wse {
namespace {

class InjectorModule final : public LinkedModule {
 public:
  InjectorModule(const sc_core::sc_module_name& name, ModuleRun& run, const RouterParams& router,
                 const Program& program, const MeshPlan& plan, EventLog& log)
      : LinkedModule(name, run) {
    std::vector<LinkId> mine = injector_links(program, plan);
    for (std::size_t c = 0; c < mine.size(); ++c) {
      mine[c] = writes(mine[c], fmt::format("c{}", c).c_str());
    }
    bank_ = std::make_unique<InjectorBank>(router, program, std::move(mine),
                                           router_unit(program.columns, program.rows, 0), 0,
                                           agendas_, links_, log, *run.clock);
    run.to_enter = bank_->to_enter();
    if (!program.collects) return;
    std::vector<LinkId> exits = outlet_links(program, plan);
    for (std::size_t k = 0; k < exits.size(); ++k) {
      exits[k] = reads(exits[k], fmt::format("exit{}", k).c_str());
    }
    bank_->collect(std::move(exits), nullptr);
  }

  Cycle step(Cycle now) override {
    const Cycle next = bank_->step(now);
    run_.to_enter = bank_->to_enter();
    return done(next, now);
  }
  std::string blocked() const override { return bank_->blocked(); }

  InjectorBank& bank() { return *bank_; }

 private:
  std::unique_ptr<InjectorBank> bank_;
};

class StreamModules final : public ModuleWafer<CountedWafer, LaneCores> {
 public:
  StreamModules(const sc_core::sc_module_name& name, const HardwareParams& params,
                const Program& program, ClockDomain& clock, const RunOptions& options)
      : ModuleWafer(
            name, clock, options,
            [&](LinkArray& wires) {
              const auto make = [&](LinkArray& links, EventLog& log) {
                return make_cores(params, program, links, log);
              };
              return Blueprint<LaneCores>{params.router, program,
                                          build_mesh(params, program, wires), make,
                                          program.both_ways()};
            },
            program),
        injectors_("injectors", run_, params.router, program, blueprint_.plan, log_) {
    add(injectors_);
  }

  InjectorBank& injectors() override { return injectors_.bank(); }

 private:
  InjectorModule injectors_;
};

}  // namespace

std::unique_ptr<CountedWafer> make_modules(const HardwareParams& params, const Program& program,
                                           ClockDomain& clock, const RunOptions& options) {
  return std::make_unique<StreamModules>("wafer", params, program, clock, options);
}

std::vector<std::string> module_names(const HardwareParams& params, const Program& program) {
  const SimContext context;
  ClockDomain clock("clock", sc_core::sc_time(1, sc_core::SC_PS), Engine::event);
  const StreamModules wafer("wafer", params, program, clock, {});
  return names_of_modules(wafer);
}

}  // namespace lacuna::wse
