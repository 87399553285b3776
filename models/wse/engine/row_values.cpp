// SPDX-License-Identifier: Apache-2.0
#include "models/wse/engine/row_values.hpp"

#include <algorithm>

#include "models/common/fp16.hpp"
#include "sim/base/error.hpp"

namespace lacuna::wse {

RowValues::RowValues(const Program& program, std::uint32_t row)
    : kernel_(program.kernel), tokens_(kernel_.tokens[row]) {
  const std::size_t columns = kernel_.ring.size();
  const CoreValues::Format format{kernel_.fp32, kernel_.psum_fp32, kernel_.ring_fp32, kernel_.int8};
  for (std::size_t c = 0; c < columns; ++c) {
    cores_.emplace_back(CoreValues(format, tokens_, kernel_.lookahead,
                                   kernel_.activations[std::size_t{row} * columns + c]));
    cores_.back().filled.assign(kernel_.lookahead, 0);
  }
}

void RowValues::multiply_add(Core& core, std::uint32_t feature, float value) const {
  const std::uint32_t buffer = core.closed % kernel_.lookahead;
  core.values.multiply_add(buffer, feature, value, core.fresh);
  core.fresh = false;
  core.filled[buffer] = 1;
  ++core.position;
}

void RowValues::start(std::uint32_t column) {
  Core& core = cores_[column];
  const std::vector<std::uint32_t>& words = kernel_.payloads[column];
  const std::uint32_t word = words[core.word++];
  const std::uint32_t feature =
      kernel_.has_index() ? 0 : kernel_.first_feature(core.closed, column) + core.position;
  switch (kernel_.form) {
    case StreamForm::indexed:
      return multiply_add(core, word >> 16U, kernel_.value(word));
    case StreamForm::wide:
      return multiply_add(core, word, detail::float_of(words[core.word++]));
    case StreamForm::plain:
      return multiply_add(core, feature, detail::float_of(word));
    case StreamForm::packed: {
      const std::uint32_t left = kernel_.count(core.closed, column) - core.position;
      const std::uint32_t values = std::min(kernel_.weights_per_word(), left);
      for (std::uint32_t i = 0; i < values; ++i) {
        multiply_add(core, feature + i, kernel_.value(word, i));
      }
      return;
    }
  }
}

void RowValues::close(std::uint32_t column) {
  Core& core = cores_[column];
  ++core.closed;
  core.position = 0;
  core.fresh = true;
}

void RowValues::load(std::uint32_t column) {
  Core& core = cores_[column];
  const std::uint32_t keeper = kernel_.keeper(core.step, column);
  core.inputs.clear();
  core.next_input = 0;
  core.words_left = kernel_.packed_words(tokens_);
  const ReducePlan::Role& role = kernel_.role(keeper, column);
  core.keeps = role.keeps;
  for (std::uint32_t i = 0; i < role.inputs; ++i) {
    const std::uint32_t from = kernel_.peer(column, kernel_.reduce.inputs[role.first + i].from);
    core.inputs.push_back(static_cast<std::uint16_t>(from));
  }
}

std::uint32_t RowValues::take(std::uint16_t from, std::uint32_t step) {
  std::deque<Sent>& sent = cores_[from].sent;
  const auto words =
      std::find_if(sent.begin(), sent.end(), [&](const Sent& s) { return s.step == step; });
  if (words == sent.end() || words->taken == words->words.size()) {
    throw InternalError("a core takes a word of partial sums that was not sent");
  }
  const std::uint32_t word = words->words[words->taken++];
  const std::uint32_t all = kernel_.packed_words(tokens_);
  if (words->taken == all) sent.erase(words);
  return word;
}

void RowValues::reduce(std::uint32_t column, std::uint32_t words) {
  Core& core = cores_[column];
  const std::uint32_t all = kernel_.packed_words(tokens_);
  const std::uint32_t buffer = core.step % kernel_.lookahead;
  const bool gathers = core.next_input + 1 < core.inputs.size();
  if (core.words_left == all && core.filled[buffer] == 0) core.values.clear(buffer);
  for (; words != 0; --words, --core.words_left) {
    const std::uint32_t first = (all - core.words_left) * kernel_.ring_elements;
    const std::uint32_t count = std::min(kernel_.ring_elements, tokens_ - first);
    const std::uint32_t in =
        core.inputs.empty() ? 0 : take(core.inputs[core.next_input], core.step);
    if (gathers) {
      core.values.gather(buffer, in, first, count);
      continue;
    }
    const std::uint32_t sum = core.values.add(buffer, in, first, count);
    if (core.keeps) {
      core.values.keep(sum, count);
      continue;
    }
    if (core.sent.empty() || core.sent.back().step != core.step) {
      core.sent.push_back({core.step, 0, {}});
    }
    core.sent.back().words.push_back(sum);
  }
  if (core.words_left != 0) return;
  if (gathers) {
    core.filled[buffer] = 1;
    core.words_left = all;
    ++core.next_input;
    return;
  }
  core.filled[buffer] = 0;
  ++core.step;
}

}  // namespace lacuna::wse
