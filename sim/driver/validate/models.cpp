// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/error.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "workloads/generate/model_shape.hpp"
#include "workloads/generate/transformer.hpp"
#include "workloads/trace/text_file.hpp"

namespace lacuna {
namespace {

// The number behind `mark`, such as 256 in "seq256"; nothing if it is not there.
std::optional<std::uint32_t> number_after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t start = at + mark.size();
  const std::size_t end = std::min(text.find_first_not_of("0123456789", start), text.size());
  constexpr std::uint64_t kMost = 1 << 20;
  const std::string digits = text.substr(start, end - start);
  const auto value = parse_integer(digits, 1, kMost);
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

const ModelShape* model_of(const std::string& workload) {
  const ModelShape* best = nullptr;
  for (const ModelShape& shape : model_shapes()) {
    const bool begins = starts_with(workload, shape.name);
    if (begins && (best == nullptr || shape.name.size() > best->name.size())) best = &shape;
  }
  return best;
}

std::optional<DType> type_of(const std::string& dtype) {
  if (dtype == "fp32") return DType::fp32;
  if (dtype == "fp16" || dtype == "fp16.16") return DType::fp16;
  if (dtype == "fp8") return DType::fp8;
  return std::nullopt;
}

}  // namespace

bool is_model_inference(const ValidationPoint& point) {
  const std::string workload = lower_case(point.workload);
  return point.unit == "samples/s" && model_of(workload) != nullptr &&
         number_after(workload, "seq").has_value();
}

ModelInference model_inference(const ValidationPoint& point) {
  const std::string workload = lower_case(point.workload);
  const ModelShape& shape = *model_of(workload);
  const std::optional<std::uint32_t> batch = number_after(workload, "batch=");
  const std::optional<DType> dtype = type_of(lower_case(point.dtype));
  ModelInference model;
  model.name = shape.name;
  const auto refuse = [&model](std::string why) {
    model.unsupported = std::move(why);
    return model;
  };
  if (!batch) return refuse("the batch is not given");
  if (!dtype) return refuse(fmt::format("dtype '{}' is not fp32, fp16 or fp8", point.dtype));
  if (workload.find("packed") != std::string::npos) {
    return refuse("packed sequences: their lengths are not given");
  }
  TransformerOptions options;
  options.tokens = *number_after(workload, "seq");
  options.sequences = *batch;
  options.layers = 1;
  options.embedding = true;  // part of the model, whoever measures it
  options.dtype = *dtype;
  if (options.tokens > shape.positions) return refuse("longer sequences than the model takes");
  model.samples = *batch;
  model.ops = make_transformer(shape, options).ops;
  for (LayerOp& op : model.ops) {
    if (starts_with(op.layer, "l0.")) op.repeat = shape.layers;
    const bool product = op.op == "gemm" || op.op == "bmm";
    if (!product && op.dtype == DType::fp8) op.dtype = DType::fp16;
  }
  return model;
}

void add_model(const std::vector<std::size_t>& runs, const std::vector<std::uint64_t>& times,
               double samples, const std::vector<ValidationRunResult>& results,
               ValidationOutcome& outcome) {
  double seconds = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ValidationRunResult& result = results[runs[i]];
    if (result.status != Status::ok) {
      outcome.status = result.status;
      outcome.reason = result.reason;
      return;
    }
    seconds += static_cast<double>(result.all_cycles) * static_cast<double>(times[i]) /
               (result.clock_ghz * 1e9);
  }
  if (seconds > 0) outcome.simulated = samples / seconds;
}

}  // namespace lacuna
