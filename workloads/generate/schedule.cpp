// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/sparsity/block_scores.hpp"
#include "models/sparsity/pattern.hpp"
#include "models/sparsity/repattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/random.hpp"
#include "workloads/generate/sparse_training.hpp"
#include "workloads/trace/diagnostic.hpp"

namespace lacuna {
namespace {

using Kind = ScheduleKind;

/// Scores of blocks that are held, so that they need not be drawn again at each update.
class HeldScores : public RowScores {
 public:
  HeldScores(RowScores& source, const Mask& shape) : width_(shape.grid_cols()) {
    std::vector<double> row;
    source.rewind();
    for (std::uint32_t r = 0; r < shape.grid_rows(); ++r) {
      source.next_row(row);
      scores_.insert(scores_.end(), row.begin(), row.end());
    }
  }

  void rewind() override { at_ = 0; }
  void next_row(std::vector<double>& scores) override {
    const auto first = scores_.begin() + static_cast<std::ptrdiff_t>(at_);
    scores.assign(first, first + static_cast<std::ptrdiff_t>(width_));
    at_ += width_;
  }

 private:
  std::size_t width_;
  std::size_t at_ = 0;
  std::vector<double> scores_;
};

/// One matrix on its way through the schedule.
class Evolving {
 public:
  Evolving(const ScheduleMatrix& matrix, const ScheduleOptions& options)
      : options_(options), seed_(stream_seed(options.seed, matrix.name)) {
    if (matrix.rows % options.block != 0 || matrix.cols % options.block != 0) {
      refuse_request("block={}: found '{}' of {} x {}; allowed: sides of whole blocks",
                     options.block, matrix.name, matrix.rows, matrix.cols);
    }
    mask_.rows = matrix.rows;
    mask_.cols = matrix.cols;
    mask_.block_rows = mask_.block_cols = options.block;
    BlockScores drawn(field_of(FieldPreset::typical, matrix.role, options.density.value()),
                      stream_seed(seed_, "weights"), BlockNorm::l1, mask_);
    weights_.emplace_back(drawn, mask_);
    seen_.assign(positions(), false);
  }

  const Mask& mask() const { return mask_; }
  std::uint64_t positions() const { return std::uint64_t{mask_.grid_rows()} * mask_.grid_cols(); }
  std::uint64_t explored() const { return explored_; }

  /// A random mask.
  void draw(const Decimal& density) {
    PatternSpec spec;
    spec.name = options_.block == 1 ? "unstructured" : "block";
    spec.density = density;
    spec.block_rows = spec.block_cols = options_.block;
    mask_ = generate_mask(spec, mask_.rows, mask_.cols, seed_);
    look();
  }

  RowScores& weights() { return weights_.front(); }

  void take(Mask mask) {
    mask_ = std::move(mask);
    look();
  }

  /// One update; the number of blocks that moved.
  std::uint64_t update(std::uint64_t count, std::uint64_t index) {
    Repattern step;
    step.count = count;
    step.drop = Repattern::Drop::magnitude;
    const std::uint64_t seed = stream_seed(seed_, fmt::format("update {}", index));
    if (options_.kind == Kind::rigl) step.regrow = Repattern::Regrow::gradient;
    FieldSpec field;
    field.scaled = false;
    BlockScores gradients(field, seed, BlockNorm::l1, mask_);
    mask_ = repattern(mask_, step, seed, &weights_.front(), &gradients);
    look();
    return std::min(count, mask_.blocks());
  }

 private:
  void look() {
    for (std::uint32_t r = 0; r < mask_.grid_rows(); ++r) {
      for (std::uint64_t i = mask_.offsets[r]; i < mask_.offsets[r + std::size_t{1}]; ++i) {
        auto&& seen = seen_[std::size_t{r} * mask_.grid_cols() + mask_.columns[i]];
        explored_ += seen ? 0 : 1;
        seen = true;
      }
    }
  }

  const ScheduleOptions& options_;
  std::uint64_t seed_;
  Mask mask_;
  std::vector<HeldScores> weights_;  // one
  std::vector<bool> seen_;
  std::uint64_t explored_ = 0;
};

class Walk {
 public:
  Walk(const std::vector<ScheduleMatrix>& matrices, const ScheduleOptions& options)
      : options_(options) {
    const auto row = std::find_if(schedule_kinds().begin(), schedule_kinds().end(),
                                  [&](const ScheduleKindRow& r) { return r.kind == options.kind; });
    updates_ = options.updates != 0 ? options.updates : row->updates;
    if (options.updates == 0 && options.kind == Kind::dynamic_bert && options.block == 16) {
      updates_ = 80;  // as published for blocks of 16 x 16
    }
    steps_ = options.steps != 0 ? options.steps : std::max(row->steps, updates_);
    if (steps_ < updates_) {
      refuse_request("steps={}: found fewer steps than updates, {}; allowed: more", steps_,
                     updates_);
    }
    for (const ScheduleMatrix& matrix : matrices) evolving_.emplace_back(matrix, options_);
  }

  void run(const std::function<void(const SchedulePhase&, const std::vector<Mask>&)>& visit) {
    const std::uint64_t phases =
        options_.kind == Kind::spdf ? 2 : updates_ + (keeps_number() ? 0 : 1);
    std::uint64_t done = 0;
    for (std::uint64_t p = 0; p < phases; ++p) {
      SchedulePhase phase;
      phase.index = p;
      phase.first_step = done;
      const std::uint64_t moved = change(p);
      done = end_of(p, phases);
      phase.steps = done - phase.first_step;
      phase.dense = options_.kind == Kind::spdf && p == 1;
      describe(phase, moved);
      std::vector<Mask> masks;
      for (const Evolving& matrix : evolving_) masks.push_back(matrix.mask());
      if (phase.dense) masks.clear();
      visit(phase, masks);
    }
  }

