// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/inference/pod_parts.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/driver/system/job.hpp"
#include "workloads/mapping/system/inference_params.hpp"
#include "workloads/mapping/system/inference_program.hpp"

namespace lacuna {

/// How a model lies on chips.
struct PodCut {
  unsigned tensor = 1;
  std::vector<unsigned> layers;  // of each stage

  unsigned chips() const { return tensor * static_cast<unsigned>(layers.size()); }
  std::string text() const;  // "4 x 4 chips, 9-9-9-9 layers"
};

/// A pass of a model on chips, by itself. Its memory is that of the fullest tile of each stage.
struct PodPass : StepResult {
  PodCut cut;
  StepResult turn;  // from one to the next, if all stages are at work
  PodParts parts;
};

/// The parts that a model on chips needs.
struct PodSetup {
  const MachineTable& kinds;
  const Pricing& pricing;
  ChipTimes& times;
  SystemMachine system;
  bool alone = false;  // one chip, with the gateway and the memory of a machine of the system
  system::InferenceParams params;
  ModelShape model;
  PatternSpec weights;  // of prunable weights
  InputZeros inputs;
  Engine engine = Engine::event;
};

/// A language model on the IPUs of a system, or on one IPU. Its rows are simulated on a chip, each
/// distinct one once; passes of them, with what chips exchange, are simulated on the system.
class PodModel {
 public:
  explicit PodModel(PodSetup setup);

  /// A pass of the request. Its cut is the one that was kept, else the fastest of those that fit.
  /// OutOfMemoryError with the bytes of a tile and the nearest cut that fits.
  PodPass pass(const PassRequest& request);

  /// From now on all passes have this cut: weights lie where they are.
  void keep(const PodCut& cut) { kept_ = cut; }

  /// Has the reports that follow fill `pages` with what chips and their tiles did, in the form of
  /// pack().
  void show(std::vector<std::string>& pages) { pages_ = &pages; }

  ModelReport decode_report(std::uint32_t context, std::uint32_t batch) {
    return report_of(true, context, batch);
  }
  ModelReport prefill_report(std::uint32_t tokens, std::uint32_t batch) {
    return report_of(false, tokens, batch);
  }

  /// Power of all chips of the system while they do nothing, in watts.
  JouleRange idle_watts() const;

  const PodSetup& setup() const { return setup_; }

 private:
  using Shape = std::pair<unsigned, unsigned>;  // tensor and pipeline

  std::vector<Shape> shapes() const;
  bool has_room(const Shape& shape, const PassRequest& request, bool runs, PodPass& tried,
                std::string& why) const;
  std::uint32_t most_positions(const PassRequest& request, std::uint32_t least,
                               std::uint32_t most) const;
  PodCut dealt(unsigned tensor, unsigned stages, const PodParts& parts,
               std::optional<Cycle> exchange) const;
  void deal_by_time(PodPass& fitting) const;
  void keep_zeros(PodPass& pass, PassRequest request) const;
  bool is_dealt() const { return !kept_ && setup_.params.layers.value().empty(); }
  system::InferencePass program_of(const PodCut& cut, const PodParts& parts) const;
  system::MemoryAccount beside_layers(const PodParts& parts) const;
  PodCut listed(unsigned tensor) const;
  PodCut cut_of(unsigned tensor, unsigned stages, const PodParts& parts) const;
  system::ProgramMemory memory_in(const PodCut& cut, const PodParts& parts) const;
  void account(PodPass& pass) const;
  void time(PodPass& pass) const;
  [[noreturn]] void refuse(const PassRequest& request, const PodPass& nearest,
                           const std::string& reason) const;
  void add_pages(const PodPass& pass, const PassRequest& request);
  ModelReport report(const PodPass& pass, const PassRequest& request) const;
  ModelReport report_of(bool decode, std::uint32_t positions, std::uint32_t batch);
  RoomForRows room_for(std::uint64_t working, bool runs = true) const;
  std::string place() const;

  PodSetup setup_;
  SystemChips chips_;
  std::vector<LayerKind> kinds_;
  std::vector<std::size_t> kind_of_;  // each layer
  unsigned tiles_ = 0;                // that work
  system::StandingWatts watts_;
  double clock_ghz_ = 0;
  std::optional<PodCut> kept_;
  std::vector<std::string>* pages_ = nullptr;  // to be filled
};

}  // namespace lacuna
