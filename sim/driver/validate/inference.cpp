// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "models/wse/task_wafer.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/params.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/mapping/wse/inference/decode_layer.hpp"

namespace lacuna {

namespace {

using wse::DecodeBlock;
using wse::DecodePhase;

/// Why a point cannot be run.
struct Unsupported {
  std::string reason;
};

/// Cycles of the phases of a layer in the core that takes the stamps.
using PhaseTimes = std::map<DecodePhase, double>;

double sum(const PhaseTimes& times, DecodePhase first, DecodePhase last) {
  double cycles = 0;
  for (const auto& [phase, time] : times) cycles += phase >= first && phase <= last ? time : 0;
  return cycles;
}

/// Layers that have been run, each once.
class Layers {
 public:
  Layers(const WseParams& params, Engine engine)
      : params_(params), costs_{params.core, params.scalar, params.vec, params.task} {
    options_.engine = engine;
  }

  const PhaseTimes& times(const ModelShape& model, const DecodeBlock& block) {
    const std::string key = fmt::format("{} {} {} {} {} {} {} {} {}", model.name, block.columns,
                                        block.rows, block.context, block.layers, block.capacity,
                                        block.attention, block.ffn, block.repeats);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_.emplace(key, run(model, block)).first->second;
  }

  const WseParams& params() const { return params_; }

 private:
  PhaseTimes run(const ModelShape& model, const DecodeBlock& block) const {
    const wse::DecodeShape shape({model.width, model.heads, model.kv_heads, model.head_width(),
                                  model.ffn, model.qk_norm == QkNorm::head, true},
                                 block);
    wse::require_decode_memory(shape, params_.llm, params_.mem.kib * std::uint64_t{1024});
    const wse::DecodeLayer layer(shape, costs_, params_.llm);
    const wse::TaskOutcome outcome = wse::simulate(
        {params_.core, params_.queue, params_.router, params_.mem, params_.simd, params_.task},
        layer.plan(), options_);
    const std::vector<Cycle>& stamps = outcome.stamps.at(0);
    const std::vector<DecodePhase> phases = wse::decode_phases(block);
    PhaseTimes times;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      times[phases[i]] += static_cast<double>(stamps.at(i + 1) - stamps.at(i)) / block.repeats;
    }
    return times;
  }

  const WseParams& params_;
  const wse::CodeCosts costs_;
  wse::RunOptions options_;
  std::map<std::string, PhaseTimes> known_;
};

class InferencePoint {
 public:
  InferencePoint(const ValidationPoint& point, Layers& layers) : point_(point), layers_(layers) {}

  double value() const;

 private:
  const std::string& text(const char* key) const {
    const auto found = point_.parameters.find(key);
    if (found == point_.parameters.end()) {
      throw Unsupported{fmt::format("its parameters lack '{}'", key)};
    }
    return found->second;
  }
  bool has(const char* key) const { return point_.parameters.count(key) != 0; }
  static std::uint32_t parse(const std::string& word, const char* key) {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size() || value == 0) {
      throw Unsupported{fmt::format("{} = '{}' is not a whole number from 1 on", key, word)};
    }
    return value;
  }
  std::uint32_t number(const char* key) const { return parse(text(key), key); }
  std::uint32_t number(const char* key, std::uint32_t otherwise) const {
    return has(key) ? number(key) : otherwise;
  }
  void require(const char* metric) const {
    if (point_.metric == metric) return;
    throw Unsupported{fmt::format("metric '{}' of workload '{}'", point_.metric, point_.workload)};
  }
  std::pair<std::uint32_t, std::uint32_t> sides(const char* key) const {
    const std::string& word = text(key);
    const std::size_t cross = word.find('x');
    if (cross == std::string::npos) throw Unsupported{fmt::format("{} = '{}'", key, word)};
    return {parse(word.substr(0, cross), key), parse(word.substr(cross + 1), key)};
  }
  const ModelShape& model() const;

  double layer() const;
  double pair_of_blocks() const;

  const ValidationPoint& point_;
  Layers& layers_;
};

const ModelShape& InferencePoint::model() const {
  std::string name = text("model");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const ModelShape& shape : model_shapes()) {
    if (shape.name != name) continue;
    if (shape.experts.count != 0 || !shape.gated || shape.family != ModelFamily::llama) {
      throw Unsupported{fmt::format("model '{}': no program for its layers", text("model"))};
    }
    return shape;
  }
  throw Unsupported{fmt::format("model '{}' is not known", text("model"))};
}