 private:
  // The number of blocks never changes; the last update of these moves nothing.
  bool keeps_number() const { return !removes() && options_.kind != Kind::spdf; }

  std::uint64_t end_of(std::uint64_t phase, std::uint64_t phases) const {
    if (phase + 1 == phases) return steps_;
    if (options_.kind == Kind::spdf) return steps_ - count_of(options_.fine_tuning, steps_);
    const bool most = options_.kind == Kind::set || options_.kind == Kind::rigl;
    // SET with a cosine and RigL end after three quarters of training
    const std::uint64_t span = most ? steps_ / 4 * 3 : steps_;
    return span * (phase + 1) / phases;
  }

  // Before the phase: its pattern. The number of blocks that moved.
  std::uint64_t change(std::uint64_t phase) {
    std::uint64_t moved = 0;
    if (removes()) {
      prune(phase);
    } else if (phase == 0) {
      for (Evolving& matrix : evolving_) matrix.draw(options_.density);
    } else if (keeps_number()) {
      for (Evolving& matrix : evolving_) {
        moved += matrix.update(moves(matrix.mask().blocks(), phase), phase);
      }
    }
    return moved;
  }

  bool removes() const {
    return options_.kind == Kind::gradual || options_.kind == Kind::iterative;
  }

  // Of kinds that only remove.
  std::uint64_t kept_of(std::uint64_t positions, std::uint64_t phase) const {
    return options_.kind == Kind::gradual
               ? kept_by_cubic_law(positions, phase)
               : iterative_pruning(positions, static_cast<unsigned>(phase));
  }

  // The blocks of the highest scores: one threshold over all matrices, or one for each.
  void prune(std::uint64_t phase) {
    const auto together = static_cast<std::ptrdiff_t>(options_.global ? evolving_.size() : 1);
    for (auto first = evolving_.begin(); first != evolving_.end(); first += together) {
      std::vector<RowScores*> scores;
      std::vector<Mask> masks;
      std::uint64_t positions = 0;
      for (auto each = first; each != first + together; ++each) {
        positions += each->positions();
        scores.push_back(&each->weights());
        masks.push_back(each->mask());
      }
      choose_largest(scores, kept_of(positions, phase), masks);
      for (std::size_t i = 0; i < masks.size(); ++i)
        (first + static_cast<std::ptrdiff_t>(i))->take(std::move(masks[i]));
    }
  }

  std::uint64_t kept_by_cubic_law(std::uint64_t positions, std::uint64_t phase) const {
    const double sparsity =
        cubic_sparsity(1 - options_.first_density.value(), 1 - options_.density.value(),
                       static_cast<double>(phase), 0, static_cast<double>(updates_));
    return count_of(rounded_share(1 - sparsity), positions);
  }

  std::uint64_t moves(std::uint64_t kept, std::uint64_t update) const {
    constexpr double kAlpha = 0.3;
    if (options_.kind == Kind::dynamic_bert) {
      return dynamic_sparse_bert_moves(kept, options_.ratio, update, updates_);
    }
    if (options_.kind == Kind::set_epochs) return count_of(Decimal{3, 1}, kept);
    return cosine_moves(kept, kAlpha, update, updates_);
  }

  void describe(SchedulePhase& phase, std::uint64_t moved) const {
    std::uint64_t positions = 0;
    std::uint64_t kept = 0;
    std::uint64_t explored = 0;
    for (const Evolving& matrix : evolving_) {
      positions += matrix.positions();
      kept += matrix.mask().blocks();
      explored += matrix.explored();
    }
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
      return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    phase.moved = share(moved, kept);
    phase.explored = phase.dense ? 1 : share(explored, positions);
    phase.density = phase.dense ? 1 : share(kept, positions);
  }

  const ScheduleOptions options_;
  std::uint64_t updates_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<Evolving> evolving_;
};

}  // namespace

const std::vector<ScheduleKindRow>& schedule_kinds() {
  static const std::vector<ScheduleKindRow> kRows = {
      {Kind::dynamic_bert, "dynamic",
       "dynamic sparse BERT (arXiv 2108.06277): drop by magnitude, grow at random, half of the "
       "blocks at first, less and less as a cosine",
       160, 757000},
      {Kind::set, "set",
       "SET with a cosine, to 75 % of training (as configured for Cerebras machines)", 35, 4779},
      {Kind::set_epochs, "set-epochs", "SET (Mocanu et al., 2018): 30 % at every epoch", 40, 40},
      {Kind::rigl, "rigl",
       "RigL (Evci et al., 2020), to 75 % of training; its gradients are drawn from a seed", 35,
       4779},
      {Kind::gradual, "gmp", "gradual magnitude pruning by the cubic law (oBERT recipes)", 6, 24},
      {Kind::iterative, "imp", "iterative pruning, a fifth in each round", 8, 9},
      {Kind::spdf, "spdf",
       "sparse pre-training with a random mask and dense fine-tuning (arXiv 2303.10464)", 1, 100},
  };
  return kRows;
}

void walk_schedule(
    const std::vector<ScheduleMatrix>& matrices, const ScheduleOptions& options,
    const std::function<void(const SchedulePhase&, const std::vector<Mask>&)>& visit) {
  Walk(matrices, options).run(visit);
}

}  // namespace lacuna
