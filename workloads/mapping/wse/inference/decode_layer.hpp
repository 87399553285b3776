// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/mapping/wse/core_code.hpp"
#include "workloads/mapping/wse/inference/decode_shape.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"
#include "workloads/mapping/wse/inference/line_sums.hpp"

namespace lacuna::wse {

/// What the parts of a decode layer consist of, and where the core in the north-west corner takes
/// its stamps: one at the begin, then one at the end of each of these, repeated for each layer. A
/// block that receives does so before the first.
enum class DecodePhase : std::uint8_t {
  receive,
  norm,
  qkv,
  qknorm_rope,
  score,
  softmax_max,
  softmax_subtract,
  softmax_exp,
  softmax_sum,
  pv,
  o_proj,
  residual,
  ffn_norm,
  router,  // of layers with experts: logits of all, the best of them
  up_gate,
  silu,
  down,
  ffn_residual,
};
const char* word(DecodePhase phase);

/// Phases of the parts that a block has, in their order.
std::vector<DecodePhase> decode_phases(const DecodeBlock& block, bool experts = false);

/// What differs between published kernels.
struct DecodeStyle {
  bool scalar_silu = false;  // a scalar loop in place of the polynomial
};

/// A layer of a decoder on a block of cores: routes and code, without values.
class DecodeLayer {
 public:
  DecodeLayer(const DecodeShape& shape, const CodeCosts& costs, const InferenceParams& params,
              const DecodeStyle& style = {});

  /// With `pieces` products that leave zeros out stand as scalar code of as many cycles, as every
  /// core has others: for programs without values.
  TaskProgram plan(const Datapath* pieces = nullptr) const;

  /// What the first core's code has in each of its phases, of a core like this; what they take
  /// beyond it is waiting for words of others.
  std::vector<CodeShares> shares(const Datapath& datapath) const;

  std::vector<DecodePhase> phases() const {
    return decode_phases(shape_.block(), shape_.model().experts.count != 0);
  }
  const DecodeSpace& space() const { return space_; }
  const LineSums& along_y() const { return y_; }
  const LineSums& along_x() const { return x_; }

 private:
  struct Place {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
    std::uint32_t live = 0;  // positions that its cache holds
    bool writes = false;     // the position being decoded
    bool stamps = false;
    const Datapath* pieces = nullptr;
  };
  /// A choice of a sequence.
  struct Choice {
    std::uint32_t sequence = 0;
    std::uint32_t number = 0;
  };

  void route(TaskBuilder& builder) const;
  void write(CoreCode& code, const Place& place) const;
  std::string role(const Place& place) const;
  void sum_y(CoreCode& code, const Place& place, const SummedVector& vector) const;
  void sum_x(CoreCode& code, const Place& place, const SummedVector& vector) const;
  void sum_band(CoreCode& code, const Place& place, const SummedVector& vector) const;
  static void mark(CoreCode& code, const Place& place);
  std::uint32_t batch() const { return shape_.block().batch; }
  bool one_band() const { return shape_.model().kv_heads == 1; }

  void receive(CoreCode& code, const Place& place) const;
  void norm(CoreCode& code, const Place& place, std::uint32_t gain) const;
  void attention(CoreCode& code, const Place& place) const;
  std::string role_of_zeros(const Place& place) const;
  void product(CoreCode& code, const Place& place, Matrix matrix, const LocalGemv& job,
               std::uint32_t sequence) const;
  void products_of(CoreCode& code, const Place& place, Matrix matrix, LocalGemv job,
                   std::uint32_t apart) const;
  void project(CoreCode& code, const Place& place) const;
  void rotate(CoreCode& code, const Place& place) const;
  void score(CoreCode& code, const Place& place) const;
  void softmax(CoreCode& code, const Place& place) const;
  void values(CoreCode& code, const Place& place) const;
  void feed_forward(CoreCode& code, const Place& place) const;
  void gated_unit(CoreCode& code, std::uint32_t number, std::uint32_t share) const;
  void choose_experts(CoreCode& code, const Place& place) const;
  void choose(CoreCode& code, std::uint32_t sequence) const;
  std::vector<Choice> choices_of(std::uint32_t column) const;
  std::uint32_t share_of(const Choice& choice) const;
  static void address_of_expert(CoreCode& code);
  void experts(CoreCode& code, const Place& place) const;
  void residual(CoreCode& code) const;

  const DecodeShape shape_;
  const CodeCosts& costs_;
  const InferenceParams& params_;
  const DecodeStyle style_;
  const DecodeSpace space_;
  const Element sum_;
  const LineSums y_;
  const LineSums x_;
  const LineSums band_;
};

}  // namespace lacuna::wse
