// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/system/live_memory.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "workloads/mapping/system/done_again.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna::system {

namespace {

/// Element-wise functions whose gradient needs no value of the forward pass but a mask.
bool is_linear(const std::string& fn) {
  constexpr std::array<const char*, 6> kLinear = {"add",   "bias",       "bias_add",
                                                  "scale", "scale_mask", "dropout"};
  return contains(kLinear, fn);
}

bool is_norm(const LayerOp& op) { return op.op == "layernorm" || op.op == "rmsnorm"; }

/// "fwd.l0.q" of "bwd.l0.q_dw".
std::string forward_id(const std::string& id) {
  std::string base = "fwd" + id.substr(std::min<std::size_t>(id.find('.'), id.size()));
  for (const char* const ending : {"_dx", "_dw", "_dp", "_dv", "_dq", "_dk"}) {
    if (ends_with(base, ending)) return base.substr(0, base.size() - 3);
  }
  return base;
}

/// What the id of a forward row that is done again before the backward pass ends with.

class LiveRows {
 public:
  LiveRows(const PartRows& rows, std::uint64_t input_bytes, std::uint64_t gradient_bytes)
      : forward_(rows.forward.size()), wanted_(rows.wanted) {
    for (const LayerOp& op : rows.forward) rows_.push_back(&op);
    for (const LayerOp& op : rows.backward) rows_.push_back(&op);
    for (std::size_t i = 0; i < rows_.size(); ++i) place_[rows_[i]->id] = i;
    for (const LayerOp* const op : rows_) {
      if (!is_norm(*op)) narrow_ = std::min(narrow_, number_bytes(*op));
    }
    bytes_.resize(rows_.size() + 2);
    bytes_[input()] = input_bytes;
    bytes_[gradient()] = gradient_bytes;
    for (std::size_t i = 0; i < rows_.size(); ++i) reads_.push_back(operands(i));
    for (std::size_t i = 0; i < rows_.size(); ++i) bytes_[i] = result_bytes(i);
  }

  LiveBytes live() {
    LiveBytes all;
    all.forward = walk(forward_, nullptr);
    all.backward = walk(rows_.size(), &all.kept);
    return all;
  }

 private:
  std::size_t input() const { return rows_.size(); }
  std::size_t gradient() const { return rows_.size() + 1; }

  /// Where the forward row of that id is done for row `i`: again, if it is; the number of rows if
  /// nowhere before it.
  std::size_t forward_place(const std::string& id, std::size_t i) const {
    const std::string again = "bwd" + id.substr(std::min(id.find('.'), id.size())) + kAgain;
    for (const std::string& each : {again, id}) {
      const auto found = place_.find(each);
      if (found != place_.end() && found->second < i) return found->second;
    }
    return rows_.size();
  }

  /// What a row that is done again reads: what it read the first time, as far as that is done again
  /// the new.
  std::vector<std::size_t> operands_again(std::size_t i) const {
    const std::string& id = rows_[i]->id;
    const std::size_t ending = std::string(kAgain).size();
    const auto first = place_.find(forward_id(id.substr(0, id.size() - ending)));
    std::vector<std::size_t> reads;
    if (first == place_.end()) return reads;
    for (const std::string& each : rows_[first->second]->depends_on) {
      const std::size_t place = forward_place(each, i);
      reads.push_back(place < rows_.size() ? place : input());
    }
    return reads;
  }

  /// The places of the values a row reads; what is made elsewhere is the input, or the gradient
  /// that comes in.
  std::vector<std::size_t> operands(std::size_t i) const {
    const LayerOp& op = *rows_[i];
    if (i >= forward_ && is_done_again(op.id)) return operands_again(i);
    std::vector<std::size_t> reads;
    for (const std::string& id : op.depends_on) {
      const auto found = place_.find(id);
      const bool here = found != place_.end() && found->second < i;
      reads.push_back(here ? found->second : (i < forward_ ? input() : gradient()));
    }
    if (i < forward_) return reads;
    const std::size_t saved_row = forward_place(forward_id(op.id), i);
    if (saved_row == rows_.size()) return reads;
    const std::vector<std::size_t>& saved = reads_[saved_row];
    const bool nonlinear = op.op == "eltwise" && !is_linear(op.fn);
    if (is_weight_gradient(op) || op.op == "bmm" || is_norm(op) || nonlinear) {
      append(reads, saved);
    } else if (op.op == "softmax") {
      reads.push_back(saved_row);
    }
    return reads;
  }

  /// Results of FP8 products are FP16.
  static unsigned number_bytes(const LayerOp& op) {
    return op.dtype == DType::fp8 ? bytes_of(DType::fp16) : bytes_of(op.dtype);
  }