/// The stretch of phases that a workload names.
struct Stretch {
  const char* workload;
  DecodePhase first;
  DecodePhase last;
};
constexpr Stretch kStretches[] = {
    {"decode_layer_attention", DecodePhase::norm, DecodePhase::residual},
    {"decode_layer_ffn", DecodePhase::ffn_norm, DecodePhase::ffn_residual},
    {"decode_phase_qkv", DecodePhase::qkv, DecodePhase::qkv},
    {"decode_phase_qknorm_rope", DecodePhase::qknorm_rope, DecodePhase::qknorm_rope},
    {"decode_phase_score", DecodePhase::score, DecodePhase::score},
    {"decode_phase_softmax", DecodePhase::softmax_max, DecodePhase::softmax_exp},
    {"decode_phase_pv", DecodePhase::pv, DecodePhase::pv},
    {"decode_phase_o_proj", DecodePhase::o_proj, DecodePhase::o_proj},
    {"decode_phase_residual", DecodePhase::residual, DecodePhase::residual},
    {"decode_softmax_max_pass", DecodePhase::softmax_max, DecodePhase::softmax_max},
    {"decode_softmax_subtract_and_scale", DecodePhase::softmax_subtract,
     DecodePhase::softmax_subtract},
    {"decode_softmax_exp_pass", DecodePhase::softmax_exp, DecodePhase::softmax_exp}};

std::optional<Stretch> stretch_of(const std::string& workload) {
  for (const Stretch& stretch : kStretches) {
    if (workload == stretch.workload) return stretch;
  }
  // and each phase by its own name
  for (const DecodePhase phase : wse::decode_phases({})) {
    if (workload == fmt::format("decode_phase_{}", word(phase))) return Stretch{"", phase, phase};
  }
  return std::nullopt;
}

double InferencePoint::layer() const {
  require("cycles_per_layer");
  const Stretch stretch = stretch_of(point_.workload).value();
  const auto [columns, rows] = sides("block");
  if (number("bsz", 1) != 1) throw Unsupported{"bsz beyond 1"};
  DecodeBlock block;
  block.columns = columns;
  block.rows = rows;
  block.context = number("context");
  block.attention = stretch.first < DecodePhase::ffn_norm;
  block.ffn = !block.attention;
  const PhaseTimes& times = layers_.times(model(), block);
  const double cycles = sum(times, stretch.first, stretch.last);
  // two all-reduces of the published time leave no room for products in the published phase of
  // these, so the norm before them is counted with the norms
  const bool norms = point_.workload == "decode_phase_qknorm_rope";
  return norms ? cycles + times.at(DecodePhase::norm) : cycles;
}

/// Two stages with tokens in both: the slower one sets the time of a token.
double InferencePoint::pair_of_blocks() const {
  if (text("blocks") != "attention_and_ffn_side_by_side") {
    throw Unsupported{fmt::format("blocks = '{}'", text("blocks"))};
  }
  if (number("layers", 1) != 1) throw Unsupported{"several layers in a block"};
  DecodeBlock block;
  block.columns = number("block_width");
  block.rows = number("block_height");
  block.context = number("context");
  block.ffn = false;
  const auto busy = [&] {
    const PhaseTimes& times = layers_.times(model(), block);
    return sum(times, DecodePhase::norm, DecodePhase::ffn_residual);
  };
  const double attention = point_.metric == "ffn_busy_with_probe" ? 0 : busy();
  block.attention = false;
  block.ffn = true;
  if (point_.metric == "attention_busy_with_probe") return attention;
  const double ffn = busy();
  if (point_.metric == "ffn_busy_with_probe") return ffn;
  require("cycles_per_token");
  return std::max(attention, ffn);
}

double InferencePoint::value() const {
  if (stretch_of(point_.workload)) return layer();
  if (point_.workload == "forced_decode_pair_of_blocks") return pair_of_blocks();
  throw Unsupported{""};
}

struct System {
  const char* word;
  const char* preset;
};
constexpr System kSystems[] = {{"CS-3", "wse3"}, {"CS-2", "wse2"}};

}  // namespace

void measure_inference(const std::vector<ValidationPoint>& points, const MachineTable& table,
                       const ValidationRunSettings& run, std::vector<ValidationOutcome>& outcomes) {
  for (const System& system : kSystems) {
    std::unique_ptr<std::vector<std::unique_ptr<Machine>>> machines;
    std::unique_ptr<Layers> layers;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (outcomes[i].status != Status::unsupported || points[i].system != system.word) continue;
      if (points[i].parameters.count("model") == 0) continue;
      if (layers == nullptr) {
        machines = std::make_unique<std::vector<std::unique_ptr<Machine>>>(
            make_machines(table, {system.preset}, run.settings));
        machines->at(0)->check();
        const auto& params = static_cast<const WseParams&>(machines->at(0)->parameters());
        layers = std::make_unique<Layers>(params, run.execution.engine);
      }
      try {
        outcomes[i].simulated = InferencePoint(points[i], *layers).value();
        outcomes[i].status = Status::ok;
        outcomes[i].reason.clear();
      } catch (const Unsupported& unsupported) {
        if (!unsupported.reason.empty()) outcomes[i].reason = unsupported.reason;
      } catch (const OutOfMemoryError& error) {
        outcomes[i].status = Status::out_of_memory;
        outcomes[i].reason = error.what();
      } catch (const UnsupportedError& error) {
        outcomes[i].reason = error.what();
      } catch (const SimulationError& error) {
        outcomes[i].status = Status::failed;
        outcomes[i].reason = error.what();
      }
    }
  }
}

}  // namespace lacuna
