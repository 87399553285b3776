// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/energy/energy_params.hpp"
#include "sim/base/parameter.hpp"
#include "sim/base/silicon.hpp"
#include "sim/kernel/engine.hpp"
#include "sim/report/critical_path.hpp"
#include "sim/report/result.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// How an operation is to be simulated. Of these only `values`, `event_log`, `explain`,
/// `interval` and `view` may change what a result holds, and nothing here may change its cycles or
/// counters, except `jitter`.
struct Execution {
  Engine engine = Engine::event;
  bool values = false;  // carry numbers and check the product
  double sigma = 0;     // of normally distributed values; 0: small integers
  bool event_log = false;
  bool explain = false;            // fill OpResult::explanation
  Cycle interval = 0;              // fill OpResult::intervals, of so many cycles each; 0: do not
  bool event_details = false;      // of the log: senders of words, and what units waited for
  std::optional<PathWindow> path;  // of `view`: a window whose critical path is wanted
  std::uint64_t view = 0;     // fill OpResult::units_in_time, in about so many steps; 0: do not
  bool fold = true;           // simulate rows that are proven alike once, where a machine can
  std::uint64_t shuffle = 0;  // step the blocks of a cycle in an order drawn from this; 0: in order
  Cycle jitter = 0;           // delay tokens by up to this many cycles (a test of robustness)
  std::uint64_t jitter_seed = 1;

  /// Whether the result is that of any other simulation of which nothing is asked beside it.
  bool asks_for_nothing() const {
    return engine == Engine::event && fold && !values && sigma == 0 && !event_log && !explain &&
           interval == 0 && !event_details && view == 0 && shuffle == 0 && jitter == 0;
  }
};

using MaskOf = std::function<const Mask*(const LayerOp&)>;

/// A statistic as it is declared, its value 0.
struct DeclaredStatistic {
  StatEntry entry;
  std::string layer;  // of the cycle stack; empty: it is no part of it
};

/// What IPU chips and wafers have in common: parameters, and the ability to run one operation.
/// Each run elaborates its own hardware in its own SimContext.
class Machine {
 public:
  virtual ~Machine() = default;

  /// "ipu" or "wse".
  virtual const char* kind() const = 0;

  /// The name of the preset or file it was made from.
  virtual const std::string& name() const = 0;

  virtual const ParameterSet& parameters() const = 0;

  /// The part of the parameters that prices need.
  virtual const EnergyParams& energy() const = 0;

  /// All statistics that its results can have, each once.
  virtual std::vector<DeclaredStatistic> statistics() const = 0;

  /// What the chip is made of; not known if its kind has no model of its area.
  virtual Silicon silicon() const { return {}; }

  /// Sets one parameter; ParameterError if it cannot be.
  virtual void set(const std::string& path, const std::string& text, const std::string& origin) = 0;

  /// Checks relations between parameters; ParameterError names the first that does not hold.
  virtual void check() const = 0;

  /// What `auto` means here.
  virtual Mode default_mode() const = 0;

  /// A short description of what is simulated, such as "1472 tiles" or "64 x 64 of 750 x 994
  /// cores".
  virtual std::string extent() const = 0;

  /// Settings that take a shortcut of the simulation away, each with why: the results are what they
  /// should be and the time is many times longer. Empty if all shortcuts are there.
  virtual std::vector<std::string> slow_settings() const { return {}; }

  /// About how long `op` takes if that is long, why, and what is sooner done, to be said before it
  /// runs; else empty.
  virtual std::string takes_long(const LayerOp& /*op*/) const { return ""; }

  /// How a row and those whose results it takes are laid out, if each may be in a way of its own:
  /// rows of equal content may differ in that.
  virtual std::string layouts_of(const LayerOp& /*op*/) const { return ""; }

  /// Bytes that the fullest tile needs for `op`, whose X is dense, as a run notes them; nothing if
  /// only a run tells. OutOfMemoryError if it has too few.
  virtual std::optional<std::uint64_t> tile_bytes(const LayerOp& /*op*/, const Mask* /*mask*/,
                                                  std::uint64_t /*seed*/) const {
    return std::nullopt;
  }

  /// What the unit of this name is, as event logs and waves call it. Empty if the machine has no
  /// names of that form. RequestError if it has, but not this one.
  virtual std::string describe_unit(const std::string& /*name*/) const { return ""; }

  /// Why `op` cannot be held whatever elements its mask keeps, from counts alone and so before the
  /// mask is made; empty if it may fit.
  virtual std::string no_room(const LayerOp& /*op*/) const { return ""; }

  /// Cycles that no run of `op` can be below, from counts alone; nothing if no bound is known.
  virtual std::optional<Cycle> least_cycles(const LayerOp& /*op*/, const Mask* /*mask*/) const {
    return std::nullopt;
  }

  /// A machine of equal parameters; null if its kind cannot be copied.
  virtual std::unique_ptr<Machine> clone() const { return nullptr; }

  /// Fills in what the rows of a workload tell of each other that changes how they run here.
  /// `mask_of` gives the mask of a row (null: dense), good until the next is asked for; `seed` is
  /// that of the run.
  virtual void relate(WorkloadTrace& workload, const MaskOf& /*mask_of*/,
                      std::uint64_t /*seed*/) const {
    place_operands(workload);
  }

  /// Of that what follows from the machine's layout alone: where operands come from, if they have
  /// to be moved.
  virtual void place_operands(WorkloadTrace& /*workload*/) const {}

  /// Runs `op`, whose weights keep the elements of `mask` (null: dense). Throws
  /// OutOfMemoryError, UnsupportedError, DeadlockError, InternalError.
  virtual OpResult run(const LayerOp& op, const Mask* mask, std::uint64_t seed,
                       const Execution& execution) const = 0;
};

/// Makes a machine of a kind ("ipu", "wse") with default parameters, to be set from a preset.
std::unique_ptr<Machine> make_ipu_machine(std::string name);
std::unique_ptr<Machine> make_wse_machine(std::string name);

}  // namespace lacuna
