// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/validate/outcome.hpp"
#include "sim/driver/validate/point_words.hpp"
#include "sim/machines/wse/inference/decode_times.hpp"
#include "sim/machines/wse/inference/prefill_times.hpp"

namespace lacuna {

namespace {

using wse::DecodeBlock;
using wse::DecodePhase;

/// The stretch of phases that a workload names.
struct Stretch {
  const char* workload;
  DecodePhase first;
  DecodePhase last;
};
constexpr std::array<Stretch, 6> kStretches = {
    {{"decode_layer_attention", DecodePhase::norm, DecodePhase::residual},
     {"decode_layer_ffn", DecodePhase::ffn_norm, DecodePhase::ffn_residual},
     {"decode_phase_softmax", DecodePhase::softmax_max, DecodePhase::softmax_sum},
     {"decode_softmax_max_pass", DecodePhase::softmax_max, DecodePhase::softmax_max},
     {"decode_softmax_subtract_and_scale", DecodePhase::softmax_subtract,
      DecodePhase::softmax_subtract},
     {"decode_softmax_exp_pass", DecodePhase::softmax_exp, DecodePhase::softmax_exp}}};

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

class InferencePoint : private PointWords {
 public:
  InferencePoint(const ValidationPoint& point, DecodeTimes& times, PrefillTimes& prompts)
      : PointWords(point), point_(point), times_(times), prompts_(prompts) {}

  double value() const {
    using Way = double (InferencePoint::*)() const;
    static const std::map<std::string, Way> ways = {
        {"forced_decode_pair_of_blocks", &InferencePoint::pair_of_blocks},
        {"forced_decode_stacked_blocks", &InferencePoint::stacked_blocks},
        {"forced_decode_pipeline", &InferencePoint::pipeline},
        {"forced_decode_step", &InferencePoint::forced_step},
        {"llm_decode", &InferencePoint::square_layer},
        {"llm_prefill", &InferencePoint::square_prompt},
        {"prefill", &InferencePoint::prompt},
        {"kv_ingress_host_to_wafer", &InferencePoint::cache_moves},
        {"kv_egress_wafer_to_host", &InferencePoint::cache_moves},
        {"kv_in", &InferencePoint::cache_moves},
        {"kv_out", &InferencePoint::cache_moves},
        {"decode_block_row", &InferencePoint::block_row},
        {"decode_step", &InferencePoint::step},
        {"decode_span", &InferencePoint::span}};
    if (stretch_of(point_.workload)) return layer();
    const auto found = ways.find(point_.workload);
    if (found != ways.end()) return (this->*found->second)();
    if (starts_with(point_.workload, "prefill_function_")) return prompt_function();
    throw Unsupported{
        fmt::format("workload '{}' is no layer, step or prompt of a model", point_.workload)};
  }

  using PointWords::unread;

 private:
  const ModelShape& model() const {
    const std::string name = lower_case(text("model"));
    for (const ModelShape& shape : model_shapes()) {
      if (shape.name == name) return shape;
    }
    throw Unsupported{fmt::format("model '{}' is not known", text("model"))};
  }

  DecodePlacement placement() const {
    DecodePlacement placement;
    if (has("blocks")) std::tie(placement.blocks_x, placement.blocks_y) = sides("blocks");
    if (has("block")) std::tie(placement.columns, placement.rows) = sides("block");
    if (!has("blocks") && has("stages")) placement.stages = number("stages");
    placement.batch = number("bsz", 1);
    placement.layers_per_block = number("layers_per_block", 0);
    placement.capacity = number("max_seq_len", 0);
    placement.top_k = number("top_k", placement.top_k);
    return placement;
  }

  DecodeBlock block() const {
    DecodeBlock block;
    block.columns = number("block_width");
    block.rows = has("block_height") ? number("block_height") : 256;
    block.context = number("context");
    block.receives = true;
    return block;
  }

  double part(DecodeBlock block, bool attention) const {
    block.attention = attention;
    block.ffn = !attention;
    return sum_of(times_.layer(model(), block), DecodePhase::norm, DecodePhase::ffn_residual);
  }

  /// The mean over the contexts of a span; a layer's time changes where the fullest row of cores
  /// gets another position.
  double mean(const std::function<double(const DecodeStep&)>& of) const {
    const DecodePlacement where = placement();
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    if (has("context_from")) {
      first = number("context_from") + 1;
      last = number("context_to");
    } else {
      first = last = has("context") ? number("context") : number("position");
    }
    if (first > last) throw Unsupported{"context_from is not before context_to"};
    double sum = 0;
    for (std::uint32_t at = first; at <= last;) {
      const std::uint32_t slots = wse::DecodeShape::ceil(at, where.rows);
      const std::uint32_t end = std::min(slots * where.rows, last);
      sum += (end - at + 1) * of(times_.step(model(), where, end));
      at = end + 1;
    }
    return sum / (last - first + 1);
  }

