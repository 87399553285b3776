// SPDX-License-Identifier: Apache-2.0
#include "tests/support/wse/prefill_values.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/error.hpp"
#include "workloads/mapping/wse/inference/functions.hpp"

namespace lacuna::wse {

namespace {

void put_half(std::vector<std::uint8_t>& memory, std::uint32_t address, std::uint32_t i,
              double value) {
  store_element(memory, address + 2 * i, false, false, static_cast<float>(value));
}

}  // namespace

/// Outputs of a core are those of its row.
double PrefillValues::weight(PrefillPart part, std::uint32_t expert, const Place& place,
                             std::uint32_t input, std::uint32_t output) const {
  const std::uint32_t q = shape_.q();
  const std::uint32_t k = shape_.k();
  const std::uint32_t f = shape_.f();
  switch (part) {
    case PrefillPart::qkv:
      if (output < q) {
        return numbers_.at(Tensor::q, input, shape_.query_feature(place.row, output));
      }
      return numbers_.at(output < q + k ? Tensor::k : Tensor::v, input,
                         shape_.key_feature(place.row, (output - q) % k));
    case PrefillPart::o_proj:
      return numbers_.at(Tensor::o, input, shape_.hidden_feature(place.row, output));
    case PrefillPart::up_gate:
      return numbers_.at(output < f ? Tensor::up : Tensor::gate, input,
                         shape_.inner_feature(place.row, output % f), expert);
    case PrefillPart::down:
      return numbers_.at(Tensor::down, input, shape_.hidden_feature(place.row, output), expert);
    case PrefillPart::norm:
    case PrefillPart::qk_norm:
    case PrefillPart::rope:
    case PrefillPart::value_skew:
    case PrefillPart::clear:
    case PrefillPart::score:
    case PrefillPart::mask:
    case PrefillPart::softmax:
    case PrefillPart::pv:
    case PrefillPart::fold:
    case PrefillPart::context:
    case PrefillPart::residual:
    case PrefillPart::ffn_norm:
    case PrefillPart::router:
    case PrefillPart::silu:
    case PrefillPart::ffn_residual:
      break;
  }
  throw InternalError(fmt::format("{} has no weights of a product", word(part)));
}

/// What is stored of a piece, one weight behind the other.
void PrefillValues::put_piece(std::vector<std::uint8_t>& memory, PrefillPart part,
                              const Place& place, const TileProduct& job, std::uint32_t piece,
                              std::uint32_t expert) const {
  const InputPiece inputs = parts_.weights_at(job, place.row, place.column, piece);
  const DecodeZeros* zeros = shape_.zeros_of(job.what);
  const Matrix matrix = matrix_of(job.what);
  const std::uint32_t first =
      part == PrefillPart::up_gate ? job.first - 2 * shape_.f() * expert : job.first;
  const TileFeatures tile = shape_.tile(job.what, place.row, inputs);
  const std::vector<OutputRun> all = {{0, job.outputs}};
  std::vector<std::vector<OutputRun>> stored(job.inputs, all);
  if (zeros != nullptr && zeros->sparse(matrix)) {
    stored = stored_runs(zeros->weights_of(matrix), tile, zeros->size_of(matrix).whole);
  }
  std::uint32_t next = piece * job.stored();
  for (std::uint32_t i = 0; i < job.inputs; ++i) {
    for (const OutputRun& run : stored[i]) {
      for (std::uint32_t j = run.first; j < run.first + run.count; ++j) {
        put_half(memory, job.weights, next++,
                 weight(part, expert, place, tile.inputs[i], first + j));
      }
    }
  }
}

void PrefillValues::put_products(std::vector<std::uint8_t>& memory, PrefillPart part,
                                 const Place& place) const {
  const std::vector<TileProduct> jobs = parts_.products_of(part);
  const bool by_expert = part == PrefillPart::up_gate || part == PrefillPart::down;
  const auto count = static_cast<std::uint32_t>(jobs.size());
  const std::uint32_t each = by_expert ? count / shape_.experts() : count;
  for (std::uint32_t n = 0; n < count; ++n) {
    for (std::uint32_t piece = 0; piece < shape_.weight_pieces(); ++piece) {
      put_piece(memory, part, place, jobs[n], piece, n / each);
    }
  }
}

void PrefillValues::put_gains(std::vector<std::uint8_t>& memory, const Place& place) const {
  const PrefillSpace& space = parts_.space();
  const unsigned bytes = bytes_of(shape_.sum());
  const std::uint32_t experts = shape_.model().experts.count;
  for (std::uint32_t i = 0; i < shape_.d(); ++i) {
    const std::uint32_t feature = shape_.hidden_feature(place.row, i);
    put_half(memory, space.gain, i, numbers_.at(Tensor::gain, feature, 0));
    put_half(memory, space.ffn_gain, i, numbers_.at(Tensor::ffn_gain, feature, 0));
    for (std::uint32_t e = 0; e < experts; ++e) {
      put_half(memory, space.wrouter, i * experts + e, numbers_.at(Tensor::router, feature, e));
    }
  }
  for (std::uint32_t i = 0; shape_.model().qk_norm && i < shape_.k(); ++i) {
    const std::uint32_t feature = place.row % shape_.band() * shape_.k() + i;
    const auto put = [&](std::uint32_t address, Tensor tensor) {
      store_element(memory, address + bytes * i, bytes == 4, false,
                    static_cast<float>(numbers_.at(tensor, feature, 0)));
    };
    put(space.q_gain, Tensor::q_gain);
    put(space.k_gain, Tensor::k_gain);
  }
}

/// Of the keys of its own chunk a token sees those that are not behind it.
void PrefillValues::put_mask(std::vector<std::uint8_t>& memory, const Place& place) const {
  const unsigned bytes = bytes_of(shape_.sum());
  const std::uint32_t t = shape_.t();
  for (std::uint32_t block = 0; block < shape_.held(); ++block) {
    const std::uint32_t column = parts_.keys_at(place.row, place.column, block);
    for (std::uint32_t key = 0; key < t; ++key) {
      for (std::uint32_t token = 0; token < t; ++token) {
        const bool seen = column * t + key <= place.column * t + token;
        const std::uint32_t at = (block * t + key) * shape_.pitch() + token;
        store_element(memory, parts_.space().mask + bytes * at, bytes == 4, false,
                      seen ? 0 : kUnseen);
      }
    }
  }
}

PrefillMemory PrefillValues::memory() const {
  PrefillMemory all;
  for (std::uint32_t row = 0; row < shape_.block().rows; ++row) {
    for (std::uint32_t column = 0; column < shape_.block().columns; ++column) {
      std::vector<std::uint8_t> memory(parts_.space().image_bytes);
      const Place place{row, column};
      put_products(memory, PrefillPart::qkv, place);
      put_products(memory, PrefillPart::o_proj, place);
      put_products(memory, PrefillPart::up_gate, place);
      put_products(memory, PrefillPart::down, place);
      put_gains(memory, place);
      put_mask(memory, place);
      all.push_back(std::move(memory));
    }
  }
  return all;
}

void PrefillValues::enter(PrefillMemory& memory, std::uint32_t chunk,
                          const std::vector<std::vector<double>>& hidden) const {
  const PrefillSpace& space = parts_.space();
  const unsigned bytes = bytes_of(shape_.sum());
  const std::uint32_t pitch = shape_.pitch();
  const auto put = [&](std::vector<std::uint8_t>& core, std::uint32_t address, std::uint32_t i,
                       double value) {
    store_element(core, address + bytes * i, bytes == 4, false, static_cast<float>(value));
  };
  for (std::uint32_t token = 0; token < hidden.size(); ++token) {
    const std::uint32_t column = token / shape_.t();
    const std::uint32_t at = token % shape_.t();
    const std::uint32_t position = chunk * shape_.block().tokens + token;
    for (std::uint32_t row = 0; row < shape_.block().rows; ++row) {
      std::vector<std::uint8_t>& core = memory[index({row, column})];
      for (std::uint32_t i = 0; i < shape_.d(); ++i) {
        const std::uint32_t feature = shape_.hidden_feature(row, i);
        const double value = feature == DecodeShape::kPadding ? 0 : hidden[token][feature];
        put_half(core, space.x, i * pitch + at, value);
      }
      for (std::uint32_t pair = 0; 2 * pair < shape_.q(); ++pair) {
        const std::uint32_t feature = row % shape_.band() * shape_.k() + 2 * pair % shape_.k();
        const double angle = numbers_.angle_at(position, feature / 2);
        put(core, space.cos, pair * pitch + at, std::cos(angle));
        put(core, space.sin, pair * pitch + at, std::sin(angle));
      }
    }
  }
}

std::vector<std::vector<double>> PrefillValues::hidden(const PrefillMemory& memory) const {
  std::vector<std::vector<double>> all;
  for (std::uint32_t token = 0; token < shape_.block().tokens; ++token) {
    std::vector<double> one;
    for (std::uint32_t feature = 0; feature < shape_.model().width; ++feature) {
      const auto& core = memory[index({feature / shape_.d(), token / shape_.t()})];
      const std::uint32_t at = feature % shape_.d() * shape_.pitch() + token % shape_.t();
      one.push_back(load_element(core, parts_.space().x + 2 * at, false, false));
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<double> PrefillValues::cached(const PrefillMemory& memory, bool value,
                                          std::uint32_t chunk, std::uint32_t token) const {
  const PrefillSpace& space = parts_.space();
  const DecoderModel& m = shape_.model();
  std::vector<double> all;
  for (std::uint32_t head = 0; head < m.kv_heads; ++head) {
    for (std::uint32_t feature = 0; feature < m.head_dim; ++feature) {
      const std::uint32_t row = head * shape_.band() + feature / shape_.k();
      const std::uint32_t at = feature % shape_.k() * shape_.pitch() + token % shape_.t();
      // values have been moved on along their row
      const std::uint32_t column = parts_.bank_column(row, token / shape_.t(), value);
      const std::uint32_t bank = (value ? space.v_bank : space.k_bank) + chunk * space.bank_bytes;
      all.push_back(load_element(memory[index({row, column})], bank + 2 * at, false, false));
    }
  }
  return all;
}

}  // namespace lacuna::wse
