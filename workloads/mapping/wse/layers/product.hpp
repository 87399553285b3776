// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"
#include "workloads/mapping/wse/layers/ring.hpp"

namespace lacuna::wse {

/// Addresses of the blocks of a core; moving ones have two buffers.
struct ProductSpace {
  Element operand = Element::fp16;
  Element product = Element::fp16;  // of multiply-accumulates
  std::array<std::uint32_t, 2> vectors{};
  std::array<std::uint32_t, 2> scalars{};
  std::array<std::uint32_t, 2> sums{};
  std::uint32_t difference = 0;  // a vector, for distances
};

/// What the product does with each pair of elements: adds their product, the absolute difference
/// or its square.
enum class PairFunction : std::uint8_t { dot, l1, l2 };

/// The stages of a product of which every core does the same. `active` says which cores have
/// something to multiply (row-major, side x side).
class ProductProgram {
 public:
  ProductProgram(const LayerSetup& setup, const ProductShape& shape, const ProductSpace& space,
                 PairFunction pair, const std::vector<bool>& active);

  /// Shifts that bring the blocks to where their product begins, the product, and the shifts that
  /// bring its result home; the part of each at its place.
  std::vector<LayerStage> stages() const;

  /// What they take, roughly: the code of a core, or the words that it waits for.
  Cycle estimate() const;

  /// The buffer in which a core finds, or leaves, its block.
  unsigned first_buffer_w(std::uint32_t row) const;
  unsigned first_buffer_x(std::uint32_t column) const;
  unsigned last_buffer_y(std::uint32_t row) const;

 private:
  struct Block;

  Block operand(bool vectors) const;
  Block results() const;
  Element sum() const;
  std::uint32_t shifts(std::uint32_t line) const;
  std::uint32_t way_home(std::uint32_t row) const;
  template <class Count, class Buffer>
  LayerStage shift_lines(const char* name, Direction direction, const Block& block,
                         const Count& count, const Buffer& buffer) const;
  void clear(CoreCode& code) const;
  void multiply(CoreCode& code, unsigned vectors, unsigned scalars, unsigned sums) const;
  void write(CoreCode& code, std::uint32_t row, std::uint32_t column, bool active) const;
  LayerStage products() const;
  Cycle shift_cycles(const CoreRing& ring, const Block& block, Cycle beside) const;

  const LayerSetup& setup_;
  ProductShape shape_;
  ProductSpace space_;
  PairFunction pair_;
  const std::vector<bool>& active_;
  CoreRing along_;
  CoreRing down_;
};

/// The bytes of a core, and its addresses; `base` is where they begin.
std::uint64_t place_product(const ProductShape& shape, unsigned operand_bytes, unsigned sum_bytes,
                            bool distance, ProductSpace& space);

}  // namespace lacuna::wse