  double layer() const {
    require({"cycles_per_layer"});
    const Stretch stretch = stretch_of(point_.workload).value();
    DecodeBlock block;
    std::tie(block.columns, block.rows) = sides("block");
    block.context = number("context");
    block.attention = stretch.first < DecodePhase::ffn_norm;
    block.ffn = !block.attention;
    block.receives = true;
    block.batch = number("bsz", 1);
    const DecodePhaseTimes times = times_.layer(model(), block);
    const double cycles = sum_of(times, stretch.first, stretch.last);
    // three passes are all of a published softmax, and only one of them beside that of the maximum
    // is long enough for the other all-reduce and what it takes here
    if (point_.workload == "decode_softmax_subtract_and_scale") {
      return cycles + times.at(DecodePhase::softmax_sum);
    }
    // two all-reduces of the published time leave no room for products in the published phase of
    // these, so the norm before them is counted with the norms
    const bool norms = point_.workload == "decode_phase_qknorm_rope";
    return norms ? cycles + times.at(DecodePhase::norm) : cycles;
  }

  /// Two stages with tokens in both: the slower one sets the time of a token.
  double pair_of_blocks() const {
    if (text("blocks") != "attention_and_ffn_side_by_side") {
      throw Unsupported{fmt::format("blocks = '{}'", text("blocks"))};
    }
    require({"cycles_per_token", "attention_busy_with_probe", "ffn_busy_with_probe"});
    const std::uint32_t layers = number("layers", 1);
    DecodeBlock one = block();
    one.layers = layers;
    if (point_.metric == "attention_busy_with_probe") return layers * part(one, true);
    if (point_.metric == "ffn_busy_with_probe") return layers * part(one, false);
    return layers * std::max(part(one, true), part(one, false));
  }

  double stacked_blocks() const {
    require({"cycles_per_token", "attention_stage", "ffn_stage"});
    const std::uint32_t layers = number("layers", 1);
    DecodeBlock one = block();
    one.layers = layers;
    one.rows = number("attention_height");
    const double attention = point_.metric == "ffn_stage" ? 0 : layers * part(one, true);
    if (point_.metric == "attention_stage") return attention;
    one.rows = number("ffn_height");
    return std::max(attention, layers * part(one, false));
  }

  /// Whole layers in each block of a line of them.
  double pipeline() const {
    require({"cycles_per_token"});
    DecodeBlock one = block();
    one.layers = number("layers_per_block");
    const auto whole = [&] {
      return sum_of(times_.layer(model(), one), DecodePhase::norm, DecodePhase::ffn_residual);
    };
    const double first = whole();
    one.receives = false;
    return one.layers == 1 ? first : first + (one.layers - 1) * whole();
  }

  double block_row() const {
    require({"attention_busy", "ffn_busy"});
    DecodeBlock one;
    one.columns = number("block_width", 256);
    one.rows = number("block_height", 256);
    one.context = number("context");
    one.layers = number("layers_per_block");
    one.receives = true;
    return one.layers * part(one, point_.metric == "attention_busy");
  }

  double step() const {
    require({"cycles_per_token", "cycles_per_step"});
    const double of_all = mean([](const DecodeStep& step) { return step.cycles; });
    return point_.metric == "cycles_per_step" ? of_all : of_all / number("bsz", 1);
  }

  double forced_step() const {
    require({"cycles_per_token"});
    return mean([](const DecodeStep& step) { return step.slowest_stage; });
  }

  double span() const {
    require({"span"});
    const std::uint32_t steps = number("steps");
    const std::uint32_t forced = count("forced_steps");
    if (forced > steps) throw Unsupported{"more forced steps than steps"};
    return mean([&](const DecodeStep& step) {
      return (steps - forced) * step.cycles + forced * step.slowest_stage;
    });
  }

  double square_layer() const {
    constexpr std::uint32_t kContext = 4096;
    return per_layer_or_rate(times_.square_layer(square(number("context", kContext))), 1);
  }

  double square_prompt() const {
    const std::uint32_t tokens = number("tokens");
    return per_layer_or_rate(prompts_.square_layer(square(tokens)), tokens);
  }

  /// `cores` counts those of all blocks.
  double prompt() const {
    require({"device_forward"});
    DecodePlacement where = placement();
    if (has("cores")) {
      const auto [columns, rows] = sides("cores");
      if (columns % where.blocks_x != 0 || rows % where.blocks_y != 0) {
        throw Unsupported{fmt::format("cores = '{}' are no whole blocks", text("cores"))};
      }
      where.columns = columns / where.blocks_x;
      where.rows = rows / where.blocks_y;
    }
    constexpr std::uint32_t kChunk = 256;
    return prompts_.run(model(), where, number("tokens"), number("chunk", kChunk)).cycles;
  }

