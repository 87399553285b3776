// SPDX-License-Identifier: Apache-2.0
#include "tests/support/agreement/drawn_decoder.hpp"

#include "tests/support/driver/random_operation.hpp"

namespace lacuna::test {

DrawnDecoder::DrawnDecoder(Random& random) : model(find_model_shape("qwen3-0.6b")) {
  model.name = "drawn";
  model.kv_heads = pick<std::uint32_t>(random, {1, 2, 4});
  model.heads = model.kv_heads * upto(random, 4);
  model.head_dim = model.rotated = pick<std::uint32_t>(random, {8, 16, 32});
  model.qk_norm = random.bounded(2) == 0 ? QkNorm::none : QkNorm::head;
  model.width = 4 * upto(random, 48);
  model.ffn = 4 * upto(random, 96);
  model.vocabulary = 256;
  model.layers = upto(random, 3);
  // pairs of a head's features stay in a core, so that 4 columns a head are the most for 8
  columns = model.kv_heads * pick<std::uint32_t>(random, {1, 2, 4});
  rows = 1 + upto(random, 15);
  context = upto(random, 300);
  batch = upto(random, 3);
}

DecodePlacement DrawnDecoder::placement() const {
  DecodePlacement placement;
  placement.blocks_x = placement.blocks_y = 1;
  placement.columns = columns;
  placement.rows = rows;
  placement.batch = batch;
  return placement;
}

}  // namespace lacuna::test
