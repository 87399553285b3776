// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/ipu/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "workloads/functions/ceil_div.hpp"
#include "workloads/mapping/ipu/codelet_arguments.hpp"
#include "workloads/mapping/ipu/dynamic/buckets.hpp"
#include "workloads/mapping/ipu/rows/vector_codelets.hpp"

namespace lacuna::ipu {
namespace {

class Encoding {
 public:
  Encoding(const ChipParams& chip, const PlannerParams& planner, const EncodeParams& encode,
           const GemmProblem& problem, PlannedOperation& planned)
      : chip_(chip),
        target_(make_target(chip, planner)),
        encode_(encode),
        problem_(problem),
        planned_(planned),
        builder_(chip),
        bytes_(planned.types.bytes()),
        elements_(std::uint64_t{problem.m} * problem.k),
        share_(ceil_div(elements_, target_.tiles)),
        part_(ceil_div(share_, target_.workers)),
        oversize_(planner.bucket_oversize),
        found_(std::size_t{target_.tiles} * target_.workers, 0),
        received_(target_.tiles, 0) {}

  void add() {
    find();
    place_lists();
    builder_.program() = std::move(planned_.lowered.program);
    Program& program = builder_.program();
    const std::size_t before = program.supersteps.size();
    scan();
    fill();
    auto& steps = program.supersteps;
    std::rotate(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(before), steps.end());
    if (!program.conflicts.empty()) program.conflicts.resize(program.bundles.size(), 0);
    if (program.values) program.memory_words = end_;
    planned_.lowered.program = std::move(program);
    planned_.lowered.tile_bytes += end_ * 4ULL - first_ * 4ULL;
    if (planned_.estimates.empty()) return;
    planned_.estimates.back().second += scan_ + fill_;  // the total
    planned_.estimates.insert(planned_.estimates.begin(),
                              {{"find non-zeros", scan_}, {"fill buckets", fill_}});
  }

 private:
  /// Where each non-zero lies, and whose bucket it goes to.
  void find() {
    const Mask& mask = *problem_.mask;
    if (mask.blocks() == 0) return;
    const DynamicPlan plan = plan_dynamic(
        target_, planned_.types, {problem_.m, problem_.k, problem_.n, 1, mask.blocks()}, oversize_);
    const BucketSet set = fill_buckets(plan, mask, target_.workers);
    for (std::size_t home = 0; home < set.buckets.size(); ++home) {
      for (const SubGroup& group : set.buckets[home].groups) {
        for (const BucketRow& row : group.rows) {
          for (const std::uint32_t column : row.columns) note(home, row.row, column);
        }
      }
    }
  }

  /// The operand lies with its contraction along rows: element (row, column) at column * m + row.
  void note(std::size_t home, std::uint32_t row, std::uint32_t column) {
    const std::uint64_t at = std::uint64_t{column} * problem_.m + row;
    const std::uint64_t tile = at / share_;
    ++found_[tile * target_.workers + at % share_ / part_];
    ++received_[home];
    if (tile != home) ++lists_[{static_cast<TileId>(tile), static_cast<TileId>(home)}];
  }

  /// Value and 16-bit place of each.
  std::uint32_t words(std::uint64_t nonzeros) const {
    return static_cast<std::uint32_t>(ceil_div(nonzeros * (bytes_ + 2ULL), 8) * 2);
  }

  /// Of a step in which the longest worker has so many bundles beside its entry.
  Cycle clocks(std::uint64_t bundles) const {
    return chip_.tile.launch + kVectorSupervisor + target_.worker_clocks(kVectorEntry + bundles);
  }

  void place_lists() {
    std::vector<std::uint64_t> sent(target_.tiles, 0);
    std::vector<std::uint64_t> came(target_.tiles, 0);
    const auto tile_bytes = static_cast<std::uint32_t>(planned_.lowered.tile_bytes);
    first_ = std::max(planned_.lowered.program.memory_words,
                      static_cast<std::uint32_t>(ceil_div(tile_bytes, 8) * 2));
    const auto operand = static_cast<std::uint32_t>(ceil_div(share_ * bytes_, 8) * 2);
    std::uint64_t most_sent = 0;
    std::uint64_t most_came = 0;
    for (const auto& [way, nonzeros] : lists_) {
      most_sent = std::max(most_sent, sent[way.first] += words(nonzeros));
      most_came = std::max(most_came, came[way.second] += words(nonzeros));
    }
    const std::uint32_t from = first_ + operand;
    const auto to = static_cast<std::uint32_t>(from + most_sent);
    end_ = static_cast<std::uint32_t>(to + most_came);
    const std::uint64_t room = std::uint64_t{chip_.tile.memory.kib} * 1024;
    if (end_ * 4ULL > room) {
      throw OutOfMemoryError(fmt::format(
          "encoding activations on the device: a tile needs {} bytes of {}: the product {} B, its "
          "share of X {} B, lists that leave and come {} B",
          end_ * 4ULL, room, first_ * 4ULL, operand * 4ULL, (most_sent + most_came) * 4));
    }
    std::fill(sent.begin(), sent.end(), 0);
    std::fill(came.begin(), came.end(), 0);
    for (const auto& [way, nonzeros] : lists_) {
      const std::uint32_t length = words(nonzeros);
      transfers_.add({way.first, from + static_cast<std::uint32_t>(sent[way.first])}, length,
                     {Place{way.second, to + static_cast<std::uint32_t>(came[way.second])}});
      sent[way.first] += length;
      came[way.second] += length;
    }
  }

