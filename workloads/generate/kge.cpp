// SPDX-License-Identifier: Apache-2.0
#include "workloads/generate/kge.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "workloads/generate/trace_builder.hpp"
#include "workloads/trace/diagnostic.hpp"
#include "workloads/trace/op_kind.hpp"
#include "workloads/trace/text.hpp"

namespace lacuna {
namespace {

// How head, relation and tail become a score.
struct Scoring {
  const char* name;
  unsigned entity_parts;    // numbers of an entity per unit of width
  unsigned relation_parts;  // of a relation
  const char* query;        // head and relation
  const char* compare;      // the query with one tail
  const char* distance;     // the query with many tails, fn of bmm
};

constexpr std::array<Scoring, 4> kScorings = {{{"transe", 1, 1, "add", "add", "l1"},
                                               {"distmult", 1, 1, "mul", "mul", "dot"},
                                               {"rotate", 2, 1, "rope", "add", "l2"},
                                               {"complex", 2, 2, "mul", "mul", "dot"}}};

class KgeMaker {
 public:
  explicit KgeMaker(const Settings& settings) {
    scoring_ = &kScorings.at(settings.choice("score", names_in(kScorings), 0));
    const std::uint32_t width = settings.required("width", 1, "numbers of an embedding");
    const std::uint32_t entities = settings.required("entities", 1, "entities in all");
    relations_ = settings.required("relations", 1, "types of relations");
    const std::uint32_t positives =
        settings.required("positives", 1, "triples of a pair of head and tail shard");
    settings.integer("shards", 1, shards_);
    std::uint32_t negatives = 1;
    settings.integer("negatives", 1, negatives);
    halves_ = settings.choice("corrupt", {"tails", "both"}, 1) == 1 ? 2 : 1;
    Mode mode = Mode::automatic;
    settings.types(dtype_, mode);
    const std::vector<std::string>& optimizers = find_op_kind("optim")->functions;
    optimizer_ = optimizers[settings.choice("optimizer", optimizers, 2)];
    entity_ = checked(std::uint64_t{width} * scoring_->entity_parts);
    relation_ = checked(std::uint64_t{width} * scoring_->relation_parts);
    table_ = (entities + shards_ - 1) / shards_;
    triples_ = checked(std::uint64_t{shards_} * positives);
    const std::uint64_t of_pair = std::uint64_t{triples_} * negatives;
    gathered_ = checked(shards_ * (2 * std::uint64_t{positives} + of_pair));
    sent_ = checked(shards_ * (positives + of_pair));
    candidates_ = checked(shards_ * of_pair / halves_);
    if (triples_ % halves_ != 0) {
      refuse_request("corrupt=both: found {} triples on a chip; allowed: an even number", triples_);
    }
  }

  WorkloadTrace make() {
    forward();
    backward();
    update();
    trace_.name = fmt::format("kge-{}", scoring_->name);
    return std::move(trace_);
  }

 private:
  static std::uint32_t checked(std::uint64_t value) {
    if (value <= kMostSide) return static_cast<std::uint32_t>(value);
    throw RequestError("kge: found more than 2^31 - 1 rows or numbers; allowed: a smaller batch");
  }

  LayerOp& add(Phase phase, const std::string& name, const std::string& op, const std::string& fn,
               std::uint32_t m, std::uint32_t k, std::uint32_t n) {
    LayerOp row = make_row(fmt::format("{}.{}", word(phase), name), op, dtype_, {m, k, n}, fn);
    row.model = std::string("kge-") + scoring_->name;
    row.layer = name;
    row.phase = phase;
    if (!trace_.ops.empty()) row.depends_on = {trace_.ops.back().id};
    trace_.ops.push_back(std::move(row));
    return trace_.ops.back();
  }

  LayerOp& exchange(Phase phase, const std::string& name, const std::string& op, std::uint32_t m,
                    std::uint32_t n) {
    LayerOp& row = add(phase, name, op, "ring", m, 0, n);
    row.args = {{"ranks", std::to_string(shards_)}, {"between", "chips"}};
    return row;
  }

  void forward() {
    add(Phase::fwd, "gather", "embed", "gather", entity_, table_, gathered_);
    // Heads stay where they are; tails and negatives go to the chips of their heads.
    if (shards_ > 1) exchange(Phase::fwd, "exchange", "alltoall", entity_, sent_);
    add(Phase::fwd, "relation", "embed", "gather", relation_, relations_, triples_);
    add(Phase::fwd, "query", "eltwise", scoring_->query, entity_, 0, triples_);
    add(Phase::fwd, "positive", "eltwise", scoring_->compare, entity_, 0, triples_);
    add(Phase::fwd, "negative", "bmm", scoring_->distance, triples_ / halves_, entity_, candidates_)
        .batch = halves_;
    add(Phase::fwd, "loss", "softmax", "", triples_, 0, candidates_ + 1);
  }

  void backward() {
    add(Phase::bwd, "loss", "softmax", "", triples_, 0, candidates_ + 1);
    add(Phase::bwd, "negative_dq", "bmm", scoring_->distance, triples_ / halves_, candidates_,
        entity_)
        .batch = halves_;
    add(Phase::bwd, "negative_dx", "bmm", scoring_->distance, candidates_, triples_ / halves_,
        entity_)
        .batch = halves_;
    add(Phase::bwd, "positive", "eltwise", scoring_->compare, entity_, 0, triples_);
    add(Phase::bwd, "query", "eltwise", scoring_->query, entity_, 0, triples_);
    add(Phase::bwd, "relation", "embed", "scatter_add", relation_, relations_, triples_);
    if (shards_ > 1) exchange(Phase::bwd, "exchange", "alltoall", entity_, sent_);
    add(Phase::bwd, "gather", "embed", "scatter_add", entity_, table_, gathered_);
  }

  void update() {
    if (shards_ > 1) exchange(Phase::upd, "relation_sum", "allreduce", relation_, relations_);
    LayerOp& relation = add(Phase::upd, "relation", "optim", optimizer_, relation_, relations_, 0);
    relation.args = {{"rows", "all"}};
    relation.dtype = DType::fp32;
    LayerOp& entity = add(Phase::upd, "entity", "optim", optimizer_, entity_, table_, 0);
    // decay shrinks every row, whether a triple named it or not
    const bool decays = optimizer_ == "adamw" || optimizer_ == "lamb";
    entity.args = {{"rows", decays ? "all" : "touched"}};
    entity.dtype = DType::fp32;
  }

  const Scoring* scoring_ = nullptr;
  DType dtype_ = DType::fp32;
  std::string optimizer_;
  std::uint32_t shards_ = 1;
  std::uint32_t halves_ = 2;
  std::uint32_t entity_ = 0;      // numbers of an entity
  std::uint32_t relation_ = 0;    // of a relation
  std::uint32_t relations_ = 0;   // types
  std::uint32_t table_ = 0;       // entities of this chip
  std::uint32_t triples_ = 0;     // of this chip
  std::uint32_t gathered_ = 0;    // rows read for all chips
  std::uint32_t sent_ = 0;        // rows of them that are tails and negatives
  std::uint32_t candidates_ = 0;  // negatives of each triple
  WorkloadTrace trace_;
};

}  // namespace

WorkloadTrace make_kge(const Settings& settings) { return KgeMaker(settings).make(); }

}  // namespace lacuna