  /// Norms that are worked out in FP32 give what their neighbours take.
  std::uint64_t elements_bytes(const LayerOp& op) const {
    const unsigned each = is_norm(op) ? std::min(number_bytes(op), narrow_) : number_bytes(op);
    return std::uint64_t{op.m} * op.n * op.batch * each;
  }

  /// Of parts that are worked on one after the other all are there where a reader wants them all.
  /// The gradient of a weight is there by itself until it is added; else it is the gradient that
  /// is accounted for with the weights.
  std::uint64_t result_bytes(std::size_t i) const {
    const LayerOp& op = *rows_[i];
    if (ends_with(op.id, kAddition)) return 0;
    if (is_weight_gradient(op)) {
      const auto added = place_.find(op.id + kAddition);
      return added == place_.end() ? 0 : elements_bytes(*rows_[added->second]);
    }
    std::uint64_t times = 1;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (contains(reads_[r], i) && rows_[r]->repeat < op.repeat) times = op.repeat;
    }
    return elements_bytes(op) * times;
  }

  /// What a product lacks of its operands, where each chip holds a part of the sequence.
  std::uint64_t gathered(std::size_t i) const {
    const LayerOp& op = *rows_[i];
    const std::vector<std::size_t>& reads = reads_[i];
    // a convolution reads each number several times
    if (reads.empty() || find_value(op.args, "x_unique") != nullptr) return 0;
    // of a part of an operand a chip holds as large a share as of the whole
    const auto lacks = [&](std::size_t value, std::uint64_t elements) {
      const std::uint32_t made_in = value < rows_.size() ? rows_[value]->repeat : 1;
      const std::uint64_t need = elements * op.batch * bytes_of(op.dtype);
      const std::uint64_t whole = need * std::max(op.repeat / made_in, 1U);
      return whole > bytes_[value] ? need - need * bytes_[value] / whole : 0;
    };
    if (op.op == "gemm") return lacks(reads[0], std::uint64_t{op.k} * op.n);
    if (!is_weight_gradient(op) || reads.size() < 2) return 0;
    // the other operand is read whole by every part
    const std::uint64_t other = std::uint64_t{op.k} * op.n * op.batch * bytes_of(op.dtype);
    return lacks(reads[0], std::uint64_t{op.m} * op.k) + other - std::min(other, bytes_[reads[1]]);
  }

  /// The most that is there during rows [0, end); `kept` is what there is when the first backward
  /// row begins.
  std::uint64_t walk(std::size_t end, std::uint64_t* kept) const {
    std::vector<std::size_t> last(bytes_.size());
    for (std::size_t i = 0; i < end; ++i) {
      last[i] = std::max(last[i], i);
      for (const std::size_t value : reads_[i]) last[value] = i;
    }
    last[input()] = end;  // is kept by others
    for (const std::string& id : wanted_) {
      const auto found = place_.find(id);
      if (found != place_.end()) last[found->second] = end;
    }
    std::uint64_t live = 0;
    std::uint64_t most = 0;
    std::vector<bool> there(bytes_.size());
    for (std::size_t i = 0; i < end; ++i) {
      if (i == forward_) {
        if (kept != nullptr) *kept = live;
        live += bytes_[gradient()];
        there[gradient()] = true;
      }
      std::uint64_t freed = 0;
      for (const std::size_t value : reads_[i]) {
        if (last[value] != i || !there[value]) continue;
        there[value] = false;
        freed += bytes_[value];
      }
      const LayerOp& op = *rows_[i];
      const bool in_place = op.op == "eltwise" || op.op == "softmax";
      if (in_place) live -= freed;
      live += bytes_[i];
      most = std::max(most, live + gathered(i));
      if (!in_place) live -= freed;
      there[i] = last[i] > i;
      if (!there[i]) live -= bytes_[i];
    }
    return most;
  }

  std::size_t forward_;
  unsigned narrow_ = 4;  // bytes of a number of the narrowest results, norms left out
  const std::vector<std::string>& wanted_;
  std::vector<const LayerOp*> rows_;
  std::map<std::string, std::size_t> place_;
  std::vector<std::vector<std::size_t>> reads_;
  std::vector<std::uint64_t> bytes_;  // of the result of each row; of input and gradient
};

}  // namespace

LiveBytes live_bytes(const PartRows& rows, std::uint64_t input_bytes,
                     std::uint64_t gradient_bytes) {
  return LiveRows(rows, input_bytes, gradient_bytes).live();
}

LiveBytes live_bytes(const std::vector<LayerOp>& step) {
  PartRows rows;
  for (const LayerOp& op : step) {
    if (op.phase == Phase::upd) continue;
    const bool backward = op.phase == Phase::bwd || is_done_again(op.id) || !rows.backward.empty();
    (backward ? rows.backward : rows.forward).push_back(op);
  }
  return live_bytes(rows, 0, 0);
}

}  // namespace lacuna::system
