// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/driver/inference/model_report.hpp"
#include "sim/driver/inference/serving.hpp"
#include "sim/driver/run/pricing.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "sim/machines/wse/inference/prefill_times.hpp"

namespace lacuna {

/// A language model on blocks of cores of a wafer.
class WaferModel {
 public:
  /// What `wafer`, which is one, has for parameters.
  static const WseParams& params_of(const Machine& wafer);

  /// `wafer` has WseParams and outlives this.
  WaferModel(const Machine& wafer, const Pricing& pricing, Engine engine, PartCache* cache,
             ModelShape model, DecodePlacement placement);

  /// Has what follows fill `pages` with what each core of its programs did, in the form of pack().
  void show(const TaskView& view, std::vector<std::string>& pages);

  ModelReport decode_report(std::uint32_t context);
  ModelReport prefill_report(std::uint32_t tokens, std::uint32_t chunk);

  ModelReport move_report(const CacheMove& move);

  /// A step of `batch` sequences whose caches have room for `capacity` positions.
  DecodeStep step(std::uint32_t context, std::uint32_t capacity);

  /// Energy of what `cores` cores counted in `cycles`, which do nothing in the rest of them.
  JouleRange joules(const PassTotals& totals, std::uint64_t cores, double cycles) const;

  const std::string& name() const { return wafer_.name(); }
  const ModelShape& model() const { return model_; }
  const DecodePlacement& placement() const { return placement_; }
  const WseParams& params() const { return params_; }

 private:
  PrefillRun run_prompt(std::uint32_t tokens, std::uint32_t chunk);
  std::string blocks_text(bool split, std::uint32_t layers) const;

  const Machine& wafer_;
  const WseParams& params_;
  const Pricing& pricing_;
  ModelShape model_;
  DecodePlacement placement_;
  DecodeTimes times_;
  PrefillTimes prompts_;
};

}  // namespace lacuna
