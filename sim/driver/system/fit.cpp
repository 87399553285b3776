// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/system/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/largest.hpp"
#include "sim/driver/system/record.hpp"
#include "workloads/generate/model_shape.hpp"

namespace lacuna {

using system::TrainingParams;

namespace {

/// A layout and what it needs.
struct FitRow {
  TrainingParams training;
  TrainingResult account;

  double most_mb() const { return in_mb(account.fullest().use.total()); }
  double mb_there() const { return in_mb(account.fullest().capacity); }
};

/// The row of a layout, or nothing if it does not fit, or the model cannot be cut like that.
std::optional<FitRow> fitting(const TrainingJob& job, const TrainingParams& training) {
  try {
    training.check();
    FitRow row{training, account_training(TrainingJob(
                             {job.kinds, job.pricing, job.times, training, job.execution, job.seed},
                             job.system))};
    if (misfit(row.account).empty()) return row;
  } catch (const RequestError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

/// Lists of layers stand for one number of stages and no phases.
void forget_lists(TrainingParams& training) {
  training.set("layers", "");
  training.set("attention", "");
  training.set("ffn", "");
  training.set("available_memory", "");
  training.embedding_stage = 0;
  training.head_stage = 0;
}

std::string words_of(const TrainingParams& training) {
  std::string words = fmt::format(
      "tensor={} pipeline={} replicas={} state={} activations={} phases={}",
      training.tensor.value(), training.pipeline.value(), training.replicas.value(),
      training.state.value_text(), training.activations.value_text(), training.phases.value());
  if (training.gradient_parts > 1) {
    words += fmt::format(" gradient_parts={}", training.gradient_parts.value());
  }
  if (training.share_sequence) words += " share_sequence=true";
  return words;
}

/// The same with what saves memory at work: gradients in parts, and the sequence shared.
TrainingParams saving(TrainingParams training) {
  training.gradient_parts = std::max(training.gradient_parts.value(), 8U);
  if (training.tensor > 1) training.share_sequence = true;
  return training;
}

/// What a layout may do to need less, in the order of effort: one word, then several; at last
/// phases that leave every chip of the pipeline as many blocks in each of them.
std::vector<TrainingParams> less_demanding(const TrainingParams& training, unsigned layers) {
  using system::Activations;
  using system::Place;
  std::vector<TrainingParams> tries = {training};
  const auto with = [&](TrainingParams from, Activations activations, Place state) {
    from.activations = activations;
    from.state = state;
    tries.push_back(std::move(from));
  };
  const Place other = training.state == Place::chip ? Place::streaming : Place::chip;
  const Activations again = training.activations == Activations::stored
                                ? Activations::recomputed
                                : training.activations.value();
  with(training, again, training.state);
  with(training, training.activations, other);
  with(training, again, other);
  for (const TrainingParams& each : {training, saving(training)}) {
    for (const Activations activations : {again, Activations::offloaded}) {
      for (const Place state : {Place::streaming, Place::chip}) with(each, activations, state);
    }
  }
  TrainingParams streamed = training;
  streamed.activations = again;
  streamed.state = Place::streaming;
  forget_lists(streamed);
  for (unsigned phases = 2; phases <= 2 * layers; ++phases) {
    if (2 * layers % phases != 0 || 2 * layers / phases % streamed.pipeline != 0) continue;
    streamed.phases = phases;
    tries.push_back(streamed);
    tries.push_back(saving(streamed));
  }
  return tries;
}

/// The first layout in the order of effort that fits.
std::optional<FitRow> first_fit(const TrainingJob& job, const TrainingParams& training) {
  for (const TrainingParams& each : less_demanding(training, layers_of(job.training))) {
    std::optional<FitRow> row = fitting(job, each);
    if (row) return row;
  }
  return std::nullopt;
}

/// What of `to` is not as in `from`, to be typed.
std::string changes(const TrainingParams& from, const TrainingParams& to) {
  std::vector<std::string> words;
  from.for_each([&](const std::string& path, const ParamBase& each) {
    const std::string value = to.find(path)->value_text();
    if (value == each.value_text()) return;
    words.push_back(fmt::format("--set training.{}={}", path, value.empty() ? "''" : value));
  });
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::string nearest_fit(const TrainingJob& job) {
  TrainingParams training = job.training;
  // more chips for a replica instead of more replicas
  for (unsigned doubled = 0; doubled < 8; ++doubled) {
    const std::optional<FitRow> row = first_fit(job, training);
    if (row) {
      return fmt::format("the nearest layout that fits: {}, which is {}", words_of(row->training),
                         changes(job.training, row->training));
    }
    if (training.replicas % 2 != 0 || training.replicas < 2) break;
    forget_lists(training);
    training.replicas = training.replicas / 2;
    training.pipeline = training.pipeline * 2;
    training.rts = 1;
    training.rts_state = std::min(training.rts_state.value(), training.replicas.value());
  }
  return "none fits that has the state elsewhere, recomputes or offloads activations, makes "
         "gradients in parts, has phases, or a longer pipeline with fewer replicas; fewer "
         "sequences at once (training.micro_batch) need less";
}

TrainingResult run_training(const TrainingJob& job) {
  if (job.training.rows.value().empty()) {
    const std::string why = misfit(account_training(job));
    if (!why.empty()) {
      throw OutOfMemoryError(fmt::format("{}: {}; {}", job.system.name, why, nearest_fit(job)));
    }
  }
  return simulate_training(job);
}

namespace {

/// At most as many parts of the heads as are asked for, that come out even on `tensor` chips.
unsigned even_parts(const TrainingParams& training, unsigned tensor) {
  const unsigned heads = find_model_shape(training.model).heads * training.micro_batch;
  unsigned parts = training.attention_parts;
  while (parts > 1 && heads % (tensor * parts) != 0) --parts;
  return parts;
}

/// The model on so many chips, each replica with state of its own, in one phase.
TrainingParams laid_out(const TrainingJob& job, unsigned tensor, unsigned pipeline,
                        unsigned replicas) {
  TrainingParams training = job.training;
  forget_lists(training);
  training.tensor = tensor;
  training.pipeline = pipeline;
  training.replicas = replicas;
  training.rts = 1;
  training.rts_state = replicas;
  training.attention_parts = even_parts(job.training, tensor);
  training.phases = 1;
  return training;
}

/// Layouts of the model on all chips of the system: every tensor x pipeline x replicas of powers of
/// two that its heads and layers allow, each with the fewest phases and the state on the chips if
/// that fits. Those that do not fit at all are left out.
std::vector<FitRow> fitting_layouts(const TrainingJob& job) {
  std::vector<FitRow> rows;
  const unsigned chips = job.system.params.chips();
  for (unsigned t = 1; t <= chips; t *= 2) {
    for (unsigned p = 1; t * p <= chips && p <= layers_of(job.training); p *= 2) {
      TrainingParams training = laid_out(job, t, p, chips / (t * p));
      training.state = system::Place::chip;
      const std::optional<FitRow> row = first_fit(job, training);
      if (row) rows.push_back(*row);
    }
  }
  return rows;
}

/// The layout of `layers` layers over all chips, a replica, that keeps most room for weights.
std::optional<FitRow> held(const TrainingJob& job, unsigned tensor, unsigned layers) {
  TrainingParams training = laid_out(job, tensor, job.system.params.chips() / tensor, 1);
  training.model_layers = layers;
  training.state = system::Place::streaming;
  training.activations = system::Activations::offloaded;
  training.set("prefetch", "none");
  return fitting(job, saving(training));
}

/// The most layers of the model's width whose weights and gradients all chips of the system hold
/// together, one replica on them, without phases; state of the optimizer and inputs of layers in
/// streaming memory. Nothing if one layer is too many.
std::optional<FitRow> largest_held(const TrainingJob& job) {
  std::optional<FitRow> best;
  constexpr unsigned kMost = 1U << 16U;
  for (unsigned t = 1; t <= job.system.params.chips(); t *= 2) {
    const auto fits = [&](unsigned layers) {
      std::optional<FitRow> row = held(job, t, layers);
      const bool has_room = row.has_value();
      if (row) best = std::move(row);
      return has_room;
    };
    const unsigned before = best ? best->training.model_layers.value() : 0;
    unsigned more = before + 1;
    // doubles until it does not fit; a smaller one that fails ends it
    while (more < kMost && fits(more)) more *= 2;
    if (more > before + 1) largest(std::max(before, more / 2), more, fits);
  }
  return best;
}

std::string largest_text(const TrainingJob& job) {
  const std::optional<FitRow> row = largest_held(job);
  if (!row) return "No layer of it is held on the chips with its gradients.";
  return fmt::format(
      "The largest of this width held on the chips with its gradients, without phases: {} "
      "layers, {:.1f} x 10^9 parameters, with tensor={} pipeline={} replicas=1; a chip needs "
      "{:.0f} of {:.0f} MB (activations offloaded, gradient_parts={}{}).",
      row->training.model_layers.value(), static_cast<double>(row->account.parameters) * 1e-9,
      row->training.tensor.value(), row->training.pipeline.value(), row->most_mb(), row->mb_there(),
      row->training.gradient_parts.value(),
      row->training.share_sequence ? ", share_sequence=true" : "");
}

}  // namespace

TextPage fit_page(const TrainingJob& job) {
  TextTable table({"tensor", "pipeline", "replicas", "state<", "activations<", "phases",
                   "gradient parts", "sequence<", "a chip needs|MB", "of its memory|%",
                   "a machine streams|GB"});
  const std::vector<FitRow> rows = fitting_layouts(job);
  for (const FitRow& row : rows) {
    const TrainingParams& training = row.training;
    table.row({training.tensor.value_text(), training.pipeline.value_text(),
               training.replicas.value_text(), training.state.value_text(),
               training.activations.value_text(), training.phases.value_text(),
               training.gradient_parts.value_text(), training.share_sequence ? "shared" : "whole",
               fmt::format("{:.0f}", row.most_mb()),
               fmt::format("{:.1f}", 100.0 * row.most_mb() / row.mb_there()),
               fmt::format("{:.1f}", static_cast<double>(row.account.streaming.bytes) * 1e-9)});
  }
  TextPage page;
  page.text(fmt::format("{} on {}, micro-batch {} of {} tokens: layouts that fit",
                        job.training.model.value(), job.system.name,
                        job.training.micro_batch.value(), job.training.tokens.value()));
  if (rows.empty()) page.text("none");
  return page.table(std::move(table)).text(largest_text(job));
}

}  // namespace lacuna
