// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/exchange/planner.hpp"
#include "sim/base/error.hpp"

namespace lacuna::ipu {

namespace {

bool is_arithmetic(const Bundle& bundle) {
  for (std::size_t t = 0; t < kTallies; ++t) {
    const auto tally = static_cast<Tally>(t);
    const bool operation = tally >= Tally::amp_mac_fp16 && tally != Tally::meta_words;
    if (operation && bundle.tallies.at(t) > 0) return true;
  }
  return false;
}

/// Says which bundles take no time on a chip without their cost.
void idealise(const WithoutParams& without, Program& program) {
  if (!without.overhead && !without.arithmetic) return;
  program.free.clear();
  for (const Bundle& bundle : program.bundles) {
    program.free.push_back(is_arithmetic(bundle) ? without.arithmetic : without.overhead);
  }
  program.free_ahead = without.overhead;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const ChipParams& params) : params_(params) {
  program_.set_size = params_.tile.slots();
}

std::uint32_t ProgramBuilder::bundle(Bundle bundle) {
  program_.bundles.push_back(std::move(bundle));
  return static_cast<std::uint32_t>(program_.bundles.size() - 1);
}

std::uint32_t ProgramBuilder::codelet(Codelet codelet) {
  program_.codelets.push_back(std::move(codelet));
  return static_cast<std::uint32_t>(program_.codelets.size() - 1);
}

CallRange ProgramBuilder::calls(const std::vector<Call>& calls) {
  const CallRange range{static_cast<std::uint32_t>(program_.calls.size()),
                        static_cast<std::uint32_t>(calls.size())};
  program_.calls.insert(program_.calls.end(), calls.begin(), calls.end());
  return range;
}

std::uint32_t ProgramBuilder::worker(const std::vector<Call>& calls) {
  program_.workers.push_back(this->calls(calls));
  return static_cast<std::uint32_t>(program_.workers.size() - 1);
}

std::uint32_t ProgramBuilder::vertex(const std::vector<Call>& supervisor,
                                     const std::vector<std::uint32_t>& sets) {
  const std::uint32_t size = params_.tile.workers;
  if (sets.size() % size != 0) throw InternalError("a worker set without all its workers");
  Vertex vertex;
  vertex.supervisor = calls(supervisor);
  vertex.first_set = static_cast<std::uint32_t>(program_.set_table.size()) / program_.set_size;
  vertex.sets = static_cast<std::uint32_t>(sets.size()) / size;
  std::vector<std::uint32_t>& table = program_.set_table;
  for (auto set = sets.begin(); set != sets.end(); set += size) {
    table.insert(table.end(), set, set + size);
    table.insert(table.end(), program_.set_size - size, kNone);  // slots without a worker
  }
  program_.vertices.push_back(vertex);
  return static_cast<std::uint32_t>(program_.vertices.size() - 1);
}

void ProgramBuilder::work(TileId tile, const WorkItem& item) {
  if (tile >= params_.ipu.tiles) throw InternalError(fmt::format("there is no tile {}", tile));
  open_.emplace_back(tile, item);
}

void ProgramBuilder::work(TileId tile, std::uint32_t vertex, std::uint32_t function) {
  WorkItem item;
  item.index = vertex;
  item.function = function;
  work(tile, item);
}

std::uint32_t ProgramBuilder::compute_set(std::string name) {
  if (open_.empty()) return kNone;
  std::stable_sort(open_.begin(), open_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ComputeSet set;
  set.name = std::move(name);
  set.first.assign(params_.ipu.tiles + 1U, 0);
  set.items.reserve(open_.size());
  for (const auto& [tile, item] : open_) {
    ++set.first[tile + 1];
    set.items.push_back(item);
  }
  for (std::size_t tile = 0; tile < params_.ipu.tiles; ++tile)
    set.first[tile + 1] += set.first[tile];
  open_.clear();
  program_.computes.push_back(std::move(set));
  return static_cast<std::uint32_t>(program_.computes.size() - 1);
}

std::uint32_t ProgramBuilder::exchange(std::string name, TransferList list) {
  if (list.transfers.empty()) return kNone;
  ExchangePlan plan = plan_exchange(params_, list);
  program_.exchanges.push_back({std::move(name), std::move(plan), std::move(list)});
  return static_cast<std::uint32_t>(program_.exchanges.size() - 1);
}

void ProgramBuilder::superstep(std::uint32_t compute, std::uint32_t exchange) {
  if (compute != kNone || exchange != kNone) program_.supersteps.push_back({compute, exchange});
}

std::uint32_t ProgramBuilder::function(VertexFunction function) {
  program_.functions.push_back(std::move(function));
  return static_cast<std::uint32_t>(program_.functions.size() - 1);
}

Program ProgramBuilder::take() {
  const MemoryLayout layout = place_operands(params_.tile.memory, operands_, program_.bundles);
  std::vector<std::uint32_t> conflicts = conflicts_of(layout, program_.bundles);
  for (std::size_t b = 0; b < conflicts.size(); ++b) {
    const std::uint32_t before = b < program_.conflicts.size() ? program_.conflicts[b] : 0;
    conflicts[b] =
        std::max({conflicts[b], before, lost_to_ports(params_.tile.memory, program_.bundles[b])});
  }
  const bool any = std::any_of(conflicts.begin(), conflicts.end(), [](auto n) { return n > 0; });
  if (any) program_.conflicts = std::move(conflicts);
  idealise(params_.without, program_);
  return std::move(program_);
}

}  // namespace lacuna::ipu
