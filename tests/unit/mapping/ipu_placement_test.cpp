// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/sparsity/mask.hpp"
#include "workloads/mapping/ipu/lowering.hpp"
#include "workloads/mapping/ipu/planner_params.hpp"

namespace lacuna::ipu {
namespace {

// The rules by which PopLibs keeps operands apart in the elements of a tile's memory, each on the
// bundles of the products it is made for.

std::uint64_t tally(const Bundle& bundle, Tally which) {
  return bundle.tallies.at(static_cast<std::size_t>(which));
}

std::uint64_t accesses(const Bundle& bundle) {
  std::uint64_t all = 0;
  for (auto t = static_cast<std::size_t>(Tally::read_weight);
       t <= static_cast<std::size_t>(Tally::write_metadata); ++t) {
    all += bundle.tallies.at(t);
  }
  return all;
}

enum class Product { dense, static_, dynamic };

ChipParams four_tiles() {
  ChipParams chip;
  chip.ipu.tiles = 4;
  chip.ipu.rows = 2;
  return chip;
}

/// A product of 64 x 64 and 16 columns on four tiles.
Program program_of(Product product, const Types& types, unsigned block,
                   const ChipParams& chip = four_tiles()) {
  const Mask mask = dense_mask(64, 64, block);
  GemmProblem problem;
  problem.m = problem.k = 64;
  problem.n = 16;
  problem.dtype = types.data;
  problem.mask = &mask;
  const Target target = make_target(chip, {});
  if (product == Product::static_) {
    return lower_static(chip, target, types, problem, plan_static(target, types, mask, problem.n))
        .program;
  }
  if (product == Product::dynamic) {
    const DynamicProblem dynamic{64, 64, 16, block, mask.blocks()};
    return lower_dynamic(chip, target, types, problem, plan_dynamic(target, types, dynamic, 0.3))
        .program;
  }
  problem.mask = nullptr;
  return lower_dense(chip, target, types, problem, plan_dense(target, types, 64, 64, 16)).program;
}

struct Case {
  Product product;
  Types types;
  unsigned block;
};

std::vector<Case> all_cases() {
  const Types half{DType::fp16, DType::fp16};
  const Types mixed{DType::fp16, DType::fp32};
  const Types single{DType::fp32, DType::fp32};
  std::vector<Case> cases{
      {Product::dense, half, 1}, {Product::dense, mixed, 1}, {Product::dense, single, 1}};
  for (const unsigned block : {1U, 4U, 8U, 16U}) {
    cases.push_back({Product::static_, half, block});
    cases.push_back({Product::static_, single, block});
    cases.push_back({Product::dynamic, mixed, block});
    cases.push_back({Product::dynamic, single, block});
  }
  return cases;
}

std::string text(const Case& c) {
  return std::to_string(static_cast<int>(c.product)) + ", " + word(c.types.data) + ", blocks of " +
         std::to_string(c.block);
}

/// What each bundle loses when the classes lie at these places.
std::vector<std::uint32_t> lost(const Program& program, const MemoryLayout& layout) {
  return conflicts_of(layout, program.bundles);
}

/// Every class in one element of its own, plain or interleaved.
MemoryLayout apart(bool interleaved_partials) {
  MemoryLayout layout{};
  for (std::uint32_t o = 0; o < kOperands; ++o) layout.at(o) = {o, o + 1, o, o, false};
  layout.at(static_cast<std::size_t>(Operand::partial)).interleaved = interleaved_partials;
  return layout;
}

void put_together(MemoryLayout& layout, Operand a, Operand b) {
  const OperandPlace place = layout.at(static_cast<std::size_t>(a));
  layout.at(static_cast<std::size_t>(b)).first_element = place.first_element;
  layout.at(static_cast<std::size_t>(b)).last_element = place.last_element;
}

bool any(const Program& program, const std::vector<std::uint32_t>& slots, const char* part) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != 0 && program.bundles[i].name.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Placement, NonZerosAndWeightsAreLoadedAlone) {
  for (const Case& c : all_cases()) {
    unsigned seen = 0;
    for (const Bundle& bundle : program_of(c.product, c.types, c.block).bundles) {
      if (tally(bundle, Tally::read_weight) == 0) continue;
      ++seen;
      EXPECT_EQ(accesses(bundle), tally(bundle, Tally::read_weight)) << text(c) << bundle.name;
    }
    EXPECT_GE(seen, 1U) << text(c);
  }
}

TEST(Placement, PlansWithRoomHaveNoConflict) {
  for (const Case& c : all_cases()) {
    EXPECT_TRUE(program_of(c.product, c.types, c.block).conflicts.empty()) << text(c);
  }
}

// An AMP bundle reads a vector of the input and reads and writes one of the partials.
TEST(Placement, PartialsOfTheAmpAreInterleavedAndNotWithItsInput) {
  for (const Case& c : all_cases()) {
    if (c.product != Product::dense && c.block == 1) continue;
    SCOPED_TRACE(text(c));
    const Program program = program_of(c.product, c.types, c.block);
    MemoryLayout layout = apart(true);
    EXPECT_FALSE(any(program, lost(program, layout), "amp"));
    EXPECT_TRUE(any(program, lost(program, apart(false)), "amp"));
    put_together(layout, Operand::partial, Operand::input);
    EXPECT_TRUE(any(program, lost(program, layout), "amp"));
  }
}

// The inner loop over elements reads an offset and a vector of the dense operand in one bundle.
TEST(Placement, OffsetsOfElementsAreNotWithTheDenseOperand) {
  for (const Case& c : all_cases()) {
    if (c.product == Product::dense || c.block != 1) continue;
    SCOPED_TRACE(text(c));
    const Program program = program_of(c.product, c.types, 1);
    MemoryLayout layout = apart(true);
    EXPECT_FALSE(any(program, lost(program, layout), "multiply"));
    put_together(layout, Operand::metadata, Operand::input);
    EXPECT_TRUE(any(program, lost(program, layout), "multiply"));
  }
}

// Where memory is one element, what the inner loop reads at once is in it.
TEST(Placement, OffsetsThatHaveToLieWithTheDenseOperandLoseASlot) {
  ChipParams chip = four_tiles();
  for (const Product product : {Product::static_, Product::dynamic}) {
    const Types types{DType::fp16, product == Product::static_ ? DType::fp16 : DType::fp32};
    chip.tile.memory.kib = 624;
    chip.tile.memory.element.kib = 16;
    EXPECT_TRUE(program_of(product, types, 1, chip).conflicts.empty());
    chip.tile.memory.element.kib = 1024;
    const Program program = program_of(product, types, 1, chip);
    EXPECT_TRUE(any(program, program.conflicts, "multiply"));
  }
}

// Weights that are loaded 128 bits at once are in interleaved memory, others anywhere.
TEST(Placement, WeightsAreInterleavedForWideLoadsOnly) {
  const Types half{DType::fp16, DType::fp16};
  for (const bool wide : {false, true}) {
    ChipParams chip = four_tiles();
    if (wide) chip.tile.amp.weight_bytes = 16;
    const Program program = program_of(Product::dense, half, 1, chip);
    EXPECT_EQ(any(program, lost(program, apart(true)), "conv weights"), wide);
    MemoryLayout layout = apart(true);
    layout.at(static_cast<std::size_t>(Operand::weight)).interleaved = true;
    EXPECT_FALSE(any(program, lost(program, layout), "conv weights"));
  }
}

}  // namespace
}  // namespace lacuna::ipu
