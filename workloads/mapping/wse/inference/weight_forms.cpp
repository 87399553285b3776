// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/inference/weight_forms.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "workloads/mapping/wse/inference/decode_tiles.hpp"

namespace lacuna::wse {
namespace {

/// Cycles of what `write` appends, all of it in memory.
template <typename Write>
Cycle cycles_of(const CodeTimes& times, const Write& write) {
  TaskBuilder builder(1, 1);
  SharedRoutines routines(builder);
  CoreCode code(times.costs, times.params, routines);
  code.count(times.datapath);
  write(code);
  code.stamp();
  return code.shares().front().all();
}

/// Cycles of lists, one for all with as many inputs, runs and values: they differ in banks alone.
class ListTimes {
 public:
  template <typename Make>
  Cycle of(const std::vector<std::vector<OutputRun>>& lists, const Make& make) {
    std::uint32_t inputs = 0;
    std::uint32_t runs = 0;
    std::uint32_t values = 0;
    for (const std::vector<OutputRun>& list : lists) {
      inputs += list.empty() ? 0 : 1;
      runs += static_cast<std::uint32_t>(list.size());
      for (const OutputRun& run : list) values += run.count;
    }
    const auto [known, fresh] = known_.try_emplace(std::make_tuple(inputs, runs, values), 0);
    if (fresh) known->second = make();
    return known->second;
  }

 private:
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Cycle> known_;
};

std::vector<std::vector<OutputRun>> lists_of(const NonZeros& weights, const TileFeatures& tile,
                                             bool whole) {
  std::vector<std::vector<OutputRun>> lists;
  for (std::uint32_t i = 0; i < tile.inputs.size(); ++i) {
    lists.push_back(stored_runs(weights, tile, i, whole));
  }
  return lists;
}

bool decided(const CodeTimes& times, const NonZeros& weights, bool& dense) {
  const WeightForm form = times.params.weight_form;
  dense = weights.given() && form == WeightForm::dense;
  return !weights.given() || form != WeightForm::sooner;
}

/// Whether a product without lists is sooner done.
bool dense_is_sooner(const DecodeShape& shape, const CodeTimes& times, const DecodeZeros& zeros,
                     Matrix matrix) {
  const Element sum = shape.model().wide_sums ? Element::fp32 : Element::fp16;
  SparseGemv job;
  job.dense.inputs = shape.inputs(matrix);
  job.dense.outputs = shape.outputs(matrix);
  job.dense.y = 4;  // sums lie so
  job.dense.adds = matrix == Matrix::k || matrix == Matrix::v;
  job.tests = zeros.tests(matrix);
  job.zero.assign(job.dense.inputs, false);
  const Cycle without = cycles_of(times, [&](CoreCode& code) {
    if (job.tests) {
      write_sparse_gemv(code, job, sum);
    } else {
      write_gemv(code, job.dense, sum);
    }
  });
  job.listed = true;
  job.whole = zeros.sizes.at(static_cast<std::size_t>(matrix)).whole;
  const NonZeros& weights = zeros.weights.at(static_cast<std::size_t>(projection_of(matrix)));
  ListTimes known;
  for (std::uint32_t row = 0; row < shape.block().rows; ++row) {
    for (std::uint32_t column = 0; column < shape.block().columns; ++column) {
      job.runs = lists_of(weights, features_of(shape, {matrix, row, column}), job.whole);
      const Cycle with = known.of(job.runs, [&] {
        return cycles_of(times, [&](CoreCode& code) { write_sparse_gemv(code, job, sum); });
      });
      if (with > without) return true;
    }
  }
  return false;
}

bool dense_is_sooner(const PrefillShape& shape, const CodeTimes& times, const DecodeZeros& zeros,
                     Projection what) {
  const Matrix matrix = matrix_of(what);
  const NonZeros& weights = zeros.weights.at(static_cast<std::size_t>(what));
  SparseTile job;
  job.sums = 4;
  job.tokens = shape.t();
  job.pitch = shape.pitch();
  job.inputs = shape.inputs(what) / shape.tile_pieces();
  job.outputs = shape.outputs(what);
  job.tests = zeros.tests(matrix);
  job.zeros.assign(job.inputs, 0);
  const Cycle step = cycles_of(times, [&](CoreCode& code) {
    if (job.tests) {
      write_sparse_tile(code, job, shape.sum());
    } else {
      write_tile(code, job, shape.sum());
    }
  });
  job.listed = true;
  job.whole = zeros.sizes.at(static_cast<std::size_t>(matrix)).whole;
  ListTimes known;
  for (std::uint32_t row = 0; row < shape.block().rows; ++row) {
    for (InputPiece piece; piece.row < shape.block().rows; ++piece.row) {
      for (piece.number = 0; piece.number < shape.tile_pieces(); ++piece.number) {
        job.runs = lists_of(weights, shape.tile(what, row, piece), job.whole);
        const Cycle with = known.of(job.runs, [&] {
          return cycles_of(times,
                           [&](CoreCode& code) { write_sparse_tile(code, job, shape.sum()); });
        });
        if (with > step) return true;
      }
    }
  }
  return false;
}

}  // namespace

void choose_forms(const DecodeShape& shape, const CodeTimes& times, DecodeZeros& zeros) {
  for (std::size_t i = 0; i < kMatrices; ++i) {
    const auto matrix = static_cast<Matrix>(i);
    const Projection what = projection_of(matrix);
    bool& dense = zeros.dense.at(i);
    const bool has = what < Projection::up ? shape.block().attention : shape.block().ffn;
    if (!has || decided(times, zeros.weights.at(static_cast<std::size_t>(what)), dense)) continue;
    dense = dense_is_sooner(shape, times, zeros, matrix);
  }
}

void choose_forms(const PrefillShape& shape, const CodeTimes& times, DecodeZeros& zeros) {
  for (std::size_t i = 0; i < kProjections; ++i) {
    const auto what = static_cast<Projection>(i);
    bool& dense = zeros.dense.at(static_cast<std::size_t>(matrix_of(what)));
    if (decided(times, zeros.weights.at(i), dense)) continue;
    dense = dense_is_sooner(shape, times, zeros, what);
  }
  // of a prompt these three are one
  zeros.dense.at(static_cast<std::size_t>(Matrix::k)) =
      zeros.dense.at(static_cast<std::size_t>(Matrix::v)) =
          zeros.dense.at(static_cast<std::size_t>(Matrix::q));
}

}  // namespace lacuna::wse