  /// The mean of the calls of a function; all calls of one do the same.
  double prompt_function() const {
    require({"average"});
    constexpr std::uint32_t kChunk = 256;
    wse::PrefillBlock block;
    constexpr std::uint32_t kSide = 256;
    block.columns = block.rows = kSide;
    if (has("block")) std::tie(block.columns, block.rows) = sides("block");
    block.tokens = number("chunk", has("tokens") ? std::min(number("tokens"), kChunk) : kChunk);
    const PrefillLayer& layer = prompts_.layer(model(), block);
    static const std::map<std::string, wse::PrefillPart> parts = {
        {"prefill_function_rmsnorm", wse::PrefillPart::norm},
        {"prefill_function_qk_norm", wse::PrefillPart::qk_norm},
        {"prefill_function_rope", wse::PrefillPart::rope},
        {"prefill_function_silu_chunk", wse::PrefillPart::silu}};
    if (point_.workload == "prefill_function_matmul_step") return layer.product_step;
    const auto found = parts.find(point_.workload);
    if (found == parts.end()) throw Unsupported{fmt::format("'{}'", point_.workload)};
    return layer.parts.at(found->second);
  }

  /// The authors' clock and the rate of the host's streams make a floor under the time of the rows.
  double cache_moves() const {
    require({"cycles"});
    CacheMove move;
    move.tokens = number("tokens");
    move.streams = number("streams", placement().blocks_y);
    move.clock_ghz = has("clock_ghz") ? rate("clock_ghz") : 0;
    move.outwards = point_.workload == "kv_egress_wafer_to_host" || point_.workload == "kv_out";
    return prompts_.cache_moves(model(), placement(), move).cycles;
  }

  DecodeTimes::SquareLayer square(std::uint32_t context) const {
    require({"cycles_per_layer", "throughput_per_request"});
    DecodeTimes::SquareLayer layer;
    const auto [columns, rows] = sides("grid");
    if (columns != rows) throw Unsupported{"the grid is no square"};
    if (number("heads", 1) != 1) throw Unsupported{"a benchmark layer of several heads"};
    layer.side = columns;
    layer.width = number("padded_dim", model().width);
    layer.ffn = number("padded_ffn", model().ffn);
    layer.context = number("padded_seq", context);
    layer.groups = number("groups", 0);
    return layer;
  }

  /// The authors' clock turns the cycles of all layers into tokens a second.
  double per_layer_or_rate(double cycles, double tokens) const {
    if (point_.metric == "cycles_per_layer") return cycles;
    const double clock = rate("clock_ghz");
    return tokens * clock * 1e9 / (cycles * number("layers", model().layers));
  }

  const ValidationPoint& point_;
  DecodeTimes& times_;
  PrefillTimes& prompts_;
};

/// What runs the models of one wafer.
struct ModelWafer {
  std::vector<std::unique_ptr<Machine>> machines;
  std::unique_ptr<DecodeTimes> times;
  std::unique_ptr<PrefillTimes> prompts;

  ModelWafer(const MachineTable& table, const char* preset, const ValidationRunSettings& run)
      : machines(make_machines(table, {preset}, run.settings)) {
    machines[0]->check();
    // NOLINTNEXTLINE(*-static-cast-downcast): of a wafer; the base has nothing virtual
    const auto& params = static_cast<const WseParams&>(machines[0]->parameters());
    times = std::make_unique<DecodeTimes>(params, run.execution.engine);
    prompts = std::make_unique<PrefillTimes>(params, run.execution.engine, *times);
  }
};

}  // namespace

void simulate_inference(const ValidationPoints& points, const MachineTable& table,
                        const ValidationRunSettings& run, Outcomes& outcomes) {
  static const std::map<std::string, const char*> presets = {{"CS-3", "wse3"}, {"CS-2", "wse2"}};
  std::map<std::string, ModelWafer> wafers;
  simulate_points(points, outcomes, [&](const ValidationPoint& point, ValidationOutcome& outcome) {
    const auto preset = presets.find(point.system);
    if (preset == presets.end() || point.parameters.count("model") == 0) {
      return std::optional<double>();
    }
    ModelWafer& wafer = wafers.try_emplace(preset->first, table, preset->second, run).first->second;
    const InferencePoint simulated(point, *wafer.times, *wafer.prompts);
    const double value = simulated.value();
    outcome.unread = simulated.unread();
    return std::optional(value);
  });
}

}  // namespace lacuna
