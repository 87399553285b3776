// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/mapping/wse/inference/decode_values.hpp"
#include "workloads/mapping/wse/inference/prefill_parts.hpp"

namespace lacuna::wse {

/// The memory of every core of a block that has a chunk of a prompt, row by row.
using PrefillMemory = std::vector<std::vector<std::uint8_t>>;

/// A layer's numbers in the cores of a block, and what is found there.
class PrefillValues {
 public:
  /// Weights are those of `numbers`, a layer of the same model.
  PrefillValues(const PrefillShape& shape, const PrefillParts& parts, const DecodeValues& numbers)
      : shape_(shape), parts_(parts), numbers_(numbers) {}

  /// Weights, gains and which keys a token sees; all else is zero.
  PrefillMemory memory() const;

  /// The hidden vectors of the tokens of a chunk, and the angles of their positions.
  void enter(PrefillMemory& memory, std::uint32_t chunk,
             const std::vector<std::vector<double>>& hidden) const;

  /// The hidden vectors that are there.
  std::vector<std::vector<double>> hidden(const PrefillMemory& memory) const;

  /// Keys or values that the bank has of a token of a chunk, head by head.
  std::vector<double> cached(const PrefillMemory& memory, bool value, std::uint32_t chunk,
                             std::uint32_t token) const;

 private:
  using Tensor = DecodeValues::Tensor;
  struct Place {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  std::size_t index(const Place& place) const {
    return std::size_t{place.row} * shape_.block().columns + place.column;
  }
  double weight(PrefillPart part, std::uint32_t expert, const Place& place, std::uint32_t input,
                std::uint32_t output) const;
  void put_piece(std::vector<std::uint8_t>& memory, PrefillPart part, const Place& place,
                 const TileProduct& job, std::uint32_t piece, std::uint32_t expert) const;
  void put_products(std::vector<std::uint8_t>& memory, PrefillPart part, const Place& place) const;
  void put_gains(std::vector<std::uint8_t>& memory, const Place& place) const;
  void put_mask(std::vector<std::uint8_t>& memory, const Place& place) const;

  const PrefillShape& shape_;
  const PrefillParts& parts_;
  const DecodeValues& numbers_;
};

}  // namespace lacuna::wse