  /// Every element is loaded and compared, in vectors; then each bit is looked at.
  void scan() {
    const std::uint32_t entry = builder_.bundle(Bundle("encode overhead"));
    const std::uint32_t load =
        builder_.bundle(Bundle("encode compare").add(Tally::read_input, 1).add(Tally::vec_int, 1));
    const std::uint32_t keep =
        builder_.bundle(Bundle("encode keep value").add(Tally::write_input, 1));
    const std::uint32_t mark =
        builder_.bundle(Bundle("encode keep place").add(Tally::write_metadata, 1));
    const std::uint32_t code =
        builder_.codelet({issue(entry, count(kVectorEntry)), issue(load, 0, 0), issue(entry, 0, 1),
                          issue(keep, 0, 2), issue(mark, 0, 2)});
    const std::uint32_t supervisor =
        builder_.codelet({issue(entry, count(kVectorSupervisor)), run(0)});
    for (TileId tile = 0; tile < target_.tiles; ++tile) {
      const std::uint64_t first = tile * share_;
      const std::uint64_t mine = std::min(share_, elements_ - std::min(elements_, first));
      if (mine == 0) break;
      std::vector<std::uint32_t> set;
      for (unsigned worker = 0; worker < target_.workers; ++worker) {
        const std::uint64_t part = std::min(part_, mine - std::min(mine, worker * part_));
        const std::uint64_t nonzeros = found_[tile * std::size_t{target_.workers} + worker];
        const std::uint64_t vectors = ceil_div(part * bytes_, 8);
        const std::uint64_t others = part * encode_.test + nonzeros * (encode_.keep - 2ULL);
        set.push_back(builder_.worker({{code, {arg(vectors), arg(others), arg(nonzeros)}}}));
        scan_ = std::max(scan_, clocks(vectors + others + 2 * nonzeros));
      }
      builder_.work(tile, builder_.vertex({{supervisor, {}}}, set));
    }
    const std::uint32_t compute = builder_.compute_set("find non-zeros");
    builder_.superstep(compute, builder_.exchange("lists of non-zeros", std::move(transfers_)));
  }

  void fill() {
    const std::uint32_t entry = builder_.bundle(Bundle("encode overhead"));
    const std::uint32_t put = builder_.bundle(
        Bundle("encode place value").add(Tally::read_input, 1).add(Tally::write_weight, 1));
    const std::uint32_t mark = builder_.bundle(
        Bundle("encode place in row").add(Tally::read_metadata, 1).add(Tally::write_metadata, 1));
    const std::uint32_t code =
        builder_.codelet({issue(entry, count(kVectorEntry)), issue(entry, 0, 0), issue(put, 0, 1),
                          issue(mark, 0, 1)});
    const std::uint32_t supervisor =
        builder_.codelet({issue(entry, count(kVectorSupervisor)), run(0)});
    for (TileId tile = 0; tile < target_.tiles; ++tile) {
      if (received_[tile] == 0) continue;
      const std::uint64_t part = ceil_div(received_[tile], target_.workers);
      std::vector<std::uint32_t> set;
      for (unsigned worker = 0; worker < target_.workers; ++worker) {
        const std::uint64_t mine =
            std::min(part, received_[tile] - std::min(received_[tile], worker * part));
        set.push_back(
            builder_.worker({{code, {arg(mine * (encode_.place - 2ULL)), arg(mine), 0}}}));
        fill_ = std::max(fill_, clocks(mine * encode_.place));
      }
      builder_.work(tile, builder_.vertex({{supervisor, {}}}, set));
    }
    builder_.superstep(builder_.compute_set("fill buckets"), kNone);
  }

  const ChipParams& chip_;
  const Target target_;
  const EncodeParams& encode_;
  const GemmProblem& problem_;
  PlannedOperation& planned_;
  ProgramBuilder builder_;
  const unsigned bytes_;
  const std::uint64_t elements_;
  const std::uint64_t share_;  // of a tile
  const std::uint64_t part_;   // of a worker
  double oversize_;
  std::vector<std::uint64_t> found_;     // non-zeros by tile and worker
  std::vector<std::uint64_t> received_;  // by tile of the bucket
  std::map<std::pair<TileId, TileId>, std::uint64_t> lists_;
  TransferList transfers_;
  std::uint32_t first_ = 0;  // word of a tile's memory behind the product
  std::uint32_t end_ = 0;
  Cycle scan_ = 0;  // as estimated
  Cycle fill_ = 0;
};

}  // namespace

void encode_first(const ChipParams& chip, const PlannerParams& planner, const EncodeParams& encode,
                  const GemmProblem& problem, PlannedOperation& planned) {
  Encoding(chip, planner, encode, problem, planned).add();
}

}  // namespace lacuna::ipu
